"""Several numbers, and several labels, from `clade new` to `clade predict` and to every format of other programs."""

import csv
import json
import math
import random
import tomllib
import unittest

from export_test import PYTHON_OF, ExportTest, ask
from live_runs import RunTest

SMALL = ["--set", "evolution.population=4", "--set", "evolution.generations=2", "--set", "training.epochs=12",
         "--set", "final.members=1", "--set", "final.folds=2", "--set", "final.epochs=12", "--set",
         "limits.wall_time=2min"]
KINDS = "abc"


def row(i):
    x, y = math.sin(1.7 * i), math.cos(2.3 * i)
    return [f"{x:.5f}", f"{y:.5f}", KINDS[i % 3]]


def numbers(i):
    x, y, kind = row(i)
    return [f"{100 + 30 * float(x) - 20 * float(y):.3f}", f"{.001 * float(y) + .002 * (kind == 'a'):.6f}"]


def labels(i):
    x, y, kind = row(i)
    return [name for name, has in (("right", float(x) > 0), ("upper", float(y) > 0), ("first kind", kind == "a")) if has]


def put(file, head, rows):
    with open(file, "w", newline="") as out:
        csv.writer(out).writerows([head, *rows])


class SeveralTest(ExportTest):
    def learn(self, table, *words):
        """Returns what `clade new` said of it and wrote, and the run's folder."""
        file = self.folder / "made.toml"
        seen = json.loads(self.finish("new", table, "--output", file, "--json", *words).out)
        self.finish("run", file, "--slots", "2", *SMALL)
        return seen, tomllib.loads(file.read_text()), self.run_folder()

    def table(self, run, data):
        return list(csv.DictReader(self.finish("predict", run, data).out.splitlines()))

    def scored(self, run, data):
        return json.loads(self.finish("predict", run, data, "--score", "--json").out)

    def assert_every_format_says(self, run, rows, wanted):
        self.finish("export", run, "--python", "source", "--onnx", "model.onnx", "--torchscript", "model.pt")
        given = self.folder / "rows.json"
        given.write_text(json.dumps({"rows": rows, "shape": None}))
        for kind, model in (("python", "source"), ("torchscript", "model.pt"), ("onnx", "model.onnx")):
            found = ask(PYTHON_OF[kind], "predict", kind, self.folder / model, given)
            self.assertEqual(len(found), len(wanted), kind)
            for f, w in zip(found, wanted):
                for a, b in zip(f, w, strict=True):
                    self.assertLessEqual(abs(a - b) / max(1, abs(b)), 1e-5, f"{kind}: {f} for {w}")


