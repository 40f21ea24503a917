"""Tables of pandas, polars and NumPy as the files that the program reads."""

import datetime
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import pandas as pd
import polars as pl

from clade.program import CladeError
from clade.labels import kind_of, to_label
from clade.tables import labels_of, store_training, write_examples


class TableTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def written(self, data):
        return write_examples(data, self.folder / "x").read_text()

    def refused(self, *arguments):
        with self.assertRaises(CladeError) as caught:
            store_training(*arguments, "x", self.folder)
        return str(caught.exception)


class Frames(TableTest):
    def test_columns_of_pandas_are_numbers_texts_dates_and_blanks(self):
        frame = pd.DataFrame({
            "whole": pd.array([1, None], dtype="Int64"), "real": [0.1, float("nan")], "yes": [True, False],
            "kind": pd.Categorical(["a,b", None]), "any": ["é", None], "maybe": np.array([True, None], dtype=object),
            "day": pd.to_datetime(["2024-01-02", None])}, index=[7, 9])
        self.assertEqual(self.written(frame), 'whole,real,yes,kind,any,maybe,day\n'
                                              '1,0.1,True,"a,b",é,True,2024-01-02\n'
                                              ",,False,,,,\n")

    def test_columns_of_polars_are_the_same(self):
        frame = pl.DataFrame({"real": [0.1, float("nan"), None], "yes": [True, False, None], "text": ["a,b", None, "é"],
                              "day": [datetime.date(2024, 1, 2), None, None],
                              "kind": pl.Series(["x", "y", None], dtype=pl.Categorical)})
        wanted = 'real,yes,text,day,kind\n0.1,true,"a,b",2024-01-02,x\n,false,,,y\n,,é,,\n'
        self.assertEqual(self.written(frame), wanted)
        self.assertEqual(self.written(frame.lazy()), wanted)

    def test_what_no_cell_can_hold_is_refused_with_its_column(self):
        y = {"y": [0, 1]}
        for column in ([[1], [2]], [{"a": 1}, None], [b"x", b"y"]):
            self.assertIn('column "bad" holds values of type', self.refused(pd.DataFrame({"bad": column, **y}), "y"))
        self.assertIn('column "bad" holds values of type List', self.refused(pl.DataFrame({"bad": [[1], [2]], **y}), "y"))
        spans = {"bad": [datetime.timedelta(1), datetime.timedelta(2)], **y}
        for frame in (pd.DataFrame(spans), pl.DataFrame(spans)):
            self.assertIn('column "bad" holds time spans; give numbers, such as', self.refused(frame, "y"))

    def test_names_that_cannot_be_a_header_are_refused(self):
        self.assertEqual(self.refused(pd.DataFrame([[1, 2]], columns=["a", "a"]), "a"),
                         'two columns are named "a"; rename one')
        self.assertIn("names of several levels", self.refused(pd.DataFrame([[1, 2]], columns=[("a", "b"), ("a", "c")]), "a"))
        self.assertEqual(self.refused(pd.DataFrame({"a": [1], "b": [2]}), "c"), 'there is no column "c"; there are a, b')
        self.assertIn("say which column", self.refused(pd.DataFrame({"a": [1]}), None))

    def test_targets_may_come_beside_a_table(self):
        for frame in (pd.DataFrame({"a": [1, 2]}, index=[5, 6]), pl.DataFrame({"a": [1, 2]})):
            made = store_training(frame, np.array(["u", "v"]), "x", self.folder)
            self.assertEqual((made.file.read_text(), made.target), ("a,target\n1,u\n2,v\n", "target"))
        self.assertEqual(self.refused(pd.DataFrame({"a": [1, 2]}), [1]), "there are 2 examples and 1 targets")
        self.assertIn("give another name", self.refused(pd.DataFrame({"a": [1]}), pd.Series([1], name="a")))


