"""A wall clock that is set while a run goes on: nothing comes of it."""

import time
import unittest

from faked_time import JumpingTime
from live_runs import RunTest

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


if __name__ == "__main__":
    unittest.main()
