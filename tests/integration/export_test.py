"""The files that leave Clade, read by the programs that it is for: PyTorch, onnxruntime, Optuna, and clade predict
itself."""

import csv
import datetime
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from live_runs import CLADE, RunTest, environment_of_commands

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
    """Returns the output of other_programs.py, which must be one line of JSON."""
    done = subprocess.run([python, "-W", "ignore", OTHER, *map(str, words)], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    if done.returncode != 0:
        raise AssertionError(f"{words}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def missing_programs():
    """Returns the programs that tools/test installs and that are not there, for people."""
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

    def evolve(self, name, parts, generations=2, memory="2GiB", status=0):
        file = self.folder / f"{name}.toml"
        file.write_text(EXPERIMENT.format(name=name, root=ROOT, generations=generations, memory=memory, **parts))
        self.finish("run", file, "--slots", "2", status=status)

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
        """Returns the output of clade predict: the first line, and the others, without the class."""
        self.finish("predict", run, data, "--output", "predicted.csv", *words)
        with open(self.folder / "predicted.csv", newline="") as file:
            first, *rows = csv.reader(file)
        return first, [[float(v) for v in row[1 if first[0] == "class" else 0:]] for row in rows]

    def assert_all_predict_the_same(self, run, data, rows, shape=None, numbers=None, within=1e-4):
        """All formats of the champion predict what clade predict does; the Python source reads the file too.

        ONNX takes the rows as `numbers` has them, where their texts are no plain numbers and dates.
        """
        first, wanted = self.predicted(run, data)
        self.assertEqual(len(wanted), len(rows))
        self.finish("export", run, "--python", "source", "--onnx", "model.onnx", "--torchscript", "model.pt")
        given = self.folder / "rows.json"
        given.write_text(json.dumps({"rows": rows, "shape": shape}))
        file = self.folder / "file.json"
        file.write_text(json.dumps({"rows": str(data), "shape": shape}))
        plain = self.folder / "plain.json"
        plain.write_text(json.dumps({"rows": numbers or rows, "shape": shape}))
        for kind, model, of in (("python", "source", given), ("python", "source", file),
                                ("torchscript", "model.pt", given), ("onnx", "model.onnx", plain)):
            found = ask(PYTHON_OF[kind], "predict", kind, self.folder / model, of)
            self.assertEqual(len(found), len(wanted), kind)
            for f, w in zip(found, wanted):
                for a, b in zip(f if isinstance(f, list) else [f], w):
                    # Last bits of large float32 outputs, which a softmax makes larger.
                    self.assertLessEqual(abs(a - b) / max(1, abs(b)), within, f"{kind}: {f} for {w}")
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
        self.assert_all_predict_the_same("digits", some, rows)

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
        for text, sentence in (("a,b,c\n1,2,3\n", 'new.csv:1: the column "d" of the training data is missing'),
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
        model.write_bytes(whole.replace(b'"clade_format":"2"', b'"clade_format":"7"'))
        self.assertIn("is a model of format 7, which a newer Clade wrote", self.refused("predict", model, new))


class Columns(ExportTest):
    """Tables whose columns are of every kind: what is new in them is a blank in every format."""

    NAMES = ["customer", "age", "plan", "active", "signup", "visits"]

    def row(self, i):
        """Returns the row of a customer, each of whom has one, so that columns say something; every seventh value is
        blank."""
        plans = ["basic", "plus", "pro"]
        row = [f"C{i:04}", 20 + i * 7 % 50, plans[i % 3], ["yes", "no", "True", "OFF"][i % 4],
               f"20{10 + i % 13}-{1 + i % 12:02}-{1 + i % 28:02}", i * 13 % 101 / 4]
        return [None if i % 7 == c else v for c, v in enumerate(row)]

    def write(self, name, rows, targets=None, delimiter=",", decimal="."):
        file = self.folder / name
        with open(file, "w", newline="") as text:
            out = csv.writer(text, delimiter=delimiter)
            out.writerow(self.NAMES + (["churned"] if targets else []))
            for i, row in enumerate(rows):
                texts = ["" if v is None else str(v) for v in row]
                texts[5] = texts[5].replace(".", decimal)
                out.writerow(texts + ([targets[i]] if targets else []))
        return file

    def evolve_mixed(self, name, **dialect):
        rows = [self.row(i) for i in range(120)]
        targets = ["yes" if i % 3 == 0 or i % 10 > 7 else "no" for i in range(120)]
        data = self.write(f"{name}.csv", rows, targets, **dialect)
        self.evolve(name, {"data": f'file = "{data}"\ntarget = "churned"\ncolumns = {{customer = "ignore", '
                                   'age = "number", plan = "category", active = "yes_no", signup = "date"}',
                           "space": "mlp", "objective": 'maximize = ["validation.accuracy"]'})

    def new_rows(self):
        rows = [self.row(i) for i in range(200, 240)]
        rows[0][2] = "enterprise"
        rows[1][3] = "perhaps"
        rows[4][3] = "yEs"
        rows[5][2] = " pro "
        rows[2][1:] = [None] * 5
        rows[3][4] = "2031-02-28"
        return rows

    def test_all_kinds_of_columns(self):
        self.evolve_mixed("churn")
        rows = self.new_rows()
        self.assert_all_predict_the_same("churn", self.write("new.csv", rows), rows)

    def test_other_orders_and_further_columns_and_standard_input(self):
        self.evolve_mixed("churn")
        rows = self.new_rows()
        order = [4, 0, 2, 5, 3, 1]
        new = self.folder / "other.csv"
        with open(new, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["newsletter", *(self.NAMES[i] for i in order), "churned"])
            for row in rows:
                out.writerow(["often", *("" if row[i] is None else row[i] for i in order), "no"])
        self.assert_all_predict_the_same("churn", new, rows)
        _, wanted = self.predicted("churn", new)
        with open(new) as file:
            piped = subprocess.run([CLADE, "predict", "churn", "-"], cwd=self.folder, stdin=file, capture_output=True,
                                   text=True, env=environment_of_commands(), check=True).stdout
        self.assertEqual(piped, (self.folder / "predicted.csv").read_text())
        with open(new) as file:
            found = json.loads(subprocess.run(
                [TORCH_PYTHON, "-c", "import json, model; "
                 "print(json.dumps([list(p.values()) for _, p in model.predict(model.read_rows('-'))]))"],
                cwd=self.folder / "source", stdin=file, capture_output=True, text=True, check=True).stdout)
        self.assertEqual(len(found), len(wanted))
        for f, w in zip(found, wanted):
            for a, b in zip(f, w):
                self.assertLessEqual(abs(a - b), 1e-5)
        new.write_text("age,plan\n1,pro\n")
        refused = subprocess.run([TORCH_PYTHON, "-c", "import model; model.read_rows('../other.csv')"],
                                 cwd=self.folder / "source", capture_output=True, text=True, check=False)
        self.assertIn("columns of the training data are missing: active, signup, visits", refused.stderr)

    def test_another_dialect(self):
        self.evolve_mixed("churn", delimiter=";", decimal=",")
        rows = self.new_rows()
        texts = [[*row[:5], None if row[5] is None else str(row[5]).replace(".", ",")] for row in rows]
        new = self.write("new.csv", rows, delimiter=";", decimal=",")
        self.assert_all_predict_the_same("churn", new, texts)
        # Numbers are numbers in Python, however the training data wrote them.
        found = []
        for i, of in enumerate((rows, texts)):
            given = self.folder / f"rows{i}.json"
            given.write_text(json.dumps({"rows": of, "shape": None}))
            found.append(ask(TORCH_PYTHON, "predict", "python", self.folder / "source", given))
        self.assertEqual(found[0], found[1])


class Sentences(ExportTest):
    """A table with a column of sentences: the exported Python takes them apart as Clade does, and ONNX and TorchScript
    take what it makes of them."""

    def row(self, i):
        told = ["dull", "splendid"][i % 2]
        letters = ["größe", "don't", "好書", "ЦЕНА!", "a—b", "x" * 50]
        return [i % 30 if i % 7 else None, None if i % 11 == 5 else f"The {told} {letters[i % 6]} of {told.upper()} no {i}"]

    def test_sentences_beside_a_number(self):
        data = self.folder / "reviews.csv"
        with open(data, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["age", "review", "class"])
            for i in range(160):
                out.writerow(["" if v is None else v for v in self.row(i)] + [["no", "yes"][i % 2]])
        self.evolve("reviews", {"data": f'file = "{data}"\ntarget = "class"\ncolumns = {{age = "number", '
                                        'review = "text"}', "space": "mlp",
                                "objective": 'maximize = ["validation.accuracy"]'})
        rows = [self.row(i) for i in range(300, 340)]
        new = self.folder / "new.csv"
        with open(new, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["age", "review"])
            out.writerows(["" if v is None else v for v in row] for row in rows)
        _, wanted = self.predicted("reviews", new)
        said = self.finish("export", "reviews", "--python", "source", "--onnx", "model.onnx", "--torchscript", "model.pt")
        self.assertIn("encode(rows)", said.err)
        given = self.folder / "given.json"
        given.write_text(json.dumps({"rows": str(new), "shape": None}))
        encoded = json.loads(subprocess.run(
            [TORCH_PYTHON, "-c", "import json, model; "
             "print(json.dumps(model.encode(model.read_rows('../new.csv')).tolist()))"],
            cwd=self.folder / "source", stdout=subprocess.PIPE, text=True, check=True).stdout)
        numbers = self.folder / "numbers.json"
        numbers.write_text(json.dumps({"rows": [[None if v != v else v for v in row] for row in encoded], "shape": None}))
        parts = self.folder / "parts.json"
        # The number and what says that it is blank come first.
        parts.write_text(json.dumps({"rows": [[row[0], encoded[i][2:]] for i, row in enumerate(rows)], "shape": None}))
        for kind, model, of in (("python", "source", given), ("torchscript", "model.pt", numbers),
                                ("onnx", "model.onnx", parts)):
            found = ask(PYTHON_OF[kind], "predict", kind, self.folder / model, of)
            self.assertEqual(len(found), len(wanted), kind)
            for f, w in zip(found, wanted):
                for a, b in zip(f, w):
                    self.assertLessEqual(abs(a - b), 1e-5, f"{kind}: {f} for {w}")


class Written(ExportTest):
    """Tables as people, countries and spreadsheets write them: every format reads the same and computes in 64 bits."""

    @staticmethod
    def values(i):
        moment = datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=31 * i)
        return [202403150000 + 37 * i % 1440, 1000.5 + 7 * i, 20 + i % 9 / 4, moment]

    @classmethod
    def texts(cls, i):
        stamp, fee, weight, moment = cls.values(i)
        return [str(stamp), f"(${fee:,.2f})" if i % 4 == 0 else f"${fee:,.2f}", f"{weight} kg",
                f"{moment:%b} {moment.day}, {moment:%Y %I:%M %p}"]

    @classmethod
    def plain(cls, i):
        stamp, fee, weight, moment = cls.values(i)
        return [stamp, -fee if i % 4 == 0 else fee, weight, moment.isoformat()]

    def test_every_format_reads_them(self):
        table = self.folder / "written.csv"
        with open(table, "w", newline="") as file:
            csv.writer(file).writerows([["Export of the shop", "", "", "", ""], ["stamp", "fee", "weight", "when", "sold"]] + [
                [*self.texts(i), "yes" if 37 * i % 1440 < 700 else "no"] for i in range(160)])
        self.evolve("written", {"data": f'file = "{table}"\ntarget = "sold"', "space": "mlp",
                                "objective": 'maximize = ["validation.accuracy"]'})
        new = self.folder / "new.csv"
        with open(new, "w", newline="") as file:
            csv.writer(file).writerows([["when", "stamp", "fee", "weight"]] + [
                [t[3], t[0], t[1], t[2]] for t in map(self.texts, range(200, 240))])
        self.assert_all_predict_the_same("written", new, [self.texts(i) for i in range(200, 240)],
                                         numbers=[self.plain(i) for i in range(200, 240)], within=1e-6)


class Layouts(ExportTest):
    """Images of three channels, one data set in both orders of sizes: what is told of them is the same."""

    MAKE = """
import numpy, sys
numbers = numpy.random.default_rng(1)
labels = numpy.arange(90) % 3
first = numbers.integers(0, 100, (90, 3, 9, 7), dtype=numpy.uint8)
first[numpy.arange(90), labels] += 150  # The channel is the class.
numpy.save("labels.npy", labels)
numpy.save("channels_first.npy", first)
numpy.save("channels_last.npy", first.transpose(0, 2, 3, 1))
"""

    def test_both_orders(self):
        subprocess.run([TEST_PYTHON, "-c", self.MAKE], cwd=self.folder, check=True)
        said = {}
        for layout in ("channels_first", "channels_last"):
            data = self.folder / f"{layout}.npy"
            self.evolve(layout, {"data": f'file = "{data}"\ntarget_file = "{self.folder}/labels.npy"',
                                 "space": "image", "objective": 'maximize = ["validation.accuracy"]'}, generations=1)
            rows = json.loads(subprocess.run(
                [TEST_PYTHON, "-c", "import json, numpy, sys; print(json.dumps(numpy.load(sys.argv[1]).tolist()))", data],
                capture_output=True, text=True, check=True).stdout)
            said[layout] = self.assert_all_predict_the_same_arrays(layout, data, rows)
        self.assertEqual(said["channels_first"], said["channels_last"])
        self.assertIn("holds examples of [9, 7, 3], where those of the training data are [3, 9, 7]",
                      self.refused("predict", "channels_first", self.folder / "channels_last.npy"))

    def assert_all_predict_the_same_arrays(self, run, data, rows):
        _, wanted = self.predicted(run, data)
        folder = f"source-{run}"
        self.finish("export", run, "--python", folder, "--onnx", f"{run}.onnx", "--torchscript", f"{run}.pt")
        given = self.folder / "rows.json"
        given.write_text(json.dumps({"rows": rows, "shape": None}))
        for kind, model in (("python", folder), ("torchscript", f"{run}.pt"), ("onnx", f"{run}.onnx")):
            found = ask(PYTHON_OF[kind], "predict", kind, self.folder / model, given)
            self.assertEqual(len(found), len(wanted), kind)
            for f, w in zip(found, wanted):
                for a, b in zip(f, w):
                    self.assertLessEqual(abs(a - b), 1e-5, f"{kind}: {f} for {w}")
        return wanted


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
        self.evolve("iris", IRIS, memory="1KiB", status=1)
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
        self.assertIn('new.csv:1: the column "d" of the training data is missing', self.refused("predict", "iris", new))
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
