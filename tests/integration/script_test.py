"""Training scripts as the fitness: what they are told, rungs and checkpoints, what stops them, their logs, and the examples."""

import gzip
import json
import os
import pathlib
import shutil
import struct
import unittest

from live_runs import RunTest, await_end, await_true, processes_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST_VENV = os.environ.get("CLADE_TEST_VENV", "")
TORCH_PYTHON = os.environ.get("CLADE_TORCH_PYTHON", "")

SPACE = """[limits]
max_nodes = 0
[hyperparameters]
rate = { low = 0.001, high = 1.0, log = true }
way = ["plain", "rough"]
"""

EXPERIMENT = """[experiment]
name = "script"
seed = 5
fitness = "command"
[search_space]
file = "space.toml"
[objective]
minimize = ["loss"]
[evolution]
strategy = "asha"
rungs = [1, 3, 9]
population = 8
generations = 3
[command]
run = ["python3", "train.py", "--rate={rate}", "--way", "{way}", "--epochs={epochs}", "--from={start_epoch}"]
environment = { NOTE = "{candidate}" }
metrics = "json_lines"
epochs = 9
checkpoints = true
retry = { codes = [75], times = 2, pause = "1ms" }
[limits]
evaluation_time = "30s"
"""

# It keeps the epochs that it has trained, and for its first candidate says once that the machine is at fault.
TRAIN = """import argparse, json, os, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float)
parser.add_argument("--way")
parser.add_argument("--epochs", type=int)
parser.add_argument("--from", type=int, dest="start")
given = parser.parse_args()
assert os.environ["CLADE_PARAM_RATE"] == sys.argv[1].partition("=")[2], os.environ
if os.environ["NOTE"] == "1" and not pathlib.Path("tried").exists():
    pathlib.Path("tried").touch()
    sys.exit(75)
trained = pathlib.Path(os.environ["CLADE_CHECKPOINT_FOLDER"], "trained")
before = json.loads(trained.read_text()) if trained.exists() else []
assert before == list(range(1, given.start + 1)), (before, given.start)
print("training", given.way)
for epoch in range(given.start + 1, given.epochs + 1):
    before.append(epoch)
    trained.write_text(json.dumps(before))
    print(json.dumps({"epoch": epoch, "loss": given.rate / epoch + (given.way == "rough")}), flush=True)
"""


class ScriptTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write("space.toml", SPACE)
        self.write("train.py", TRAIN)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name


PRELOADED = '[command]\npreload = ["argparse", "json"]\n'


class Rungs(ScriptTest):
    def test_a_script_goes_on_from_its_checkpoint_folder_at_each_rung(self):
        self.goes_on(EXPERIMENT)

    def test_a_script_of_a_python_that_is_loaded_does_the_same(self):
        self.goes_on(EXPERIMENT.replace("[command]\n", PRELOADED))

    def goes_on(self, experiment):
        file = self.write("script.toml", experiment)
        run = self.start("run", file, "--slots", "2")
        self.await_evaluations(10, run)
        run.kill()
        self.finish("resume", self.run_folder(), "--slots", "1")
        self.assertEqual(self.query("select distinct outcome from evaluations"), [("succeeded",)])
        self.assertEqual({row[0] for row in self.query("select distinct epochs from genomes")}, {1, 3, 9})
        promoted = self.query("select g.id, g.epochs, f.epochs from genomes g join genomes f on f.id = g.start")
        self.assertNotEqual(promoted, [])
        for candidate, epochs, fewer in promoted:
            self.assertEqual(self.query("select min(number), max(number) from epochs where id = ?", candidate),
                             [(fewer + 1, epochs)])
        self.assertTrue((self.folder / "tried").exists())
        log = self.run_folder() / "logs" / "2.log"
        self.assertIn("training ", log.read_text())
        self.assertIn(f"What its program wrote: {log}", self.finish("explain", self.run_folder(), "2").out)

    def test_a_script_that_knows_no_epochs_is_stopped_at_its_rung(self):
        # It may be stopped while it writes, so that it does not read what it kept.
        lines = [line for line in TRAIN.splitlines() if not line.startswith("assert before")]
        self.write("train.py", "\n".join(lines)
                   .replace("given.epochs + 1", "10 if given.epochs == 9 else 1000000")
                   .replace("json.loads(trained.read_text()) if trained.exists() else []", "[]"))
        self.finish("run", self.write("script.toml", EXPERIMENT), "--slots", "2")
        self.assertEqual(self.query("select distinct outcome from evaluations where id in "
                                    "(select id from genomes where epochs < 9)"), [("succeeded",)])
        for candidate, epochs in self.query("select id, epochs from genomes where epochs < 9"):
            self.assertEqual(self.query("select max(number) from epochs where id = ?", candidate), [(epochs,)])


