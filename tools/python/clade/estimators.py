"""Estimators for scikit-learn. A fitted one holds its network itself: it can be pickled, and needs the run no more."""

from __future__ import annotations

import csv
import difflib
import functools
import importlib.util
import pathlib
import re
import tempfile
import types
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (_check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d,
                                          validate_data)
except ImportError:
    raise ImportError("the estimators need scikit-learn 1.6 or later; pip install scikit-learn") from None

from clade.labels import is_blank
from clade.program import call
from clade.searching import literal, start
from clade.tables import is_frame, store_training, with_column, write_examples

FEWEST = 4  # With fewer rows one of the parts to train on, to validate with and to test with would have none.


@functools.lru_cache(maxsize=8)
def _load(source: str, weights: bytes) -> tuple[types.ModuleType, Any]:
    """Returns an exported source as a module, and its network in double precision.

    In double precision a row's prediction does not depend on which rows it comes with.
    """
    with tempfile.TemporaryDirectory(prefix="clade-") as folder:
        file = pathlib.Path(folder, "model.py")
        file.write_text(source, encoding="utf-8")
        file.with_name("model.safetensors").write_bytes(weights)
        spec = importlib.util.spec_from_file_location("clade_model", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module, module.load().double()


def _has_other_than_numbers(X: Any) -> bool:
    """Whether this is a table of which a column holds texts, categories, dates or truth values."""
    if not is_frame(X):
        return False
    if hasattr(X, "dtypes") and not isinstance(X.dtypes, list):
        return any(hasattr(dtype, "categories") or getattr(dtype, "kind", "O") not in "iuf" for dtype in X.dtypes)
    return not all(dtype.is_numeric() for dtype in X.dtypes)


def _rows_as_texts(X: Any) -> list[list[Any]]:
    """Returns rows as the exported source takes them: texts as a file has them, or whatever an array holds."""
    if not is_frame(X):
        return [[None if is_blank(v) else v for v in row] for row in np.asarray(X, dtype=object).tolist()]
    with tempfile.TemporaryDirectory(prefix="clade-") as folder:
        with open(write_examples(X, pathlib.Path(folder, "rows")), newline="", encoding="utf-8") as text:
            return list(csv.reader(text))[1:]


@functools.lru_cache(maxsize=1)
def _metrics() -> dict[str, dict[str, str]]:
    """Returns, by task, the metrics of the validation part and whether each is to "maximize" or to "minimize", as
    `clade help metrics` lists them; "f1.CLASS" stands for those of each class."""
    found: dict[str, dict[str, str]] = {}
    task = ""
    for line in call("help", "metrics").splitlines():
        if head := re.match(r"Of a (\w+):", line):
            task = head[1]
        elif one := re.match(r"- `validation\.(\S+)` \((m\w+)\)", line):
            found.setdefault(task, {})[one[1]] = one[2]
    return found


def _objective(metric: str, task: str, classes: Any = ()) -> dict[str, list[str]]:
    """Returns the section [objective] for a metric, with or without "validation." before its name. The classes of the
    data are numbers in the run, so that a class in its name is given as that."""
    known = _metrics()[task]
    name = metric.removeprefix("validation.") if isinstance(metric, str) else metric
    of_class = {f"f1.{label}": f"f1.{i}" for i, label in enumerate(classes)}
    for one in of_class if "f1.CLASS" in known else ():
        known = {**known, one: known["f1.CLASS"]}
    if not isinstance(name, str) or name not in known or name == "f1.CLASS":
        near = difflib.get_close_matches(str(name), known.keys() - {"f1.CLASS"}, 1)
        raise ValueError(f"metric is {metric!r}; " + (f"did you mean {near[0]!r}? " if near else "")
                         + f"metrics of a {task} are {', '.join(known)}")
    return {known[name]: ["validation." + of_class.get(name, name)]}


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """The parts that both have in common. Parameters are those of clade.search; `metric` is what the search is for, one
    of `clade help metrics`, such as "auc" or "mae"; `folder` keeps the run, which is else thrown away."""

    def __init__(self, *, metric: str | None = None, minutes: float | None = None, population: int = 8, generations: int = 4, epochs: int = 40,
                 seed: int = 1, slots: int | str | None = None, folder: str | None = None,
                 settings: dict[str, object] | None = None, progress: bool = False) -> None:
        self.metric = metric
        self.minutes = minutes
        self.population = population
        self.generations = generations
        self.epochs = epochs
        self.seed = seed
        self.slots = slots
        self.folder = folder
        self.settings = settings
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _take(self, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
        """Returns the examples to learn from: a table with texts as it is, all else as an array of numbers; NaN is a blank."""
        self.takes_texts_ = _has_other_than_numbers(X)
        if not self.takes_texts_:
            X, y = validate_data(self, X, y, ensure_min_samples=FEWEST, ensure_all_finite="allow-nan", **checks)
            return X, y
        X, _ = validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if len(y) < FEWEST:
            raise ValueError(f"Found array with {len(y)} sample(s) while a minimum of {FEWEST} is required.")
        if any(map(is_blank, y)):
            raise ValueError("Input y contains NaN.")
        return X, y

    def _take_weights(self, sample_weight: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """Returns the examples that count, and how much each does. One of weight 0 is left out, as if it were not there."""
        if sample_weight is None:
            return X, y, None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        counts = weights > 0
        if counts.sum() < FEWEST:
            raise ValueError(f"sample_weight is above 0 for {counts.sum()} sample(s) while a minimum of {FEWEST} is required.")
        if not counts.all():
            if hasattr(X, "loc"):
                X = X.loc[counts]
            else:
                X = X.filter(counts) if is_frame(X) else X[counts]
            y, weights = np.asarray(y)[counts], weights[counts]
        # Whatever they are in sum, all that they say is how much one counts beside another.
        return X, y, None if (weights == weights[0]).all() else weights

    def _search(self, X: Any, y: Any, weights: Any, task: str) -> None:
        """Searches, and takes the source and weights of its final model."""
        settings = {"evolution.population": self.population, "evolution.generations": self.generations,
                    "training.epochs": self.epochs, **(self.settings or {})}
        with tempfile.TemporaryDirectory(prefix="clade-") as scratch:
            runs = pathlib.Path(self.folder or scratch).resolve()
            experiment = self._write_experiment(X, y, weights, task, runs / "data")
            run = start(experiment, runs, settings, progress=self.progress, wait=True)
            if run.reason == "interrupted":
                raise KeyboardInterrupt("the search was interrupted")
            champion = run.champion
            source = run.model.export(pathlib.Path(scratch, "model.py"))
            self.champion_ = champion.description
            self.source_ = source.read_text(encoding="utf-8")
            self.weights_ = source.with_name("model.safetensors").read_bytes()

    def _write_experiment(self, X: Any, y: Any, weights: Any, task: str, store: pathlib.Path) -> pathlib.Path:
        """Writes the data and an experiment that says of them what is known; the program looks at texts when it reads them."""
        column = None
        self.has_weights_ = weights is not None
        if self.has_weights_:
            X, column = with_column(X, "sample_weight", weights)
        source = store_training(X, y, task, store)
        # Who wants to know how good it is keeps rows back: the test part is as small as the program lets it be.
        test = max(0.05, min(0.2, 2 / len(X)))
        sections: dict[str, dict[str, object]] = {
            "experiment": {"name": task, "seed": self.seed},
            "data": {"file": str(source.file), "target": source.target, "task": task, "header": "names",
                     "split": {"train": 0.8 - test, "validation": 0.2, "test": test}},
            "final": {"model": "ensemble"}}
        if column is not None:
            sections["data"]["weights"] = column
        if self.metric is not None:
            sections["objective"] = dict(_objective(self.metric, task, getattr(self, "classes_", ())))
        if source.categories:
            sections["data"]["columns"] = {name: "category" for name in source.categories}
        if self.minutes is not None:
            sections["limits"] = {"wall_time": f"{self.minutes * 60:g}s"}
        if self.slots is not None:
            sections["slots"] = {"local": str(self.slots)}
        file = source.file.with_suffix(".toml")
        file.write_text("".join(f"[{name}]\n" + "".join(f"{k} = {literal(v)}\n" for k, v in keys.items())
                                for name, keys in sections.items()), encoding="utf-8")
        return file

    def _outputs(self, X: Any) -> tuple[types.ModuleType, Any]:
        """Returns the module, and what its network says of each row."""
        import torch
        check_is_fitted(self, "weights_")
        module, network = _load(self.source_, self.weights_)
        if self.takes_texts_:
            rows: Any = _rows_as_texts(validate_data(self, X, reset=False, skip_check_array=True))
            rows = [[*row, None] for row in rows] if self.has_weights_ else rows
        else:
            rows = np.array(validate_data(self, X, reset=False, ensure_all_finite="allow-nan"))
            # A row has a place for its weight, which tells nothing of it.
            rows = np.column_stack([rows, np.ones(len(rows))]) if self.has_weights_ else rows
        with torch.no_grad():
            return module, network(network.prepare(module.encode(rows)).double())


class CladeClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Predicts a class by the final model of a search: an ensemble, the linear model and boosted trees among what it is chosen from."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CladeClassifier:
        """Searches for a network that tells the classes of `y` apart.

        sample_weight   how much each row counts in training: 2 is as two rows, and 0 as none. Metrics count each row once.
        """
        X, y = self._take(X, y)
        check_classification_targets(y)
        X, y, weights = self._take_weights(sample_weight, X, y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"all examples are of one class, {self.classes_[0]!r}; at least two are needed")
        self._search(X, numbers, weights, "classification")
        return self

    def predict_proba(self, X: Any) -> Any:
        """Returns the probability of each class (a column, in the order of classes_) for each row."""
        module, outputs = self._outputs(X)
        order = [module.CLASSES.index(str(i)) for i in range(len(self.classes_))]
        return outputs.softmax(1).numpy()[:, order]

    def predict(self, X: Any) -> Any:
        """Returns the likeliest class of each row."""
        likeliest = self.predict_proba(X).argmax(1)
        return self.classes_[likeliest]


class CladeRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """Predicts a number by the final model of a search, as CladeClassifier does."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CladeRegressor:
        """Searches for a network that predicts `y`; `sample_weight` is as in CladeClassifier.fit."""
        X, y = self._take(X, y, y_numeric=True)
        X, y, weights = self._take_weights(sample_weight, X, y)
        self._search(X, y, weights, "regression")
        return self

    def predict(self, X: Any) -> Any:
        """Returns the value of each row, in the unit of `y`."""
        module, outputs = self._outputs(X)
        return (outputs[:, 0] * module.TARGET_DEVIATION + module.TARGET_MEAN).numpy()
