"""Tables whose rows are the steps of series, or whose columns are, from `clade new` to `clade predict`: with a run, and with
the model's file alone."""

import csv
import json
import math
import random
import tomllib
import unittest

from live_runs import RunTest

SMALL = ("--slots", "2", "--set", "evolution.population=4", "--set", "evolution.generations=2", "--set", "training.epochs=12",
         "--set", "final.members=1", "--set", "final.folds=2", "--set", "final.epochs=12")


def wave(kind, steps, phase):
    """A slow or a fast one."""
    return [math.sin((0.25 if kind == "slow" else 0.6) * t + phase) for t in range(steps)]


def readings(count, seed=1, target=True):
    """A row for each step, in no order of time."""
    chance = random.Random(seed)
    rows = []
    for i in range(count):
        kind = "slow" if i % 2 == 0 else "fast"
        values = wave(kind, chance.randrange(25, 40), chance.random() * 6)
        own = [[f"s{i}", t, f"{v:.4f}", f"{v * v:.4f}", "here"] + ([kind] if target else []) for t, v in enumerate(values)]
        chance.shuffle(own)
        rows += own
    head = ["id", "t", "height", "power", "place"] + (["kind"] if target else [])
    return "".join(",".join(map(str, row)) + "\n" for row in [head] + rows)


def wide(count, seed=1):
    chance = random.Random(seed)
    lines = [",".join([f"t{t}" for t in range(40)] + ["kind"])]
    for i in range(count):
        kind = "slow" if i % 2 == 0 else "fast"
        lines.append(",".join([f"{v:.4f}" for v in wave(kind, 40, chance.random() * 6)] + [kind]))
    return "\n".join(lines) + "\n"


class SeriesOfTables(RunTest):
    def setUp(self):
        super().setUp()
        self.data, self.file = self.folder / "readings.csv", self.folder / "made.toml"

    def table(self, text):
        return list(csv.DictReader(text.splitlines()))

    def seen(self, *words):
        return json.loads(self.finish("new", self.data, *words, "--output", self.file, "--json").out)

    def assert_refused(self, part, *words):
        command = self.start(*words)
        self.assertEqual(command.end(), 2, command.said())
        self.assertIn(part, command.err)
        self.assertEqual(command.err.count("\n"), 1, command.err)

    def test_series_whose_steps_are_rows_are_told_apart_and_learnt_from(self):
        self.data.write_text(readings(80))
        seen = self.seen("--series", "id")
        self.assertEqual((seen["rows"], seen["classes"], seen["search_space"]), (80, {"slow": 40, "fast": 40}, "series"))
        self.assertIn('1 column is left out, as series are of numbers: "place"', seen["suspicions"])
        data = tomllib.loads(self.file.read_text())["data"]
        self.assertEqual((data["series"], data["time"], data["target"]), (["id"], "t", "kind"))
        self.assertEqual(data["columns"], {"height": "number", "power": "number", "place": "ignore"})
        run = self.finish("run", self.file, *SMALL)
        self.assertRegex(run.said(), r"80 series of 2\d to 3\d steps, 2 channels: height, power")
        folder = self.run_folder()

        new = self.folder / "new.csv"
        new.write_text(readings(20, seed=2, target=False))
        rows = self.table(self.finish("predict", folder, new).out)
        self.assertEqual(list(rows[0]), ["id", "class", "p(fast)", "p(slow)"])
        self.assertEqual([row["id"] for row in rows], [f"s{i}" for i in range(20)])
        right = sum(row["class"] == ("slow" if i % 2 == 0 else "fast") for i, row in enumerate(rows))
        self.assertGreaterEqual(right, 16)
        self.assertIn("accuracy", self.finish("predict", folder, self.data, "--score", "--json").out)
        model = self.folder / "series.safetensors"
        self.finish("export", folder, "--safetensors", model)
        self.assertEqual(self.table(self.finish("predict", model, new).out), rows)
        self.assert_refused("have no classes or numbers", "predict", model, new, "--score")

    def test_series_whose_steps_are_columns_are_seen_and_learnt_from(self):
        self.data.write_text(wide(80))
        seen = self.seen()
        self.assertEqual((seen["shape"], seen["search_space"]), ([40, 1], "series"))
        self.assertTrue(any(line.startswith("t0 to t39 are taken for the 40 steps") for line in seen["suspicions"]))
        self.assertEqual(tomllib.loads(self.file.read_text())["data"]["shape"], [40, 1])
        self.finish("run", self.file, *SMALL)
        folder = self.run_folder()
        new = self.folder / "new.csv"
        new.write_text(wide(20, seed=2))
        rows = self.table(self.finish("predict", folder, new).out)
        self.assertGreaterEqual(sum(row["class"] == ("slow" if i % 2 == 0 else "fast") for i, row in enumerate(rows)), 16)
        self.assertEqual(self.seen("--layout", "table", "--force")["shape"], [40])

    def test_what_is_no_table_of_series_is_said_in_a_line(self):
        self.data.write_text(readings(10))
        new = ("new", self.data, "--output", self.file)
        self.assert_refused("--time is for tables of series", *new, "--time", "t")
        self.assert_refused('--series "who" names no column', *new, "--series", "who")
        self.assert_refused("a series has one target", *new, "--series", "place", "--time", "t", "--target", "kind")
        self.assert_refused("each series has one row", *new, "--series", "id,t", "--time", "height")
        self.assert_refused("--layout series is for 20 columns", *new, "--layout", "series")
        lines = self.data.read_text().splitlines()
        self.data.write_text("\n".join([*lines, lines[3]]) + "\n")
        self.assert_refused("has this time already, in line 4", *new, "--series", "id", "--time", "t")
        lines[3] = lines[3].replace("slow", "fast")
        self.data.write_text("\n".join(lines) + "\n")
        self.assert_refused("a series has one target", *new, "--series", "id")
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