class Words(ScriptTest):
    def test_a_word_that_is_nothing_is_told_with_its_line_before_anything_is_made(self):
        file = self.write("script.toml", EXPERIMENT.replace("{way}", "{wy}"))
        line = 1 + EXPERIMENT.splitlines().index(next(x for x in EXPERIMENT.splitlines() if x.startswith("run = ")))
        refused = self.finish("run", file, status=2)
        self.assertIn(f"script.toml:{line}: command.run has {{wy}}, which is nothing; there are {{rate}}, {{way}}, ",
                      refused.err)
        self.assertFalse(self.runs.exists())
        for wrong, said in (("retry.codes=[0]", "retry.codes"), ("metrics=lines", "command.metrics is \"lines\""),
                            ("retry.tims=1", "did you mean \"times\""), ("checkpoints=false", "checkpoints")):
            refused = self.finish("run", file, "--set", "command." + wrong, "--set",
                                  'command.run=["python3", "train.py"]', "--set",
                                  'command.environment.X="{checkpoint_folder}"', status=2)
            self.assertIn(said, refused.err)


NETWORKS = """[experiment]
name = "script"
seed = 5
fitness = "command"
[data]
shape = [6]
classes = 3
[search_space]
file = "mlp"
[objective]
minimize = ["loss"]
[evolution]
strategy = "random"
population = 4
generations = 2
[command]
run = ["{torch}", "score.py", "{{python_file}}", "{{onnx_file}}"]
[limits]
evaluation_time = "3min"
"""

# The scores that PyTorch gives by the one file are those that onnxruntime gives by the other.
SCORE = """import json, os, subprocess, sys
import torch
sys.path.insert(0, os.path.dirname(sys.argv[1]))
from network import load
assert sys.argv[1:] == [os.environ["CLADE_PYTHON_FILE"], os.environ["CLADE_ONNX_FILE"]]
network = load()
assert network.training and sum(p.numel() for p in network.parameters()) > 0
x = torch.linspace(-1, 1, 24).reshape(4, 6)
with torch.no_grad():
    mine = network.eval()(x).softmax(1)
program = '''import json, sys, numpy, onnxruntime
x = numpy.linspace(-1, 1, 24, dtype=numpy.float32).reshape(4, 6)
model = onnxruntime.InferenceSession(sys.argv[1])
print(json.dumps(model.run(["probabilities"], {"input": x})[0].tolist()))'''
theirs = torch.tensor(json.loads(subprocess.check_output(["PYTHON", "-c", program, sys.argv[2]])))
assert mine.shape == (4, 3) and torch.allclose(mine, theirs, atol=1e-4), (mine, theirs)
print(json.dumps({"loss": float(network(x).square().mean())}))
"""


