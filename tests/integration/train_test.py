"""One training on several slots: clade train, its weights, its faults and what it refuses; LibTorch."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import unittest
from unittest import mock

from live_runs import CLADE, RunTest, await_true

ROOT = pathlib.Path(__file__).resolve().parents[2]
IRIS = ROOT / "experiments" / "data" / "iris.csv"

EXPERIMENT = f"""
[experiment]
name = "searched"
seed = 3
[data]
file = "{IRIS}"
target = "last"
[search_space]
file = "{ROOT}/search_spaces/mlp.toml"
[evolution]
population = 4
generations = 2
[training]
epochs = 4
"""
LONG = 4000  # Epochs that last for seconds.
ENDLESS = 1_000_000
MIRRORED = ("--set", "training.distribution=mirrored")


class Train(RunTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "searched.toml"
        self.file.write_text(EXPERIMENT)
        self.finish("run", self.file, "--slots", "cpu:2")
        self.searched = self.folder / "searched"
        self.run_folder().rename(self.searched)

    def train(self, *options, epochs=12, keeps_folder=False):
        """Trains the best of the search, and returns what its weights are named by."""
        self.finish("train", self.searched, "--epochs", epochs, *options)
        folder = self.run_folder()
        with sqlite3.connect(folder / "run.db") as db:
            rows = db.execute("select outcome, weights_hash, slot from evaluations").fetchall()
            tested = db.execute("select subject from examinations").fetchall()
            trained = db.execute("select count(*) from epochs").fetchone()
            network = db.execute("select network from genomes").fetchone()
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0][0], "succeeded")
        self.assertIn(("champion",), tested)
        self.assertEqual(trained, (epochs,))
        with sqlite3.connect(self.searched / "run.db") as db:
            best = db.execute("select network from genomes join evaluations using (id)"
                              " where fitness = (select max(fitness) from evaluations)").fetchall()
        self.assertIn(network, best)
        self.finish("replay", folder, "--verify")
        if not keeps_folder:
            folder.rename(self.folder / f"trained-{len(list(self.folder.glob('trained-*')))}")
        return rows[0][1]

    def refused(self, *words):
        return self.finish(*words, status=2).err

    def await_training(self, run, slots=2):
        """Until all slots are at work, on the same candidate."""
        def trains():
            self.assertTrue(run.running, run.said())
            asked = self.start("workers", self.run_folder(), "--json")
            if asked.end() != 0:  # The head has made its folder, and does not listen yet.
                self.assertIn("no session is live", asked.err)
                return False
            return [slot["training"] for slot in json.loads(asked.out)["slots"]] == [1] * slots
        await_true(trains, "the training did not start on all slots")

    def await_shares(self, run, count=3):
        """Until each slot is shown as another member of the team, with what it does."""
        def shown():
            self.assertTrue(run.running, run.said())
            shares = [s["team"] for s in json.loads(self.finish("workers", self.run_folder(), "--json").out)["slots"]]
            return (sorted(s["member"] for s in shares) == list(range(1, count + 1))
                    and all(s["members"] == count and s["steps_per_second"] > 0 and s["bytes_per_second"] > 0
                            and 0 < s["waits"] <= 1 for s in shares))
        await_true(shown, "not every slot was shown with its share of the work")
        self.assertIn(f" of {count}, ", self.finish("workers", self.run_folder()).out)

    def test_the_same_slots_give_the_same_weights(self):
        once = self.train("--slots", "cpu:3", *MIRRORED, "--set", "training.devices=3")
        self.assertEqual(self.train("--slots", "cpu:4", *MIRRORED, "--set", "training.devices=3"), once)
        central = self.train("--slots", "cpu:3", "--set", "training.distribution=central_storage",
                             "--set", "training.devices=3")
        self.assertEqual(central, once)
        self.assertNotEqual(self.train("--slots", "cpu:2", *MIRRORED, "--set", "training.devices=2"), once)

    def test_killed_nodes_change_nothing(self):
        options = ("--slots", "cpu:2", *MIRRORED, "--set", "training.devices=2")
        undisturbed = self.train(*options, epochs=LONG)
        run = self.start("train", self.searched, "--epochs", LONG, *options)
        self.await_log("cpu:1 joined", run)
        self.await_training(run)
        for node in self.nodes().values():
            os.kill(node.pid, signal.SIGKILL)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.query("select weights_hash, tries from evaluations"), [(undisturbed, 2)])

    def test_a_team_gives_the_weights_of_mirrored_whoever_is_lost(self):
        team = ("--set", "training.distribution=multi_worker_mirrored", "--set", "training.devices=3", "--slots", "cpu:3")
        mirrored = self.train("--slots", "cpu:3", *MIRRORED, "--set", "training.devices=3", epochs=LONG)
        self.assertEqual(self.train(*team, epochs=LONG), mirrored)
        run = self.start("train", self.searched, "--epochs", LONG, *team)
        self.await_log(" joined", run, count=3)
        self.await_training(run, slots=3)
        self.await_shares(run)
        for killed, slot in enumerate(("cpu:2", "cpu:0", "cpu:1"), 1):
            os.kill(self.nodes()[slot].pid, signal.SIGKILL)
            self.await_log("goes on with 2 of 3 slots", run, count=killed)
            self.await_log("goes on with 3 of 3 slots", run, count=killed)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.query("select weights_hash, tries from evaluations"), [(mirrored, 1)])

    def test_a_slot_that_leaves_one_member_alone_trains_again(self):
        """Killed, or told to leave by somebody."""
        run = self.start("train", self.searched, "--epochs", ENDLESS, "--set", "training.devices=2", "--slots", "cpu:2",
                         "--set", "training.distribution=multi_worker_mirrored")
        self.await_training(run)
        for lost, sent in enumerate((signal.SIGKILL, signal.SIGTERM), 1):
            self.await_shares(run, 2)
            os.kill(self.nodes()["cpu:1"].pid, sent)
            self.await_log("goes on with 1 of 2 slots", run, count=lost)
            self.await_log("goes on with 2 of 2 slots", run, count=lost)
        self.await_shares(run, 2)
        run.kill()

    def test_told_to_leave_it_keeps_its_position(self):
        run = self.start("train", self.searched, "--epochs", ENDLESS, "--set", "training.devices=2", "--slots", "cpu:2",
                         "--set", "training.distribution=multi_worker_mirrored")
        self.await_training(run)
        self.await_shares(run, 2)
        run.terminate()
        self.assertEqual(run.end(), 130, run.said())
        self.assertIn("SIGTERM: what is in training has ", run.err)
        self.assertIn("SIGTERM: what is in training has ", self.log("head.log"))
        self.assertIn("paused (SIGTERM)", run.out)
        self.assertIn("clade node: a training keeps its position in epoch ", self.log("worker.log"))
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "SIGTERM")])
        self.assert_nothing_left()
        resumed = self.start("resume", self.run_folder())

        def goes_on():
            self.assertTrue(resumed.running, resumed.said())
            return re.findall(r"a training goes on in epoch (\d+) of", self.log("worker.log"))
        epochs = await_true(goes_on, "the training did not go on")
        self.assertGreater(max(map(int, epochs)), 1)
        resumed.kill()

    def test_each_request_to_end_keeps_the_position_at_once(self):
        """One slot hears of it late, so that the other may have left before; and nobody waits for their end."""
        cache = self.folder / "cache"
        self.enterContext(mock.patch.dict(os.environ, CLADE_CACHE=str(cache)))
        for asked, late in enumerate(("cpu:0", "cpu:1", "cpu:0", "cpu:1")):
            run = self.start("train", self.searched, "--epochs", ENDLESS, "--set", "training.devices=2", "--slots", "cpu:2",
                             "--set", "training.distribution=multi_worker_mirrored")
            self.await_training(run)
            self.await_shares(run, 2)
            node = self.nodes()[late]
            os.kill(node.pid, signal.SIGSTOP)
            run.terminate()
            self.await_log("leaves; it handed back", run)
            os.kill(node.pid, signal.SIGCONT)
            await_true(lambda: list(cache.glob("positions/*/*.last")), "no position was kept")
            run.kill()
            self.assert_nothing_left()
            resumed = self.start("resume", self.run_folder())
            await_true(lambda: "a training goes on in epoch " in self.log("worker.log"), "the training did not go on")
            resumed.kill()
            self.assert_nothing_left()
            self.run_folder().rename(self.folder / f"asked-{asked}")
            shutil.rmtree(cache / "positions")

    def test_parts_outlive_all_processes(self):
        """The head and all nodes are killed in the middle of a training."""
        cache = self.folder / "cache"
        self.enterContext(mock.patch.dict(os.environ, CLADE_CACHE=str(cache)))
        for distribution in ("sharded", "pipeline"):
            team = ("--set", f"training.distribution={distribution}", "--set", "training.devices=2", "--slots", "cpu:2",
                    "--set", 'training.checkpoint_every="50ms"')
            undisturbed = self.train(*team, epochs=150)
            run = self.start("train", self.searched, "--epochs", 150, *team)
            await_true(lambda: list(cache.glob("positions/*/*.before")), "no position was kept")
            for node in self.nodes().values():
                os.kill(node.pid, signal.SIGSTOP)  # Nobody ends it first.
            self.assertTrue(run.running, run.said())
            run.kill()
            self.assert_nothing_left()
            resumed = self.finish("resume", self.run_folder())
            epochs = re.findall(r"a training goes on in epoch (\d+)", self.log("worker.log"))
            self.assertTrue(epochs and max(map(int, epochs)) > 1, resumed.said())
            self.assertEqual(self.query("select weights_hash from evaluations"), [(undisturbed,)])
            self.run_folder().rename(self.folder / f"lost-{distribution}")

    def join(self, run, name, environment):
        """A worker of one slot, as of another machine."""
        def listens():
            self.assertTrue(run.running, run.said())
            return "".join(f.read_text() for f in self.runs.glob("*/address")).strip()
        address = await_true(listens, "the run does not listen")
        return self.start("worker", "--connect", address, "--keys", self.run_folder() / "keys" / "worker",
                          "--slots", "cpu:1", "--name", name, environment=environment)

    def test_whom_a_team_waits_for_is_said(self):
        """A worker leaves for good, and of the other two slots one has twice as much to compute then."""
        network = self.folder / "network.json"
        convolution = {"op": "conv", "settings": {"filters": 32, "kernel": 3, "stride": 1, "norm": "none",
                                                  "activation": "relu"}}
        network.write_text(json.dumps({
            "layers": [convolution] * 3 + [{"op": "global_avg_pool", "settings": {}}],
            "hyperparameters": {"batch_size": 64, "label_smoothing": 0.1, "learning_rate": 0.01, "momentum": 0.9,
                                "optimizer": "sgd", "schedule": "cosine", "shift": 0, "weight_decay": 1e-4}}))
        run = self.start("train", network, "--experiment", ROOT / "experiments" / "digits.toml", "--epochs", LONG,
                         "--slots", "cpu:2", "--listen", "127.0.0.1:0", "--set", "training.devices=3",
                         "--set", "training.distribution=multi_worker_mirrored", "--set", 'limits.evaluation_time="1h"')
        worker = self.join(run, "leaves", {})
        self.await_training(run, slots=3)
        worker.kill()
        self.await_log("goes on with 2 of 3 slots", run)

        def shown():
            self.assertTrue(run.running, run.said())
            lines = self.finish("workers", self.run_folder()).out.splitlines()
            return [line for line in lines if "%, the others wait for it" in line and " of 2, " in line]
        self.assertEqual(len(await_true(shown, "nobody was shown for whom the others wait")), 1)
        run.kill()

    def failed_slots(self, run):
        """Returns the slots that are shown as failed; None once the run is over and nobody shows any."""
        command = self.start("workers", self.run_folder(), "--json")
        if command.end() != 0:
            self.assertIn("no session is live", command.said())
            self.assertEqual(run.end(), 0, run.said())
            return None
        return [f["slot"] for f in json.loads(command.out)["failures"]]

    def test_a_machine_whose_disk_is_full_costs_no_training(self):
        for distribution, epochs, writes in (("sharded", 100, 40), ("multi_worker_mirrored", 400, 1)):
            team = ("--set", f"training.distribution={distribution}", "--set", "training.devices=3",
                    "--set", 'training.checkpoint_every="1ms"')
            undisturbed = self.train(*team, "--slots", "cpu:3", epochs=epochs)
            full = {"LD_PRELOAD": os.environ["CLADE_FAILING_DISK"], "CLADE_TEST_FAIL": "write",
                    "CLADE_TEST_FAIL_OF": "positions", "CLADE_TEST_FAIL_AT": str(writes)}
            run = self.start("train", self.searched, "--epochs", epochs, *team, "--slots", "cpu:2",
                             "--listen", "127.0.0.1:0", environment=full if distribution != "sharded" else {})
            worker = self.join(run, "full", full)
            if distribution == "sharded":
                self.await_log("full/cpu:0 cannot go on with #1, as the position of the training cannot be written on "
                               f"{socket.gethostname()}, in the file system of /", run)
                self.await_log("No space left on device: it is quarantined", run)
                def shown():
                    found = self.failed_slots(run) if run.running else None
                    return ["over"] if found is None else found
                # The training may be over before it is looked at.
                self.assertIn(await_true(shown, "the slot was not shown as failed"), (["full/cpu:0"], ["over"]))
            self.assertEqual(run.end(), 0, run.said())
            self.assertEqual(self.query("select weights_hash, tries from evaluations"), [(undisturbed, 1)])
            self.assertEqual(worker.end(), 0, worker.said())
            if distribution != "sharded":  # Whoever is the first member keeps it, and tells of it.
                said = worker.said() + self.log("worker.log")
                self.assertIn("not kept: No space left on device", said)
            self.run_folder().rename(self.folder / distribution)

    def test_gloo_gives_the_weights_of_tls(self):
        team = ("--set", "training.distribution=multi_worker_mirrored", "--set", "training.devices=3", "--slots", "cpu:3")
        gloo = ("--set", 'training.collectives={backend = "gloo", network = "127.0.0.0/8"}')
        self.assertEqual(self.train(*team, *gloo, epochs=200), self.train(*team, epochs=200))

    def test_what_timing_decided_is_made_again(self):
        for settings in (("parameter_server", "training.updates=asynchronous"), ("peer_to_peer",)):
            words = [w for s in settings[1:] for w in ("--set", s)]
            self.train("--set", f"training.distribution={settings[0]}", "--set", "training.devices=3", *words,
                       "--slots", "cpu:3", keeps_folder=True)
            again = self.finish("replay", self.run_folder(), "--retrain", "champion", "--slots", "cpu:1").out
            self.assertIn("#1: equal, 12 epochs", again)
            self.run_folder().rename(self.folder / settings[0])

    def test_what_cannot_be_is_refused_in_a_sentence(self):
        for setting, words in (("training.distribution=xla", "LibTorch does not reach TPUs"),
                               ("training.distribution=morrored", "there is none of that name"),
                               ("training.devices=2", "needs a distribution")):
            failed = self.refused("train", self.searched, "--set", setting)
            self.assertIn(words, failed)
        failed = self.refused("train", self.searched, "--slots", "cpu:2", *MIRRORED, "--set", "training.devices=3")
        self.assertIn('slots.local = "cpu:2" gives 2', failed)
        failed = self.refused("train", self.searched, "--slots", "cpu:2", "--set", "training.distribution=sharded",
                              "--set", "training.devices=2",
                              "--set", 'training.collectives={backend = "gloo", network = "203.0.113.0/24"}')
        self.assertIn(f"{socket.gethostname()} has no address in the network 203.0.113.0/24", failed)
        self.assertFalse(list(self.runs.glob("*")))

    def test_networks_get_as_many_slots_as_their_memory_needs(self):
        def planned(*options):
            words = [CLADE, "plan", self.file, "--slots", "cpu:2", "--json", *options]
            return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

        alone = planned()
        self.assertEqual(alone["devices"], {"median": 1, "largest": 1})
        limit = alone["training_bytes"]["largest"] * 3 // 4
        fit = ("--set", "training.distribution=sharded", "--set", "training.devices=fit",
               "--set", f"limits.evaluation_memory={limit}B")
        needed = planned(*fit)["devices"]
        self.assertEqual(needed["median"], 1)
        self.assertGreaterEqual(needed["largest"], 2)

    def test_a_network_from_a_file_is_trained(self):
        network = self.folder / "network.json"
        network.write_text(json.dumps({
            "layers": [{"op": "dense", "settings": {"units": 16, "activation": "relu", "norm": "none"}}],
            "hyperparameters": {"batch_size": 32, "learning_rate": 0.01, "momentum": 0.9,
                                "optimizer": "adam", "schedule": "cosine", "weight_decay": 1e-4}}))
        self.finish("train", network, "--experiment", self.file, "--epochs", "3")
        self.assertEqual(self.count("select count(*) from evaluations where outcome = 'succeeded'"), 1)
        network.write_text("{}")
        self.assertIn("network.json", self.refused("train", network, "--experiment", self.file))


if __name__ == "__main__":
    unittest.main()
