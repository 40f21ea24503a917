"""The actions of a test on a command of tools/clade that stands in an indented block of a page.

* Run: commands that read a run or an experiment that is there, and end by themselves.
* Run short: a search that trains; --set makes it a few small trainings.
* Looked up: all others (they wait for people, other machines, or files that only the reader has): their help must name the
  command and each of their options.
"""

import gzip
import pathlib
import re
import shlex

READERS = {"check", "devices", "diff", "explain", "export", "help", "list", "plan", "predict", "report", "show"}
SHORT = ["--set", "evolution.population=4", "--set", "evolution.generations=2", "--set", "training.epochs=1"]


class Known:
    """The files that there are by now in the scratch folder for commands to work on."""

    def __init__(self, scratch):
        self.scratch = pathlib.Path(scratch)
        self.runs = set()

    def add(self, script):
        """The script was run."""
        self.runs |= set(re.findall(r"tools/clade run (?:\S*/)?([\w-]+)\.toml", script))

    def is_there(self, word):
        """Whether a command's positional argument means something here: a run, a file, or a champion of one."""
        return word in self.runs | {"champion"} or (self.scratch / word).exists()

    def script_for(self, command):
        """The action (run, run short, looked up), and the lines of shell that do it."""
        words = shlex.split(command)
        verb, rest = words[1], words[2:]
        if verb == "predict" and rest and self.is_there(rest[0]):
            self.make_new_csv()
        positional = [word for before, word in zip([""] + rest, rest)
                      if not word.startswith("-") and not before.startswith("--")]
        placeholder = any(re.search(r"[A-Z]{3,}", word) for word in rest)
        if not placeholder and verb == "run" and len(rest) == 1 and self.is_there(rest[0]):
            trains = "fitness" not in (self.scratch / rest[0]).read_text()
            return ("run short", shlex.join(words + SHORT)) if trains else ("run", command)
        if not placeholder and verb in READERS and (
                verb == "help" or all(self.is_there(word) for word in positional)):
            return "run", command
        return "looked up", self.look_up(verb, positional, [word for word in rest if re.match("--[a-z]", word)])

    def look_up(self, verb, positional, options):
        """Lines of shell that fail unless the help knows the command and its options."""
        lines = [f"help=$(tools/clade {verb} --help)"]
        if positional and re.fullmatch("[a-z-]+", positional[0]) and not self.is_there(positional[0]):
            lines.append(f'help+=$(tools/clade {verb} {positional[0]} --help 2>&1 || true)')
        for option in options:
            name = option.split("=")[0]
            lines.append(f'[[ $help == *{name}[!a-z-]* ]] || {{ echo "{verb} has no {name}"; exit 1; }}')
        return "\n".join(lines)

    def make_new_csv(self):
        """Rows without their last column, the target, as the example of the page has them."""
        new, data = self.scratch / "new.csv", self.scratch / "experiments/data/digits.csv.gz"
        if not new.exists() and data.exists():
            with gzip.open(data, "rt") as rows:
                new.write_text("".join(row.rsplit(",", 1)[0] + "\n" for row, _ in zip(rows, range(6))))
