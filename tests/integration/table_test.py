"""Runs on a benchmark table that lies beside its description: made again, stopped and gone on with, and refused where
the table is another one; and searches on it over several seeds."""

import importlib
import json
import os
import pathlib
import sys
import unittest

from live_runs import RunTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

DESCRIPTION = """files = ["x.csv"]
fidelities = [10, 40]
seeds = [0, 1]
[key]
column = "config"
digits = ["op", "width", "rate"]
[hyperparameters]
op = ["conv", "pool", "none"]
width = [8, 16, 32, 64]
rate = [0.1, 0.2, 0.3, 0.4, 0.5]
[objective]
maximize = "validation.accuracy"
[metrics]
validation.accuracy = ["early", "late_s{seed}"]
test.accuracy = "test"
"""

EXPERIMENT = """[experiment]
name = "tabular"
fitness = "table"
[table]
file = "t.toml"
[evolution]
strategy = "regularized"
population = 6
generations = 4
tournament = 2
in_flight = 2
"""


def rows():
    lines = ["config,early,late_s0,late_s1,test"]
    for op in range(3):
        for width in range(4):
            for rate in range(5):
                good = 90 - 10 * op - (width - 2) ** 2 - (rate - 1) ** 2
                # Some diverged, of some one seed alone was run.
                late = "nan" if (op, rate) == (2, 4) else str(good)
                second = "" if width == 3 else str(good - 0.5)
                lines.append(f"{op}{width}{rate},{good - 20},{late},{second},{good - 1}")
    return "\n".join(lines) + "\n"


class TableTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write("t.toml", DESCRIPTION)
        self.write("x.csv", rows())
        self.write("e.toml", EXPERIMENT)

    def write(self, name, text):
        (self.folder / name).write_text(text)


class Runs(TableTest):
    def test_a_run_is_the_same_with_other_slots_and_made_again(self):
        digests = set()
        for slots in ("1", "2"):
            self.finish("run", self.folder / "e.toml", "--slots", slots, "--set", f'experiment.name="s{slots}"')
            run = next(self.runs.glob(f"s{slots}-*"))
            verified = json.loads(self.finish("replay", run, "--verify", "--json").out)
            self.assertTrue(verified["equal"])
            self.assertEqual(verified["candidates"], 24)
            digests.add(verified["digest"])
            self.finish("report", run)
            self.finish("replay", run, "--retrain", "all")
        self.assertEqual(len(digests), 1)

    def test_another_table_than_the_run_s_is_refused(self):
        self.finish("run", self.folder / "e.toml")
        run = next(self.runs.iterdir())
        self.write("x.csv", rows().replace("90", "91", 1))
        refused = self.finish("resume", run, status=2)
        self.assertIn("the data is not what this run started with (" + str(self.folder / "t.toml"), refused.err)
        (self.folder / "x.csv").unlink()
        refused = self.finish("resume", run, status=2)
        self.assertIn(f"{self.folder / 't.toml'}:1: {self.folder / 'x.csv'} is not there", refused.err)
        # The results can be read without the table.
        self.finish("show", run)
        self.write("x.csv", rows())


class BadInput(TableTest):
    def refused(self, *parts):
        command = self.finish("run", self.folder / "e.toml", status=2)
        self.assertEqual((command.out, command.err.count("\n")), ("", 1))
        for part in parts:
            self.assertIn(part, command.err)
        self.assertFalse(self.runs.exists(), "something was made")

    def test_one_line_with_file_and_line(self):
        for what, name, text, part in [
            ("a missing column", "t.toml", DESCRIPTION.replace('"test"', '"tset"'), 't.toml:15: '),
            ("a duplicate key", "x.csv", rows() + "000,1,2,3,4\n", "x.csv:62: has the same setting as line 2"),
            ("text for a number", "x.csv", rows().replace("\n000,", "\n000,fast", 1), "x.csv:2: early is \"fast"),
            ("fidelities that do not rise", "t.toml", DESCRIPTION.replace("[10, 40]", "[40, 10]"), "t.toml:2: "),
            ("an unknown key", "t.toml", DESCRIPTION.replace("seeds", "sedes"), "t.toml:3: unknown key"),
            ("a value that does not occur", "t.toml", DESCRIPTION.replace("0.5]", "0.5, 0.6]"), "t.toml:10: rate may"),
            ("an empty table", "x.csv", "config,early,late_s0,late_s1,test\n", "x.csv:2: has a header and no rows"),
        ]:
            with self.subTest(what):
                self.write("t.toml", DESCRIPTION)
                self.write("x.csv", rows())
                self.write(name, text)
                self.refused(part)


