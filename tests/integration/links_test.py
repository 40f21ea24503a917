"""Links between machines that are cut for a while or for good, or lose packets: what is in training goes on, and is
trained again only when the lease has ended."""

import time
import unittest

from hosts import SharedRunTest
from live_runs import await_true

BY_A = "select count(*) from evaluations where slot = 'a/cpu:0'"
BOTH = [("a/cpu:0",), ("b/cpu:0",)]


class CutLink(SharedRunTest):
    def await_missed(self):
        await_true(lambda: "the head was silent for 5 s" in self.workers["a"].err, "the node never missed its head")

    def test_a_second_is_not_noticed(self):
        head = self.start_all()
        self.await_count(BY_A, 1, head)
        self.network["a"].cut()
        time.sleep(1)  # The fault itself.
        self.network["a"].heal()
        self.await_count(BY_A, self.count(BY_A) + 1, head)
        self.end(head)
        self.assertEqual(self.attempts(), [])
        self.assertEqual(self.query("select slot from nodes order by slot"), BOTH)
        self.assert_undisturbed(self.file)

    def test_longer_than_a_connection_lasts_costs_nothing_within_the_lease(self):
        # Each slot has its only candidate for 8 to 13 s.
        head = self.start_all("--seed", "3", lease="30s", slots="2", population=4, generations=1, duration="10s")
        self.await_count("select count(*) from nodes", 4, head)
        self.network["a"].cut()
        self.await_missed()
        self.network["a"].heal()
        self.await_log("a/cpu:0 is back, with 1 of 1 candidates it had", head)
        self.end(head)
        self.assertEqual(self.attempts(), [])
        slots = ["a/cpu:0", "b/cpu:0", "cpu:0", "cpu:1"]
        self.assertEqual(self.query("select slot from nodes order by slot"), [(slot,) for slot in slots])
        self.assertEqual(self.query("select slot, tries from evaluations order by slot"), [(slot, 1) for slot in slots])

    def test_for_good_its_candidate_is_tried_elsewhere(self):
        head = self.start_all(words_of_a=("--give-up", "2s"))
        lost = self.workers.pop("a")
        self.await_count(BY_A, 1, head)
        self.network["a"].cut()
        self.end(head)
        self.assertEqual(lost.end(), 1, lost.said())
        self.assertIn(f"cannot join the run at {self.address}", lost.err)
        (candidate, attempt, slot, reason), = self.attempts()
        self.assertEqual((attempt, slot), (1, "a/cpu:0"))
        self.assertRegex(reason, r"^not heard for \d+ s$")
        self.assertEqual(self.query("select slot, tries from evaluations where id = ?", candidate), [("b/cpu:0", 2)])
        self.assert_undisturbed(self.file)

    def test_beyond_the_lease_its_node_comes_back_as_another(self):
        # Long enough for it to find its head again, which it looks for at growing intervals.
        head = self.start_all(duration="500ms", generations=5)
        self.await_count(BY_A, 1, head)
        self.network["a"].cut()
        # Until what it had was tried elsewhere.
        self.await_count("select count(*) from evaluations join attempts using (id)", 1, head)
        before = self.count(BY_A)
        self.network["a"].heal()
        self.await_log("a/cpu:0 is back, with 0 of 1 candidates it had", head)
        self.await_count(BY_A, before + 1, head)
        self.assertNotIn("node process", self.workers["a"].err, "a process was replaced")
        self.assertEqual([attempt[1:3] for attempt in self.attempts()], [(1, "a/cpu:0")])
        # Enough was seen; nothing more would come of the rest.
        head.interrupt()
        self.assertEqual(head.end(), 130, head.said())
        for worker in self.workers.values():
            worker.kill()


class LossyLink(SharedRunTest):
    def test_the_run_ends_as_it_would_have(self):
        head = self.start_all(words_of_a=("--give-up", "2s"))
        lossy = self.workers.pop("a")
        self.await_count(BY_A, 1, head)
        self.network["a"].lose(20)
        self.end(head)
        # That the run is over is said once; who missed it gives up.
        self.assertIn(lossy.end(), (0, 1), lossy.said())
        self.assert_undisturbed(self.file)


if __name__ == "__main__":
    unittest.main()
