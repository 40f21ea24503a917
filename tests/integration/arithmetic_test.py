"""The instructions that trainings compute with; LibTorch. Another processor is played by libraries that are told to
compute as on one."""

import json
import pathlib
import subprocess
import unittest

from live_runs import CLADE, RunTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDER = {"MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default"}

EXPERIMENT = f"""
[experiment]
name = "bits"
seed = 1
[data]
file = "{ROOT}/experiments/data/digits.csv.gz"
target = "last"
shape = [1, 8, 8]
limit = 300
[search_space]
file = "{ROOT}/search_spaces/image.toml"
[evolution]
strategy = "random"
population = 4
generations = 1
[training]
epochs = 2
"""


class Arithmetic(RunTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "bits.toml"
        self.file.write_text(EXPERIMENT)

    def weights(self, arithmetic, environment):
        run = self.start("run", self.file, "--slots", "cpu:1", "--set", f"training.arithmetic={arithmetic}",
                         environment=environment)
        self.assertEqual(run.end(), 0, run.said())
        hashes = self.query("select weights_hash from evaluations order by id")
        self.run_folder().rename(self.folder / f"{arithmetic}-{len(environment)}")
        return hashes

    def rounding(self, environment):
        """The rounding of the slot, as the records have it."""
        run = self.start("run", self.file, "--slots", "cpu:1", environment=environment)
        self.assertEqual(run.end(), 0, run.said())
        told = subprocess.run([CLADE, "replay", self.run_folder(), "--speed", "inf", "--json"], capture_output=True,
                              text=True, check=True).stdout
        joined = [e for e in map(json.loads, told.splitlines()) if e.get("event") == "slot" and e["joined"]]
        return joined[0]["rounding"]

    def test_records_say_which_slots_round_otherwise(self):
        older = self.rounding(OLDER)
        run = self.run_folder()
        variables = ", ".join(f"{name}={OLDER[name]}" for name in ("MKL_CBWR", "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY"))
        self.assertRegex(self.finish("show", run).out, rf"\n  computed on .*{variables} \(cpu:0\)\n")
        self.assertIn(variables, json.loads(self.finish("show", run, "--json").out)["nodes"][0]["device"])
        again = subprocess.run([CLADE, "replay", run, "--retrain", "champion"], capture_output=True, text=True, check=False)
        self.assertIn("on a processor that rounds otherwise", again.stdout + again.stderr)
        run.rename(self.folder / "older")
        self.assertNotEqual(older, self.rounding({}))

    def test_portable_gives_the_same_bits_where_native_does_not(self):
        self.assertEqual(self.weights("portable", OLDER), self.weights("portable", {}))
        self.assertNotEqual(self.weights("native", OLDER), self.weights("native", {}))


if __name__ == "__main__":
    unittest.main()
