"""A search, going on or ended, and the networks that it found."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import pathlib
import re
import tempfile
import tomllib
from typing import Any

from clade.labels import to_label
from clade.page import run_html
from clade.program import CladeError, call, call_json
from clade.progress import watch
from clade.session import Session
from clade.tables import is_frame, labels_of, library_of, write_examples
from clade.words import end_text, say, seen_text

PROFILE = "profile.json"  # In a run's folder: what `clade new` saw in the data, where Python asked it.

# The name that `clade export` gives the format of a file with this ending.
FORMATS = {".onnx": "--onnx", ".pt": "--torchscript", ".safetensors": "--safetensors", ".py": "--python"}


def _import_pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise CladeError("a dataframe needs pandas, which is not installed; pip install pandas") from None
    return pandas


class _Trained:
    """A network that a run has the weights of."""

    def __init__(self, run: Run, chosen: list[int]) -> None:
        self.run = run
        self._chosen = chosen  # `clade export` is given these beside the run.

    def export(self, file: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the trained network as the file's ending says: .onnx, .pt (TorchScript), .safetensors, or .py.

        A .py is readable PyTorch, whose weights lie beside it in model.safetensors.
        """
        path = pathlib.Path(file)
        option = FORMATS.get(path.suffix)
        if option is None:
            raise CladeError(f"{path}: a network is written to a file that ends in {', '.join(FORMATS)}")
        if path.suffix != ".py":
            call("export", self.run.folder, *self._chosen, option, path)
            return path
        if path.name != "model.py":
            raise CladeError(f"{path}: the source is called model.py, and has model.safetensors beside it")
        call("export", self.run.folder, *self._chosen, option, path.parent)
        return path

    def to_torch(self) -> Any:
        """Returns the trained network as a torch.nn.Module, in evaluation mode.

        It takes prepared examples: `network.source.encode(rows)` makes a tensor of rows as the data file has them, and
        `network.prepare(tensor)` scales that. `network.source.predict(rows, network)` does all of it.
        """
        with tempfile.TemporaryDirectory() as folder:
            source = self._load_source(self.export(pathlib.Path(folder, "model.py")))
            network = source.load()
        network.source = source
        return network

    def _load_source(self, file: pathlib.Path) -> Any:
        spec = importlib.util.spec_from_file_location(f"clade_network_{'_'.join(map(str, self._chosen))}", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


class Network(_Trained):
    """One candidate of a run. Its weights are there if it is among the fittest few."""

    def __init__(self, run: Run, number: int) -> None:
        super().__init__(run, [number])
        self.id = number
        """The candidate's number."""
        self._view: Any = None

    def _stored(self) -> Any:
        if self._view is None:
            self._view = call_json("show", self.run.folder, "--genome", self.id)
        return self._view

    @property
    def metrics(self) -> dict[str, float]:
        """The measurements of it, by metric; of a champion also on the test data, which the search never saw."""
        evaluated = self._stored()["evaluation"]
        return {**(evaluated["metrics"] if evaluated else {}), **self.run._tested(self.id)}

    @property
    def parameters(self) -> int:
        """How many weights it has."""
        evaluated = self._stored()["evaluation"]
        return int(evaluated["parameters"]) if evaluated else 0

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters that it is trained with, by name."""
        return dict(self._stored()["genome"]["hyperparameters"])

    @property
    def description(self) -> str:
        """The network as text, a line for each layer."""
        return str(self._stored()["description"])

    def predict(self, data: Any) -> Any:
        """Returns a class or a number for each row; see Run.predict."""
        return self.run._predict(data, self.id)[0]

    def __repr__(self) -> str:
        metrics = ", ".join(f"{name} {value:.4g}" for name, value in sorted(self.metrics.items())
                            if name.startswith("validation.") or name.startswith("test."))
        return f"<clade network #{self.id} of {self.run.name}: {metrics}, {self.parameters:,} parameters>"

    def __str__(self) -> str:
        return self.description


class Model(_Trained):
    """The final model of a run, an ensemble of its networks, or its champion where it made none."""

    def __init__(self, run: Run) -> None:
        super().__init__(run, [])

    @property
    def metrics(self) -> dict[str, float]:
        """The measurements of it on the test data, and of a champion on the validation data too."""
        tested = (self.run._stored()["end"] or {}).get("comparison", [])
        final = [one for one in tested if one["subject"] == "final model"]
        return dict(final[0]["test_metrics"]) if final else self.run.champion.metrics

    def column_importances(self) -> Any:
        """By how much it is worse without what a column tells: a pandas DataFrame of column, worse, low and high.

        The values of the column are dealt anew among examples of the validation part, several times; `low` and `high` bound
        the mean (95 %), and the frame's attrs name the metric. Empty where it is not known: of images, say."""
        known = ((self.run._stored()["end"] or {}).get("details") or {}).get("columns") or {}
        frame = _import_pandas().DataFrame(known.get("columns", []), columns=["column", "worse", "low", "high"])
        frame.attrs.update({name: known[name] for name in ("metric", "examples", "times") if name in known})
        return frame

    def predict(self, data: Any) -> Any:
        """Returns a class or a number for each row; see Run.predict."""
        return self.run.predict(data)

    def __repr__(self) -> str:
        return f"<the model of {self.run.folder}>"


class Run:
    """A search: what it did so far, stored in its folder, and the process if this Python started it."""

    def __init__(self, folder: pathlib.Path, session: Session | None = None) -> None:
        self.folder = folder
        """Where everything is recorded; `clade show`, `clade attach` and `clade resume` take it too."""
        self._session = session

    def _stored(self) -> Any:
        return call_json("show", self.folder)

    def _tested(self, number: int) -> dict[str, float]:
        """Returns what was measured on the test data of a candidate; only few are examined at a run's end."""
        end = self._stored()["end"]
        return next((dict(one["test_metrics"]) for one in (end or {}).get("comparison", []) if one["id"] == number), {})

    @property
    def name(self) -> str:
        """The experiment's name."""
        return str(self._stored()["name"])

    @property
    def state(self) -> str:
        """"running", "finished", or "stopped", and then `resume` goes on with it."""
        return str(self._stored()["state"])

    @property
    def reason(self) -> str | None:
        """Why it was stopped, such as "interrupted" or "wall time used"; None of one that was killed, goes on or ended."""
        reason = self._stored()["reason"]
        return None if reason is None else str(reason)

    @property
    def experiment(self) -> dict[str, Any]:
        """The experiment as it was resolved: every setting, and what was inferred from the data."""
        return tomllib.loads(call("show", self.folder, "--experiment"))

    @property
    def generations(self) -> list[dict[str, Any]]:
        """The best, the median and the quartiles of each generation, and how many failed."""
        return list(self._stored()["generations"])

    @property
    def champion(self) -> Network:
        """The network that the search ended with, or the best so far."""
        run = self._stored()
        number = run["champion"] or run["best"]
        if not number:
            raise CladeError(f"{self.folder}: no network has succeeded yet")
        return Network(self, int(number))

    @property
    def model(self) -> Model:
        """The model that `predict` uses: the final model, an ensemble, or the champion if the run made none."""
        return Model(self)

    def network(self, number: int) -> Network:
        """Returns the candidate with this number."""
        return Network(self, number)

    def leaderboard(self) -> Any:
        """All models that the final one was chosen from, the best first: a pandas DataFrame.

        It has the metrics of each on the validation data and, of few rows, those of cross-validation, its parameters and
        its share of the final model (0: none). Empty where the run made no final model."""
        models = ((self._stored()["end"] or {}).get("final_model") or {}).get("models") or []
        rows = [{"model": one["subject"], **one["metrics"], "parameters": one["parameters"], "share": one["share"]} for one in models]
        return _import_pandas().DataFrame(rows)

    def trials_dataframe(self) -> Any:
        """Returns every evaluation as a row of a pandas.DataFrame: metrics, hyperparameters, size, time, outcome."""
        pandas = _import_pandas()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "trials.csv")
            call("export", self.folder, "--csv", file)
            return pandas.read_csv(file)

    def predict(self, data: Any, *, intervals: float | None = None) -> Any:
        """Returns the class or number that the run's model says of each row of a table, an array or a file.

        `intervals`, such as 0.9, adds to each number the ends of the interval in which the value lies with that probability:
        there are three columns then, "price", "price_low" and "price_high", or three numbers for each row; so there are of each
        of several targets.

        For pandas it is a Series with the same index, for polars a Series, for a folder of images or texts (or one of them) a
        dictionary by file, in order of `predict_proba`, else a list or a NumPy array. If the series of a table are examples,
        there is one for each: a Series of pandas by the values that tell them apart, else a dictionary. A run that
        forecasts series gives a table of the steps that follow each series in `data`: of pandas or polars for these, else
        a list of dictionaries. There is a column for each of several targets, and for each label one
        that is 1 where a row has it, else 0.
        """
        return self._predict(data, intervals=intervals)[0]

    def predict_proba(self, data: Any) -> Any:
        """Returns the probability of each class or label (a column) for each row, of pandas for pandas, polars for polars.

        If the series of a table are examples, there is a row for each, in order of `predict`.
        """
        found, columns = self._predict(data)
        if not columns:
            raise CladeError("a number is predicted, which has no probabilities; call predict")
        if library_of(data) == "pandas":
            return _import_pandas().DataFrame(columns, index=found.index)
        if library_of(data) == "polars":
            import polars as pl
            return pl.DataFrame({str(name): values for name, values in columns.items()})
        import numpy as np
        return np.column_stack(list(columns.values()))

    def _predict(self, data: Any, number: int | None = None, intervals: float | None = None) -> tuple[Any, dict[Any, list[float]]]:
        chosen = [*([] if intervals is None else ["--intervals", intervals]), *([] if number is None else ["--genome", number])]
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "predicted.csv")
            if isinstance(data, (str, os.PathLike)):
                call("predict", self.folder, data, "--as-is", "--output", out, *chosen)
            else:
                _call_predict(self.folder, write_examples(data, pathlib.Path(folder, "examples")), out, chosen)
            with open(out, newline="", encoding="utf-8") as text:
                head, *rows = csv.reader(text)
        if self.experiment.get("data", {}).get("horizon"):
            return _forecasts(data, head, rows, numbers=1 if intervals is None else 3), {}
        keys = ["file"] if head[0] == "file" else self.experiment.get("data", {}).get("series") or []
        names, labels = head[:len(keys)], [row[:len(keys)] for row in rows]
        head, rows = head[len(keys):], [row[len(keys):] for row in rows]

        def as_asked(values: list[Any], name: str) -> Any:
            return _by_labels(data, names, labels, values, name) if keys else _like(data, values, name)

        if self.experiment.get("data", {}).get("task") == "multilabel":
            count = len(head) // 2  # Whether a row has each label, then the probabilities.
            return (_side_by_side([as_asked([int(row[i]) for row in rows], name) for i, name in enumerate(head[:count])]),
                    {name: [float(row[count + i]) for row in rows] for i, name in enumerate(head[:count])})
        if head[0] != "class":
            return _side_by_side([as_asked([float(row[i]) for row in rows], name) for i, name in enumerate(head)]), {}
        kind = self._labels()
        columns = {to_label(name.removeprefix("p(").removesuffix(")"), kind): [float(row[i]) for row in rows]
                   for i, name in enumerate(head) if name.startswith("p(")}
        return as_asked([to_label(row[0], kind) for row in rows], "class"), columns

    def _labels(self) -> str:
        file = self.experiment.get("data", {}).get("file")
        return labels_of(pathlib.Path(file)) if file else ""

    def summary(self) -> str:
        """Returns what was seen in the data, the scores of what the search ended with, and the notes on them."""
        file = self.folder / PROFILE
        seen = seen_text(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else ""
        return "\n".join(filter(None, [repr(self), seen, end_text(self._stored()["end"])]))

    def report(self, file: str | os.PathLike[str]) -> pathlib.Path:
        """Writes a page about the run that stands alone."""
        call("report", self.folder, "--output", file)
        return pathlib.Path(file)

    def wait(self, progress: bool = True) -> Run:
        """Waits until the search ends; a KeyboardInterrupt ends it as Ctrl+C does at the command line.

        Trainings that are under way are finished and recorded, and `resume` goes on. A second interrupt stops the
        search at once, without losing what is recorded, and is raised.
        """
        if self._session is not None:
            watch(self._session, self.folder, progress)
            self._session.finish()
            self._session = None
            say(end_text(self._stored()["end"]), progress)
        return self

    def stop(self) -> Run:
        """Ends the search after what is in training, and waits for that; `resume` goes on."""
        if self._session is not None:
            self._session.interrupt()
            return self.wait(progress=False)
        call("control", "stop", self.folder)
        return self

    def resume(self, *, slots: int | str | None = None, progress: bool = True, wait: bool = True) -> Run:
        """Goes on with a search that was stopped, interrupted or killed; one that has ended stays as it is."""
        if self._session is not None and self._session.alive:
            raise CladeError(f"{self.folder}: the search is going on")
        chosen = [] if slots is None else ["--slots", slots]
        self._session = Session("resume", self.folder, "--json", *chosen)
        return self.wait(progress) if wait else self

    def __repr__(self) -> str:
        run = self._stored()
        best = "" if run["best_fitness"] is None else f", best {run['metric']} {run['best_fitness']:.4g}"
        return f"<clade run {self.folder.name}: {run['state']}, {run['evaluated']} networks evaluated{best}>"

    def _repr_html_(self) -> str:
        run = self._stored()
        number = run["champion"] or run["best"]
        return run_html(self.folder.name, run, Network(self, int(number)) if number else None)


def _side_by_side(columns: list[Any]) -> Any:
    """Returns one column as it is, and several as one table of what they are columns of."""
    if len(columns) == 1:
        return columns[0]
    first = columns[0]
    if isinstance(first, dict):
        return {key: tuple(column[key] for column in columns) for key in first}
    if isinstance(first, list):
        return list(zip(*columns))
    if library_of(first) == "pandas":
        return _import_pandas().concat(columns, axis=1)
    if library_of(first) == "polars":
        import polars as pl
        return pl.DataFrame(columns)
    import numpy as np
    return np.column_stack(columns)


def _forecasts(data: Any, head: list[str], rows: list[list[str]], numbers: int) -> Any:
    """Returns the rows, whose last columns are numbers, as a table like `data`, whose columns have the same types there."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(head)}
    labels = head[:-numbers]
    values: dict[str, Any] = {**columns, **{name: [float(value) for value in columns[name]] for name in head[-numbers:]}}
    if library_of(data) == "pandas":
        frame = _import_pandas().DataFrame(values)
        return frame.astype({name: data[name].dtype for name in labels if name in data.columns})
    if library_of(data) == "polars":
        import polars as pl
        frame = pl.DataFrame(values)
        known = [name for name in labels if name in data.columns]
        return frame.with_columns(pl.col(name).str.to_datetime().cast(data.schema[name]) if data.schema[name].is_temporal()
                                  else pl.col(name).cast(data.schema[name]) for name in known)
    return [dict(zip(head, (*row[:-numbers], *map(float, row[-numbers:])))) for row in rows]


def _call_predict(run: pathlib.Path, file: pathlib.Path, out: pathlib.Path, chosen: list[object]) -> None:
    """Predicts the rows of a file that was made of a table; an error names the table, since nobody knows the file."""
    try:
        call("predict", run, file, "--as-is", "--output", out, *chosen)
    except CladeError as error:
        said = re.sub(rf"{re.escape(str(file))}(:\d+)?: ", "", str(error))
        raise CladeError(said) from None


def _by_labels(data: Any, keys: list[str], labels: list[list[str]], values: list[Any], name: str) -> Any:
    """Returns the values by the labels of their examples: for pandas a Series, else a dictionary."""
    if library_of(data) != "pandas":
        return dict(zip((tuple(label) if len(keys) > 1 else label[0] for label in labels), values))
    pandas = _import_pandas()
    index = pandas.DataFrame(labels, columns=keys).astype({key: data[key].dtype for key in keys if key in data})
    return pandas.Series(values, index=pandas.MultiIndex.from_frame(index) if len(keys) > 1 else pandas.Index(index[keys[0]]), name=name)


def _like(data: Any, values: list[Any], name: str) -> Any:
    """Returns the values as a column of the library that the data is of."""
    if not is_frame(data):
        if library_of(data) == "numpy":
            import numpy as np
            return np.array(values)
        return values
    if library_of(data) == "pandas":
        return _import_pandas().Series(values, index=data.index, name=name)
    import polars as pl
    return pl.Series(name, values)


def open_run(run: str | os.PathLike[str]) -> Run:
    """Opens a run by its folder, or by its name (the latest of it in ./runs, or where CLADE_RUNS says)."""
    stored = call_json("show", os.fspath(run))
    return Run(pathlib.Path(stored["file"]).parent)