class Arrays(TableTest):
    def test_rows_become_a_csv_that_says_the_same_numbers(self):
        rows = np.array([[0.1, 1e-300], [float("nan"), 1 / 3]])
        made = store_training(rows, [0, 1], "x", self.folder)
        self.assertEqual(made.file.read_text().splitlines(),
                         ["x0,x1,target", "0.1,1e-300,0", ",0.3333333333333333,1"])

    def test_images_become_array_files(self):
        images = np.arange(24, dtype=np.uint8).reshape(2, 1, 3, 4)
        made = store_training(images, ["a", "b"], "x", self.folder)
        np.testing.assert_array_equal(np.load(made.file), images)
        self.assertEqual(np.load(made.target_file).tolist(), ["a", "b"])

    def test_images_may_be_views_in_any_order_and_have_labels_of_any_kind(self):
        images = np.arange(24, dtype=">i2").reshape(2, 3, 4)
        for view in (np.asfortranarray(images), images[:, ::-1, ::-1][:, ::-1, ::-1], images.astype(bool)):
            made = store_training(view, [True, False], "x", self.folder)
            stored = np.load(made.file)
            np.testing.assert_array_equal(stored, view)
            self.assertTrue(stored.flags["C_CONTIGUOUS"] and stored.dtype.isnative)
            self.assertEqual((np.load(made.target_file).tolist(), made.labels), ([1, 0], "b"))
        self.assertEqual(np.load(store_training(images, [b"ab", b"c"], "x", self.folder).target_file).tolist(), ["ab", "c"])
        self.assertIn("an array of images holds numbers", self.refused(images.astype(str), [0, 1]))
        self.assertIn("a target is blank", self.refused(images, ["a", None]))

    def test_what_is_no_table_is_refused(self):
        self.assertIn("the shape (3,)", self.refused([1, 2, 3], [1, 2, 3]))
        self.assertEqual(self.refused(np.zeros((2, 2)), [1]), "there are 2 examples and 1 targets")
        self.assertEqual(self.refused(np.zeros((2, 2)), None), "arrays come with their targets: clade.search(X, y)")
        self.assertIn("several columns", self.refused(np.zeros((2, 2)), [[1, 2], [3, 4]]))


class Store(TableTest):
    def test_equal_data_is_one_file_and_its_kind_of_label_is_kept(self):
        for values, kind in (([True, False], "b"), ([3, 4], "i"), ([0.5, 2], "f"), (["a", "b"], "s")):
            frame = pd.DataFrame({"a": [1, 2], "y": values})
            made = store_training(frame, "y", "x", self.folder)
            self.assertEqual(store_training(frame, "y", "x", self.folder).file, made.file)
            self.assertEqual(labels_of(made.file), kind)
            self.assertEqual([to_label(str(v), kind) for v in values], values)

    def test_blanks_do_not_decide_what_kind_labels_are_of(self):
        for values, kind in (([None, "up"], "s"), ([float("nan"), "up"], "s"), ([pd.NA, 3], "i"), ([np.nan, True], "b"),
                             (pd.Categorical([None, 10, 20]), "i"), (pl.Series([None, 0.5]), "f"), ([None, pd.NaT], ""),
                             ([1, 2.5], "f"), ([1, "a"], "s")):
            self.assertEqual(kind_of(values), kind, values)

    def test_whole_labels_keep_all_of_their_digits(self):
        self.assertEqual(to_label("9007199254740993", "i"), 9007199254740993)
        self.assertEqual((to_label("-3", "i"), to_label("4.0", "i"), to_label("1", "b"), to_label("False", "b")),
                         (-3, 4, True, False))

    def test_categories_of_numbers_are_said(self):
        frame = pd.DataFrame({"code": pd.Categorical([10, 20]), "kind": pd.Categorical(["a", "b"]), "n": [1, 2], "y": [0, 1]})
        self.assertEqual(store_training(frame, "y", "x", self.folder).categories, ("code",))

    def test_columns_may_be_named_by_numbers(self):
        frame = pd.DataFrame({3: [0.5, 1.5], 1: [5, 6], 2: [7, 8]})
        made = store_training(frame, 2, "x", self.folder)
        self.assertEqual((made.target, made.named), ("2", True))
        self.assertEqual(made.file.read_text().splitlines()[0], "3,1,2")

    def test_a_path_is_taken_as_it_is(self):
        file = self.folder / "own.csv"
        file.write_text("a,y\n1,2\n")
        made = store_training(str(file), "y", "x", self.folder)
        self.assertEqual((made.file, made.target), (file, "y"))
        self.assertEqual(labels_of(file), "")
        self.assertIn("no such file", self.refused(self.folder / "none.csv", "y"))

    def test_no_library_is_loaded_for_who_has_no_table_of_it(self):
        code = ("import sys, clade; bad = {'pandas', 'polars', 'numpy', 'sklearn', 'torch'} & set(sys.modules); "
                "sys.exit(str(bad) if bad else 0)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
