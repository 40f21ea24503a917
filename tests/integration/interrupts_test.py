"""Ctrl+C: once, and what is in training is finished and recorded; twice, and everything stops at once. Either way the
run can be resumed to the end that it would have had."""

import json
import os
import pathlib
import signal
import sqlite3
import unittest

from live_runs import RunTest, await_true


class InterruptTest(RunTest):
    POPULATION, GENERATIONS = 16, 3

    def start_run(self, *words, duration="40ms"):
        self.file = self.write_experiment(population=self.POPULATION, generations=self.GENERATIONS, duration=duration)
        run = self.start("run", self.file, "--slots", "2", *words)
        self.await_evaluations(self.POPULATION + 3, run)
        return run

    def resume_to_the_end(self):
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(self.POPULATION * self.GENERATIONS)
        self.assert_undisturbed(self.file)


class Interrupts(InterruptTest):
    def test_the_first_finishes_what_is_in_training(self):
        run = self.start_run()
        before = self.count("select count(*) from evaluations")
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.assertIn(f"go on with: clade resume {self.run_folder()}", run.out)
        self.assertEqual(run.err, "")
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "interrupted")])
        after = self.count("select count(*) from evaluations")
        self.assertGreater(after, before, "what was in training was not recorded")
        self.assertLess(after, self.POPULATION * self.GENERATIONS)
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.assert_nothing_left()
        self.resume_to_the_end()

    def test_the_sentence_works_as_it_stands(self):
        run = self.start_run()
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        words = run.out.splitlines()[-1].partition("go on with: ")[2].split()
        self.assertEqual(words[0], "clade")
        self.finish(*words[1:])
        self.assert_whole(self.POPULATION * self.GENERATIONS)

    def test_one_that_is_sent_twice_is_one(self):
        """`timeout` sends SIGTERM so: to the process, and to its group."""
        run = self.start_run()
        os.kill(run.pid, signal.SIGTERM)
        os.kill(run.pid, signal.SIGTERM)
        self.assertEqual(run.end(), 130, run.said())
        self.assertNotIn("stopped at once", run.err)
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.resume_to_the_end()

    def test_the_second_stops_at_once(self):
        run = self.start_run(duration="250ms")
        run.interrupt()
        self.await_stopping(run)
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.assertIn("clade resume", run.err)
        self.assertEqual(self.count("select state from progress"), "started")
        self.assert_nothing_left()
        # More slots, because a quarter of a second each is long.
        self.finish("resume", self.run_folder(), "--slots", "8")
        self.assert_whole(self.POPULATION * self.GENERATIONS)

    def await_stopping(self, run):
        """Two signals of one kind that wait are one: the first must have been taken."""
        def taken():
            for line in pathlib.Path(f"/proc/{run.pid}/status").read_text().splitlines():
                if line.startswith("ShdPnd:"):
                    return not int(line.split()[1], 16) & 1 << signal.SIGINT - 1
            raise AssertionError("no pending signals in /proc")
        await_true(taken, "the signal was not taken")

    def test_one_that_comes_before_any_slot_is_ready(self):
        # Candidates that take so long cannot all be over before the interrupt is heard.
        file = self.write_experiment(population=4, generations=2, duration="400ms")
        run = self.start("run", file, "--slots", "2")
        await_true(lambda: self.worker(run), "no worker was started")
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(8)

    def test_a_request_to_end_is_taken_as_an_interrupt(self):
        run = self.start_run()
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.end(), 130, run.said())
        self.resume_to_the_end()

    def test_programs_are_told_in_json(self):
        run = self.start_run("--json")
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        last = json.loads(run.out.splitlines()[-1])
        self.assertEqual((last["event"], last["reason"]), ("paused", "interrupted"))
        self.assertEqual(last["resume"], f"clade resume {self.run_folder()}")


class WallTime(InterruptTest):
    def test_a_run_pauses_when_its_time_is_used(self):
        file = self.write_experiment(population=16, generations=8, duration="50ms", limits='wall_time = "1s"')
        run = self.finish("run", file, "--slots", "2")
        self.assertIn("wall time used", run.out)
        self.assertEqual(self.query("select state, reason from progress"), [("paused", "wall time used")])


class Resuming(InterruptTest):
    def test_a_run_that_is_finished_is_shown_again(self):
        file = self.write_experiment(population=4, generations=2)
        first = self.finish("run", file, "--slots", "2")
        records = self.query("select * from records")
        again = self.finish("resume", self.run_folder())
        self.assertEqual(self.query("select * from records"), records)
        self.assertEqual(again.out.partition("champion")[2], first.out.partition("champion")[2])

    def test_a_run_in_which_nothing_is_recorded_yet_is_refused_in_a_sentence(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "1")
        store = sqlite3.connect(self.run_folder() / "run.db")
        for table in ("records", "genomes", "evaluations", "generations", "parents", "epochs", "weights", "nodes"):
            store.execute(f"delete from {table}")
        store.execute("update progress set records = 0, born = 0, evaluated = 0, state = 'created'")
        store.commit()
        store.close()
        refused = self.finish("resume", self.run_folder(), status=2)
        self.assertRegex(refused.err, r"^clade: [^\n]*holds no record[^\n]*\n$")

    def test_a_run_that_is_not_there(self):
        refused = self.finish("resume", "nowhere", status=2)
        self.assertEqual(refused.err.count("\n"), 1)
        self.assertIn("clade list", refused.err)


if __name__ == "__main__":
    unittest.main()
