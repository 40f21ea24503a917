"""cmake/batches over made-up source files."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "batches"


class BatchesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def divide(self, size, outputs, **files):
        """Returns the files that each batch includes, of files with these names and texts."""
        for name, text in files.items():
            (self.root / f"{name}.cpp").write_text(text)
        paths = [self.root / f"batch_{number}" for number in range(outputs)]
        done = subprocess.run(
            [sys.executable, SCRIPT, self.root, str(size), *(f"{name}.cpp" for name in files), "--write", *paths],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr
        return [[line.split('"')[1].removesuffix(".cpp") for line in path.read_text().splitlines()] for path in paths]

    def apart(self, one, other):
        return self.divide(2, 2, a=one, b=other) == [["a"], ["b"]]

    def test_files_keep_their_order_and_a_batch_its_size(self):
        texts = {name: f"int of_{name}();" for name in "abcde"}
        self.assertEqual(self.divide(2, 3, **texts), [["a", "b"], ["c", "d"], ["e"]])

    def test_it_counts_the_batches_that_are_needed(self):
        for name in "abc":
            (self.root / name).write_text("namespace { int twice = 2; }")
        done = subprocess.run([sys.executable, SCRIPT, self.root, "12", *"abc"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "3\n")

    def test_a_hidden_name_of_one_is_no_word_of_another_in_its_batch(self):
        function = "namespace {\nstd::map<int, int> half(int x) {\n  return {{x / 2, 1}};\n}\n} // namespace\n"
        self.assertTrue(self.apart(function, function))
        self.assertTrue(self.apart(function, "int f() { return half(3); }"))
        self.assertTrue(self.apart("int f() { return half(3); }", function))
        for hidden in ["struct half {};", "using half = int;", "enum class half { a };", "constexpr int half = 2;",
                       "template<class T>\nbool half(T x) { return x; }", "const char half[] = \"x\";", "int y;\nint half{3};",
                       "[[nodiscard]] int half(int);", "class x { int z; };\nvoid half() {}", "namespace half = std;"]:
            with self.subTest(hidden):
                self.assertTrue(self.apart(f"namespace {{\n{hidden}\n}}", "void f() { g(half); }"))

    def test_words_that_mean_something_else_keep_nothing_apart(self):
        hidden = "namespace {\nint half(int x) { int whole = x; return whole; }\n}\n"
        for text in ["// half", "/* half */", '#include "half.hpp"', 'auto t = "half";', 'auto t = R"(half)";',
                     "auto t = x.half + y->half + std::half;", "void f(int half);", "void f() { for (auto& half : g()) h(); }",
                     "int x = 1'000; int whole;"]:
            with self.subTest(text):
                self.assertFalse(self.apart(hidden, text))

    def test_where_batches_are_too_few_some_are_larger_and_nothing_clashes(self):
        texts = {name: "int x;" for name in "abcde"}
        self.assertEqual(self.divide(2, 2, **texts), [["a", "b", "e"], ["c", "d"]])
        same = "namespace { int half = 2; }"
        self.assertIn("b.cpp fits into no batch", self.divide(2, 1, a=same, b=same))

    def test_a_batch_that_stays_as_it_was_is_not_written_again(self):
        self.divide(2, 2, a="int x;", b="int y;", c="int z;")
        before = [path.stat().st_mtime_ns for path in sorted(self.root.glob("batch_*"))]
        self.divide(2, 2, a="int x; // changed", b="int y;", c="int z;")
        self.assertEqual([path.stat().st_mtime_ns for path in sorted(self.root.glob("batch_*"))], before)


if __name__ == "__main__":
    unittest.main()
