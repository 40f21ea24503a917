"""The output of clade: lines of JSON for programs, plain lines where nobody looks, a line that moves on a terminal."""

import json
import os
import pty
import re
import shutil
import unittest

from live_runs import CLADE, RunTest, processes_of


class Output(RunTest):
    def test_each_line_of_json_is_an_object(self):
        file = self.write_experiment(population=6, generations=3, misbehaviour="diverge = 0.2")
        run = self.finish("run", file, "--slots", "2", "--json")
        self.assertEqual(run.err, "")
        lines = [json.loads(line) for line in run.out.splitlines()]
        generations = [line for line in lines if line.get("event") == "generation"]
        self.assertEqual([g["generation"] for g in generations], [0, 1, 2])
        for g in generations:
            self.assertEqual(g["succeeded"] + g["failed"], 6)
        champion = lines[-1]["champion"]
        self.assertEqual(champion["id"], self.show()["champion"])

    def test_json_begins_with_the_run_and_each_object_has_an_event(self):
        file = self.write_experiment(population=6, generations=2)
        run = self.finish("run", file, "--slots", "2", "--json")
        lines = [json.loads(line) for line in run.out.splitlines()]
        self.assertEqual(lines[0], {"event": "run", "name": "toy", "folder": str(self.run_folder()),
                                    "experiment": str(file), "seed": 7, "strategy": "generational",
                                    "evaluations": 12})
        self.assertEqual([line["event"] for line in lines[1:]], ["generation", "generation", "finished"])
        again = [json.loads(line) for line in self.finish("resume", "toy", "--json").out.splitlines()]
        self.assertEqual(again[0], {**lines[0], "experiment": None})
        self.assertEqual(again[1:], lines[-1:])

    def test_of_several_objectives_lines_have_the_front(self):
        objectives = '[objective]\nmaximize = "validation.accuracy"\nminimize = ["parameters"]'
        file = self.write_experiment(population=6, generations=3, strategy='"nsga2"', misbehaviour=objectives)
        text = self.finish("run", file, "--slots", "2").out
        self.assertEqual(len(re.findall(r"generation +\d+ .*front of \d+, hypervolume \d\.\d{4}", text)), 3, text)
        picture = json.loads(self.finish("attach", self.run_folder(), "--json").out.splitlines()[0])
        shutil.rmtree(self.runs)
        run = self.finish("run", file, "--slots", "2", "--json")
        generations = [json.loads(line) for line in run.out.splitlines() if '"event":"generation"' in line]
        for key in ("front", "hypervolume"):
            self.assertEqual([g[key] for g in generations], [g[key] for g in picture["generations"]])
        self.assertGreater(generations[-1]["hypervolume"], 0)

    def test_where_nobody_looks_lines_are_plain(self):
        run = self.finish("run", self.write_experiment(population=6, generations=3), "--slots", "2")
        self.assertNotIn("\x1b", run.out)
        self.assertNotIn("\r", run.out)
        self.assertEqual(run.err, "")
        self.assertEqual(sum(line.startswith("generation ") for line in run.out.splitlines()), 3)
        self.assertIn("was it worth it?", run.out)

    def test_slots_that_will_have_nothing_to_do_are_told(self):
        file = self.write_experiment(population=4, generations=1, strategy='"regularized"\ntournament = 2\nin_flight = 2')
        run = self.finish("run", file, "--slots", "3")
        self.assertIn("note: only 2 candidates are in training at once, so 1 of 3 slots have nothing to do", run.out)
        run = self.finish("run", self.write_experiment(population=4, generations=1, strategy='"auto"'), "--slots", "3")
        self.assertIn("auto chose random: 4 evaluations are too few to learn from", run.out)
        self.assertNotIn("note:", run.out)

    def test_a_terminal_sees_how_far_it_is(self):
        file = self.write_experiment(population=12, generations=2, duration="60ms")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ["CLADE_RUNS"] = str(self.runs)
            os.execv(CLADE, [CLADE, "run", str(file), "--slots", "2"])
        written = b""
        try:
            while chunk := os.read(terminal, 4096):
                written += chunk
        except OSError:
            pass  # A terminal whose other side is closed ends so.
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        text = written.decode()
        self.assertRegex(text, r"generation 0: \d+ of 24 candidates")
        self.assertRegex(text, r"2/2 slots busy")
        self.assertRegex(text, r"\d+(\.\d+)?/s")
        self.assertRegex(text, r" left")

    def test_every_view_of_a_run_is_json_where_asked(self):
        self.finish("run", self.write_experiment(population=4, generations=2), "--slots", "2")
        run = self.run_folder()
        shown = self.show()
        self.assertEqual(shown["state"], "finished")
        self.assertEqual(len(self.show("--generation", "1")["candidates"]), 4)
        self.assertEqual(self.show("--genome", shown["champion"])["id"], shown["champion"])
        listed = self.finish("list", "--json").out
        self.assertIn(str(run), listed)
        for line in listed.splitlines():
            json.loads(line)
        for words in ([], ["--generation", "0"], ["--genome", "1"]):
            self.assertNotIn("\x1b", self.finish("show", run, *words).out)


class Ends(RunTest):
    """After each end, no process of the run is there; tearDown holds every other test to the same."""

    def test_a_run_that_is_done(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "2")
        self.assertEqual(processes_of(self.folder), [])

    def test_a_run_that_is_killed(self):
        run = self.start("run", self.write_experiment(duration="50ms"), "--slots", "3")
        self.await_evaluations(3, run)
        self.assertEqual(len(self.nodes()), 3)
        run.kill()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
