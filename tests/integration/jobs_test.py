"""Scripts of somebody's, run as jobs: in parallel, each to one end, with its log, and nothing of them left."""

import json
import os
import pathlib
import signal
import subprocess
import unittest

from live_runs import RunTest, await_true

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "tools" / "jobs" / "training_summary.schema.json"
TEST_PYTHON = pathlib.Path(os.environ.get("CLADE_TEST_VENV", ROOT / "build" / "test_venv"), "bin", "python3")

# Each names its folder, by which what it leaves behind is found in /proc.
SCRIPTS = {
    "train_quick.py": "import time; time.sleep(0.2); print('trained')\n",
    "train_slow.py": "import time; time.sleep(1)\n",
    "train_options.py": """import argparse
p = argparse.ArgumentParser()
p.add_argument("--num-epochs", type=int, default=1)
p.add_argument("--early-stopping", action="store_true")
a = p.parse_args()
print("epochs", a.num_epochs, "stops", a.early_stopping)
""",
    "train_broken.py": "raise ValueError('no data')\n",
    "train_wrong.sh": "echo gives up >&2; exit 3\n",
    "train_hanging.sh": "trap '' TERM; wait='import time; time.sleep(1000)'\n"
                        "python3 -c \"$wait\" $PWD & setsid python3 -c \"$wait\" $PWD & wait\n",
    "train_large.py": "x = b'x' * (1 << 29)\nimport time; time.sleep(1000)\n",
    "train_flaky.sh": "test $CLADE_TRY = 2 || { echo not yet; exit 75; }\n",
}


class JobsTest(RunTest):
    def setUp(self):
        super().setUp()
        self.scripts = self.folder / "scripts"
        self.scripts.mkdir()

    def write(self, **scripts):
        for name, text in scripts.items():
            stem, _, ending = name.rpartition("_")
            (self.scripts / f"{stem}.{ending}").write_text(text)

    def summary(self):
        """The latest."""
        file = max((self.folder / "summaries").glob("training_summary_*.json"), key=lambda f: f.stat().st_mtime_ns)
        checked = subprocess.run([TEST_PYTHON, "-m", "jsonschema", "-i", file, SCHEMA], capture_output=True, text=True,
                                 check=False) if TEST_PYTHON.exists() else None
        if checked is not None:
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        return json.loads(file.read_text())

    def outcomes(self):
        return {job["name"]: job["outcome"] for job in self.summary()["jobs"]}

    def log_of(self, job, attempt=1):
        logs = sorted((self.folder / "logs" / job).glob("run_*.log"))
        return next(f for f in logs if f.stem.endswith(f"_try{attempt}") == (attempt > 1)).read_text()


