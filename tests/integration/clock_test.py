"""A wall clock that is set while a run goes on: nothing comes of it."""

import os
import signal
import time
import unittest

from faked_time import JumpingTime, SteppedClock
from live_runs import RunTest, await_true
from queue_test import QueueTest

HOUR = 3600


class Jumps(RunTest):
    def test_by_an_hour_to_and_fro(self):
        clock = JumpingTime(self.folder)
        started = time.time()
        file = self.write_experiment(population=24, generations=2, duration="60ms")
        run = self.start("run", file, "--slots", "2", environment=clock.environment)
        for evaluations, jump in ((6, -HOUR), (18, HOUR), (30, 0)):
            self.await_evaluations(evaluations, run)
            clock.jump_to(jump)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(48)
        self.assertEqual(self.query("select * from attempts"), [])
        self.assertEqual(self.query("select slot from nodes order by slot"), [("cpu:0",), ("cpu:1",)])
        # All of it was written by clocks that had jumped.
        first, last = self.query("select min(unix_ms) / 1000, max(unix_ms) / 1000 from records")[0]
        self.assertLess(first, started - HOUR / 2)
        self.assertGreater(last, started + HOUR / 2)
        self.assert_undisturbed(file)


class Steps(RunTest):
    """Processes believe in another wall clock than the kernel has: whoever waits for a time of it waits an hour."""

    def setUp(self):
        super().setUp()
        self.clock = SteppedClock(self.folder)

    def start_run(self, *words, **changes):
        file = self.write_experiment(**changes)
        return file, self.start("run", file, "--slots", "2", *words, environment=self.clock.environment)

    def test_by_an_hour_to_and_fro_with_a_killed_node_and_a_killed_worker(self):
        self.clock.step_to(HOUR)
        file, run = self.start_run(population=24, generations=2, duration="60ms")
        for evaluations, step in ((4, 0), (12, HOUR), (20, -HOUR), (28, 400 * 24 * HOUR)):
            self.await_evaluations(evaluations, run)
            self.clock.step_to(step)
            if step == HOUR:
                os.kill(self.nodes()["cpu:0"].pid, signal.SIGKILL)
            elif step == -HOUR:
                os.kill(self.worker(run).pid, signal.SIGKILL)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(48)
        self.assert_undisturbed(file)

    def test_back_by_an_hour_an_interrupt_is_heard(self):
        self.clock.step_to(HOUR)
        _, run = self.start_run(population=100, generations=10, duration="200ms")
        self.await_evaluations(4, run)
        self.clock.step_to(0)
        self.await_evaluations(8, run)
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())

    def test_back_by_an_hour_the_wall_time_ends(self):
        self.clock.step_to(HOUR)
        _, run = self.start_run("--set", 'limits.wall_time="4s"', population=100, generations=10, duration="200ms")
        self.await_evaluations(2, run)
        self.clock.step_to(0)
        run.end()
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "wall time used")])

    def test_keys_are_renewed_before_they_end(self):
        file, run = self.start_run(population=24, generations=4, duration="60ms")
        self.await_evaluations(1, run)
        for weeks in (3, 6, 52, -52):
            self.await_evaluations(self.count("select count(*) from evaluations") + 4, run)
            renewed = self.log().count("keys of this run were renewed") + 1
            self.clock.step_to(weeks * 7 * 24 * HOUR)
            self.await_log("keys of this run were renewed", run, renewed)
            node = self.nodes()["cpu:1"].pid
            joined = self.count("select count(*) from nodes where slot = 'cpu:1'")
            os.kill(node, signal.SIGKILL)
            self.await_count("select count(*) from nodes where slot = 'cpu:1'", joined + 1, run)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(96)
        self.assert_undisturbed(file)


class Queued(QueueTest):
    def test_by_an_hour_and_back_an_entry_has_its_time(self):
        clock = SteppedClock(self.folder)
        self.server = self.start("serve", self.queue, "--slots", "2", environment=clock.environment)
        await_true(lambda: "serves" in self.server.out or not self.server.running, "it does not listen")
        go = self.folder / "go"
        runs = self.submit("--time", "30min", "--", "sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done")
        self.await_state(runs, "running")
        for step in (HOUR, 400 * 24 * HOUR, -HOUR):
            clock.step_to(step)
            self.ask("wait", self.submit("--", "true"))  # The server has looked at all by then.
            self.assertEqual(self.describe(runs)["state"], "running")
        short = self.submit("--time", "1s", "--", "sleep", "1000")
        self.ask("wait", short, status=1)
        self.assertIn("ran longer than its 1 s", self.describe(short)["reason"])
        go.touch()
        self.ask("wait", runs)


if __name__ == "__main__":
    unittest.main()
