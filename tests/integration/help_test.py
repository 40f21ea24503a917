"""The words of clade about itself: help on commands and topics, the version, and what a shell completes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from live_runs import CLADE, PATIENCE_S, RunTest, environment_of_commands

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Pages(RunTest):
    def command_names(self):
        return re.findall(r"^  ([a-z][a-z-]*)  +[A-Z]", self.finish("--help").out, re.MULTILINE)

    def test_every_command_and_topic_is_explained(self):
        overview = self.finish("help").out
        self.assertTrue(overview.startswith(self.finish("--help").out))
        topics = re.findall(r"^  clade help ([a-z-]+) ", overview, re.MULTILINE)
        self.assertIn("strategies", topics)
        for topic in topics:
            self.assertGreater(len(self.finish("help", topic).out.splitlines()), 5, topic)
        commands = self.command_names()
        self.assertIn("run", commands)
        self.assertIn("help", commands)
        for command in commands:
            self.assertEqual(self.finish("help", command).out, self.finish(command, "--help").out)
        self.assertEqual(self.finish("help", "bench", "search").out, self.finish("bench", "search", "--help").out)

    def test_the_pages_in_experiments_are_what_help_prints(self):
        for topic, page in (("experiment", "README.md"), ("search-spaces", "search-spaces.md")):
            self.assertEqual(self.finish("help", topic).out, (ROOT / "experiments" / page).read_text())

    def test_what_is_not_explained_is_said_with_the_nearest(self):
        self.assertEqual(self.finish("help", "stratgies", status=2).err,
                         'clade: no help on "stratgies"; did you mean "clade help strategies"?\n')
        self.assertEqual(self.finish("help", "qqqqqq", status=2).err,
                         'clade: no help on "qqqqqq"; "clade help" lists commands and topics\n')

    def test_help_has_the_metrics_that_an_error_lists(self):
        known = self.finish("help", "metrics").out
        file = self.folder / "rows.toml"
        (self.folder / "rows.csv").write_text("a,b\n1,1\n2,2\n")
        for task in ("classification", "regression"):
            file.write_text(f'[data]\nfile = "rows.csv"\ntask = "{task}"\n[training]\nmetrics = ["xyz"]\n')
            error = self.finish("run", file, status=2).err
            listed = re.search(r"it has (.*)$", error, re.MULTILINE)
            self.assertIsNotNone(listed, error)
            for name in listed[1].split(", "):
                self.assertIn(f"`validation.{name.split(' ')[0]}`", known)

    def test_the_version_is_said_with_the_license(self):
        said = self.finish("--version").out
        self.assertRegex(said, r"^clade [0-9.]+\n")
        self.assertIn("Apache-2.0", said)
        self.assertEqual(self.finish("version").out, said)

    def test_the_nearest_name_of_a_run_is_said(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "1")
        self.assertEqual(self.finish("show", "tyo", status=2).err,
                         f'clade: no run "tyo" in {self.folder}/runs; did you mean "toy"?\n')


class Operators(RunTest):
    def operators(self):
        return json.loads(self.finish("operators", "--json").out)["operators"]

    def test_the_text_has_every_operator_with_its_settings_and_costs(self):
        text = self.finish("operators").out
        sections = dict(re.findall(r"^\*\*(\w+)\*\*: (.*?)(?=^\*\*|^##|\Z)", text, re.MULTILINE | re.DOTALL))
        self.assertEqual(list(sections), [o["name"] for inserted in (False, True)
                                          for o in self.operators() if o["inserted"] == inserted])
        for o in self.operators():
            section = " ".join(sections[o["name"]].split())
            for said in (o["summary"], "gives " + o["gives"], "costs " + o["costs"]):
                self.assertIn(said, section)
            self.assertEqual(re.findall(r"- `(\w+)` \(", section), [s["name"] for s in o["settings"]])
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_the_operators_of_search_space_files_are_those_of_their_page(self):
        page = (ROOT / "experiments/search-spaces.md").read_text()
        self.assertEqual(re.findall(r"^\*\*(\w+)\*\*", page, re.MULTILINE),
                         [o["name"] for o in self.operators() if not o["inserted"]])

    def test_a_setting_says_what_it_may_be(self):
        conv = next(o for o in self.operators() if o["name"] == "conv")
        self.assertEqual((conv["takes"], conv["several"], conv["block"]), (["image"], False, True))
        kernel = next(s for s in conv["settings"] if s["name"] == "kernel")
        self.assertEqual({key: kernel[key] for key in ("type", "low", "high", "odd", "default")},
                         {"type": "whole", "low": 1, "high": 15, "odd": True, "default": 3})
        norm = next(s for s in conv["settings"] if s["name"] == "norm")
        self.assertEqual((norm["options"], norm["default"]), (["none", "batch", "layer"], "none"))


class Completion(RunTest):
    def complete(self, *words):
        """Returns the words that bash completes the last of the words with: what the function of the script that
        clade prints leaves in COMPREPLY. Bash takes an = for a word of its own."""
        script = ('source <("$0" completion bash); COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; '
                  'compopt() { :; }; "$(complete -p clade | sed "s/.*-F \\([^ ]*\\) .*/\\1/")"; '
                  '((${#COMPREPLY[@]} == 0)) || printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, CLADE, *words], cwd=self.folder, check=False,
                              capture_output=True, text=True, env=environment_of_commands())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_commands_and_their_commands_are_completed(self):
        self.assertEqual(self.complete("rep"), ["replay", "report"])
        self.assertIn("search", self.complete("bench", ""))
        self.assertEqual(self.complete("control", "stop"), ["stop", "stop-after"])
        self.assertNotIn("node", self.complete(""))

    def test_the_options_of_every_command_are_those_of_its_help(self):
        commands = self.complete("")
        self.assertIn("run", commands)
        for command in commands:
            text = self.finish(command, "--help").out
            options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", "\n".join(
                re.split(" (?:Excludes|Needs): |(?<=\\S)  +", line)[0] for line in text.splitlines() if line.startswith("  -"))))
            self.assertEqual(set(self.complete(command, "--")), options, command)

    def test_the_names_of_runs_are_completed_wherever_a_run_is_meant(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "1")
        for command in self.complete(""):
            if re.search(r"^  RUN( |\.)", self.finish(command, "--help").out, re.MULTILINE):
                self.assertIn("toy", self.complete(command, "t"), command)
        self.assertIn("toy", self.complete("control", "stop", "t"))
        self.assertIn(self.run_folder().name, self.complete("diff", "toy", "--with", "toy-"))

    def test_keys_and_strategies_and_topics_are_completed(self):
        self.assertEqual(self.complete("run", "x.toml", "--set", "evolution.pop"), ["evolution.population="])
        self.assertEqual(self.complete("run", "--set", "evolution.strategy", "=", "surr"), ["surrogate"])
        self.assertIn("auto", self.complete("run", "--set", "evolution.strategy", "="))
        self.assertEqual(self.complete("bench", "search", "--strategies", "ns"), ["nsga2", "nsga3"])
        self.assertEqual(self.complete("help", "strat"), ["strategies"])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])

    def test_a_shell_without_completion_is_named(self):
        self.assertEqual(self.finish("completion", "tcsh", status=2).err,
                         'clade: no completion for "tcsh"; there is bash, zsh and fish\n')


# The script that shows the effect of TAB on a line of an interactive zsh: its screen is a pty, and a key tells the
# line.
ZSH = r"""
zmodload zsh/zpty
zpty line env TERM=dumb zsh -f -i
zpty -w line "source $1; told() { print -r -- \"<\$BUFFER>\" }; zle -N told; bindkey '^X' told; print REA''DY"
zpty -r line said '*READY*'
zpty -w -n line "$2"$'\t\x18'
zpty -r line said '*<*>*'
print -r -- "${${said##*<}%%>*}"
"""


class Shells(RunTest):
    def script(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"there is no {shell}")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/clade").symlink_to(CLADE)
        script = self.folder / f"script.{shell}"
        script.write_text(self.finish("completion", shell).out)
        (self.folder / "report.html").touch()
        return script

    def shell(self, *words):
        done = subprocess.run(words, cwd=self.folder, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
                              env={**environment_of_commands(), "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                                   "HOME": str(self.folder)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_zsh_completes_what_is_typed(self):
        script = self.script("zsh")
        (self.folder / "type.zsh").write_text(ZSH)
        for typed, becomes in (("clade repl", "clade replay "), ("clade rep", "clade rep"),
                               ("clade control stop-", "clade control stop-after "),
                               ("clade run x.toml --set evolution.pop", "clade run x.toml --set evolution.population="),
                               ("clade run --set evolution.strategy=surr", "clade run --set evolution.strategy=surrogate "),
                               ("clade predict rep", "clade predict report.html ")):
            self.assertEqual(self.shell("zsh", "-f", "type.zsh", script, typed).replace("\r", "").rstrip("\n"), becomes)

    def test_fish_completes_what_is_typed(self):
        script = self.script("fish")
        for typed, becomes in (("clade rep", ["replay", "report"]), ("clade control stop-", ["stop-after"]),
                               ("clade run x.toml --set evolution.pop", ["evolution.population="]),
                               ("clade run --set evolution.strategy=surr", ["evolution.strategy=surrogate"]),
                               ("clade predict rep", ["report.html"])):
            said = self.shell("fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'")
            self.assertEqual(said.splitlines(), becomes, typed)


if __name__ == "__main__":
    unittest.main()
