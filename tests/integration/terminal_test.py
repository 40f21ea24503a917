#!/usr/bin/env python3
"""The view of a run in a terminal, in a real one. Run by CTest: python3 terminal_test.py CLASS[.METHOD]"""

import os
import re
import signal
import unittest

from live_runs import RunTest, await_true
from terminals import PROMPT, Terminal

PAGES = ["1 overview", "2 front", "3 slots", "4 candidates", "5 generations", "6 failures"]


class TerminalTest(RunTest):
    def setUp(self):
        super().setUp()
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        super().tearDown()

    def open(self, **settings):
        return Terminal(self, **settings)

    def finished_run(self, **settings):
        """Four generations of 16, of which some diverge."""
        self.finish("run", self.write_experiment(misbehaviour="diverge = 0.1", **settings), "--slots", "2")


class Jobs(TerminalTest):
    """A run of scripts, by their names."""

    def test_jobs_are_shown_as_they_run_and_end(self):
        scripts = self.folder / "scripts"
        scripts.mkdir()
        (scripts / "train_a.sh").write_text("while ! test -e go; do sleep 0.01; done\n")
        (scripts / "train_b.sh").write_text("echo no data >&2; exit 3\n")
        run = self.start("jobs", "run", "scripts", "--slots", "2")
        terminal = self.open()
        terminal.attach(self.run_folder())
        terminal.await_screen("1 of 2 ended, 1 failed", "1 jobs", "2 slots", "3 failures", "train_a  running",
                              "train_b  failed", "ended with status 3: no data")
        terminal.press("2")
        terminal.await_screen("running train_a")
        (self.folder / "go").touch()
        self.assertEqual(run.end(), 1, run.said())
        terminal.press("1")
        screen = terminal.await_screen("2 of 2 ended, 1 failed", "train_a  succeeded")
        self.assertNotRegex(screen, "candidate|generation|fitness")
        terminal.press("q")


class Stored(TerminalTest):
    """A run that is finished, from its store alone."""

    def setUp(self):
        super().setUp()
        self.finished_run()
        self.terminal = self.open()

    def attach(self):
        self.terminal.attach("toy")
        return self.terminal.await_screen("toy  finished", "64 of 64 evaluated", *PAGES)

    def test_each_page_shows_what_the_store_has(self):
        best = self.show()["best"]
        screen = self.attach()
        self.assertIn("generation 3 of 4", screen)
        self.assertIn(f"#{best}", screen)
        self.assertIn("quartiles", screen)
        self.terminal.press("2")
        self.terminal.await_screen("against parameters", f"#{best}")
        self.terminal.press("3")
        self.terminal.await_screen("cpu:0", "cpu:1")
        self.terminal.press("4")
        self.terminal.await_screen("parents", "#64", "#46")
        self.terminal.press("5")
        self.terminal.await_screen("succeeded", "upper")
        self.terminal.press("Tab")
        self.terminal.await_screen("outcomes", "diverged", "the latest that failed")
        self.terminal.press("Tab")
        self.terminal.await_screen("quartiles")

    def test_a_candidate_is_opened_with_its_graph_and_curve_and_parents(self):
        child = 60
        parent = self.show("--genome", child)["parents"][0]
        self.attach()
        self.terminal.press("4")
        self.terminal.await_screen("parents")
        for _ in range(64 - child):
            self.terminal.press("Down")
        self.terminal.press("Enter")
        self.terminal.await_screen(f"#{child}, generation", "input", "p its parent")
        self.terminal.press("p")
        self.terminal.await_screen(f"#{parent}, generation")
        self.terminal.press("End")
        self.terminal.press("Escape")
        self.terminal.await_screen("#64", "Enter open")
        self.terminal.press("b")
        self.terminal.await_screen(f"#{self.show()['best']}, generation", "epoch 1")

    def test_it_follows_the_size_of_the_terminal(self):
        self.attach()
        self.terminal.press("4")
        self.terminal.await_screen("#46")
        self.terminal.resize(120, 50)
        self.assertNotIn("#19 ", self.terminal.await_screen("#20 "))
        self.terminal.resize(50, 12)
        self.terminal.await_screen("#58 ", "1  2  3  4 candidates  5  6", "q quit")
        self.terminal.resize(30, 8)
        self.terminal.await_screen("too small: 40x10 is needed")
        self.terminal.resize(80, 24)
        self.terminal.await_screen("#46", *PAGES)

    def test_it_leaves_the_terminal_as_it_was(self):
        self.terminal.type("echo what was here before")
        self.terminal.await_screen("\nwhat was here before")
        before = self.terminal.modes()
        for end in (lambda: self.terminal.press("q"), lambda: self.terminal.press("C-c"),
                    *(lambda s=s: os.kill(self.terminal.viewer(), s)
                      for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT))):
            self.attach()
            self.assertNotEqual(self.terminal.modes(), before)
            end()
            self.terminal.await_line(PROMPT.strip())
            self.assertEqual(self.terminal.modes(), before)
        screen = self.terminal.screen()
        self.assertIn("\nwhat was here before", screen)
        self.assertEqual([line for line in screen.split("\n") if line.startswith("status")],
                         ["status 0", "status 130", "status 143", "status 129", "status 130"])
        self.assertNotIn("evaluated", screen)


