"""One training on several slots: clade train, its weights, its faults and what it refuses; LibTorch."""

import json
import os
import pathlib
import signal
import sqlite3
import unittest

from live_runs import RunTest, await_true

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
            there = json.loads(self.finish("workers", self.run_folder(), "--json").out)["slots"]
            return [slot["training"] for slot in there] == [1] * slots
        await_true(trains, "the training did not start on all slots")

    def await_shares(self, run):
        """Until each slot is shown as another member of the team, with what it does."""
        def shown():
            self.assertTrue(run.running, run.said())
            shares = [s["team"] for s in json.loads(self.finish("workers", self.run_folder(), "--json").out)["slots"]]
            return (sorted(s["member"] for s in shares) == [1, 2, 3]
                    and all(s["members"] == 3 and s["steps_per_second"] > 0 and s["bytes_per_second"] > 0
                            and 0 < s["waits"] <= 1 for s in shares))
        await_true(shown, "not every slot was shown with its share of the work")
        self.assertIn(" of 3, ", self.finish("workers", self.run_folder()).out)

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
        self.assertFalse(list(self.runs.glob("*")))

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
