"""The devices of a run: what each node process may see and use, looked up in /proc while it trains."""

import json
import os
import pathlib
import signal
import unittest
import unittest.mock

from live_runs import RunTest, await_true

CARDS = "GPU-a1a1a1a1-0000|Card A|16000|8000;GPU-b2b2b2b2-0000|Card B|16000|6000"
UUIDS = ["GPU-a1a1a1a1-0000", "GPU-b2b2b2b2-0000"]


def environment_of(process):
    content = pathlib.Path("/proc", str(process.pid), "environ").read_text()
    return dict(entry.split("=", 1) for entry in content.split("\0") if "=" in entry)


def cores_of(process):
    return os.sched_getaffinity(process.pid)


def hears_interrupts(pid):
    """A run sets its handler before its head and its worker start: from here on an interrupt lets it drain."""
    status = pathlib.Path("/proc", str(pid), "status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(caught, 16) >> (signal.SIGINT - 1) & 1


class SlotsTest(RunTest):
    """On a machine whose GPUs are those that the test says, whatever it has."""

    cards = ""

    def setUp(self):
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(
            os.environ, CLADE_NVML=os.environ["CLADE_FAKE_NVML"], FAKE_NVML_CARDS=self.cards))
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)

    def train(self, slots, nodes):
        """Starts a run, and returns its nodes once so many have introduced themselves."""
        run = self.start("run", self.write_experiment(population=16, generations=1, duration="50ms"),
                         "--slots", slots)
        self.await_count("select count(*) from nodes", nodes, run)
        self.run_now = run
        return self.nodes()

    def end(self):
        self.assertEqual(self.run_now.end(), 0, self.run_now.said())
        self.assert_whole(16)

    def devices(self, *words):
        return json.loads(self.finish("devices", "--json", *words).out)


class Cores(SlotsTest):
    def test_slots_divide_the_cores(self):
        usable = os.sched_getaffinity(0)
        nodes = self.train(min(2, len(usable)), min(2, len(usable)))
        shares = [cores_of(node) for node in nodes.values()]
        self.assertEqual(set().union(*shares), usable)
        self.assertEqual(sum(map(len, shares)), len(usable))
        self.end()

    def test_more_slots_than_cores_run_on_any(self):
        usable = os.sched_getaffinity(0)
        nodes = self.train(len(usable) + 1, len(usable) + 1)
        self.assertEqual([cores_of(node) for node in nodes.values()], [usable] * len(nodes))
        self.end()

    def test_a_core_has_one_thread_and_no_gpu(self):
        environment = environment_of(self.train(1, 1)["cpu:0"])
        self.assertEqual(environment["OMP_NUM_THREADS"], "1")
        self.assertEqual(environment["MKL_NUM_THREADS"], "1")
        self.assertEqual(environment["CUDA_VISIBLE_DEVICES"], "")
        self.end()

    def test_a_mask_leaves_one_slot(self):
        usable = os.sched_getaffinity(0)
        one = {min(usable)}
        os.sched_setaffinity(0, one)
        try:
            shown = self.devices()
            nodes = self.train("auto", 1)
        finally:
            os.sched_setaffinity(0, usable)
        self.assertEqual([shown["cores"], len(shown["slots"])], [list(one), 1])
        self.assertEqual(list(nodes), ["cpu:0"])
        self.assertEqual(cores_of(nodes["cpu:0"]), one)
        self.end()
        self.assertEqual(self.query("select distinct slot from nodes"), [("cpu:0",)])


class Cards(SlotsTest):
    cards = CARDS

    def test_each_sees_its_own(self):
        nodes = self.train("auto", 2)
        self.assertEqual(sorted(nodes), ["cuda:0", "cuda:1"])
        for number, uuid in enumerate(UUIDS):
            node = nodes[f"cuda:{number}"]
            self.assertEqual(environment_of(node)["CUDA_VISIBLE_DEVICES"], uuid)
            self.assertEqual(environment_of(node)["OMP_NUM_THREADS"], "1")
            self.assertEqual(node.option("--device"), "cuda:0")
            self.assertIn(uuid[:12], node.option("--label"))
        self.end()

    def test_two_share_one_and_its_memory(self):
        nodes = self.train("cuda:1*2", 2)
        self.assertEqual(sorted(nodes), ["cuda:1/0", "cuda:1/1"])
        for node in nodes.values():
            self.assertEqual(environment_of(node)["CUDA_VISIBLE_DEVICES"], UUIDS[1])
            self.assertEqual(node.option("--memory"), "3000")
        self.end()

    def test_a_schedulers_choice_is_kept(self):
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        nodes = self.train("cuda", 1)
        self.assertEqual(list(nodes), ["cuda:0"])
        self.assertEqual(environment_of(nodes["cuda:0"])["CUDA_VISIBLE_DEVICES"], UUIDS[1])
        self.end()

    def test_they_are_shown(self):
        shown = self.devices()
        self.assertEqual([g["uuid"] for g in shown["gpus"]], UUIDS)
        self.assertEqual([s["memory_bytes"] for s in shown["slots"]], [8000, 6000])
        self.assertEqual(len(self.devices("--slots", "cuda:0*2,cpu:1")["slots"]), 3)
        text = self.finish("devices").out
        for word in ("Card A", UUIDS[1], "cuda:1", "cores", "memory", 'slots "auto": 2'):
            self.assertIn(word, text)


class Refused(SlotsTest):
    """In one sentence, before anything is made."""

    cards = CARDS

    def refuse(self, slots, sentence, status=2):
        run = self.finish("run", self.write_experiment(), "--slots", slots, status=status)
        self.assertEqual(run.err, f"clade: {sentence}\n")
        self.assertFalse(self.runs.exists())

    def test_a_card_that_is_not_there(self):
        self.refuse("cuda:3", 'slots "cuda:3": this machine has cuda:0 and cuda:1')

    def test_a_card_that_is_hidden(self):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        self.refuse("cuda:0", "slots \"cuda:0\": CUDA_VISIBLE_DEVICES leaves none of this machine's 2 GPUs")

    def test_a_driver_that_fails(self):
        os.environ["FAKE_NVML_FAILS"] = "nvmlInit_v2=9"
        failed = f'{os.environ["CLADE_NVML"]}: nvmlInit_v2: Driver Not Loaded'
        self.refuse("cuda:0", f'slots "cuda:0": {failed}', status=1)
        shown = self.finish("devices", "--json", status=1)
        self.assertEqual(json.loads(shown.out)["gpu_trouble"], failed)
        # Who wants no GPU need not know.
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "1")

    def test_a_worker_without_slots(self):
        worker = self.finish("worker", "--connect", "127.0.0.1:1", "--keys", self.folder, "--slots", "none", status=2)
        self.assertEqual(worker.err, 'clade: slots "none": a worker must have one at least\n')


class NoneHere(SlotsTest):
    def test_a_run_waits_for_others(self):
        run = self.start("run", self.write_experiment(), "--slots", "none")
        await_true(lambda: hears_interrupts(run.pid), "the run never set its handler")
        self.assertIsNone(self.worker(run))
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.assertFalse((self.run_folder() / "worker.log").exists(), "a worker was started")


if __name__ == "__main__":
    unittest.main()
