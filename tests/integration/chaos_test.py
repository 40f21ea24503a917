"""That tools/chaos would see what it looks for: stores that were tampered with, compared with what they were."""

import contextlib
import json
import shutil
import sqlite3
import unittest

import chaos
from live_runs import RunTest

CANDIDATES = 12


class Comparison(RunTest):
    falsifies_runs = True

    def setUp(self):
        super().setUp()
        self.finish("run", self.write_experiment(population=6, generations=2, duration="1ms"), "--slots", "2")
        self.whole = self.run_folder()
        self.other = self.folder / "other"
        shutil.copytree(self.whole, self.other)

    def change(self, *statements):
        with contextlib.closing(sqlite3.connect(self.other / "run.db")) as store:
            for statement in statements:
                store.execute(statement)
            store.commit()

    def compared(self):
        result = chaos.Result("synthetic evaluator")
        chaos.compare(result, self.other, self.whole, lambda line: None)
        return result

    def test_equal_ones_are_clean(self):
        result = self.compared()
        self.assertTrue(result.clean, result)
        self.assertEqual((result.runs, result.evaluations), (1, CANDIDATES))

    def test_what_was_found_can_be_read_by_programs(self):
        result = self.compared()
        result.faults["node killed"].update(["head", "alpha", "head"])
        told = json.loads(json.dumps(result.to_json()))
        self.assertEqual(told["faults"], {"node killed": {"head": 2, "alpha": 1}})
        self.assertEqual((told["injected"], told["lost"], told["twice"], told["different"]), (3, 0, 0, 0))
        self.assertIn("  node killed                         3  alpha 1, head 2", chaos.table(result))

    def test_one_that_is_lost_is_seen(self):
        self.change("delete from evaluations where id = 5")
        result = self.compared()
        self.assertEqual((result.lost, result.twice, result.different), (1, 0, 0))
        self.assertFalse(result.clean)

    def test_one_that_counts_twice_is_seen(self):
        self.change("insert into records select (select max(sequence) from records) + 1, unix_ms, kind, payload, checksum "
                    "from records where kind = 3 limit 1")
        result = self.compared()
        self.assertEqual((result.lost, result.twice, result.different), (0, 1, 0))
        self.assertFalse(result.clean)

    def test_one_that_differs_is_seen(self):
        for column, value in (("fitness", "fitness + 1e-9"), ("outcome", "'crashed'"), ("weights_hash", "1"),
                              ("parameters", "parameters + 1")):
            self.change(f"update evaluations set {column} = {value} where id = 3")
            result = self.compared()
            self.assertEqual((result.lost, result.twice, result.different), (0, 0, 1), column)
            self.assertFalse(result.clean)
            shutil.rmtree(self.other)
            shutil.copytree(self.whole, self.other)

    def test_ids_of_every_width_are_read(self):
        for number, coded in ((5, b"\x05"), (200, b"\xcc\xc8"), (1000, b"\xcd\x03\xe8"), (70_000, b"\xce\x00\x01\x11\x70")):
            self.assertEqual(chaos.evaluated_id(b"\x92\x03\x9b" + coded + b"\x00"), number)


if __name__ == "__main__":
    unittest.main()
