"""The findings of `clade doctor` on an installation, of a worker that is to join, and of a live run's workers."""

import json
import os
import unittest
import unittest.mock

from live_runs import RunTest, await_true


class Doctor(RunTest):
    def look(self, *words, status=0):
        said = json.loads(self.finish("doctor", "--json", "--runs", self.runs, *words, status=status).out)
        self.assertEqual(said["healthy"], status == 0)
        for found in said["findings"]:
            if found["is"] != "good":
                self.assertTrue(found["advice"], found)
        return {found["about"]: found for found in said["findings"]}

    def test_an_installation_is_looked_at_without_a_run(self):
        said = self.look("--slots", "2", "--listen", "127.0.0.1:0")
        for about in ("clade", "cores", "memory", "LibTorch", "slot cpu:0", "slot cpu:1", "disk", "control groups",
                      "open files", "processes", "clock", "port"):
            self.assertIn(about, said)
        for about in ("LibTorch", "slot cpu:0", "slot cpu:1", "port"):
            self.assertEqual(said[about]["is"], "good", said[about])
        self.assertRegex(said["slot cpu:1"]["found"], r"multiplies, [0-9.]+ GFLOP/s")
        # The other work of the machine decides which it is.
        self.assertRegex(said["parallel"]["found"], r"cpu:0, cpu:1: .* at once, .* one after the other \(\d\.\d\d\)")
        self.assertFalse(self.runs.exists())
        text = self.finish("doctor", "--slots", "1").out
        self.assertRegex(text, r"slot cpu:0 +good +LibTorch multiplies")

    def test_what_is_wrong_is_said_with_what_to_do(self):
        self.assertIn("slots", self.finish("doctor", "--slots", "gpu:7", status=2).err)
        self.assertIn("--keys", self.finish("doctor", "--slots", "1", "--connect", "127.0.0.1:1", status=2).err)
        said = self.look("--slots", "1", "--keys", self.folder / "nothing", status=1)
        self.assertEqual(said["keys"]["is"], "broken")

    def test_gpus_that_the_build_cannot_use_are_told(self):
        card = "GPU-a1a1a1a1-0000|Card A|16000000000|8000000000"
        with unittest.mock.patch.dict(os.environ, CLADE_NVML=os.environ["CLADE_FAKE_NVML"], FAKE_NVML_CARDS=card,
                                      FAKE_NVML_CUDA="12080"):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            said = self.look(status=1)
        self.assertEqual(said["slot cuda:0"]["is"], "broken")
        self.assertIn("the driver supports CUDA 12.8", said["CUDA"]["found"])

    def test_a_driver_that_does_not_answer_is_a_finding(self):
        with unittest.mock.patch.dict(os.environ, CLADE_NVML=os.environ["CLADE_FAKE_NVML"],
                                      FAKE_NVML_FAILS="nvmlInit_v2=9"):
            said = self.look(status=1)
        self.assertIn("Driver Not Loaded", said["GPUs"]["found"])

    def test_a_fleet_is_looked_at_from_both_of_its_ends(self):
        run = self.start("run", self.write_experiment(population=16, generations=1, duration="1h"),
                         "--slots", "1", "--listen", "127.0.0.1:0")
        self.await_count("select count(*) from nodes", 1, run)
        address = await_true(lambda: "".join(f.read_text() for f in self.runs.glob("*/address")).strip(),
                             "the run does not listen")
        await_true(lambda: any('"cpu:0"' in file.read_text() for file in self.runs.glob("*/slots.json")),
                   "the run does not say what its slot does")
        keys = self.run_folder() / "keys" / "worker"
        said = self.look(self.run_folder(), "--slots", "1", "--connect", f"{address},127.0.0.1:1", "--keys", keys,
                         status=1)
        self.assertEqual(said["keys"]["is"], "good")
        self.assertIn("takes these keys and this version", said[f"head {address}"]["found"])
        self.assertEqual(said["head 127.0.0.1:1"]["is"], "broken")
        self.assertEqual(said["worker cpu:0"]["is"], "good", said["worker cpu:0"])
        self.assertRegex(said["worker cpu:0"]["found"], "heard .* ago")
        self.finish("keys", "new", self.folder / "other")
        self.finish("keys", "worker", self.folder / "other", "stranger")
        said = self.look("--slots", "1", "--connect", address, "--keys", self.folder / "other" / "stranger", status=1)
        self.assertEqual(said["keys"]["is"], "good")
        self.assertEqual(said[f"head {address}"]["is"], "broken")
        self.assertTrue(run.running, run.said())
        run.kill()


if __name__ == "__main__":
    unittest.main()
