"""The stories of a run, afterwards and while it goes on: why a network exists, how two runs differ, and a report."""

import html.parser
import json
import pathlib
import shlex
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
        # The effort that all runs reached: 4 x 5 evaluations.
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


class Page(html.parser.HTMLParser):
    """The elements of a report's page; strict about elements that are not closed."""

    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.titles, self.code, self.addresses = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "action", "data", "srcset")]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "pre":
            self.code.append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)
        if self.open and self.open[-1] == "pre":
            self.code[-1] += data


class Reporting(StoryTest):
    def page(self, run, *words):
        file = self.finish("report", run, *words).out.partition(" (")[0]
        return Page(pathlib.Path(file).read_text())

    def test_a_finished_run_has_a_page_that_stands_alone(self):
        run = self.run_named("told", "synthetic.epochs=3")
        said = self.finish("report", run).out
        self.assertEqual(said, f"{run}/report.html (finished run)\n")
        text = (run / "report.html").read_text()
        page = Page(text)
        for title in ("Fitness over generations", "The champion", "Where it comes from", "Fitness against size",
                      "What changes paid", "What failed", "Where the time went", "To run it again"):
            self.assertIn(title, page.titles)
        self.assertEqual(page.addresses, [])
        self.assertNotRegex(text, r"https?:|@import|url\((?!#)")
        self.assertTrue({"script", "link", "img", "iframe", "object"}.isdisjoint(page.elements))
        self.assertGreaterEqual(page.elements.count("svg"), 5)
        shown = json.loads(self.finish("show", run, "--json").out)
        self.assertIn(shown["digest"], text)
        self.assertIn(f"#{shown['champion']}", text)

    def test_its_commands_run_the_same_search_again(self):
        run = self.run_named("told")
        again = next(code for code in self.page(run).code if "clade run" in code)
        commands = [shlex.split(line) for line in again.splitlines()]
        self.assertEqual([words[:2] for words in commands], [["clade", "show"], ["clade", "run"]])
        self.assertEqual(commands[0][-2], ">")
        (self.folder / commands[0][-1]).write_text(self.finish(*commands[0][1:-2]).out)
        self.finish(*commands[1][1:])
        digests = {json.loads(self.finish("show", folder, "--json").out)["digest"] for folder in self.runs.glob("*")}
        self.assertEqual(len(list(self.runs.glob("*"))), 2)
        self.assertEqual(len(digests), 1)

    def test_a_run_that_goes_on_or_stopped_says_so(self):
        run = self.start("run", self.write_experiment(population=8, generations=400, duration="4ms",
                                                      misbehaviour="diverge = 0.2"), "--slots", "2")
        self.await_evaluations(40, run)
        folder = self.run_folder()
        self.assertTrue(self.finish("report", folder).out.endswith("(running run)\n"))
        self.assertIn("The best so far", Page((folder / "report.html").read_text()).titles)
        run.interrupt()
        self.assertEqual(run.end(), 130, run.said())
        self.assertTrue(self.finish("report", folder).out.endswith("(stopped run)\n"))
        text = (folder / "report.html").read_text()
        self.assertIn(f"clade resume {folder}", text)
        self.assertIn("diverged", text)

    def test_markdown_and_other_places(self):
        run = self.run_named("told")
        self.assertEqual(self.finish("report", run, "--md").out, f"{run}/report.md (finished run)\n")
        text = (run / "report.md").read_text()
        self.assertEqual(self.finish("report", run, "--md", "--output", "-").out, text)
        self.assertIn("## What changes paid", text)
        for line in text.splitlines():
            if line.startswith("|"):
                self.assertTrue(line.endswith("|"), line)
        self.finish("report", run, "--output", self.folder / "x.html")
        self.assertEqual((self.folder / "x.html").read_text(), self.finish("report", run, "--output", "-").out)
        self.assertEqual(sorted(f.suffix for f in run.glob("report*")), [".md"])

    def test_a_folder_named_like_markup_is_text(self):
        run = self.run_named("told")
        other = run.with_name("<script>alert(1) & '-20260131-140500")
        run.rename(other)
        text = self.finish("report", other, "--output", "-").out
        page = Page(text)
        self.assertNotIn("script", page.elements)
        self.assertIn("<h1>&lt;script&gt;alert(1) &amp; &#39;</h1>", text)
        # The command lines hold for a shell.
        again = next(code for code in page.code if "clade run" in code)
        self.assertIn(str(other), shlex.split(again.splitlines()[0]))

    def test_what_cannot_be_written_is_refused_in_a_sentence(self):
        run = self.run_named("told")
        self.assertIn("there is no folder", self.refused("report", run, "--output", self.folder / "no" / "x.html"))
        self.assertIn("a folder", self.refused("report", run, "--output", self.folder))
        self.assertIn("nobody", self.refused("report", "nobody"))
        self.assertIn("excludes", self.refused("show", run, "--experiment", "--json"))


if __name__ == "__main__":
    unittest.main()
