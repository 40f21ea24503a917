"""The signature: a fixed small experiment has one digest over all that it decides, whatever its processes suffer."""

import random
import unittest

from live_runs import RunTest

# A commit that changes it says so, and why.
SIGNATURE = "6490ade0b124c681f37fed3ee672ce8a of 167 records"

POPULATION, GENERATIONS = 16, 5
RECORDS = 2 + 2 * POPULATION * GENERATIONS + GENERATIONS  # started, finished, births, evaluations, closings


class SignatureTest(RunTest):
    def write_signed(self):
        return self.write_experiment(population=POPULATION, generations=GENERATIONS, duration="6ms",
                                     misbehaviour="diverge = 0.1\ncrash = 0.02", limits='evaluation_time = "5s"')

    def assert_signed(self):
        self.assert_whole(POPULATION * GENERATIONS)
        self.assertEqual(self.digest(), SIGNATURE)


class Workers(SignatureTest):
    def test_one(self):
        self.finish("run", self.write_signed(), "--slots", "1")
        self.assert_signed()
        self.assertEqual(self.query("select distinct slot from evaluations"), [("cpu:0",)])

    def test_two(self):
        self.finish("run", self.write_signed(), "--slots", "2")
        self.assert_signed()

    def test_five(self):
        self.finish("run", self.write_signed(), "--slots", "5")
        self.assert_signed()

    def test_another_number_after_each_resumption(self):
        run = self.start("run", self.write_signed(), "--slots", "1")
        self.await_records(40, run)
        run.kill()
        run = self.start("resume", self.run_folder(), "--slots", "5")
        self.await_records(100, run)
        run.kill()
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_signed()

    def test_another_seed_has_another(self):
        self.finish("run", self.write_signed(), "--slots", "2", "--seed", "8")
        self.assert_whole(POPULATION * GENERATIONS)
        self.assertNotEqual(self.digest(), SIGNATURE)


class KilledHead(SignatureTest):
    def kill_at(self, instants):
        """Kills the head when so many records are there, each time, and resumes it to the end."""
        run = self.start("run", self.write_signed(), "--slots", "2")
        recorded = []
        for least in instants:
            self.await_records(least, run)
            run.kill()
            before, recorded = recorded, self.query("select * from records order by sequence")
            self.assertEqual(recorded[:len(before)], before, "a record was changed")
            self.assertLess(self.decisions(), RECORDS, "the run had ended before it was killed")
            run = self.start("resume", self.run_folder(), "--slots", "2")
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.query("select * from records order by sequence")[:len(recorded)], recorded)
        self.assertEqual(self.decisions(), RECORDS)
        self.assert_signed()

    def decisions(self):
        return self.count("select count(*) from records where kind <= 5")

    def test_before_anything_is_evaluated(self):
        self.kill_at([1, 2])

    def test_at_the_end_of_a_generation(self):
        self.kill_at([1 + 2 * POPULATION + 1])

    def test_again_and_again(self):
        self.kill_at([20, 45, 70, 100, 130])

    def test_at_any_instant(self):
        instants = sorted(random.sample(range(1, 150), 3))
        with self.subTest(instants=instants):
            self.kill_at(instants)


if __name__ == "__main__":
    unittest.main()
