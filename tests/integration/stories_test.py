"""What is told of a run afterwards, and while it goes on: why a network exists, and how two runs differ."""

import json
import pathlib
import unittest

from live_runs import RunTest

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "experiments"


class StoryTest(RunTest):
    def run_named(self, name, *changes, slots="2"):
        """A run of experiments/synthetic.toml under that name, and its folder."""
        words = [word for change in changes for word in ("--set", change)]
        self.finish("run", EXPERIMENTS / "synthetic.toml", "--slots", slots, "--set", f"experiment.name={name}",
                    "--set", "evolution.population=16", "--set", "evolution.generations=5",
                    "--set", "synthetic.duration=1ms", *words)
        return max(self.runs.glob(f"{name}-*"))

    def refused(self, *words):
        """One sentence, and exit status 2."""
        command = self.finish(*words, status=2)
        self.assertEqual(command.out, "")
        self.assertRegex(command.err, r"^clade: [^\n]+\n$")
        return command.err


class Explaining(StoryTest):
    def test_a_champion_has_a_line_with_gains_and_genes_with_ancestors(self):
        run = self.run_named("told")
        text = self.finish("explain", run, "champion").out
        self.assertLessEqual(max(map(len, text.splitlines())), 80, text)
        for title in ("its line, the oldest first", "where its genes come from", "told (finished)"):
            self.assertIn(title, text)
        shown = json.loads(self.finish("show", run, "--json").out)
        told = json.loads(self.finish("explain", run, "champion", "--json").out)
        self.assertEqual(told["id"], shown["champion"])
        self.assertEqual(told["line"][-1]["id"], shown["champion"])
        fitness = {row[0]: row[1] for row in self.query("select id, fitness from evaluations")}
        parents = {}
        for child, parent in self.query("select child, parent from parents order by child, position"):
            parents.setdefault(child, []).append(parent)
        for step, child in zip(told["line"], told["line"][1:]):
            self.assertEqual(parents[child["id"]][0], step["id"])
            self.assertAlmostEqual(child["gain"], fitness[child["id"]] - fitness[step["id"]])
        ancestors, fresh = set(), {told["id"]}
        while fresh:
            fresh = {p for child in fresh for p in parents.get(child, [])} - ancestors
            ancestors |= fresh
        self.assertEqual(told["ancestors"], len(ancestors))
        others = {other["id"] for other in told["others"]}
        self.assertEqual(others | {step["id"] for step in told["line"][:-1]}, ancestors)
        for gene in told["genes"]:
            self.assertIn(gene["settled"], ancestors | {told["id"]})
            self.assertLessEqual(gene["introduced"], gene["settled"])
        self.assertEqual(self.finish("explain", run, f"#{told['id']}").out, text)

    def test_a_run_that_goes_on_has_its_best_explained(self):
        run = self.start("run", self.write_experiment(population=8, generations=400, duration="4ms"), "--slots", "2")
        self.await_evaluations(40, run)
        told = json.loads(self.finish("explain", self.run_folder(), "champion", "--json").out)
        self.assertEqual(told["state"], "running")
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.assertIn("(stopped)", self.finish("explain", self.run_folder(), "champion").out)

    def test_what_is_not_there_is_refused_in_a_sentence(self):
        run = self.run_named("told")
        self.assertIn("no candidate #99999", self.refused("explain", run, "99999"))
        self.assertIn("is no candidate", self.refused("explain", run, "the-best"))
        self.assertIn("nobody", self.refused("explain", "nobody", "champion"))


class Differing(StoryTest):
    def diff(self, *words):
        return json.loads(self.finish("diff", *words, "--json").out)

    def test_the_same_search_on_other_slots_is_equal(self):
        one, other = self.run_named("one", slots="1"), self.run_named("other", slots="3")
        told = self.diff(one, other)
        self.assertTrue(told["pairs"][0]["same_digest"], told)
        self.assertIsNone(told["pairs"][0]["first_difference"])
        self.assertIn("experiment.name", [s["key"] for s in told["settings"]])
        for mark in told["best"][0]["marks"]:
            self.assertEqual(mark["a"], mark["b"])
        text = self.finish("diff", one, other).out
        self.assertIn("all decisions are equal", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80, text)

    def test_the_first_decision_that_differs_has_both_sides(self):
        one, other = self.run_named("one"), self.run_named("other", "evolution.elites=1")
        told = self.diff(one, other)
        self.assertEqual([s for s in told["settings"] if s["key"] == "evolution.elites"],
                         [{"key": "evolution.elites", "a": ["4"], "b": ["1"]}])
        first = told["pairs"][0]["first_difference"]
        # Who stays on as a parent matters from the second generation's end on.
        self.assertRegex(first["what"], r"^the survivors of generation \d$|^the birth of #\d+$")
        self.assertNotEqual(first["a"], first["b"])
        self.assertGreaterEqual(told["pairs"][0]["equal_candidates"], 16)
        self.assertIn("first difference: " + first["what"], self.finish("diff", one, other).out)

    def test_several_seeds_on_each_side_have_a_sign_test(self):
        sides = [[self.run_named(f"{side}{seed}", f"experiment.seed={seed}", f"evolution.population={population}")
                  for seed in (1, 2, 3)] for side, population in (("wide", 16), ("narrow", 4))]
        told = self.diff(*sides[0], "--with", *reversed(sides[1]))
        self.assertEqual([(p["a"], p["b"], p["seed"]) for p in told["pairs"]], [(0, 2, 1), (1, 1, 2), (2, 0, 3)])
        for by in told["best"]:
            test = by["sign_test"]
            self.assertEqual(test["n"] + test["equal"], 3)
            self.assertTrue(0 < test["p"] <= 1)
        # What all runs reached: 4 x 5 evaluations.
        self.assertEqual(told["best"][0]["marks"][-1]["effort"], 20)
        text = self.finish("diff", *sides[0], "--with", *sides[1]).out
        self.assertRegex(text, r"p = \d\.\d{4}, n = \d")
        self.assertIn("have seed 1;", self.refused("diff", sides[0][0], sides[0][0], "--with", *sides[1]))

    def test_what_cannot_be_compared_is_refused_in_a_sentence(self):
        run = self.run_named("one")
        self.assertIn("--with", self.refused("diff", run))
        self.assertIn("--with", self.refused("diff", run, run, run))
        self.assertIn("nobody", self.refused("diff", run, "nobody"))
        (self.folder / "junk.db").write_text("no store")
        self.assertIn("junk.db", self.refused("diff", run, self.folder / "junk.db"))


if __name__ == "__main__":
    unittest.main()
