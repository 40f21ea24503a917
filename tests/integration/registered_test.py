"""Every test of these scripts is run: one that CMakeLists.txt does not name would be no test."""

import ast
import json
import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def tests_of(script):
    """Returns the names CLASS.METHOD of the tests of a script."""
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name.startswith("test_"):
                    yield f"{node.name}.{method.name}"


class Registered(unittest.TestCase):
    maxDiff = None

    def test_every_test_is_run(self):
        listed = subprocess.run([os.environ["CLADE_CTEST"], "--test-dir", os.environ["CLADE_BUILD"],
                                 "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
        run = set()
        for test in json.loads(listed)["tests"]:
            script, words = next(((pathlib.Path(word), test["command"][i + 1:])
                                  for i, word in enumerate(test.get("command", []))
                                  if word.endswith("_test.py")), (None, []))
            if script is not None and script.parent == HERE:
                run.update((script.name, word) for word in words)
        self.assertGreater(len(run), 100)
        forgotten = [f"{script.name}: {test}" for script in sorted(HERE.glob("*_test.py")) for test in tests_of(script)
                     if not {(script.name, test), (script.name, test.partition(".")[0])} & run]
        self.assertEqual(forgotten, [], "add them to tests/integration/CMakeLists.txt")


if __name__ == "__main__":
    unittest.main()
