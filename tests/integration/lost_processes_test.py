"""Processes killed or stopped while they train: the search goes on, and comes to what it would have come to."""

import os
import signal
import unittest

from live_runs import RunTest, await_end, await_true, processes_of


class LostProcessTest(RunTest):
    """A run whose candidates take long enough for something to happen to those who train them."""

    def start_run(self, slots=2, population=24, generations=2, duration="150ms"):
        self.candidates = population * generations
        self.file = self.write_experiment(population=population, generations=generations, duration=duration)
        run = self.start("run", self.file, "--slots", slots)
        self.await_evaluations(2 * slots, run)
        self.assertEqual(len(self.nodes()), slots)
        return run

    def end_undisturbed(self, run):
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(self.candidates)
        self.assert_nothing_left()
        self.assert_undisturbed(self.file)


class KilledNode(LostProcessTest):
    def test_its_candidate_is_tried_again_and_the_other_node_works_on(self):
        run = self.start_run()
        before = self.nodes()
        killed = self.hold_in_training(run, "cpu:0")
        os.kill(killed.pid, signal.SIGKILL)
        self.await_count("select count(*) from attempts", 1, run)
        self.await_count("select count(*) from nodes where slot = 'cpu:0'", 2, run)
        after = self.nodes()
        self.assertNotEqual(after["cpu:0"].pid, before["cpu:0"].pid)
        self.assertEqual(after["cpu:1"].pid, before["cpu:1"].pid)
        done = self.count("select count(*) from evaluations where slot = 'cpu:0'")
        self.await_count("select count(*) from evaluations where slot = 'cpu:0'", done + 1, run)
        self.end_undisturbed(run)

    def test_the_store_says_what_happened(self):
        run = self.start_run()
        os.kill(self.hold_in_training(run, "cpu:1").pid, signal.SIGKILL)
        self.assertEqual(run.end(), 0, run.said())
        attempts = self.query("select id, attempt, slot, reason from attempts")
        self.assertEqual(len(attempts), 1, attempts)
        candidate, attempt, slot, reason = attempts[0]
        self.assertEqual((attempt, slot, reason), (1, "cpu:1", "its node process ended: killed by signal 9 (Killed)"))
        self.assertEqual(self.query("select outcome, tries from evaluations where id = ?", candidate),
                         [("succeeded", 2)])
        left = self.query("select reason from nodes where slot = 'cpu:1' and left_ms is not null")
        self.assertEqual(left, [("its node process ended: killed by signal 9 (Killed)",)])
        self.assertIn("killed by signal 9", (self.run_folder() / "worker.log").read_text())


class KilledWorker(LostProcessTest):
    def test_another_takes_its_place(self):
        run = self.start_run()
        worker, nodes = self.worker(run), self.nodes()
        os.kill(worker.pid, signal.SIGKILL)
        for node in nodes.values():
            await_end(node.pid)
        self.await_count("select count(*) from nodes", 4, run)
        self.assertNotEqual(self.worker(run).pid, worker.pid)
        self.end_undisturbed(run)


class StoppedNode(LostProcessTest):
    def test_it_is_killed_and_its_candidate_tried_again(self):
        run = self.start_run(population=48, generations=1, duration="700ms")
        stopped = self.hold_in_training(run, "cpu:0")
        self.await_count("select count(*) from attempts", 1, run)
        self.assertEqual(self.query("select slot, reason from attempts"), [("cpu:0", "its node process ended: killed by signal 9 (Killed)")])
        await_end(stopped.pid)
        self.assertIn("gave no sign of life for 10 s and is killed", (self.run_folder() / "worker.log").read_text())
        self.await_count("select count(*) from nodes where slot = 'cpu:0'", 2, run)
        # Enough was seen; nothing more would come of the rest.
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())

    def test_the_run_ends_without_it(self):
        run = self.start_run(population=24, generations=1, duration="60ms")
        self.hold_in_training(run, "cpu:0")
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(24)
        self.assertEqual(processes_of(self.folder), [])


class Misbehaving(RunTest):
    """Candidates that do what only the synthetic evaluator can be told to do."""

    def outcomes_of(self, misbehaviour, limits, generations=2):
        run = self.finish("run", self.write_experiment(population=10, generations=generations, duration="2ms",
                                                       misbehaviour=misbehaviour, limits=limits),
                          "--slots", "2")
        self.assert_whole(10 * generations)
        self.assertIn("failed", run.out)
        failed = self.query("select outcome, reason, fitness from evaluations where outcome <> 'succeeded'")
        for outcome, reason, fitness in failed:
            self.assertTrue(reason, f"{outcome} without a reason")
            self.assertIsNone(fitness)
        self.assertGreater(self.count("select count(*) from evaluations where outcome = 'succeeded'"), 0)
        return {outcome for outcome, _, _ in failed}

    def test_those_that_diverge(self):
        self.assertEqual(self.outcomes_of("diverge = 0.3", ""), {"diverged"})

    def test_those_that_kill_their_process(self):
        self.assertEqual(self.outcomes_of("crash = 0.2", "", 1), {"crashed"})
        # The first time it may have had company.
        tries = self.count("select min(tries) from evaluations where outcome = 'crashed'")
        self.assertIn(tries, (2, 3))

    def test_those_that_never_end(self):
        self.assertEqual(self.outcomes_of("hang = 0.3", 'evaluation_time = "1s"', 1), {"timed out"})

    @unittest.skipIf(os.environ.get("CLADE_SANITIZE"), "a sanitizer's allocator ends the process where memory is limited")
    def test_those_that_take_all_memory(self):
        self.assertEqual(self.outcomes_of("hog = 0.2", 'evaluation_memory = "256MiB"'), {"out of memory"})

    def test_those_that_take_too_long(self):
        self.finish("run", self.write_experiment(population=6, generations=1, duration="150ms",
                                                 limits='evaluation_time = "100ms"'), "--slots", "2")
        self.assert_whole(6)
        self.assertIn(("timed out",), self.query("select distinct outcome from evaluations"))

    def test_all_of_them(self):
        run = self.finish("run", self.write_experiment(population=4, generations=2, misbehaviour="diverge = 1.0"),
                          "--slots", "1", status=1)
        self.assert_whole(8)
        self.assertIsNone(self.show()["champion"])
        self.assertRegex(run.out, r"none of 4 succeeded .*\n  all [48] failed alike: diverged: ")
        self.assertRegex(run.err, r"^clade: no candidate succeeded: all 8 failed alike: diverged: [^\n]+\n$")


class StoppedAtTheEnd(LostProcessTest):
    def test_a_worker_that_is_stopped_is_not_waited_for(self):
        run = self.start_run(population=16, generations=1)
        worker = self.worker(run)
        os.kill(worker.pid, signal.SIGSTOP)
        self.assertEqual(run.end(), 0, run.said())
        self.assert_nothing_left()

    def test_the_head_ends_while_a_node_is_stopped(self):
        run = self.start_run()
        self.hold_in_training(run, "cpu:1")
        run.kill()
        self.assert_nothing_left()
        await_true(lambda: not processes_of(self.folder), "processes are left")


if __name__ == "__main__":
    unittest.main()
