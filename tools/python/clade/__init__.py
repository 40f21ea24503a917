"""Clade evolves neural networks for your data.

    run = clade.search(df, target="churned", minutes=5)
    run.predict(df2); run.trials_dataframe(); run.champion.to_torch()
    clade.open("churned").resume()
    clade.CladeClassifier().fit(X, y)                  # for scikit-learn

In a script that Clade runs as fitness = "command" (clade.script):

    clade.params(); clade.report(epoch=1, loss=0.5); clade.should_stop(); clade.checkpoint_folder()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from clade.program import CladeError
from clade.run import Network, Run
from clade.run import open_run as open
from clade.script import checkpoint_folder, epochs, genome, params, report, seed, should_stop, start_epoch
from clade.searching import search

if TYPE_CHECKING:
    from clade.estimators import CladeClassifier, CladeRegressor

__all__ = [
    "CladeClassifier",
    "CladeError",
    "CladeRegressor",
    "Network",
    "Run",
    "checkpoint_folder",
    "epochs",
    "genome",
    "open",
    "params",
    "report",
    "search",
    "seed",
    "should_stop",
    "start_epoch",
]


def __getattr__(name: str) -> Any:
    # scikit-learn is loaded by those who use it only.
    if name in ("CladeClassifier", "CladeRegressor"):
        return getattr(importlib.import_module("clade.estimators"), name)
    raise AttributeError(f"module 'clade' has no attribute {name!r}")
