"""Samplers that are not Clade's own: what `clade evaluate` answers them, and searches compared by time of training."""

import json
import pathlib
import subprocess
import unittest

from live_runs import CLADE, RunTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

DIGITS = f"""
[experiment]
name = "few"
seed = 3
[data]
file = "{ROOT}/experiments/data/digits.csv.gz"
limit = 300
[search_space]
file = "{ROOT}/search_spaces/mlp.toml"
[evolution]
strategy = "auto"
population = 5
generations = 4
[training]
epochs = 2
"""

HYPERPARAMETERS = {"optimizer": "adam", "learning_rate": 0.01, "momentum": 0.9, "weight_decay": 0.0001,
                   "batch_size": 32, "schedule": "cosine"}


def dense(units):
    return {"op": "dense", "settings": {"units": units, "norm": "none", "activation": "relu"}}


class EvaluateTest(RunTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "few.toml"
        self.file.write_text(DIGITS)

    def clade(self, *words, **more):
        return subprocess.run([CLADE, *map(str, words)], capture_output=True, timeout=200, cwd=self.folder, **more)

    def answers(self, *questions, file=None):
        """One for each line, which is bytes or an object."""
        lines = [q if isinstance(q, bytes) else json.dumps(q).encode() for q in questions]
        ended = self.clade("evaluate", file or self.file, "--slots", "cpu:1", input=b"\n".join(lines) + b"\n")
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))
        return [json.loads(line) for line in ended.stdout.splitlines()]


class Synthetic(EvaluateTest):
    def test_bad_lines_never_end_it(self):
        file = self.write_experiment(duration="1us")
        deep = b'{"layers": ' + b"[" * 300_000 + b"]" * 300_000 + b"}"
        bad = [b"\xff\xfe\x00", b"{", b"[" * 300_000, deep, b"x" * 3_000_000, b"[]", b"{}", b'{"test": 1}', b'{"id": 1e400}',
               {"layers": [{"op": "none"}]}, {"layers": 3}, {"hyperparameters": [1]}, {"test": {}}]
        answered = self.answers(*bad, {"describe": True}, file=file)
        self.assertEqual(len(answered), len(bad) + 1)
        for one in answered[:-1]:
            self.assertRegex(one["error"], r"^[^\n]{10,}$")
        self.assertIn("operators", answered[-1]["space"])

    def test_an_experiment_that_is_wrong_is_one_line(self):
        ended = self.clade("evaluate", "nowhere.toml")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr.count(b"\n")), (2, b"", 1))
        ended = self.clade("bench", "strategies", self.write_experiment(), "--strategies", "regular")
        self.assertEqual((ended.returncode, ended.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"--strategies regular: ", ended.stderr)


class Training(EvaluateTest):
    def test_a_genome_is_trained_and_tested(self):
        genome = {"layers": [dense(32), dense(16)], "hyperparameters": HYPERPARAMETERS}
        wide = {"layers": [dense(256)] * 8, "hyperparameters": HYPERPARAMETERS}
        told, first, same, refused, tested, lost = self.answers(
            {"describe": True}, genome, genome, wide, {"test": 1}, {"test": 4})
        self.assertEqual((told["epochs"], told["objective"]), (2, {"metric": "validation.accuracy", "maximize": True}))
        self.assertEqual((first["id"], first["outcome"], first["parameters"]), (1, "succeeded", 2778))
        self.assertGreater(first["metrics"]["validation.accuracy"], 0.2)
        self.assertGreater(first["processor_seconds"], 0)
        self.assertEqual((same["equal_to"], same["metrics"], same["processor_seconds"]), (1, first["metrics"], 0))
        self.assertIn("exceed limits.max_", refused["error"])
        self.assertGreater(tested["metrics"]["test.accuracy"], 0.2)
        self.assertIn("test must be the id of an evaluation", lost["error"])
        again = self.answers(genome)
        self.assertEqual(again[0]["metrics"], first["metrics"])

    def test_strategies_have_the_same_time(self):
        ended = self.clade("bench", "strategies", self.file, "--strategies", "auto", "random", "--seeds", 1,
                           "--seconds", 1, "--slots", "cpu:1", "--json")
        self.assertEqual((ended.returncode, ended.stderr), (0, b""))
        rows = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertEqual([r["strategy"] for r in rows], ["auto", "random"])
        for row in rows:
            self.assertGreater(row["evaluations"], 2)
            self.assertLessEqual(row["training_seconds"], 1)
            self.assertGreater(row["test"]["test.accuracy"], 0.2)
        self.assertTrue(rows[0]["chosen"].startswith("surrogate: "), rows[0]["chosen"])


class Optuna(EvaluateTest):
    def test_its_tpe_searches_the_same_space(self):
        python = ROOT / "build" / "test_venv" / "bin" / "python"
        if not python.exists():
            self.skipTest("no build/test_venv: run tools/setup")
        ended = subprocess.run([python, ROOT / "experiments" / "peers" / "optuna_training.py", self.file, "--clade", CLADE, "--seeds",
                                "1", "--seconds", "1", "--strategies", "random", "--json"],
                               capture_output=True, timeout=200, cwd=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        rows = json.loads(ended.stdout)["rows"]
        self.assertEqual([r["strategy"] for r in rows], ["random", "optuna tpe"])
        for row in rows:
            self.assertGreater(row["evaluations"], 2)
            self.assertLessEqual(row["training_seconds"], 1)
            self.assertGreater(row["test"]["test.accuracy"], 0.2)


if __name__ == "__main__":
    unittest.main()
