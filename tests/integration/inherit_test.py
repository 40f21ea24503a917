"""Trainings that start from others: what they start from is there again after a kill, and where it is lost; LibTorch."""

import os
import pathlib
import random
import shutil
import signal
import unittest

from live_runs import RunTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

EXPERIMENT = f"""
[experiment]
name = "heirs"
seed = 3
[data]
file = "{ROOT}/experiments/data/digits.csv.gz"
limit = 300
[search_space]
file = "{ROOT}/search_spaces/mlp.toml"
[evolution]
strategy = "generational"
population = 5
generations = 4
elites = 2
inherit = true
[training]
epochs = 2
"""
CANDIDATES = 20


class InheritTest(RunTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "heirs.toml"
        self.file.write_text(EXPERIMENT)

    def start_run(self):
        return self.start("run", self.file, "--slots", "cpu:2")

    def checkpoints(self):
        return sorted(p.name for p in (self.run_folder() / "checkpoints").glob("*"))

    def kill_after(self, evaluations, run):
        self.await_evaluations(evaluations, run)
        run.kill()

    def resume(self):
        return self.start("resume", self.run_folder())

    def end(self, run):
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.count("select count(*) from evaluations"), CANDIDATES)
        self.assertEqual(self.checkpoints(), [])


class KilledHead(InheritTest):
    def test_it_goes_on_as_if_never_killed(self):
        run = self.start_run()
        for least in sorted([random.randrange(1, 6), random.randrange(6, 12), random.randrange(12, 19)]):
            self.kill_after(least, run)
            run = self.resume()
        self.end(run)
        self.assert_undisturbed(self.file)

    def test_lost_and_damaged_checkpoints_are_made_again(self):
        run = self.start_run()
        self.kill_after(6, run)
        self.assertNotEqual(self.checkpoints(), [])
        shutil.rmtree(self.run_folder() / "checkpoints")
        run = self.resume()
        self.kill_after(12, run)
        for file in (self.run_folder() / "checkpoints").iterdir():
            data = bytearray(file.read_bytes())
            if data:  # The kill may have left one that was not written yet.
                data[len(data) // 2] ^= 1
            file.write_bytes(data)
        self.end(self.resume())
        self.assert_undisturbed(self.file)


class KilledNode(InheritTest):
    def test_the_next_try_starts_from_the_same(self):
        run = self.start_run()
        self.await_evaluations(7, run)
        for node in self.nodes().values():
            os.kill(node.pid, signal.SIGKILL)
        self.end(run)
        self.assert_undisturbed(self.file)


class Retraining(InheritTest):
    def test_every_chain_gives_the_same_bits(self):
        self.end(self.start_run())
        text = self.finish("replay", self.run_folder(), "--retrain", "all").out
        self.assertIn("trained again on cpu equal", text)
        self.assertNotIn("differs", text)
        youngest = self.count("select max(id) from evaluations where equal_to is null")
        self.assertIn(f"#{youngest}: equal", self.finish("replay", self.run_folder(), "--retrain", youngest).out)


if __name__ == "__main__":
    unittest.main()
