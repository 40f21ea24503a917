"""A table of customers as they come: an experiment that names no column but the target, and what production sends."""

import csv
import json
import subprocess
import unittest
from pathlib import Path

from live_runs import CLADE, RunTest, environment_of_commands

CHURN = Path(__file__).resolve().parent / "data" / "churn.csv"
EXPERIMENT = """[experiment]
name = "churn"
[data]
file = "churn.csv"
target = "churned"
[evolution]
strategy = "generational"
population = 4
generations = 2
[training]
epochs = 2
"""


class Columns(RunTest):
    def test_a_table_of_every_kind_is_trained_on_at_the_first_attempt(self):
        customers = CHURN.read_bytes()
        self.assertTrue(customers.endswith(b"\n"))
        (self.folder / "churn.csv").write_bytes(customers + b"C9999,40,1000.5,plus,Oslo,True,2023-03-05,10,\n")
        file = self.folder / "churn.toml"
        file.write_text(EXPERIMENT)
        run = self.finish("run", file, "--slots", "1")
        for line in ("churn.csv: 601 rows, of which 1 is left out, without a target; beside the target 8 columns: "
                     "3 numbers, 2 categories, 1 yes or no, 1 date, 1 ignored",
                     "target churned: 2 classes: no 354, yes 246",
                     'column 1 ("customer") is ignored: almost every row has a value of its own'):
            self.assertIn(line, run.err)
        self.finish("export", "churn", "--safetensors", "churn.safetensors")
        (self.folder / "new.csv").write_text(
            "plan;city;age;income;calls;active;signup;newsletter\n"
            "enterprise;Graz;n/a;41000,5;3;TRUE;2026-11-01;yes\n"
            ";Oslo;44;;none;False;2026-11-02;no\n")
        rows = self.finish("predict", "churn.safetensors", "new.csv")
        self.assertEqual(rows.out.count("\n"), 3, rows.out)
        self.assertEqual(rows.err.count("newsletter"), 1, rows.err)
        self.assertIn('"enterprise"', rows.err)
        piped = subprocess.run([CLADE, "predict", "churn.safetensors", "-"], cwd=self.folder, text=True,
                               input=(self.folder / "new.csv").read_text(), capture_output=True,
                               env=environment_of_commands(), check=True)
        self.assertEqual(piped.stdout, rows.out)
        self.assert_scored()
        (self.folder / "new.csv").write_text("plan,city,income,calls\nbasic,Oslo,1,2\n")
        refused = self.finish("predict", "churn.safetensors", "new.csv", status=2)
        self.assertIn('the columns "age", "active", "signup" of the training data are missing', refused.err)
        self.finish("replay", "churn", "--verify")

    def assert_scored(self):
        """The rows that have the target are compared with what is predicted for them."""
        self.finish("predict", "churn.safetensors", "churn.csv", "--output", "rows.csv")
        said = [line.split(",")[0] for line in (self.folder / "rows.csv").read_text().splitlines()[1:]]
        with open(CHURN, newline="") as file:
            delimiter = csv.Sniffer().sniff(file.readline()).delimiter
            file.seek(0)
            right = [row["churned"] for row in csv.DictReader(file, delimiter=delimiter)]
        score = json.loads(self.finish("predict", "churn.safetensors", "churn.csv", "--score", "--json").out)
        self.assertEqual((score["rows"], score["left_out"]), (600, 1))
        self.assertAlmostEqual(score["metrics"]["accuracy"], sum(a == b for a, b in zip(said, right)) / 600)
        text = self.finish("predict", "churn.safetensors", "churn.csv", "--score").out
        self.assertTrue(text.startswith("600 rows: accuracy "), text)
        refused = self.finish("predict", "churn.safetensors", "new.csv", "--score", status=2)
        self.assertIn('the column "churned", the target, is missing', refused.err)


if __name__ == "__main__":
    unittest.main()
