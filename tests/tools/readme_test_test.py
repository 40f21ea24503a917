"""readme_test.py over made-up pages."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "readme_test.py"


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        (self.root / "tools" / "greet").write_text("echo hello $1\n")

    def run_page(self, *lines, options=()):
        page = self.root / "README.md"
        page.write_text("\n".join(lines) + "\n")
        done = subprocess.run([sys.executable, SCRIPT, page, *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.replace(f"{page}:", "PAGE:")

    def test_marked_blocks_run_in_order_and_no_others(self):
        status, out = self.run_page(
            "# Page", "```sh", "exit 9", "```", "```sh run", "bash tools/greet you", "```", "text",
            "```sh run", "bash tools/greet me", "```")
        self.assertEqual((status, out), (
            0, "PAGE:6:\nbash tools/greet you\nhello you\nPAGE:10:\nbash tools/greet me\nhello me\n"))

    def test_a_command_that_fails_fails_the_page(self):
        status, out = self.run_page("```sh run", "false | true", "bash tools/greet you", "```")
        self.assertEqual((status, out.splitlines()[-1]), (1, "PAGE:2: ended with status 1"))
        self.assertNotIn("hello", out)

    def test_a_promise_is_held_against_what_is_printed(self):
        self.assertEqual(self.run_page("```sh run", "bash tools/greet you #=> hello you", "```")[0], 0)
        status, out = self.run_page("```sh run", "bash tools/greet you #=> goodbye", "```")
        self.assertEqual((status, out.splitlines()[-1]), (1, "PAGE:2: did not print: goodbye"))

    def test_commands_of_indented_blocks_are_run_or_looked_up(self):
        clade = self.root / "tools/clade"
        clade.write_text("""#!/bin/bash
if [[ $* == *--help ]]; then echo "usage: $1 [--web] [--output FILE] "; else echo "<$*>"; fi
""")
        clade.chmod(0o755)
        (self.root / "small.toml").write_text("a search")
        page = ["```sh run", "true", "```", "```python", "    tools/clade rubbish", "```",
                "    tools/clade run small.toml     # says what it does", "    tools/clade show small",
                "    tools/clade attach small --web", "    tools/clade show other"]
        status, out = self.run_page(*page)
        self.assertEqual(status, 0, out)
        self.assertIn("<run small.toml --set evolution.population=4 ", out)
        self.assertIn("<show small>", out)
        self.assertNotIn("<attach", out)
        self.assertNotIn("<show other", out)
        status, out = self.run_page(*page, "    tools/clade predict OTHER --outptu x")
        self.assertEqual((status, out.splitlines()[-1]), (1, "PAGE:11: ended with status 1"))
        self.assertIn("predict has no --outptu\n", out)

    def test_a_fresh_clone_has_what_git_knows_and_nothing_that_was_built(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *arguments], cwd=self.root, check=True,
                           capture_output=True)
        (self.root / ".gitignore").write_text("build\n")
        git("init")
        git("add", ".")
        git("commit", "-m", "a tree")
        (self.root / "build").mkdir()
        (self.root / "tools/greet").write_text("[[ ! -e $(dirname $(readlink -f $0))/../build/x ]] && echo changed\n")
        (self.root / "build/x").touch()
        status, out = self.run_page("```sh run", "bash tools/greet   #=> changed", "```", options=["--fresh"])
        self.assertEqual(status, 0, out)

    def test_what_a_block_writes_is_gone_afterwards(self):
        self.run_page("```sh run", "mkdir runs; touch runs/x; touch y", "```")
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["README.md", "tools"])

    def test_a_page_without_a_marked_block_is_no_test(self):
        self.assertEqual(self.run_page("```sh", "true", "```")[0], 1)

    def test_the_list_runs_nothing(self):
        self.assertEqual(self.run_page("```sh run", "exit 9", "```", options=["--list"]), (0, "PAGE:2:\nexit 9\n"))


if __name__ == "__main__":
    unittest.main()
