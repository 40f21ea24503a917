"""The parts that the tests of the Python package share: small tables, and searches of a few seconds."""

import csv
import os
import pathlib
import tempfile
import unittest

import clade

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "experiments" / "data"
SMALL = {"evolution.population": 4, "evolution.generations": 2, "training.epochs": 3}


def iris_rows():
    """Four measures of each flower, and the name of its kind."""
    names = ["setosa", "versicolor", "virginica"]
    with open(DATA / "iris.csv", newline="") as file:
        next(file)
        return [([float(v) for v in row[:4]], names[int(row[4])]) for row in csv.reader(file)]


class SearchTest(unittest.TestCase):
    """Runs lie in a folder that is gone after the test."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="clade-python-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.runs = self.folder / "runs"
        previous = os.environ.get("CLADE_RUNS")
        os.environ["CLADE_RUNS"] = str(self.runs)
        self.addCleanup(lambda: os.environ.pop("CLADE_RUNS") if previous is None
                        else os.environ.__setitem__("CLADE_RUNS", previous))

    def search(self, data, target=None, **options):
        settings = {**SMALL, **options.pop("settings", {})}
        return clade.search(data, target, slots=2, settings=settings, **{"progress": False, **options})

    def refused(self, *arguments, **options):
        with self.assertRaises(clade.CladeError) as caught:
            self.search(*arguments, **options)
        return str(caught.exception)
