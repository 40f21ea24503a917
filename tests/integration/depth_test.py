"""An input that is too deep, too large or without end gives one sentence, at once, with a small stack and little
memory."""

import os
import resource
import subprocess
import threading
import unittest

from live_runs import CLADE, SMALL_SPACE, RunTest

EXPERIMENT = f"""
[experiment]
name = "toy"
fitness = "synthetic"
[data]
shape = [1, 8, 8]
classes = 10
[search_space]
file = "{SMALL_SPACE}"
[evolution]
population = 2
generations = 1
"""
SMALL_STACK = 1 << 20
SECONDS = 60  # Nothing here takes a tenth of it.


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (SMALL_STACK, SMALL_STACK))


class DepthTest(RunTest):
    def clade(self, *words, **more):
        return subprocess.run([CLADE, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=SECONDS,
                              cwd=self.folder, preexec_fn=small_stack, **more)

    def assert_refused(self, part, *words, **more):
        ended = self.clade(*words, **more)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr[-500:])
        self.assertRegex(ended.stderr, r"\Aclade: [^\n]+\n\Z")
        self.assertLess(len(ended.stderr), 2500)
        self.assertIn(part, ended.stderr)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file


class Nesting(DepthTest):
    def test_experiments_and_spaces_that_nest_too_deep(self):
        deep = "a." * 40_000 + "b = 1\n"
        file = self.write("deep.toml", deep)
        self.assert_refused("deep.toml:1: tables, lists or the parts of a dotted key lie more than 32 deep", "plan", file)
        toy = self.write("toy.toml", EXPERIMENT)
        self.assert_refused("deep.toml:1: tables, lists", "plan", toy, "--set", f"search_space.file={file}")
        self.assert_refused("--set a.a.a.", "plan", toy, "--set", "a." * 40_000 + "b=1")
        self.assert_refused("--set evolution.population", "plan", toy, "--set", "evolution.population=" + "[" * 50_000)
        self.assert_refused("", "show", "toy-20260101-120000-" + "1" * 100_000)

    def test_includes_in_chains_and_diamonds(self):
        for i in range(40):
            self.write(f"s{i}.toml", f'include = ["s{i + 1}.toml", "s{i + 1}.toml"]\n')
        toy = self.write("toy.toml", EXPERIMENT)
        self.assert_refused("files include each other more than 8 deep", "plan", toy, "--set", "search_space.file=s0.toml")


class Ends(DepthTest):
    def test_what_has_no_end_is_refused_at_once(self):
        toy = self.write("toy.toml", EXPERIMENT)
        (self.folder / "large.toml").touch()
        os.truncate(self.folder / "large.toml", 10 << 30)
        for file in ("/dev/zero", "/dev/urandom"):
            self.assert_refused("is a device, not a file", "plan", file)
            self.assert_refused("", "plan", toy, "--set", f"search_space.file={file}")
            self.assert_refused("is a device, not a file", "new", file)
            self.assert_refused("", "predict", file, toy)
            self.assert_refused("", "show", file)
            self.assert_refused("", "check", file)
        self.assert_refused("is larger than 1 MiB; is it an experiment file?", "plan", "large.toml")
        self.assert_refused("is larger than 1 MiB", "plan", toy, "--set", "search_space.file=large.toml")
        os.mkfifo(self.folder / "pipe")
        self.assert_refused("is a pipe or terminal, which can be read only once", "new", "pipe")
        self.assert_refused("", "plan", toy, "--set", "search_space.file=pipe")

    def test_an_experiment_may_come_through_a_pipe(self):
        os.mkfifo(self.folder / "pipe")
        writer = threading.Thread(target=lambda: (self.folder / "pipe").write_text(EXPERIMENT))
        writer.start()
        ended = self.clade("plan", "pipe")
        writer.join()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        ended = self.clade("plan", "-", input=EXPERIMENT)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assert_refused("is larger than 1 MiB", "plan", "-", input="# " + "x" * (2 << 20))


class Lines(DepthTest):
    def test_a_line_in_is_a_line_out(self):
        toy = self.write("toy.toml", EXPERIMENT)
        lines = ["", "   ", '{"describe": ' + "[" * 100_000 + "]" * 100_000 + "}", '{"describe": true}',
                 '{"layers": [], "epoch": 3}']
        ended = self.clade("evaluate", toy, "--slots", "cpu:1", input="\n".join(lines) + "\n")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        answers = ended.stdout.splitlines()
        self.assertEqual(len(answers), len(lines))
        self.assertIn('"space"', answers[3])
        self.assertIn('did you mean \\"epochs\\"?', answers[4])


class Names(DepthTest):
    def test_numbers_and_names_are_refused_where_they_are_given(self):
        toy = self.write("toy.toml", EXPERIMENT)
        for seed in ("-1", str(2**64 - 1), "1e3", str(10**30)):
            self.assert_refused("--seed", "plan", toy, f"--seed={seed}")
        self.assert_refused("experiment.name must not begin with '-'", "plan", toy, "--set", "experiment.name=-rf")
        self.assert_refused("each number at most 1024", "plan", toy, "--slots", "10000")


if __name__ == "__main__":
    unittest.main()