class Several(SeveralTest):
    def test_several_numbers_are_learnt_and_exported(self):
        table = self.folder / "table.csv"
        put(table, ["x", "y", "kind", "sum", "tiny"], [row(i) + numbers(i) for i in range(300)])
        seen, written, run = self.learn(table, "--targets", "sum,tiny")
        self.assertEqual((seen["task"], seen["targets"]), ("regression", ["sum", "tiny"]))
        self.assertEqual(written["data"]["targets"], ["sum", "tiny"])
        self.assertEqual(written["objective"], {"maximize": ["validation.r2"]})
        new = self.folder / "new.csv"
        put(new, ["x", "kind", "y"], [[r[0], r[2], r[1]] for r in map(row, range(400, 440))])
        told = self.table(run, new)
        self.assertEqual(list(told[0]), ["sum", "tiny"])
        for i, said in zip(range(400, 440), told):
            for value, name in zip(numbers(i), said):
                self.assertLess(abs(float(said[name]) - float(value)), 15 if name == "sum" else .0015)
        metrics = self.scored(run, table)["metrics"]
        self.assertGreater(metrics["r2"], .8)
        self.assertAlmostEqual(metrics["r2"], (metrics["r2.sum"] + metrics["r2.tiny"]) / 2)
        wide = list(csv.DictReader(self.finish("predict", run, new, "--intervals", "0.9").out.splitlines()))
        self.assertEqual(list(wide[0]), ["sum", "sum_low", "sum_high", "tiny", "tiny_low", "tiny_high"])
        for one, said in zip(wide, told):
            for name in said:
                self.assertEqual(one[name], said[name])
                self.assertLess(float(one[f"{name}_low"]), float(one[name]))
                self.assertAlmostEqual(float(one[f"{name}_high"]) - float(one[name]), float(one[name]) - float(one[f"{name}_low"]))
        held = json.loads(self.finish("predict", run, table, "--score", "--json", "--intervals", "0.9").out)["intervals"]
        self.assertGreater(held["coverage"], .75)
        self.assertIn("are not all there", self.refused("predict", run, new, "--score"))
        self.assert_every_format_says(run, [[*r[:2], r[2], "", ""] for r in map(row, range(400, 440))],
                                      [[float(v) for v in said.values()] for said in told])
        self.finish("export", run, "--safetensors", "model.safetensors")
        self.assertEqual(self.table(self.folder / "model.safetensors", new), told)
        report = self.finish("report", run, "--output", "report.html")
        self.assertEqual(report.err, "")
        self.assertIn("r2.tiny", (self.folder / "report.html").read_text())

    def test_labels_are_learnt_and_exported(self):
        table = self.folder / "table.csv"
        put(table, ["x", "y", "kind", "tags"], [row(i) + ["|".join(labels(i))] for i in range(300)])
        seen, written, run = self.learn(table, "--target", "tags")
        self.assertEqual((seen["task"], written["data"]["task"]), ("multilabel", "multilabel"))
        names = ["first kind", "right", "upper"]
        new = self.folder / "new.csv"
        put(new, ["x", "y", "kind", "tags"], [row(i) + [";".join(labels(i))] for i in range(400, 440)])
        told = self.table(run, new)
        self.assertEqual(list(told[0]), names + [f"p({name})" for name in names])
        self.assertIn("labels, whose probabilities", self.refused("predict", run, new, "--intervals", "0.9"))
        right = sum((said[name] == "1") == (name in labels(i)) for i, said in zip(range(400, 440), told) for name in names)
        self.assertGreater(right, 105) # There are 120.
        score = self.scored(run, new)
        self.assertAlmostEqual(score["metrics"]["accuracy"], right / 120)
        self.assertEqual(score["rows"], 40)
        self.assertLess(score["metrics"]["loss"], .5)
        self.assertIn("f1.first kind", score["metrics"])
        self.assert_every_format_says(run, [row(i) for i in range(400, 440)],
                                      [[float(said[f"p({name})"]) for name in names] for said in told])
        # The same labels as columns are the same targets.
        columns = self.folder / "columns.csv"
        put(columns, ["x", "y", "kind", *names],
            [row(i) + ["yes" if name in labels(i) else "no" for name in names] for i in range(300)])
        seen = json.loads(self.finish("new", columns, "--output", "columns.toml", "--json", "--targets",
                                      ",".join(names)).out)
        self.assertEqual((seen["task"], seen["shape"]), ("multilabel", [3]))


    def test_quantiles_are_learnt_and_exported(self):
        table = self.folder / "table.csv"
        draw = random.Random(1)

        def spread(i):
            return [f"{100 + 30 * float(row(i)[0]) + (20 if row(i)[2] == 'a' else 2) * draw.gauss(0, 1):.3f}"]

        put(table, ["x", "y", "kind", "sum"], [row(i) + spread(i) for i in range(400)])
        seen, written, run = self.learn(table, "--target", "sum", "--quantiles", "0.1,0.5,0.9")
        self.assertEqual((seen["task"], written["data"]["task"]), ("quantiles", "quantiles"))
        self.assertEqual(written["data"]["quantiles"], [.1, .5, .9])
        self.assertEqual(written["objective"], {"minimize": ["validation.pinball"]})
        new = self.folder / "new.csv"
        put(new, ["x", "y", "kind", "sum"], [row(i) + spread(i) for i in range(400, 700)])
        told = self.table(run, new)
        self.assertEqual(list(told[0]), ["sum_q0.1", "sum_q0.5", "sum_q0.9"])
        values = [[float(v) for v in said.values()] for said in told]
        for said in values:
            self.assertEqual(said, sorted(said))
        wide = [said[2] - said[0] for i, said in zip(range(400, 700), values) if row(i)[2] == "a"]
        narrow = [said[2] - said[0] for i, said in zip(range(400, 700), values) if row(i)[2] != "a"]
        self.assertGreater(sum(wide) / len(wide), 2 * sum(narrow) / len(narrow))
        metrics = self.scored(run, new)["metrics"]
        self.assertAlmostEqual(metrics["pinball"], sum(metrics[f"pinball.q{q}"] for q in (.1, .5, .9)) / 3)
        for q in (.1, .5, .9):
            self.assertLess(abs(metrics[f"below.q{q}"] - q), .12)
        self.assertIn("quantiles", self.refused("predict", run, new, "--intervals", "0.9"))
        self.assert_every_format_says(run, [row(i) for i in range(400, 440)], values[:40])
        self.finish("export", run, "--safetensors", "model.safetensors")
        self.assertEqual(self.table(self.folder / "model.safetensors", new), told)
        self.finish("report", run, "--output", "report.html")
        self.assertIn("below.q0.9", (self.folder / "report.html").read_text())


class SeveralRefused(RunTest):
    def test_targets_that_cannot_be_are_refused_in_a_line(self):
        table = self.folder / "table.csv"
        put(table, ["x", "y", "kind", "sum", "tiny"], [row(i) + numbers(i) for i in range(30)])

        def assert_refused(part, *words):
            command = self.start("new", table, "--output", self.folder / "made.toml", *words)
            self.assertEqual(command.end(), 2, command.said())
            self.assertIn(part, command.err)
            self.assertEqual(command.err.count("\n"), 1, command.err)

        assert_refused("did you mean", "--targets", "sum,tini")
        assert_refused("twice", "--targets", "sum,sum")
        assert_refused("for one say --target", "--targets", "sum")
        assert_refused('"kind" holds neither numbers nor yes and no', "--targets", "sum,kind")
        assert_refused("rising order", "--target", "sum", "--quantiles", "0.9,0.1")
        assert_refused("--quantiles are of a number", "--target", "sum", "--quantiles", "0.9", "--task", "regression")
        assert_refused("quantiles of forecasts", "--target", "sum", "--quantiles", "0.9", "--horizon", "3")
        assert_refused("a series has one target", "--targets", "sum,tiny", "--series", "kind")


if __name__ == "__main__":
    unittest.main()
