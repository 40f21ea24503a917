"""People write notes and tags on runs and candidates."""

import csv
import os
import pwd
import unittest

from live_runs import RunTest

USER = pwd.getpwuid(os.getuid()).pw_name


class Notes(RunTest):
    def write(self, *words, status=0):
        return self.finish(words[0], self.run_folder(), *words[1:], status=status)

    def refused(self, sentence, *words):
        said = self.write(*words, status=2).err
        self.assertRegex(said, rf"^clade: [^\n]*{sentence}[^\n]*\n$")
        self.assertLess(len(said), 400)

    def written(self):
        return {a["id"]: (a["note"], a["who"], a["tags"]) for a in self.show()["annotations"]}

    def test_a_stored_run_takes_them_and_shows_them_everywhere(self):
        self.finish("run", self.write_experiment(population=4, generations=2), "--slots", "2")
        before = self.show()
        self.assertEqual(self.write("tag", "baseline").out, "tag the run baseline: recorded\n")
        self.write("note", "the first")
        self.write("tag", "3", "good", "small")
        self.write("tag", "#3", "--remove", "small")
        self.write("note", "3", 'said "so",\n<script>')
        self.assertEqual(self.written(), {0: ("the first", USER, ["baseline"]),
                                          3: ('said "so",\n<script>', USER, ["good"])})
        after = self.show()
        for name in ("digest", "state", "updated_ms", "champion"):
            self.assertEqual(after[name], before[name], name)
        shown = self.finish("show", self.run_folder()).out
        self.assertIn("\nnotes and tags\n  the run\n    tags baseline\n", shown)
        self.assertRegex(self.finish("show", self.run_folder(), "--genome", "3").out,
                         rf'\n  tags good\n  note of {USER}, [^\n]*\n    said "so",\n    <script>\n$')
        self.finish("export", self.run_folder(), "--csv", "all.csv")
        with open(self.folder / "all.csv", newline="", encoding="utf-8") as text:
            rows = {r["id"]: (r["tags"], r["note"]) for r in csv.DictReader(text)}
        self.assertEqual(rows["3"], ("good", 'said "so",\n<script>'))
        self.assertEqual(rows["2"], ("", ""))
        report = self.finish("report", self.run_folder(), "--output", "-").out
        self.assertIn("said &quot;so&quot;,\n&lt;script&gt;", report)
        self.assertNotIn("<script>", report)
        self.assertIn("decisions equal", self.finish("replay", self.run_folder(), "--verify").out)
        self.write("note", "3", "")
        self.write("tag", "3", "--remove", "good")
        self.assertEqual(set(self.written()), {0})

    def test_a_live_run_records_them_and_its_search_stays_the_same(self):
        file = self.write_experiment(population=8, generations=4, duration="400ms")
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(1, run)
        self.write("tag", "1", "first")
        self.write("note", "slow today")
        self.refused("has the tag first already", "tag", "1", "first")
        self.refused("no candidate #999", "note", "999", "x")
        self.assertEqual(run.end(), 0, run.said())
        self.assert_whole(32)
        self.assertEqual(self.written(), {0: ("slow today", USER, []), 1: (None, None, ["first"])})
        self.assert_undisturbed(file)

    def test_a_paused_run_with_notes_goes_on_as_without(self):
        file = self.write_experiment(population=8, generations=4, duration="200ms")
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(1, run)
        self.finish("control", "stop-after", self.run_folder())
        self.assertEqual(run.end(), 0, run.said())
        self.write("note", "1", "a beginning")
        self.finish("resume", self.run_folder(), "--slots", "2")
        self.assert_whole(32)
        self.assertEqual(set(self.written()), {1})
        self.assert_undisturbed(file)

    def test_what_is_too_long_or_not_to_be_printed_is_refused(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "2")
        self.refused("at most 2000 bytes; this one has 100000", "note", "x" * 100_000)
        self.refused("UTF-8 without control characters", "note", "\x1b[2Jgone")
        self.refused("a tag is one word", "tag", "two words")
        self.refused("a tag is one word", "tag", "2", "good", "x" * 41)
        self.refused("put the text in quotes", "note", "2", "two", "words")
        self.refused("there is no tag", "tag")
        self.assertEqual(self.written(), {2: (None, None, ["good"])})


if __name__ == "__main__":
    unittest.main()
