"""Folders of texts and tables of series from Python: a path or a table becomes a run, which predicts by file or by series."""

import math
import random
import unittest

import pandas
import polars

from searches import SearchTest


def readings(count, seed=1):
    """Slow and fast waves, a row for each step."""
    chance = random.Random(seed)
    rows = []
    for i in range(count):
        speed, phase = (0.25, 0.6)[i % 2], chance.random() * 6
        rows += [(i, t, math.sin(speed * t + phase), ("slow", "fast")[i % 2]) for t in range(chance.randrange(25, 40))]
    return {name: [row[c] for row in rows] for c, name in enumerate(("id", "t", "height", "kind"))}


class Folders(SearchTest):
    def test_a_folder_of_texts_is_searched_and_new_ones_are_told_by_file(self):
        chance = random.Random(1)
        for name, words in (("good", ["fine", "clever", "moving"]), ("poor", ["dull", "clumsy", "empty"])):
            (self.folder / "reviews" / name).mkdir(parents=True)
            for i in range(30):
                text = chance.sample("the film of a man who goes to town in the rain".split(), 6) + chance.sample(words, 2)
                (self.folder / "reviews" / name / f"{i}.txt").write_text(" ".join(text))
        run = self.search(self.folder / "reviews")
        found = run.predict(self.folder / "reviews")
        self.assertEqual(list(found)[:2], ["good/0.txt", "good/1.txt"])
        self.assertGreater(sum(file.startswith(label) for file, label in found.items()), 50)
        self.assertEqual(run.predict_proba(self.folder / "reviews").shape, (60, 2))
        one = self.folder / "reviews/poor/3.txt"
        self.assertEqual(run.predict(one), {"3.txt": found["poor/3.txt"]})
        self.assertIn("no such file or folder", self.refused(self.folder / "nothing"))


class SeriesOfTables(SearchTest):
    def test_there_is_one_prediction_for_each_series(self):
        frame = pandas.DataFrame(readings(60))
        short = {"training.epochs": 12, "final.members": 1, "final.folds": 2, "final.epochs": 12}
        run = self.search(frame, "kind", series="id", time="t", settings=short)
        self.assertEqual(run.experiment["data"]["series"], ["id"])
        new = pandas.DataFrame(readings(20, seed=2)).drop(columns="kind")
        found = run.predict(new)
        self.assertEqual(list(found.index), list(range(20)))
        self.assertEqual(found.index.name, "id")
        self.assertGreater(sum(found[i] == ("slow", "fast")[i % 2] for i in range(20)), 14)
        chances = run.predict_proba(new)
        self.assertEqual(list(chances.index), list(range(20)))
        self.assertEqual(sorted(chances.columns), ["fast", "slow"])
        self.assertEqual(run.predict(polars.DataFrame(readings(20, seed=2))), {str(i): label for i, label in found.items()})
        self.assertIn("--series", self.refused(frame, "kind", series="who"))

    def test_rows_whose_columns_are_steps_are_series_unless_it_is_said_that_they_are_none(self):
        chance = random.Random(1)
        waves = [[math.sin((0.25, 0.6)[i % 2] * t + phase) for t in range(40)]
                 for i, phase in ((i, chance.random() * 6) for i in range(60))]
        frame = pandas.DataFrame(waves, columns=[f"t{t}" for t in range(40)]).assign(kind=["slow", "fast"] * 30)
        short = {"final.model": "none", "training.epochs": 1, "evolution.generations": 1}
        self.assertEqual(self.search(frame, "kind", settings=short).experiment["data"]["shape"], [40, 1])
        table = self.search(frame, "kind", layout="table", settings=short)
        self.assertNotEqual(table.experiment["data"]["shape"], [40, 1])
        self.assertIn("--layout", self.refused(frame, "kind", layout="sideways"))


if __name__ == "__main__":
    unittest.main()