class Running(JobsTest):
    def test_eight_scripts_each_come_to_their_end(self):
        for name, text in SCRIPTS.items():
            (self.scripts / name).write_text(text)
        run = self.finish("jobs", "run", self.scripts, "--max-workers", "2", "--oversubscribe", "--retries", "1",
                          "--timeout", "3s", "--memory", "256MiB", "--epochs", "5", "--extra-arg", "--early-stopping",
                          status=1)
        self.assert_nothing_left()
        summary = self.summary()
        jobs = {job["name"]: job for job in summary["jobs"]}
        self.assertEqual({name: job["outcome"] for name, job in jobs.items()}, {
            "train_quick": "succeeded", "train_slow": "succeeded", "train_options": "succeeded",
            "train_flaky": "succeeded", "train_broken": "failed", "train_wrong": "failed",
            "train_hanging": "timed out", "train_large": "out of memory"})
        self.assertEqual((summary["succeeded"], summary["failed"], summary["not_run"]), (4, 4, 0))
        self.assertEqual(jobs["train_broken"]["reason"],
                         "ended with status 1: ValueError: no data (after 2 tries)")
        self.assertEqual(jobs["train_wrong"]["reason"], "ended with status 3: gives up (after 2 tries)")
        self.assertEqual(jobs["train_hanging"]["reason"], "took longer than 3 s")
        self.assertEqual(jobs["train_large"]["reason"], "took more than 256 MiB")
        self.assertEqual([t["exit_status"] for t in jobs["train_flaky"]["tries"]], [75, 0])
        self.assertEqual([len(jobs[j]["tries"]) for j in ("train_hanging", "train_large", "train_slow")], [1, 1, 1])
        for job in jobs.values():
            for attempt in job["tries"]:
                self.assertTrue(pathlib.Path(attempt["log"]).is_file(), attempt)
        self.assertIn("epochs 5 stops True", self.log_of("train_options"))
        self.assertEqual(self.log_of("train_quick"), "trained\n")
        self.assertEqual(self.log_of("train_flaky"), "not yet\n")
        self.assertIn("4 of 8 succeeded, 4 failed", run.out)
        self.assertRegex(run.out, r"train_hanging +timed out +[0-9.]+ +1 ")
        self.assertIn("train_wrong  failed in", run.out)
        orchestrator = (self.folder / "logs" / "orchestrator.log").read_text()
        for name, job in jobs.items():
            self.assertIn(f"{name} starts on", orchestrator)
            self.assertIn(f"{name} {job['outcome']} in", orchestrator)
        for name in ("train_flaky", "train_broken", "train_wrong"):
            self.assertEqual(orchestrator.count(f"{name} failed and is tried again (2 of 2)"), 1)
        # It is a run like any other, but for the words of evolution.
        told = self.finish("report", self.run_folder(), "--output", "-").out
        self.assertRegex(told, r'<td>train_hanging</td><td><span class="bad">timed out</span></td>.*took longer than 3 s')
        markdown = self.finish("report", self.run_folder(), "--md", "--output", "-").out
        self.assertRegex(markdown, r"\| train\\?_flaky \| succeeded \| [0-9.]+ s \| 2 \|")
        shown = self.finish("show", self.run_folder()).out
        self.assertRegex(shown, r"train_large +out of memory +[0-9.]+ +1 +cpu:\d +took more than 256 MiB\n")
        self.assertIn("4 of 8 succeeded, 4 failed", shown)
        for text in (told, markdown, shown):
            self.assertNotRegex(text, "candidate|champion|generation|genome")
        self.assertIn("fitness", self.finish("show", self.run_folder(), "--json").out)
        again = self.finish("jobs", "resume", self.run_folder(), status=1)
        self.assertIn("4 of 8 succeeded, 4 failed", again.out)

    def test_all_that_succeed_exit_with_0(self):
        self.write(train_a_py="print(1)\n", train_b_sh="echo 2\n", other_py="exit(1)\n")
        run = self.finish("jobs", "run", "scripts", "--sequential")
        self.assertIn("2 of 2 succeeded", run.out)
        self.assertEqual(self.summary()["workers"], 1)
        self.finish("jobs", "run", "scripts", "--include-pattern", "*.py", "--exclude", "train_a", "--json", status=1)
        self.assertEqual(self.outcomes(), {"other": "failed"})


