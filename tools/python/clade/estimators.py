"""Estimators for scikit-learn. A fitted one holds its network itself: it can be pickled, and needs the run no more."""

from __future__ import annotations

import csv
import functools
import importlib.util
import pathlib
import tempfile
import types
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise ImportError("the estimators need scikit-learn 1.6 or later; pip install scikit-learn") from None

from clade.labels import is_blank
from clade.searching import literal, start
from clade.tables import is_frame, store_training, write_examples

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


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """The parts that both have in common. Parameters are those of clade.search; `folder` keeps the run, which is
    else thrown away."""

    def __init__(self, *, minutes: float | None = None, population: int = 8, generations: int = 4, epochs: int = 40,
                 seed: int = 1, slots: int | str | None = None, folder: str | None = None,
                 settings: dict[str, object] | None = None, progress: bool = False) -> None:
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

    def _search(self, X: Any, y: Any, task: str) -> None:
        """Searches, and takes the source and weights of its final model."""
        settings = {"evolution.population": self.population, "evolution.generations": self.generations,
                    "training.epochs": self.epochs, **(self.settings or {})}
        with tempfile.TemporaryDirectory(prefix="clade-") as scratch:
            runs = pathlib.Path(self.folder or scratch).resolve()
            experiment = self._write_experiment(X, y, task, runs / "data")
            run = start(experiment, runs, settings, progress=self.progress, wait=True)
            if run.reason == "interrupted":
                raise KeyboardInterrupt("the search was interrupted")
            champion = run.champion
            source = run.model.export(pathlib.Path(scratch, "model.py"))
            self.champion_ = champion.description
            self.source_ = source.read_text(encoding="utf-8")
            self.weights_ = source.with_name("model.safetensors").read_bytes()

    def _write_experiment(self, X: Any, y: Any, task: str, store: pathlib.Path) -> pathlib.Path:
        """Writes the data and an experiment that says of them what is known; the program looks at texts when it reads them."""
        source = store_training(X, y, task, store)
        # Who wants to know how good it is keeps rows back: the test part is as small as the program lets it be.
        test = max(0.05, min(0.2, 2 / len(X)))
        sections: dict[str, dict[str, object]] = {
            "experiment": {"name": task, "seed": self.seed},
            "data": {"file": str(source.file), "target": source.target, "task": task, "header": "names",
                     "split": {"train": 0.8 - test, "validation": 0.2, "test": test}},
            "final": {"model": "ensemble"}}
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
        else:
            rows = np.array(validate_data(self, X, reset=False, ensure_all_finite="allow-nan"))
        with torch.no_grad():
            return module, network(network.prepare(module.encode(rows)).double())


class CladeClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Predicts a class by the final model of a search: an ensemble, the linear model and boosted trees among what it is chosen from."""

    def fit(self, X: Any, y: Any) -> CladeClassifier:
        """Searches for a network that tells the classes of `y` apart."""
        X, y = self._take(X, y)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"all examples are of one class, {self.classes_[0]!r}; at least two are needed")
        self._search(X, numbers, "classification")
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

    def fit(self, X: Any, y: Any) -> CladeRegressor:
        """Searches for a network that predicts `y`."""
        X, y = self._take(X, y, y_numeric=True)
        self._search(X, y, "regression")
        return self

    def predict(self, X: Any) -> Any:
        """Returns the value of each row, in the unit of `y`."""
        module, outputs = self._outputs(X)
        return (outputs[:, 0] * module.TARGET_DEVIATION + module.TARGET_MEAN).numpy()
