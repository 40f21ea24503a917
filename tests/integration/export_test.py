"""What leaves Clade, read by the programs that it is for: PyTorch, onnxruntime, Optuna, and clade predict itself."""

import csv
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from live_runs import RunTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "experiments" / "data"
OTHER = pathlib.Path(__file__).resolve().parent / "other_programs.py"
TORCH_PYTHON = pathlib.Path(os.environ["CLADE_TORCH_PYTHON"])
TEST_PYTHON = pathlib.Path(os.environ["CLADE_TEST_VENV"]) / "bin" / "python3"
SAMPLES = os.environ["CLADE_EXPORT_SAMPLES"]
PYTHON_OF = {"python": TORCH_PYTHON, "torchscript": TORCH_PYTHON, "onnx": TEST_PYTHON}
PATIENCE_S = 280

EXPERIMENT = """
[experiment]
name = "{name}"
seed = 3
[data]
{data}
[search_space]
file = "{root}/search_spaces/{space}.toml"
[objective]
{objective}
[evolution]
strategy = "generational"
population = 4
generations = {generations}
[training]
epochs = 2
[limits]
evaluation_memory = "{memory}"
"""

IRIS = {"data": f'file = "{DATA}/iris.csv"', "space": "mlp", "objective": 'maximize = ["validation.accuracy"]'}
DIGITS = {"data": f'file = "{DATA}/digits.csv.gz"\nshape = [1, 8, 8]\nlimit = 300', "space": "image",
          "objective": 'maximize = ["validation.accuracy"]'}
HOUSING = {"data": f'file = "{DATA}/housing.csv.gz"\ntarget = "median_house_value"\ntask = "regression"\n'
                   'blanks = "mean"\ncategories = ["ocean_proximity"]\nlimit = 1000',
           "space": "mlp", "objective": 'minimize = ["validation.rmse"]'}


