"""`clade launch slurm` with a real SLURM: what it submits are workers, and a job that is requeued joins its run again."""

import os
import re
import unittest
import unittest.mock

from live_runs import RunTest, await_end, await_true
from slurm_cluster import SlurmCluster

# Writes down what it was called with, and that it was told to end. One process: SLURM would signal a child first.
RECORDER = """#!/usr/bin/env python3
import os, pathlib, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
restart = os.environ.get("SLURM_RESTART_COUNT", "0")
said = pathlib.Path(__file__).with_name(f"said-{os.environ['SLURMD_NODENAME']}-{restart}")
new = said.with_suffix(".new")
new.write_text("\\n".join([os.getcwd(), *sys.argv[1:], ""]))
new.rename(said)
signal.sigwait({signal.SIGTERM})
with said.open("a") as end:
    end.write("TERM\\n")
"""


class SlurmTest(RunTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SlurmCluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def setUp(self):
        super().setUp()
        environment = unittest.mock.patch.dict(os.environ, self.cluster.environment)
        environment.start()
        self.addCleanup(environment.stop)


class Script(SlurmTest):
    """The text of the script, without a run: its program is a stand-in."""

    def setUp(self):
        super().setUp()
        # Everything that a path may hold, as far as SLURM can write there.
        self.odd = self.folder / "it's 100% #1 $x \"q\" %j"
        self.odd.mkdir()
        self.recorder = self.odd / "recorder"
        self.recorder.write_text(RECORDER)
        self.recorder.chmod(0o755)

    def submit(self, *words):
        text = self.finish("launch", "slurm", self.write_experiment(), "--dry-run", "--nodes", "2", "--host", "login1",
                           "--runs", self.odd / "runs", "--program", self.recorder, *words).out
        self.assertEqual(list(self.odd.iterdir()), [self.recorder], "a dry run makes nothing")
        self.run_place = self.odd / "runs" / "toy-TIME"
        self.run_place.mkdir(parents=True)
        script = self.folder / "slurm.sh"
        script.write_text(text)
        return self.cluster.order("sbatch", "--parsable", script).strip()

    def said(self, node, start):
        file = self.odd / f"said-{node}-{start}"
        return await_true(lambda: file.exists() and file.read_text().splitlines(), f"no worker on {node}")

    def await_terminated(self, start):
        for node in ("n1", "n2"):
            await_true(lambda: self.said(node, start)[-1] == "TERM", f"the worker on {node} was not told to end")

    def test_each_node_has_one_worker_and_a_requeued_job_has_them_again(self):
        job = self.submit("--slots", "cpu:1", "--sbatch", "comment=a \"b\" #c")
        for start in (0, 1):
            for node in ("n1", "n2"):
                said = self.said(node, start)
                place, role, connect, keys, slots, name = said[0], said[1], said[3], said[5], said[7], said[9]
                self.assertEqual((place, role, said[2:10:2]), (
                    str(self.run_place), "worker", ["--connect", "--keys", "--slots", "--name"]))
                self.assertRegex(connect, r"^login1:[0-9]+$")
                self.assertEqual((keys, slots, name), (
                    str(self.run_place / "keys" / "worker"), "cpu:1", f"slurm-{job}-{node}"))
                self.assertEqual(said[10:], [])
            if start == 0:
                self.assertIn('Comment=a "b" #c', self.cluster.order("scontrol", "show", "job", job))
                self.cluster.order("scontrol", "requeue", job)
                self.await_terminated(start)
        self.cluster.order("scancel", job)
        self.await_terminated(1)
        self.cluster.await_quiet()
        self.assertTrue((self.run_place / f"slurm-{job}.log").exists())


class Runs(SlurmTest):
    def launch(self, *words, status=0, **changes):
        self.file = self.write_experiment(**changes)
        done = self.finish("launch", "slurm", self.file, "--nodes", "2", "--slots", "1", "--host", "127.0.0.1", *words,
                           status=status)
        if status == 0:
            self.job, self.log = re.search(r"^job ([0-9]+): 2 workers; log (.*)$", done.out, re.MULTILINE).groups()
            self.head = int(re.search(r" as process ([0-9]+) of this machine;", done.out)[1])
        return done

    def await_slurm_evaluations(self, least):
        await_true(lambda: self.cluster.all_alive() and self.count("select count(*) from evaluations") >= least,
                   f"SLURM's workers never evaluated {least}")

    def assert_ended_well(self, candidates):
        await_end(self.head)
        self.assert_whole(candidates)
        self.cluster.await_quiet()
        self.assertEqual(self.cluster.state(self.job), "COMPLETED")

    def test_a_run_is_launched_and_evaluated_by_the_nodes_alone(self):
        self.launch(duration="20ms")
        self.assert_ended_well(64)
        slots = {row[0] for row in self.query("select slot from nodes")}
        self.assertEqual(slots, {f"slurm-{self.job}-{node}/cpu:0" for node in ("n1", "n2")})
        self.assertTrue(os.path.exists(self.log))
        self.assert_undisturbed(self.file)

    def test_a_job_that_is_requeued_joins_its_run_again(self):
        self.launch(duration="150ms")
        self.await_slurm_evaluations(6)
        self.cluster.order("scontrol", "requeue", self.job)
        self.assert_ended_well(64)
        self.assertIn(" Restarts=1 ", self.cluster.order("scontrol", "show", "job", self.job))
        self.assertEqual(self.count("select count(*) from nodes"), 4, "each worker joined twice")
        self.assert_undisturbed(self.file)

    def test_a_job_that_sbatch_refuses_leaves_nothing(self):
        done = self.launch("--sbatch", "partition=nowhere", status=2)
        self.assertEqual(done.out, "")
        self.assertEqual(done.err.splitlines()[-1],
                         "clade: sbatch did not take the job (status 1); nothing was submitted")
        self.assertEqual(list(self.runs.iterdir()), [])
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
