"""Runs whose fitness is a program: the same on any number of slots and when killed, and nothing of it outlives them."""

import json
import os
import pathlib
import signal
import unittest

from live_runs import RunTest, await_end, await_true, processes_of

ROOT = pathlib.Path(__file__).resolve().parents[2]

SPACE = """[limits]
max_nodes = 0
[hyperparameters]
x = { low = -2.0, high = 2.0 }
way = ["plain", "rough"]
"""

EXPERIMENT = """[experiment]
name = "{name}"
seed = 5
fitness = "command"
[search_space]
file = "space.toml"
[objective]
minimize = ["loss"]
[evolution]
strategy = "generational"
population = 8
generations = 3
[command]
run = ["python3", "score.py"]
[limits]
evaluation_time = "30s"
"""

# Programs of x below -1.5 fail. The folder is among its words, so that it is found in /proc.
SCORE = """import json, sys
candidate = json.load(sys.stdin)
h = candidate["hyperparameters"]
if h["x"] < -1.5:
    sys.exit(f"x is {h['x']}")
print(json.dumps({"loss": (h["x"] - 1) ** 2 + (h["way"] == "rough"), "seed": candidate["seed"]}))
"""

# Says that it is there, and the numbers of two children that ignore that they are told to end, one in its own session.
STUCK = """import os, pathlib, subprocess, sys, time
if not pathlib.Path("ready").exists():
    words = ["sh", "-c", "trap '' TERM; sleep 1000; : " + os.getcwd()]
    children = [subprocess.Popen(words), subprocess.Popen(words, start_new_session=True)]
    pathlib.Path("writing").write_text(" ".join(str(child.pid) for child in children))
    pathlib.Path("writing").rename("ready")
    time.sleep(1000)
"""


class CommandTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write("space.toml", SPACE)
        self.write("score.py", SCORE)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def experiment(self, name="scored"):
        return self.write(f"{name}.toml", EXPERIMENT.format(name=name))

    def digest_of(self, name):
        run = next(self.runs.glob(f"{name}-*"))
        verified = json.loads(self.finish("replay", run, "--verify", "--json").out)
        self.assertTrue(verified["equal"])
        return verified["digest"]


class Runs(CommandTest):
    def test_a_run_is_the_same_with_other_slots(self):
        for slots in ("1", "2"):
            self.finish("run", self.experiment(f"s{slots}"), "--slots", slots)
        self.assertEqual(self.digest_of("s1"), self.digest_of("s2"))
        run = next(self.runs.glob("s1-*"))
        said = self.finish("report", run).out + self.finish("show", run).out + self.finish("explain", run, "champion").out
        self.assertIn("loss", said)
        for words in (("export", run, "--python", "out"), ("predict", run, "x.csv")):
            refused = self.finish(*words, status=2)
            self.assertIn("a run of a command trains no networks", refused.err)
        refused = self.finish("replay", run, "--retrain", "champion", status=2)
        self.assertIn("the seed alone does not decide it", refused.err)
        self.finish("plan", self.folder / "s1.toml")

    def test_a_killed_run_goes_on_as_if_never_killed(self):
        file = self.experiment()
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(5, run)
        run.kill()
        self.finish("resume", self.run_folder())
        self.assert_whole(24)
        failed = self.query("select reason from evaluations where outcome = 'crashed'")
        for (reason,) in failed:
            self.assertRegex(reason, r"^the program ended with status 1: x is -")
        self.assert_undisturbed(file)

    def test_a_killed_node_takes_its_program_along(self):
        self.write("score.py", STUCK + SCORE)
        run = self.start("run", self.experiment(), "--slots", "1")
        await_true((self.folder / "ready").exists, "the program never began")
        children = [int(word) for word in (self.folder / "ready").read_text().split()]
        for child in children:
            os.kill(child, 0)  # It is there.
        # The guard of the program is a fork of the node, and has its words.
        node, = (p for p in processes_of(self.folder) if p.role == "node" and p.parent == self.worker(run).pid)
        os.kill(node.pid, signal.SIGKILL)
        for child in children:
            await_end(child)
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.count("select count(*) from evaluations"), 24)

    def test_a_program_that_never_ends_is_one_failed_candidate(self):
        self.write("score.py", STUCK + SCORE)
        self.finish("run", self.experiment(), "--slots", "1", "--set", "limits.evaluation_time=5s")
        reasons = self.query("select reason from evaluations where outcome = 'timed out'")
        self.assertEqual(reasons, [("takes longer than 5000 ms",)])

    def test_what_is_missing_is_told_before_anything_is_made(self):
        refused = self.finish("run", self.experiment(), "--set", "command.run=no-such-program", status=2)
        self.assertIn("[command]: there is no program no-such-program on this machine", refused.err)
        self.assertFalse(self.runs.exists())


class Example(CommandTest):
    def test_the_one_of_the_repository_runs(self):
        self.finish("run", ROOT / "experiments" / "command.toml", "--slots", "2")
        self.assertEqual(self.count("select count(*) from evaluations where outcome = 'succeeded'"), 32)


if __name__ == "__main__":
    unittest.main()