class Planning(JobsTest):
    def test_a_dry_run_runs_nothing(self):
        self.write(train_a_py="import argparse; p = argparse.ArgumentParser(); p.add_argument('--epochs')\n"
                              "p.parse_args(); open('began', 'w')\n",
                   train_b_py="open('began', 'w')\n")
        said = self.finish("jobs", "run", "scripts", "--epochs", "3", "--dry-run").out
        self.assertRegex(said, r"train_a +python3 \S+/train_a.py --epochs 3\n")
        self.assertIn("without --epochs: it reads no arguments", said)
        self.assertIn("no earlier run says how long they take", said)
        for made in ("began", "runs", "logs"):
            self.assertFalse((self.folder / made).exists(), made)

    def test_it_says_how_long_jobs_took_before(self):
        self.write(train_a_sh="sleep 0.3\n", train_b_sh="sleep 0.6\n")
        self.finish("jobs", "run", "scripts")
        self.write(train_c_sh="true\n")
        lines = [json.loads(line) for line in self.finish("jobs", "run", "scripts", "--dry-run", "--json", "--slots",
                                                          "2").out.splitlines()]
        *jobs, plan = lines
        self.assertEqual([j["job"] for j in jobs], ["train_c", "train_b", "train_a"])
        self.assertEqual(plan["known"], 2)
        self.assertAlmostEqual(plan["sequential_seconds"], jobs[1]["seconds"] + jobs[2]["seconds"], 6)
        self.assertAlmostEqual(plan["seconds"], jobs[1]["seconds"], 6)

    def test_what_cannot_be_is_refused_before_anything_is_made(self):
        self.write(train_a_sh="true\n")
        (self.folder / "jobs.toml").write_text("folders = \"scripts\"\nepoch = 3\n")
        for words, sentence in (
                (["nowhere"], "nowhere: no such folder or script"),
                (["scripts", "--only", "train_b"], "--only train_b: no script has that name; did you mean train_a?"),
                (["scripts", "--timeout", "soon"], "--timeout \"soon\": "),
                (["scripts", "--include-pattern", "*.py"], "is named *.py"),
                (["jobs.toml"], "jobs.toml:2: "),
                (["scripts", "--sequential", "--max-workers", "2"], "--max-workers")):
            refused = self.finish("jobs", "run", *words, status=2)
            self.assertIn(sentence, refused.err)
        many = self.folder / "many"
        many.mkdir()
        for i in range(1000):
            (many / f"train_{i}.sh").write_text("true\n")
        refused = self.finish("jobs", "run", many, "--max-workers", "1000", status=2)
        self.assertIn("--oversubscribe to insist", refused.err)
        self.assertFalse(self.runs.exists())
        self.assertIn("--max-workers", self.finish("jobs", "advise", "--memory", "2GiB").out)

    def test_a_file_says_the_same_as_options(self):
        self.write(train_a_sh="exit 1\n", train_b_sh="pwd\n")
        (self.scripts / "jobs.toml").write_text('only = ["train_b"]\nretries = 1\ntimeout = "1min"\n')
        self.finish("jobs", "run", "scripts/jobs.toml")
        self.assertEqual(self.outcomes(), {"train_b": "succeeded"})
        self.assertEqual(self.log_of("train_b"), f"{self.scripts}\n")


class Interrupted(JobsTest):
    # The second of two is let begin by the test; until then it is at work.
    SCRIPT = "touch began_$CLADE_JOB; while ! test -e go; do sleep 0.01; done\n"

    def start_two_of_three(self):
        self.write(train_a_sh=self.SCRIPT, train_b_sh=self.SCRIPT, train_c_sh="true\n")
        run = self.start("jobs", "run", "scripts", "--slots", "2")
        for name in "ab":
            await_true((self.folder / f"began_train_{name}").exists, "the jobs never began")
        return run

    def interrupt(self, run):
        run.interrupt()
        await_true(lambda: "stopping" in run.err, "it never noticed Ctrl+C")

    def test_the_first_lets_running_jobs_finish(self):
        run = self.start_two_of_three()
        self.interrupt(run)
        (self.folder / "go").touch()
        self.assertEqual(run.end(), 130, run.said())
        self.assertEqual(self.outcomes(), {"train_a": "succeeded", "train_b": "succeeded", "train_c": "not run"})
        words = next(line for line in run.out.splitlines() if "go on with" in line).partition("clade ")[2].split()
        self.finish(*words)
        self.assertEqual(set(self.outcomes().values()), {"succeeded"})

    def test_the_second_ends_them(self):
        run = self.start_two_of_three()
        self.interrupt(run)
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.assert_nothing_left()
        self.assertEqual(set(self.outcomes().values()), {"not run"})
        (self.folder / "go").touch()
        self.finish("jobs", "resume", self.run_folder())
        self.assertEqual(set(self.outcomes().values()), {"succeeded"})

    def test_a_killed_run_goes_on(self):
        run = self.start_two_of_three()
        os.kill(run.pid, signal.SIGKILL)
        run.end()
        self.assert_nothing_left()
        (self.folder / "go").touch()
        self.finish("jobs", "resume")
        self.assertEqual(set(self.outcomes().values()), {"succeeded"})
        self.assert_whole(3)

    def test_what_failed_is_run_again(self):
        self.write(train_a_sh="test -e mended\n", train_b_sh="true\n")
        self.finish("jobs", "run", "scripts", status=1)
        first = self.run_folder()
        (self.folder / "mended").touch()
        self.finish("jobs", "resume", first, "--failed")
        self.assertEqual(self.outcomes(), {"train_a": "succeeded"})


if __name__ == "__main__":
    unittest.main()
