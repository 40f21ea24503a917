"""Processes of a search on several machines that are killed or told to leave: what they had is tried elsewhere, and the
search comes to what it would have come to."""

import os
import signal
import unittest

from hosts import SharedRunTest
from live_runs import RunTest, await_true

SECOND_MS = 1000


class KilledNode(SharedRunTest):
    def test_its_candidate_is_tried_again_on_another_machine(self):
        head = self.start_all()
        killed = self.hold_in_training(head, "a/cpu:0")
        os.kill(killed.pid, signal.SIGKILL)
        self.await_count("select count(*) from attempts", 1, head)
        self.end(head)
        (candidate, attempt, slot, reason), = self.attempts()
        self.assertEqual((attempt, slot, reason), (1, "a/cpu:0", "its node process ended: killed by signal 9 (Killed)"))
        self.assertEqual(self.query("select slot, tries from evaluations where id = ?", candidate), [("b/cpu:0", 2)])
        self.assertIn("killed by signal 9", self.workers["a"].err)
        self.assert_undisturbed(self.file)

    def test_a_killed_worker_takes_its_nodes_along(self):
        head = self.start_all()
        self.await_count("select count(*) from evaluations where slot = 'a/cpu:0'", 1, head)
        self.workers.pop("a").kill()
        self.end(head)
        self.assertEqual({slot for _, _, slot, _ in self.attempts()}, {"a/cpu:0"})
        self.assert_undisturbed(self.file)


class DeadlyCandidate(RunTest):
    def test_it_is_given_up_after_two_processes(self):
        file = self.write_experiment(population=12, generations=1, duration="60ms", misbehaviour="crash = 0.3")
        run = self.finish("run", file, "--slots", "2")
        self.assert_whole(12)
        crashed = self.query("select id, tries, reason from evaluations where outcome <> 'succeeded' order by id")
        self.assertTrue(crashed, run.out)
        for candidate, tries, reason in crashed:
            self.assertEqual(tries, 2)
            self.assertEqual(reason, "two node processes ended while they trained it, the last killed by signal 11 "
                             "(Segmentation fault)")
            attempts = self.query("select attempt, slot from attempts where id = ? order by sequence", candidate)
            self.assertEqual([number for number, _ in attempts], [1, 2])
        # The attempts are only of those that were to blame.
        self.assertEqual(self.query("select distinct id from attempts order by id"), [(row[0],) for row in crashed])
        self.assertEqual(self.query("select distinct outcome from evaluations order by outcome"),
                         [("crashed",), ("succeeded",)])


class HangingTest(RunTest):
    def test_it_is_ended_and_tried_again_and_then_the_run_says_so(self):
        file = self.write_experiment(population=6, generations=1, misbehaviour="hang_test = 1.0",
                                     limits='evaluation_time = "1s"')
        run = self.finish("run", file, "--slots", "2", status=1)
        self.assertRegex(run.err, "the test of the (champion|best random candidate) failed: two node processes ended while "
                         "they made it, the last as what it did took longer than limits.evaluation_time")
        self.assert_nothing_left()
        # Every evaluation is recorded; the run is at its last step, and tests alone are made again.
        self.assertEqual(self.count("select count(*) from evaluations"), 6)
        self.assertEqual(self.count("select count(*) from attempts"), 0)
        self.finish("resume", self.run_folder(), status=1)
        self.assertEqual(self.count("select count(*) from evaluations"), 6)


class FailingSlot(RunTest):
    BY_IT = "select count(*) from evaluations where slot = 'cpu:0'"

    # Evaluations say that they have begun and wait for the test, so that none ends between two kills.
    EXPERIMENT = """[experiment]
name = "gated"
fitness = "command"
[search_space]
file = "space.toml"
[objective]
minimize = ["loss"]
[evolution]
strategy = "generational"
population = 8
generations = 1
[command]
run = ["sh", "score.sh"]
"""
    SCORE = """echo begun >>begun
while ! test -e go; do sleep 0.05; done
echo '{"loss": 1}'
"""

    def test_it_is_quarantined_and_tried_again_later(self):
        (self.folder / "space.toml").write_text("[limits]\nmax_nodes = 0\n[hyperparameters]\nx = { low = 0.0, high = 1.0 }\n")
        (self.folder / "score.sh").write_text(self.SCORE)
        begun, file = self.folder / "begun", self.folder / "gated.toml"
        file.write_text(self.EXPERIMENT)

        def await_begun(count):
            await_true(lambda: begun.exists() and begun.read_text().count("\n") == count, f"{count} never began")
        run = self.start("run", file, "--slots", "2")
        for joined in (1, 2, 3):
            await_begun(1 + joined)  # The other slot has one all the time.
            os.kill(self.nodes()["cpu:0"].pid, signal.SIGKILL)
            self.await_count("select count(*) from attempts where slot = 'cpu:0'", joined, run)
        self.await_log("cpu:0 lost what it was given several times in a row: it is quarantined, and tried again in", run)
        await_true(lambda: "quarantined for" in self.finish("workers", self.run_folder()).out, "it is not shown")
        quarantined_ms = self.count("select max(unix_ms) from attempts")
        await_begun(1 + 3 + 1)
        (self.folder / "go").touch()
        self.assertEqual(run.end(), 0, run.said())
        self.assertGreaterEqual(self.count(self.BY_IT), 1)
        first_ms = self.count("select min(unix_ms) from records join evaluations using (sequence)"
                              " where slot = 'cpu:0' and unix_ms > ?", quarantined_ms)
        self.assertGreater(first_ms - quarantined_ms, 5 * SECOND_MS)
        self.assert_whole(8)


class Draining(SharedRunTest):
    def test_a_worker_that_is_told_to_end_finishes_what_it_has(self):
        head = self.start_all()
        leaving = self.workers.pop("a")
        self.await_count("select count(*) from evaluations where slot = 'a/cpu:0'", 1, head)
        leaving.terminate()
        self.assertEqual(leaving.end(), 0, leaving.said())
        self.assertTrue(head.running)
        self.end(head)
        self.assertEqual(self.attempts(), [])
        self.assertEqual(self.query("select slot, reason from nodes where left_ms is not null"),
                         [("a/cpu:0", "it was drained")])
        self.assert_undisturbed(self.file)

    def test_one_without_work_says_goodbye_too(self):
        # Longer than a worker needs to join on a machine that has much else to do.
        head = self.start_head(slots="4", population=4, generations=1, duration="120s")
        await_true(lambda: sum(slot["training"] > 0 for slot in self.slots()) == 4, "the head's slots have no work")
        leaving = self.start_worker("a")
        self.await_log("a/cpu:0 joined", head)
        leaving.terminate()
        self.assertEqual(leaving.end(), 0, leaving.said())
        self.await_log("a/cpu:0 left: it was drained", head)
        self.assertEqual(self.attempts(), [])
        # Enough was seen; nothing more would come of the rest.
        head.kill()
        self.workers = {}

    def test_the_second_time_it_ends_at_once(self):
        head = self.start_all(population=4, generations=1, duration="9s")
        leaving = self.workers.pop("a")
        self.await_training("a/cpu:0")
        leaving.terminate()
        self.await_log("a/cpu:0 leaves", head)
        self.assertTrue(leaving.running)
        leaving.terminate()
        leaving.end()
        self.assertEqual(self.count("select count(*) from evaluations"), 0, "it was waited for")
        self.await_count("select count(*) from attempts where slot = 'a/cpu:0'", 1, head)
        # Enough was seen; nothing more would come of the rest.
        head.kill()
        self.workers["b"].kill()


if __name__ == "__main__":
    unittest.main()
