"""The things that a script that Clade runs as fitness = "command" hears and says. It needs the standard library alone.

    params = clade.params()                            # {"learning_rate": 0.01, ...}
    for epoch in range(clade.start_epoch() + 1, clade.epochs() + 1):
        ...
        clade.report(epoch=epoch, loss=loss, accuracy=accuracy)
        if clade.should_stop():
            break

Everything stands in environment variables and files too (`clade help command`), for scripts without this package.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import threading
from types import FrameType
from typing import Any

_told_to_stop = threading.Event()


def _variable(name: str) -> str | None:
    return os.environ.get("CLADE_" + name)


def params() -> dict[str, Any]:
    """Returns the hyperparameters of this candidate; none where Clade did not start the script."""
    file = _variable("PARAMS_FILE")
    return {} if file is None else dict(json.loads(pathlib.Path(file).read_text(encoding="utf-8")))


def genome() -> dict[str, Any]:
    """Returns the layers of this candidate, {"layers": [...], "output": {...}}; none where Clade did not start it."""
    file = _variable("GENOME_FILE")
    return {} if file is None else dict(json.loads(pathlib.Path(file).read_text(encoding="utf-8")))


def epochs(default: int = 1) -> int:
    """Returns how many epochs to train for in all, with those before `start_epoch`."""
    return int(_variable("EPOCHS") or default)


def start_epoch() -> int:
    """Returns how many epochs the checkpoint has behind it; 0 where the training begins anew."""
    return int(_variable("START_EPOCH") or 0)


def seed(default: int = 0) -> int:
    """Returns the seed of this candidate."""
    return int(_variable("SEED") or default)


def checkpoint_folder(default: str | os.PathLike[str] | None = None) -> pathlib.Path | None:
    """Returns the folder for what it takes to go on: full if `start_epoch` is above 0, else empty.

    None, or `default`, where the experiment has no checkpoints = true.
    """
    folder = _variable("CHECKPOINT_FOLDER") or default
    return None if folder is None else pathlib.Path(folder)


def report(epoch: int | None = None, **metrics: float) -> None:
    """Tells the metrics after an epoch (from 1), or without one the answer. The last report is the answer.

    A metric whose name has a point is given as `report(**{"validation.accuracy": 0.9})`. Without Clade the line is
    printed.
    """
    said = ({} if epoch is None else {"epoch": int(epoch)}) | {name: float(value) for name, value in metrics.items()}
    line = json.dumps(said)
    file = _variable("REPORT_FILE")
    if file is None:
        print(line, flush=True)
        return
    with open(file, "a", encoding="utf-8") as reports:
        reports.write(line + "\n")


def should_stop() -> bool:
    """Returns whether Clade wants no more of this candidate: save, and end within `[command] grace`.

    The first call, in the main thread, has SIGTERM no longer end the script.
    """
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _stop)
    return _told_to_stop.is_set()


def _stop(_number: int, _frame: FrameType | None) -> None:
    _told_to_stop.set()
