"""A folder of texts by class from `clade new` to `clade predict`: with a run, and with the model's file alone."""

import csv
import json
import random
import tomllib
import unittest

from live_runs import RunTest

GOOD, POOR = ("fine", "clever", "moving", "bright"), ("dull", "clumsy", "tedious", "empty")
OTHERS = "the film of a man and his dog who go to town in the rain to see it all once more".split()


def review(words, chance):
    text = chance.sample(OTHERS, 9) + chance.sample(words, 2)
    chance.shuffle(text)
    return " ".join(text) + ",\nas \"they\" say.\n"


def put_reviews(folder, each, seed=1):
    chance = random.Random(seed)
    for name, words in (("good", GOOD), ("poor", POOR)):
        (folder / name).mkdir(parents=True)
        for i in range(each):
            (folder / name / f"{i}.txt").write_text(review(words, chance))


class FoldersOfTexts(RunTest):
    def table(self, text):
        return list(csv.DictReader(text.splitlines()))

    def test_a_folder_of_texts_is_learnt_from_and_new_texts_are_told(self):
        data, file = self.folder / "reviews", self.folder / "made.toml"
        put_reviews(data / "train", 40)
        put_reviews(data / "test", 10, seed=2)
        (data / "README.md").write_text("Two classes.")
        seen = json.loads(self.finish("new", data, "--output", file, "--json").out)
        self.assertEqual((seen["format"], seen["rows"], seen["classes"]), ("texts", 80, {"good": 40, "poor": 40}))
        written = tomllib.loads(file.read_text())["data"]
        self.assertEqual((written["file"], written["test_file"]), ("reviews/train", "reviews/test"))
        run = self.finish("run", file, "--slots", "2", "--set", "evolution.population=4", "--set",
                          "evolution.generations=2", "--set", "training.epochs=8", "--set", "final.members=1", "--set",
                          "final.folds=2", "--set", "final.epochs=8")
        self.assertIn("80 rows; beside the target 1 column: 1 text", run.said())
        folder = self.run_folder()

        rows = self.table(self.finish("predict", folder, data / "test").out)
        self.assertEqual(list(rows[0]), ["file", "class", "p(good)", "p(poor)"])
        self.assertEqual(rows[0]["file"], "good/0.txt")
        right = sum(row["file"].startswith(row["class"]) for row in rows)
        self.assertGreaterEqual(right, 18)
        scored = json.loads(self.finish("predict", folder, data / "test", "--score", "--json").out)
        self.assertTrue(any("accuracy" in key for key in json.dumps(scored).split('"')))

        # Loose texts, one text and rows of a table have the same answers.
        new = self.folder / "new"
        new.mkdir()
        (new / "a.txt").write_text((data / "test/good/0.txt").read_text())
        (new / "b.txt").write_bytes("\ufefftedious and dull".encode("utf-16-le"))
        loose = self.table(self.finish("predict", folder, new).out)
        self.assertEqual([row["file"] for row in loose], ["a.txt", "b.txt"])
        self.assertEqual((loose[0]["p(good)"], loose[1]["class"]), (rows[0]["p(good)"], "poor"))
        one = self.table(self.finish("predict", folder, new / "a.txt").out)
        self.assertEqual(one, loose[:1])
        table = self.folder / "new.csv"
        with open(table, "w", newline="") as out:
            csv.writer(out).writerows([["text"], [(new / "a.txt").read_text()]])
        by_table = self.table(self.finish("predict", folder, table).out)
        self.assertEqual(by_table[0]["p(good)"], rows[0]["p(good)"])

        model = self.folder / "reviews.safetensors"
        self.finish("export", folder, "--safetensors", model)
        self.assertEqual(self.table(self.finish("predict", model, data / "test").out), rows)

        # Another byte is other data.
        text = data / "train/good/0.txt"
        before = text.read_text()
        text.write_text("changed")
        changed = self.start("predict", folder, new)
        self.assertEqual(changed.end(), 2, changed.said())
        self.assertIn("train", changed.err)
        text.write_text(before)  # The end of each test replays its runs.

    def test_a_folder_that_cannot_be_learnt_from_is_said_in_a_line(self):
        file = self.folder / "made.toml"

        def assert_refused(part, *words):
            command = self.start("new", *words, "--output", file)
            self.assertEqual(command.end(), 2, command.said())
            self.assertIn(part, command.err)
            self.assertEqual(command.err.count("\n"), 1, command.err)

        flat = self.folder / "flat"
        flat.mkdir()
        (flat / "1.txt").write_text("a text")
        assert_refused("no folder with any, so that no text has a class", flat)
        lone = self.folder / "lone"
        put_reviews(lone, 3)
        for one in (lone / "poor").iterdir():
            one.unlink()
        assert_refused("holds texts of one class, good", lone)
        reviews = self.folder / "reviews"
        put_reviews(reviews, 3)
        assert_refused("leave out --target", reviews, "--target", "class")
        (reviews / "good/sound.txt").write_bytes(b"RIFF\0\0\0\0WAVE")
        assert_refused("good/sound.txt: holds zero bytes, as no text does", reviews)
        self.assertFalse(file.exists())


if __name__ == "__main__":
    unittest.main()