class Networks(ScriptTest):
    def test_a_script_is_given_the_network_as_pytorch_and_as_onnx(self):
        python = pathlib.Path(TEST_VENV, "bin", "python3")
        if not TORCH_PYTHON or not list(python.parent.parent.glob("lib/*/site-packages/onnxruntime")):
            self.skipTest("there is no PyTorch, or no onnxruntime in build/test_venv")
        self.write("score.py", SCORE.replace('"PYTHON"', f'"{python}"'))
        run = self.start("run", self.write("script.toml", NETWORKS.format(torch=TORCH_PYTHON)), "--slots", "2")
        self.assertEqual(run.end(patience_s=250), 0, run.said())
        self.assertEqual(self.query("select distinct outcome, reason from evaluations"), [("succeeded", None)])
        self.assertGreater(self.count("select count(distinct value) from metrics where name = 'loss'"), 1)

    def test_who_asks_for_a_network_says_what_for(self):
        text = NETWORKS.format(torch="python3").replace("[data]\nshape = [6]\nclasses = 3\n", "")
        line = 1 + text[:text.index("run = ")].count("\n")
        refused = self.finish("run", self.write("script.toml", text), status=2)
        self.assertIn(f"script.toml:{line}: command.run has {{python_file}}, a network, and nobody says of which inputs",
                      refused.err)
        refused = self.finish("run", self.write("script.toml", EXPERIMENT.replace("{way}", "{onnx_file}")), status=2)
        self.assertIn("command.run has {onnx_file}, a network, but ", refused.err)
        self.assertIn("space.toml has no layers", refused.err)


class Keys(ScriptTest):
    def test_a_script_cannot_read_the_keys_of_its_run(self):
        doctor = self.start("doctor", "--runs", self.runs)
        doctor.end()
        if "cannot read the keys" not in doctor.out:
            self.skipTest("this system refuses namespaces to programs")
        self.write("train.py", "import json, pathlib\n"
                   f"files = [p.name for p in pathlib.Path('{self.runs}').rglob('*') if p.is_file()]\n"
                   "assert 'run.db' in files, files\n"
                   "print(json.dumps({'loss': sum(name.endswith('.pem') for name in files)}))\n")
        common = EXPERIMENT.split("[command]")[0].replace('strategy = "asha"\nrungs = [1, 3, 9]', 'strategy = "random"')
        for isolate in ("true", "false"):
            file = self.write("script.toml", f'{common}[command]\nrun = ["python3", "train.py"]\nisolate = {isolate}\n')
            self.finish("run", file, "--slots", "2")
            [(seen,)] = self.query("select distinct value from metrics where name = 'loss'")
            self.assertEqual(seen == 0, isolate == "true", seen)
            shutil.rmtree(self.runs)


class Package(ScriptTest):
    def test_a_script_uses_the_package(self):
        self.write("train.py", "import clade\n"
                   "assert clade.checkpoint_folder() is not None and clade.seed() > 0\n"
                   "for epoch in range(clade.start_epoch() + 1, clade.epochs() + 1):\n"
                   "    clade.report(epoch=epoch, loss=clade.params()['rate'] / epoch)\n"
                   "    (clade.checkpoint_folder() / str(epoch)).touch()\n"
                   "    assert not clade.should_stop()\n")
        file = self.write("script.toml", EXPERIMENT.replace('metrics = "json_lines"\n', ""))
        run = self.start("run", file, "--slots", "2", environment={"PYTHONPATH": str(ROOT / "tools" / "python")})
        self.assertEqual(run.end(), 0, run.said())
        self.assertEqual(self.query("select distinct outcome from evaluations"), [("succeeded",)])
        self.assertGreater(self.count("select count(*) from epochs"), 24)

    def test_a_script_saves_when_it_is_to_stop(self):
        self.write("train.py", "import clade, pathlib, os, time\n"
                   "clade.should_stop()\n"
                   "clade.report(epoch=1, loss=1.0)\n"
                   "pathlib.Path('there').write_text(str(os.getpid()))\n"
                   "while not clade.should_stop():\n"
                   "    time.sleep(0.001)\n"
                   "pathlib.Path('saved').touch()\n")
        file = self.write("script.toml", EXPERIMENT.replace('"30s"', '"2s"'))
        run = self.start("run", file, "--slots", "1", environment={"PYTHONPATH": str(ROOT / "tools" / "python")})
        await_true((self.folder / "saved").exists, "the script was never told to stop")
        run.interrupt()
        run.interrupt()
        run.end()
        await_end(int((self.folder / "there").read_text()))


