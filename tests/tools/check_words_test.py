"""tools/check_words over made-up trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_words"


class CheckWords(unittest.TestCase):
    def check(self, name, text):
        """Runs the check over a tree of that one file; returns its lines, of which there are any where it exits with 1."""
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout.splitlines()

    def assert_fault(self, name, text, line, sentence):
        self.assertEqual(self.check(name, text), [f"{name}:{line}: a sentence begins with {sentence.split()[0]}: {sentence}"])

    def assert_allowed(self, name, text):
        self.assertEqual(self.check(name, text), [])

    def test_each_of_the_words_is_found(self):
        for word in ("What", "Of", "Where", "As", "Those", "Whose"):
            self.assert_fault("genome/x.hpp", f"/// {word} a genome.\n", 1, f"{word} a genome.")

    def test_each_kind_of_comment_is_looked_at(self):
        for comment in ("// Of it.", "/// Of it.", "//! Of it.", "int x; // Of it.", "int x; ///< Of it.", "/* Of it. */"):
            self.assertEqual(len(self.check("engine/x.cpp", f"{comment}\n")), 1, comment)
        self.assert_fault("tools/dashboard/src/x.ts", "/** As before. */\n", 1, "As before.")
        self.assert_fault("tests/x.py", "x = 1  # Of it.\n", 1, "Of it.")
        self.assert_fault("tests/x.py", 'def f():\n    """Of it."""\n', 2, "Of it.")
        self.assert_fault("tools/x", "#!/bin/bash\necho $# # Of it.\n", 2, "Of it.")
        self.assert_fault("tests/CMakeLists.txt", "# Of it.\n", 1, "Of it.")

    def test_every_sentence_of_a_comment_is_looked_at(self):
        self.assert_fault("actors/x.hpp", "/// It is\n/// one. Of\n/// two.\n", 2, "Of two.")
        self.assert_fault("actors/x.hpp", "/// Its parts:\n///\n/// What is there.\n", 3, "What is there.")
        self.assert_fault("actors/x.hpp", "// Its parts:\n//   * Those of it.\n", 2, "Those of it.")
        self.assert_fault("actors/x.hpp", "int x; ///< One.\nint y; ///< Of two.\n", 2, "Of two.")

    def test_the_words_may_stand_within_a_sentence_or_begin_another(self):
        self.assert_allowed("genome/x.hpp", "/// The part\n/// What has, of it. Ofen; whatever. `Of` it.\n")

    def test_texts_of_the_program_are_no_comments(self):
        self.assert_allowed("genome/x.cpp", 'auto a = "\\" // Of it.";\nauto b = R"x(// Of it.)" // Of it.)x";\nchar c = \'"\', d = 1\'0;\n')
        self.assert_allowed("tests/x.py", 'a = "# Of it."\nb = """\n# Of it.\n"""\n')

    def test_files_of_others_are_passed_over(self):
        self.assert_allowed("tools/dashboard/node_modules/x.ts", "// Of it.\n")
        self.assert_allowed("tools/x.md", "# Of it.\n")


if __name__ == "__main__":
    unittest.main()