class Search(TableTest):
    def search(self, *words, status=0):
        return self.finish("bench", "search", "--tables", self.folder / "t.toml", *words, status=status)

    def test_strategies_are_compared_alike_on_any_number_of_threads(self):
        options = ["--seeds", "10", "--evaluations", "40", "--json"]
        one, two = (json.loads(self.search(*options, "--threads", n).out) for n in ("1", "3"))
        for comparison in (one, two):
            for row in comparison["tables"][0]["rows"]:
                self.assertGreater(row.pop("ask_max_ms"), 0)
                self.assertGreater(row.pop("ask_mean_ms"), 0)
        self.assertEqual(one, two)
        regret = {row["name"]: row["regret"] for row in one["tables"][0]["rows"]}
        self.assertEqual(one["checkpoints"], [25, 40])
        self.assertLess(regret["regularized 10/5"][0], regret["random"][0])

    def test_a_strategy_that_is_not_there_is_named(self):
        refused = self.search("--strategies", "regularized", status=2)
        self.assertIn('--strategies: "regularized" is no strategy of this bench; '
                      'did you mean "regularized 20/5"?', refused.err)
        refused = self.search("--strategies", "mine: population=ten", status=2)
        self.assertIn("evolution.population", refused.err)

    def compared_with(self, script):
        """The output of the script is ranked among rows of ours."""
        outcomes = [([-1.0] * 25, 1.0, 0.01, 0.02, 2.0), ([56.0] * 25, None, 0.01, 0.02, None)]
        row = script.row_of("optuna tpe", outcomes, [25])
        said = {"seeds": 2, "evaluations": 25, "checkpoints": [25], "tables": [{"name": "t", "rows": [row]}]}
        self.write("optuna.json", json.dumps(said))
        options = ["--strategies", "random", "--seeds", "2", "--against", self.folder / "optuna.json"]
        compared = json.loads(self.search(*options, "--evaluations", "25", "--json").out)
        self.assertEqual([r["name"] for r in compared["tables"][0]["rows"]], ["random", "optuna tpe"])
        self.assertEqual({k: v for k, v in compared["tables"][0]["rows"][1].items() if "_to_" in k or "reached" in k},
                         {"median_to_top": None, "reached_top": 1, "median_to_best": None, "mean_to_best": None,
                          "reached_best": 1})
        self.assertEqual(compared["search_ranks"]["optuna tpe"]["mean"], [1.5])
        refused = self.search(*options, "--evaluations", "30", status=2)
        self.assertIn("--against: says nothing of the regret after 30 evaluations", refused.err)
        self.write("optuna.json", json.dumps(said)[:-1])
        refused = self.search(*options, "--evaluations", "25", status=2)
        self.assertIn("optuna.json: is not one JSON object", refused.err)

    def test_optuna_s_script_reads_the_same_table(self):
        sys.path.insert(0, str(ROOT / "experiments" / "peers"))  # The path is as for a script that is run from there.
        script = importlib.import_module("optuna_tables")
        self.compared_with(script)
        table = script.Table(self.folder / "t.toml")
        self.assertEqual((table.count, table.best, table.worst), (60, 89.0, 56.0))
        self.assertEqual(table.find((0, 1, 2)), 11)  # op, rate, width
        self.assertEqual(table.values[1][0], [85.0, 84.5])
        self.assertEqual(table.values[1][3 * 5], [88.0])
        self.assertEqual(table.values[0][0], [65.0])
        self.assertEqual(sum(table.top), 16)
        account = script.Account(table, 1, 3)
        account.evaluate((0, 1, 2), 0)
        self.assertEqual((account.spent, account.regret), (0.25, []))
        account.evaluate((0, 1, 2), 1)
        account.evaluate((0, 1, 2), 1)
        self.assertEqual((account.spent, account.regret, account.first_top), (1.0, [0.0], 1.0))
        self.assertEqual(account.first_best, 1.0)  # A regret of 0: it is the best row.


def tables():
    """The folder in which the benchmark tables are kept: clade looks at the same places."""
    return pathlib.Path(os.environ.get("CLADE_BENCHMARKS") or ROOT.parent / "shared" / "data")


class Quick(RunTest):
    @unittest.skipUnless((tables() / "nas-bench-201").is_dir(), "the benchmark tables are not on this machine")
    def test_auto_is_ahead_of_regularised_evolution(self):
        names = ("nb201_cifar10", "nb201_imagenet", "hpolib_protein_structure")
        descriptions = [ROOT / "experiments" / "tables" / f"{name}.toml" for name in names]
        bench = self.start("bench", "search", "--quick", "--seeds", "8", "--tables", *descriptions)
        # It searches on all cores, which a busy machine gives it less of.
        self.assertEqual(bench.end(patience_s=200), 0, bench.said())
        for word in (*names, "auto", "regularized 20/5"):
            self.assertIn(word, bench.out)


if __name__ == "__main__":
    unittest.main()
