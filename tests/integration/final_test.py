"""The end of a run with [final]: what is trained to the end, the final model, and what becomes of it in faults; LibTorch."""

import contextlib
import csv
import io
import json
import pathlib
import sqlite3
import unittest

from live_runs import RunTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IRIS = ROOT / "experiments" / "data" / "iris.csv"

EXPERIMENT = f"""
[experiment]
name = "ended"
seed = 3
[data]
file = "{IRIS}"
target = "last"
[search_space]
file = "{ROOT}/search_spaces/mlp.toml"
[evolution]
strategy = "generational"
population = 4
generations = 2
elites = 1
[training]
epochs = 4
[final]
model = "ensemble"
members = 2
folds = 2
"""
SEARCHED, TRAINED = 8, 4


class FinalModel(RunTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "ended.toml"
        self.file.write_text(EXPERIMENT)

    def run_to_end(self, *options):
        run = self.start("run", self.file, "--slots", "cpu:2", *options)
        self.assertEqual(run.end(), 0, run.said())
        return run

    def tests_of_the_end(self):
        with sqlite3.connect(self.run_folder() / "run.db") as db:
            return {subject: json.loads(metrics) for subject, metrics in
                    db.execute("select subject, metrics from examinations")}

    def assert_all_is_there(self):
        self.assertEqual(self.count("select count(*) from evaluations"), SEARCHED + TRAINED)
        self.assertEqual(self.count("select count(*) from genomes where epochs = 60"), TRAINED)
        tested = self.tests_of_the_end()
        self.assertLessEqual({"boosted trees", "champion", "final model", "linear model"}, set(tested))
        self.assertGreater(tested["final model"]["test.accuracy"], 0.8)
        end = json.loads(self.finish("show", self.run_folder(), "--json").out)["end"]
        models = end["final_model"]["models"]
        self.assertLessEqual({"boosted trees", "the linear model"}, {one["subject"] for one in models})
        self.assertAlmostEqual(sum(one["share"] for one in models), 1)
        # The examples are so few that all of them judge, but not networks of the search, which know most of them.
        accuracies = [one["metrics"].get("cross_validation.accuracy", 0) for one in models]
        self.assertEqual(accuracies, sorted(accuracies, reverse=True))
        self.assertEqual({one["subject"][0] for one in models if "cross_validation.accuracy" not in one["metrics"]}, {"#"})
        columns = end["details"]["columns"]["columns"]
        self.assertEqual(len(columns), 4)
        self.assertGreater(columns[0]["low"], 0)

    def predicted(self, what):
        example = self.folder / "example.csv"
        example.write_text("\n".join(IRIS.read_text().splitlines()[:3]) + "\n")
        return self.finish("predict", what, example).out

    def test_it_is_tested_predicts_and_is_exported(self):
        self.run_to_end()
        self.assert_all_is_there()
        folder = self.run_folder()
        said = self.predicted(folder)
        self.assertEqual(len(said.splitlines()), 3)
        model = self.folder / "model.safetensors"
        self.assertIn("the final model", self.finish("export", folder, "--safetensors", model).out)
        self.assertEqual(self.predicted(model), said)
        self.finish("replay", folder, "--verify")
        told = self.finish("explain", folder, "model").out
        self.assertRegex(told, r"^the final model of ended\n  0?1?\.[0-9]+ of ")
        explained = json.loads(self.finish("explain", folder, "model", "--json").out)
        networks = {one["id"] for one in explained["model"]["models"] if one["share"] > 0 and one.get("id")}
        self.assertEqual({one["id"] for one in explained["candidates"]}, networks)
        for one in networks:
            self.assertIn(f"#{one}", told)
        text = self.finish("replay", folder, "--retrain", "all").out
        self.assertIn("trained again on cpu equal", text)
        self.assertNotIn("differs", text)

    def test_it_rules_out_no_class_that_its_examples_cannot_rule_out(self):
        self.run_to_end()
        model = self.folder / "model.safetensors"
        self.finish("export", self.run_folder(), "--safetensors", model)
        fitted_to = 0.8 * (len(IRIS.read_text().splitlines()) - 1)
        for what in self.run_folder(), model:
            for row in csv.DictReader(io.StringIO(self.finish("predict", what, IRIS).out)):
                said = [float(value) for name, value in row.items() if name != "class"]
                self.assertEqual(len(said), 3)
                self.assertAlmostEqual(sum(said), 1, places=5)
                self.assertGreater(min(said), 1 / (fitted_to + 2))

    def test_a_head_killed_while_it_trains_to_the_end_ends_as_if_never_killed(self):
        run = self.start("run", self.file, "--slots", "cpu:2")
        self.await_evaluations(SEARCHED + 1, run)
        run.kill()
        resumed = self.start("resume", self.run_folder())
        self.assertEqual(resumed.end(), 0, resumed.said())
        self.assert_all_is_there()
        self.assert_undisturbed(self.file)

    def test_a_run_that_is_killed_on_the_way_has_a_model_to_use(self):
        run = self.start("run", self.file, "--slots", "cpu:2", "--set", "evolution.generations=1000")
        self.await_count("select count(*) from records where kind = 15", 1, run)
        run.kill()
        folder = self.run_folder()
        self.assertIn("the model so far: validation.", self.finish("show", folder).out)
        self.assertIn("the model so far of ended", self.finish("explain", folder, "model").out)
        self.assertTrue(json.loads(self.finish("show", folder, "--json").out)["model_so_far"]["members"])
        said = self.predicted(folder)
        self.assertEqual(len(said.splitlines()), 3)
        model = self.folder / "model.safetensors"
        told = self.finish("export", folder, "--safetensors", model).out
        self.assertRegex(told, "the model so far|#[0-9]+ of")
        self.assertEqual(self.predicted(model), said)

    def test_a_run_with_little_time_ends_with_a_model(self):
        run = self.run_to_end("--minutes", "0.2", "--set", "evolution.generations=1000")
        self.assertIn("final model", self.tests_of_the_end())
        self.assertEqual(self.count("select count(*) from progress where state = 'finished'"), 1, run.said())

    def test_a_final_model_without_its_weights_gives_way_to_the_champion(self):
        self.run_to_end()
        folder = self.run_folder()
        with contextlib.closing(sqlite3.connect(folder / "run.db")) as db:
            champion = db.execute("select champion from progress").fetchone()[0]
            db.execute("delete from weights where id <> ?", (champion,))
            db.commit()
        said = self.finish("predict", folder, IRIS)
        self.assertIn("the final model cannot be used", said.err)
        self.assertIn("the champion is taken in its place", said.err)
        self.assertEqual(said.out, self.finish("predict", folder, IRIS, "--genome", champion).out)


class NoModel(RunTest):
    def test_a_run_whose_time_is_used_before_a_candidate_was_trained_says_so(self):
        file = self.write_experiment(population=2, generations=1, limits='wall_time = "1s"')
        said = self.finish("run", file, "--slots", "none", status=1).err
        self.assertIn("ended without a model", said)
        self.assertIn("clade resume", said)


if __name__ == "__main__":
    unittest.main()