def ask(python, *words):
    """What other_programs.py prints, which must be one line of JSON."""
    done = subprocess.run([python, "-W", "ignore", OTHER, *map(str, words)], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    if done.returncode != 0:
        raise AssertionError(f"{words}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def missing_programs():
    """What tools/test installs and is not there, for people."""
    def has(python, package):
        return any(python.parent.parent.glob(f"lib/python3*/site-packages/{package}"))
    needed = [(TORCH_PYTHON, "torch"), *((TEST_PYTHON, p) for p in ("onnxruntime", "optuna_dashboard", "safetensors"))]
    return ", ".join(f"no {package} for {python}" for python, package in needed if not has(python, package))


def number(text):
    try:
        return float(text)
    except ValueError:
        return text or None


class ExportTest(RunTest):
    def setUp(self):
        if missing := missing_programs():
            self.skipTest(missing)
        super().setUp()

    def evolve(self, name, parts, generations=2, memory="2GiB"):
        file = self.folder / f"{name}.toml"
        file.write_text(EXPERIMENT.format(name=name, root=ROOT, generations=generations, memory=memory, **parts))
        self.finish("run", file, "--slots", "2")

    def take_away(self, run, *others):
        """Exports the champion into another folder, and removes the run and these; returns the model's file."""
        self.finish("export", run, "--safetensors", "model.safetensors")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        moved = (self.folder / "model.safetensors").rename(elsewhere / "model.safetensors")
        shutil.rmtree(self.run_folder())
        for other in others:
            other.unlink()
        self.assertIn("no run", self.refused("predict", run, moved))
        return moved

    def refused(self, *words):
        """The one sentence of a command that ends with status 2."""
        command = self.finish(*words, status=2)
        self.assertEqual(command.out, "")
        self.assertTrue(command.err.startswith("clade: ") and command.err.count("\n") == 1, command.err)
        return command.err

    def predicted(self, run, data, *words):
        """Of clade predict: the first line, and the others, without the class."""
        self.finish("predict", run, data, "--output", "predicted.csv", *words)
        with open(self.folder / "predicted.csv", newline="") as file:
            first, *rows = csv.reader(file)
        return first, [[float(v) for v in row[1 if first[0] == "class" else 0:]] for row in rows]

    def assert_all_predict_the_same(self, run, data, rows, shape):
        """All formats of the champion predict what clade predict does."""
        first, wanted = self.predicted(run, data)
        self.assertEqual(len(wanted), len(rows))
        self.finish("export", run, "--python", "source", "--onnx", "model.onnx", "--torchscript", "model.pt")
        given = self.folder / "rows.json"
        given.write_text(json.dumps({"rows": rows, "shape": shape}))
        for kind, model in (("python", "source"), ("torchscript", "model.pt"), ("onnx", "model.onnx")):
            found = ask(PYTHON_OF[kind], "predict", kind, self.folder / model, given)
            for f, w in zip(found, wanted):
                for a, b in zip(f if isinstance(f, list) else [f], w):
                    self.assertLessEqual(abs(a - b) / max(1, abs(b)), 1e-5, f"{kind}: {f} for {w}")
        return first, wanted


class Samples(unittest.TestCase):
    def test_every_operator_is_the_same_in_every_format(self):
        if missing := missing_programs():
            self.skipTest(missing)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([SAMPLES, folder], check=True, timeout=PATIENCE_S)
            for kind, python in PYTHON_OF.items():
                self.assertGreater(ask(python, "samples", kind, folder), 100)


class Networks(ExportTest):
    def test_columns(self):
        self.evolve("iris", IRIS)
        with open(DATA / "iris.csv", newline="") as file:
            rows = [[float(v) for v in row[:-1]] for row in list(csv.reader(file))[1:]]
        first, wanted = self.assert_all_predict_the_same("iris", DATA / "iris.csv", rows, None)
        self.assertEqual(first, ["class", "p(setosa)", "p(versicolor)", "p(virginica)"])
        # The same without the target, and for a candidate that is named.
        bare = self.folder / "bare.csv"
        bare.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        champion = self.show()["champion"]
        self.assertEqual(self.predicted("iris", bare, "--genome", f"#{champion}")[1], wanted)
        self.finish("export", "iris", champion, "--safetensors", "iris.safetensors")
        shapes = ask(TEST_PYTHON, "tensors", self.folder / "iris.safetensors")
        self.assertEqual(shapes["input_mean"], [4])
        self.assertEqual(shapes["output.bias"], [3])

    def test_images(self):
        self.evolve("digits", DIGITS)
        with gzip.open(DATA / "digits.csv.gz", "rt", newline="") as file:
            rows = [[float(v) for v in row[:-1]] for row in csv.reader(file)][:200]
        some = self.folder / "some.csv"
        some.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        self.assert_all_predict_the_same("digits", some, rows, [1, 8, 8])

    def test_categories_and_blanks_and_values(self):
        self.evolve("housing", HOUSING)
        with gzip.open(DATA / "housing.csv.gz", "rt", newline="") as file:
            names, *all_rows = list(csv.reader(file))[:600]
        some = self.folder / "some.csv"
        with open(some, "w", newline="") as file:
            csv.writer(file).writerows([names, *all_rows])
        target = names.index("median_house_value")
        rows = [[number(v) for i, v in enumerate(row) if i != target] for row in all_rows]
        self.assertTrue(any(None in row for row in rows), "no row has a blank")
        first, _ = self.assert_all_predict_the_same("housing", some, rows, None)
        self.assertEqual(first, ["median_house_value"])


class Models(ExportTest):
    """A model's file says the same as its run, digit by digit, where there is neither run nor data."""

    falsifies_runs = True  # They are taken away.

    def evolve_repository(self, name, data, *settings):
        """An experiment of the repository, made small, on a copy of its data."""
        copy = self.folder / data.name
        shutil.copy(data, copy)
        settings = [*settings, f"data.file={copy}", "data.limit=600", "evolution.population=4",
                    "evolution.generations=2", "training.epochs=2"]
        self.finish("run", ROOT / "experiments" / f"{name}.toml", "--slots", "2",
                    *(word for s in settings for word in ("--set", s)))
        return copy

    def text_of(self, *words):
        text = self.finish("predict", *words).out
        self.assertGreater(text.count("\n"), 200)
        return text

    def test_of_images(self):
        data = self.evolve_repository("digits", DATA / "digits.csv.gz")
        with gzip.open(data, "rt", newline="") as file:
            rows = [[int(v) for v in row[:-1]] for row in csv.reader(file)]
        some, archive = self.folder / "some.csv", self.folder / "some.npz"
        some.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        pixels = self.folder / "rows.json"
        pixels.write_text(json.dumps(rows))
        subprocess.run([TEST_PYTHON, "-c", "import json, numpy, sys; "
                        "x = numpy.array(json.load(open(sys.argv[1])), dtype=numpy.uint8).reshape(-1, 1, 8, 8); "
                        "numpy.savez(sys.argv[2], other=x[:3], pixels=x)", pixels, archive], check=True)
        wanted = self.text_of("digits", some)
        self.assertEqual(wanted, self.text_of("digits", archive, "--array", "pixels"))
        model = self.take_away("digits", data)
        self.assertEqual(wanted, self.text_of(model, some))
        self.assertEqual(wanted, self.text_of(model, archive, "--array", "pixels"))
        self.assertIn("say which array is meant", self.refused("predict", model, archive))
        shapes = ask(TEST_PYTHON, "tensors", model)
        self.assertEqual(shapes["output.bias"], [10])

    def test_of_categories_and_blanks_and_values(self):
        data = self.evolve_repository("housing", DATA / "housing.csv.gz")
        with gzip.open(data, "rt", newline="") as file:
            names, *rows = list(csv.reader(file))
        some, bare = self.folder / "some.csv", self.folder / "bare.csv"
        with open(some, "w", newline="") as file:
            csv.writer(file).writerows([names, *rows[:600]])
        # The other way round, and without the target.
        kept = [i for i, name in reversed(list(enumerate(names))) if name != "median_house_value"]
        with open(bare, "w", newline="") as file:
            csv.writer(file).writerows([row[i] for i in kept] for row in [names, *rows[:600]])
        self.assertTrue(any("" in row for row in rows[:600]), "no row has a blank")
        wanted = self.text_of("housing", some)
        model = self.take_away("housing", data)
        self.assertEqual(wanted, self.text_of(model, some))
        self.assertEqual(wanted, self.text_of(model, bare))
        self.assertEqual(wanted.splitlines()[0], "median_house_value")

    def test_what_is_no_model_or_does_not_fit_it_is_refused(self):
        data = self.folder / "train.csv"
        with open(DATA / "iris.csv") as file:
            data.write_text("a,b,c,d,kind\n" + "".join(file.readlines()[1:]))
        self.evolve("iris", {**IRIS, "data": f'file = "{data}"\ntarget = "kind"'})
        self.finish("export", "iris", "--onnx", "iris.onnx")
        model = self.take_away("iris", data)
        new = self.folder / "new.csv"
        new.write_text("d,c,b,a\n1,2,3,4\n")
        self.assertEqual(self.finish("predict", model, new).out.count("\n"), 2)
        for text, sentence in (("a,b,c\n1,2,3\n", 'new.csv:1: no column is named "d"'),
                               ("1,2,3\n", "new.csv:1: 3 columns, where the training data has 4 and the target"),
                               ("a,b,c,d\n1,2,x,4\n", 'new.csv:2: column 3 ("c") is "x", where a number must be')):
            new.write_text(text)
            self.assertIn(sentence, self.refused("predict", model, new))
        self.assertIn("--genome chooses", self.refused("predict", model, new, "--genome", "1"))

        other = self.folder / "other.safetensors"
        subprocess.run([TEST_PYTHON, "-c", "import numpy, safetensors.numpy, sys; "
                        "safetensors.numpy.save_file({'x': numpy.ones(3)}, sys.argv[1], {'format': 'pt'})", other],
                       check=True)
        for file in ("iris.onnx", other, new):
            self.assertIn("is no model of Clade's; clade export RUN --safetensors FILE writes one",
                          self.refused("predict", file, new))
        self.assertIn("cannot be read", self.refused("predict", "no-such.safetensors", new))
        whole = model.read_bytes()
        model.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
        self.assertIn("its checksum does not match", self.refused("predict", model, new))
        model.write_bytes(whole[:len(whole) // 2])
        self.assertIn("is a damaged model", self.refused("predict", model, new))
        model.write_bytes(whole.replace(b'"clade_format":"1"', b'"clade_format":"7"'))
        self.assertIn("is a model of format 7, which a newer Clade wrote", self.refused("predict", model, new))


class Tables(ExportTest):
    def test_optuna_and_csv_have_what_the_store_has(self):
        self.finish("run", self.write_experiment(population=6, generations=3, misbehaviour="diverge = 0.2"),
                    "--slots", "2")
        run = self.run_folder()
        self.finish("export", run, "--csv", "all.csv", "--optuna", "study.db")
        stored = {row[0]: row[1:] for row in self.query("select id, outcome, fitness from evaluations")}
        with open(self.folder / "all.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({int(r["id"]): (r["outcome"], number(r["validation.accuracy"])) for r in rows}, stored)

        study = ask(TEST_PYTHON, "study", self.folder / "study.db")
        self.assertEqual((study["name"], study["direction"]), (run.name, "MAXIMIZE"))
        self.assertEqual([t["number"] for t in study["trials"]], list(range(18)))
        best = max(fitness for _, fitness in stored.values() if fitness is not None)
        self.assertEqual(study["value"], best)
        self.assertEqual(stored[study["best"]][1], best)
        hyperparameters = {int(r["id"]): r for r in rows}
        for trial in study["trials"]:
            outcome, fitness = stored[trial["number"] + 1]
            self.assertEqual(trial["state"], "COMPLETE" if outcome == "succeeded" else "FAIL")
            self.assertEqual(trial["value"], fitness)
            self.assertTrue(trial["contained"], trial)
            for name, value in trial["params"].items():
                self.assertEqual(number(str(value)), number(hyperparameters[trial["number"] + 1][name]))
            curve = self.query("select number, json_extract(metrics, '$.\"validation.accuracy\"') from epochs "
                               "where id = ? order by number", trial["number"] + 1)
            self.assertEqual(trial["steps"], {str(n): v for n, v in curve if v is not None})
        page = ask(TEST_PYTHON, "dashboard", self.folder / "study.db")
        self.assertEqual((page["status"], page["name"]), ("200 OK", run.name))
        self.assertEqual({t["number"] + 1: t["state"] for t in page["trials"]},
                         {i: "Complete" if outcome == "succeeded" else "Fail" for i, (outcome, _) in stored.items()})
        self.assertTrue(page["has_intermediate_values"])
        self.assertIn("there already", self.refused("export", run, "--optuna", "study.db"))


class Refusals(ExportTest):
    falsifies_runs = True  # The data of one are taken away.

    def test_a_run_without_networks_is_refused(self):
        self.finish("run", self.write_experiment(population=4, generations=1), "--slots", "2")
        self.assertIn("a synthetic run trains no networks", self.refused("export", "toy", "--python", "out"))
        self.assertIn("a synthetic run trains no networks", self.refused("predict", "toy", "some.csv"))
        self.assertIn("nothing to write", self.refused("export", "toy"))
        self.assertIn("--csv and --optuna have all", self.refused("export", "toy", "3", "--csv", "a.csv"))
        self.assertIn("cannot write nowhere/a.csv", self.refused("export", "toy", "--csv", "nowhere/a.csv"))

    def test_a_run_without_a_champion_is_refused(self):
        self.evolve("iris", IRIS, memory="1KiB")
        self.assertIn("no candidate has succeeded", self.refused("export", "iris", "--onnx", "x.onnx"))
        self.assertIn("#1 has no weights: out of memory",
                      self.refused("predict", "iris", DATA / "iris.csv", "--genome", "1"))

    def test_what_cannot_be_predicted_is_refused(self):
        data = self.folder / "train.csv"
        with open(DATA / "iris.csv") as file:
            data.write_text("a,b,c,d,kind\n" + "".join(file.readlines()[1:]))
        self.evolve("iris", {**IRIS, "data": f'file = "{data}"\ntarget = "kind"'}, generations=4)
        new = self.folder / "new.csv"
        new.write_text("a,b,c\n1,2,3\n")
        self.assertIn('new.csv:1: no column is named "d"', self.refused("predict", "iris", new))
        new.write_text("1,2,3\n")
        self.assertIn("new.csv:1: 3 columns, where the training data has 4 and the target",
                      self.refused("predict", "iris", new))
        new.write_text("1,2,3,4\n")
        self.assertIn("no candidate #99", self.refused("predict", "iris", new, "--genome", "99"))
        self.assertIn("ID x: not a candidate's number", self.refused("export", "iris", "x", "--onnx", "x.onnx"))
        kept = {row[0] for row in self.query("select id from weights")}
        lost = [i for i in range(1, 17) if i not in kept]
        self.assertTrue(lost, "the weights of all were kept")
        self.assertIn("were not kept", self.refused("export", "iris", lost[0], "--onnx", "x.onnx"))
        self.assertIn("no-such.csv", self.refused("predict", "iris", "no-such.csv"))
        data.write_text(data.read_text().replace("5.1,", "5.2,", 1))
        self.assertIn("is not the data that the run was trained on", self.refused("predict", "iris", new))
        data.unlink()
        self.assertIn("is fitted on the training data", self.refused("export", "iris", "--onnx", "x.onnx"))


if __name__ == "__main__":
    unittest.main()