class Faults(ScriptTest):
    def test_scripts_that_misbehave_leave_their_slots_free_and_nothing_behind(self):
        self.misbehave("[command]\n")

    def test_so_do_those_of_a_python_that_is_loaded(self):
        self.misbehave(PRELOADED)

    def misbehave(self, command):
        self.write("space.toml", SPACE.replace('["plain", "rough"]', '["hangs", "leaves", "quits", "fine"]'))
        self.write("train.py", f"""import os, signal, subprocess, sys, time
way = sys.argv[1]
subprocess.Popen(["sh", "-c", "sleep 1000; : {self.folder}"], start_new_session=True)
if way == "hangs":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)
if way == "quits":
    os._exit(0)
print('{{"loss": 1}}')
""")
        file = self.write("script.toml", EXPERIMENT.split("[command]")[0].replace(
            'strategy = "asha"\nrungs = [1, 3, 9]', 'strategy = "random"') + command + """run = ["python3", "train.py", "{way}"]
grace = "100ms"
[limits]
evaluation_time = "1s"
""")
        run = self.start("run", file, "--slots", "2")
        self.assertEqual(run.end(), 0, run.said())
        outcomes = dict(self.query("select outcome, count(*) from evaluations group by outcome"))
        self.assertEqual(set(outcomes), {"succeeded", "invalid", "timed out"})
        self.assertEqual(sum(outcomes.values()), 24)
        self.assertEqual([p.words for p in processes_of(self.folder)], [])


def idx(dimensions, content):
    sizes = b"".join(struct.pack(">I", size) for size in dimensions)
    return gzip.compress(bytes([0, 0, 8, len(dimensions)]) + sizes + content)


class Examples(ScriptTest):
    def run_example(self, name, python, *words):
        path = f"{pathlib.Path(python).parent}:{os.environ['PATH']}"
        run = self.start("run", ROOT / "experiments" / f"{name}.toml", "--slots", "2", *words, "--set",
                         'limits.evaluation_time="3min"', environment={"PATH": path})
        # A script loads its libraries anew for each candidate, which takes long beside other tests.
        self.assertEqual(run.end(patience_s=200), 0, run.said())
        self.assertEqual(self.query("select distinct outcome, reason from evaluations"), [("succeeded", None)])

    def test_the_one_with_scikit_learn(self):
        python = pathlib.Path(TEST_VENV, "bin", "python3")
        if not TEST_VENV or not list(python.parent.parent.glob("lib/*/site-packages/sklearn")):
            self.skipTest("there is no scikit-learn in build/test_venv")
        self.run_example("command-sklearn", python, "--set", "evolution.population=2", "--set", "evolution.in_flight=2",
                         "--set", "evolution.generations=1")
        self.assertGreater(self.count("select max(value) from metrics where name = 'accuracy'"), 0.8)

    def test_the_one_with_networks(self):
        if not TORCH_PYTHON:
            self.skipTest("this build has no LibTorch")
        self.run_example("command-network", TORCH_PYTHON, "--set", "evolution.population=2", "--set",
                         "evolution.generations=1")
        self.assertGreaterEqual(self.count("select count(*) from epochs"), 4)

    def test_the_one_with_pytorch(self):
        if not TORCH_PYTHON:
            self.skipTest("this build has no LibTorch")
        # Two digits that nobody confuses.
        for part in ("train", "t10k"):
            images = b"".join(bytes([255 * (i % 2)]) * 784 for i in range(120))
            (self.folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx([120, 28, 28], images))
            (self.folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx([120], bytes(i % 2 for i in range(120))))
        example = (ROOT / "experiments" / "command-pytorch.toml").read_text()
        run_line = example[example.index("run = ["):example.index("]\npreload")] + "]"
        words = json.loads(run_line[len("run = "):].replace(",\n]", "]").replace("../../shared/data/mnist", str(self.folder)))
        self.run_example("command-pytorch", TORCH_PYTHON, "--set", f"command.run={json.dumps(words)}", "--set",
                         "evolution.population=2", "--set", "evolution.generations=2")
        self.assertNotEqual(self.query("select id from genomes where start != 0"), [])


if __name__ == "__main__":
    unittest.main()
