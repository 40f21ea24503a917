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

    def test_what_a_block_writes_is_gone_afterwards(self):
        self.run_page("```sh run", "mkdir runs; touch runs/x; touch y", "```")
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["README.md", "tools"])

    def test_a_page_without_a_marked_block_is_no_test(self):
        self.assertEqual(self.run_page("```sh", "true", "```")[0], 1)

    def test_the_list_runs_nothing(self):
        self.assertEqual(self.run_page("```sh run", "exit 9", "```", options=["--list"]), (0, "PAGE:2:\nexit 9\n"))


if __name__ == "__main__":
    unittest.main()
