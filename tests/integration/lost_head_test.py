"""A head that is killed while other machines train for it: they go on, keep what is finished, and bring it to the next
head, on the same address or on another machine."""

import random
import shutil
import time
import unittest

from hosts import SharedRunTest

RECORDS = "select * from records order by sequence"


class KilledHead(SharedRunTest):
    def kill_and_resume(self, head):
        """Nothing that was recorded changes, and the workers are the ones that were there."""
        head.kill()
        recorded = self.query(RECORDS)
        nodes = {slot: node.pid for slot, node in self.nodes().items()}
        head = self.resume()
        self.await_records(len(recorded) + 1, head)
        self.assertEqual(self.query(RECORDS)[:len(recorded)], recorded)
        self.assertEqual({slot: node.pid for slot, node in self.nodes().items()}, nodes)
        return head

    def test_at_several_instants(self):
        # At the beginning, at the end of a generation, and at any other.
        instants = sorted([2, 24, random.randrange(3, 36)])
        with self.subTest(instants=instants):
            head = self.start_all()
            for least in instants:
                self.await_evaluations(least, head)
                head = self.kill_and_resume(head)
            self.end(head)
            self.assertEqual(self.attempts(), [])
            self.assertEqual(self.query("select distinct tries from evaluations"), [(1,)])
            self.assert_undisturbed(self.file)

    def test_what_is_finished_meanwhile_is_handed_over(self):
        head = self.start_all(population=4, generations=1, duration="4s")
        for name in ("a/cpu:0", "b/cpu:0"):
            self.await_training(name)
        head.kill()
        # On a busy machine one of them may be through before the other was seen at work.
        evaluated = {i for (i,) in self.query("select id from evaluations")}
        had = {s["slot"]: s["training"] for s in self.slots() if s["training"] and s["training"] not in evaluated}
        self.assertTrue(had)
        time.sleep(6)  # None trains longer; the fault itself.
        head = self.resume()
        for slot in had:
            self.await_log(f"{slot} is back, with 1 of 1 candidates it had", head)
        self.end(head)
        for slot, candidate in had.items():
            self.assertEqual(self.query("select slot, tries from evaluations where id = ?", candidate), [(slot, 1)])
        self.assertEqual(self.attempts(), [])


class LostMachine(SharedRunTest):
    HOSTS = ("head", "other", "a", "b")

    def test_a_copy_of_the_run_goes_on_on_another(self):
        head = self.start_head()
        port = self.address.rpartition(":")[2]
        others = f"{self.network['other'].address}:{port}"
        self.join_all(head, address=f"{self.address},{others}")
        self.await_evaluations(8, head)
        self.network["head"].cut()
        head.kill()
        lost = self.run_folder()
        copied = self.folder / "copied"
        # Sockets, which a killed head leaves, are nothing to copy.
        shutil.copytree(lost, copied, ignore=shutil.ignore_patterns("live"))
        shutil.rmtree(lost)
        copied.rename(lost.with_name(f"{lost.name}-copy"))
        recorded = self.query(RECORDS)
        self.address = others
        head = self.resume(host="other")
        self.end(head)
        self.assertEqual(self.query(RECORDS)[:len(recorded)], recorded)
        self.assertEqual(self.attempts(), [])
        self.assert_undisturbed(self.file)


class Everything(SharedRunTest):
    def test_three_hosts_with_all_faults_come_to_what_one_comes_to(self):
        head = self.start_all(slots="1")
        self.await_evaluations(8, head)
        self.workers.pop("a").kill()
        self.await_evaluations(12, head)
        self.network["b"].cut()
        self.await_evaluations(20, head)
        head.kill()
        head = self.resume(slots="1")
        self.network["b"].heal()
        self.workers["a"] = self.start_worker("a")
        self.end(head)
        self.assert_undisturbed(self.file)


if __name__ == "__main__":
    unittest.main()