class Live(TerminalTest):
    """A run that goes on."""

    def test_it_is_followed_to_its_end(self):
        run = self.start("run", self.write_experiment(generations=3, duration="30ms"), "--slots", "2")
        self.await_evaluations(3, run)
        terminal = self.open()
        terminal.attach("toy")
        terminal.await_screen("toy  live", "of 2 slots busy", "left")
        terminal.press("3")
        terminal.await_screen("training #")
        self.assertTrue(run.running)
        terminal.await_screen("toy  finished", "48 of 48 evaluated")
        self.assertEqual(run.end(), 0, run.said())
        terminal.press("q")
        terminal.await_screen("\nstatus 0")

    def test_evaluations_are_shown_as_they_are_recorded(self):
        run = self.start("run", self.write_experiment(generations=100, duration="150ms"), "--slots", "1")
        self.await_evaluations(2, run)
        terminal = self.open()
        terminal.attach("toy")
        terminal.await_screen("toy  live")

        def shows_more_than(count):
            shown = re.search(r"([\d,]+) of [\d,]+ evaluated", terminal.screen())
            return shown and int(shown[1].replace(",", "")) > count
        for _ in range(3):
            recorded = self.count("select count(*) from evaluations")
            await_true(lambda: shows_more_than(recorded), f"no more than {recorded} are shown")
        terminal.press("q")
        terminal.await_screen("\nstatus 0")
        run.interrupt()
        run.end()

    def test_it_says_that_a_run_was_killed(self):
        run = self.start("run", self.write_experiment(duration="30ms"), "--slots", "2")
        self.await_evaluations(3, run)
        terminal = self.open()
        terminal.attach("toy")
        terminal.await_screen("toy  live")
        run.kill()
        terminal.await_screen("toy  stopped")
        terminal.press("5")
        terminal.await_screen("toy  stopped")
        terminal.press("q")
        terminal.await_screen("\nstatus 0")


class Kinds(TerminalTest):
    """Terminals of all kinds, and none."""

    def setUp(self):
        super().setUp()
        self.finished_run()

    def test_it_works_in_those_that_can(self):
        for kind, dots in (("xterm", "┤"), ("screen", "┤"), ("linux", "|"), ("vt100", "┤")):
            with self.subTest(kind):
                terminal = self.open(TERM=kind)
                terminal.attach("toy")
                terminal.await_screen("toy  finished", dots, *PAGES)
                terminal.press("3")
                terminal.await_screen("cpu:0")
                terminal.press("q")
                terminal.await_screen("\nstatus 0")

    def test_without_unicode_it_shows_ascii(self):
        terminal = self.open(LC_ALL="C")
        terminal.attach("toy")
        self.assertTrue(terminal.await_screen("toy  finished", "best *", *PAGES).isascii())

    def test_those_that_cannot_are_refused_in_a_sentence(self):
        for kind, sentence in (("dumb", "clade: a terminal with TERM=dumb shows lines only; "
                                "--json needs none"),
                               ("nonsense", "clade: TERM=nonsense is no terminal that is known here; "
                                "--json needs none")):
            with self.subTest(kind):
                terminal = self.open(TERM=kind, columns=120)
                terminal.attach("toy")
                self.assertIn(f"\n{sentence}\nstatus 2", terminal.await_screen("\nstatus "))

    def test_none_is_refused_in_a_sentence(self):
        attach = self.finish("attach", self.run_folder(), status=2)
        self.assertEqual(attach.said(), "clade: this is no terminal; --json needs none\n")


if __name__ == "__main__":
    unittest.main()
