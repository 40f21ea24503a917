"""The words that a script hears and says by `import clade`, with nothing but the standard library."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "python"


class Script(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def start(self, text, **variables):
        """Without site-packages, so that no other library is there."""
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(TOOLS), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.Popen([sys.executable, "-S", "-c", "import clade\n" + text], env=environment, cwd=self.folder,
                                stdout=subprocess.PIPE, text=True)

    def said(self, text, **variables):
        script = self.start(text, **variables)
        out = script.communicate(timeout=60)[0]
        self.assertEqual(script.returncode, 0)
        return out

    def test_it_hears_its_candidate(self):
        (self.folder / "params.json").write_text('{"rate": 0.5}')
        (self.folder / "genome.json").write_text('{"layers": []}')
        said = self.said("print(clade.params(), clade.genome(), clade.epochs(), clade.start_epoch(), clade.seed(), "
                         "clade.checkpoint_folder())",
                         CLADE_PARAMS_FILE=str(self.folder / "params.json"),
                         CLADE_GENOME_FILE=str(self.folder / "genome.json"), CLADE_EPOCHS="9", CLADE_START_EPOCH="3",
                         CLADE_SEED="7", CLADE_CHECKPOINT_FOLDER="/there")
        self.assertEqual(said, "{'rate': 0.5} {'layers': []} 9 3 7 /there\n")

    def test_without_clade_it_goes_on_by_itself(self):
        said = self.said("print(clade.params(), clade.epochs(5), clade.start_epoch(), clade.checkpoint_folder('x'))\n"
                         "clade.report(epoch=1, **{'validation.loss': 0.5})\n"
                         "print(clade.should_stop())")
        self.assertEqual(said, "{} 5 0 x\n{\"epoch\": 1, \"validation.loss\": 0.5}\nFalse\n")

    def test_its_reports_are_appended_to_the_file(self):
        file = self.folder / "reports"
        self.said("clade.report(epoch=1, loss=0.5)\nclade.report(loss=float('nan'))", CLADE_REPORT_FILE=str(file))
        lines = file.read_text().splitlines()
        self.assertEqual(json.loads(lines[0]), {"epoch": 1, "loss": 0.5})
        self.assertEqual(lines[1], '{"loss": NaN}')

    def test_it_hears_that_it_is_to_stop(self):
        script = self.start("import time\nclade.should_stop()\nprint('there', flush=True)\n"
                            "while not clade.should_stop(): time.sleep(0.001)\nprint('saved')")
        self.addCleanup(script.stdout.close)
        self.assertEqual(script.stdout.readline(), "there\n")
        script.send_signal(signal.SIGTERM)
        self.assertEqual(script.communicate(timeout=60)[0], "saved\n")
        self.assertEqual(script.returncode, 0)

    def test_a_script_that_does_not_ask_ends_at_once(self):
        script = self.start("import time\nprint('there', flush=True)\ntime.sleep(1000)")
        self.assertEqual(script.stdout.readline(), "there\n")
        script.send_signal(signal.SIGTERM)
        script.communicate(timeout=60)
        self.assertEqual(script.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
