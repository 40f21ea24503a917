"""Starts searches: writes the data where its run finds it, and gives it to the program."""

from __future__ import annotations

import json
import os
import pathlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from clade.letters import in_latin_letters
from clade.program import CladeError, call
from clade.run import PROFILE, Run
from clade.session import Session
from clade.tables import Source, store_training
from clade.words import say, seen_text

TASKS = ("classification", "regression", "multilabel", "quantiles")


def literal(value: object) -> str:
    """Returns a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {literal(v)}" for k, v in value.items()) + "}"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, but for a character that TOML wants escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def plain_name(text: str) -> str:
    """Returns a name of a run or a file that is made of any text as far as it goes: of "größe" it is "groesse"."""
    parts = "".join(c if c.isalnum() or c in "-_" else "-" for c in in_latin_letters(text))
    return parts.strip("-")[:40].rstrip("-") or "search"


def search(data: Any, target: Any = None, *, minutes: float | None = None, task: str | None = None, name: str | None = None,
           seed: int | None = None, slots: int | str | None = None, runs: str | os.PathLike[str] | None = None,
           horizon: int | None = None, time: str | None = None, series: str | list[str] | None = None,
           season: int | None = None, layout: str | None = None, weights: str | None = None,
           quantiles: Iterable[float] | None = None, settings: Mapping[str, object] | None = None,
           progress: bool = True, wait: bool = True) -> Run:
    """Searches for networks that predict one column from the others, and returns the run.

    data      a DataFrame of pandas or polars, an array (rows of columns, or images), or the path of a file
              or of a folder with a folder of images or texts (.txt) for each class
    target    the column to predict, or the values of it: clade.search(X, y); or the names of several columns, which hold
              numbers, or say whether a row has a label
    minutes   how long the search may take; left out, until the generations of the experiment are done
    task      "classification", "regression", "multilabel" or "quantiles", where the values of the target would say otherwise
    name      what the run is called; left out, the target's name
    seed      the same seed gives the same search
    slots     how many networks are trained at once, or devices: 4, "cuda:0", "cuda"; left out, all there are
    runs      the folder in which the run's folder is made, and its data kept; left out, what CLADE_RUNS says, or ./runs
    horizon   the table holds series, a row for each step, and the next so many steps are to be forecast: `run.predict(df)`
              then gives a table of what follows each series in `df`
    time, series, season   of a forecast: the column of times, the columns that tell series apart, and the steps of a
              season, where what is found out is wrong. Without a horizon, each series that `series` tells apart is an
              example, with one value of the target: `run.predict(df)` then gives one for each series
    weights   the column that says how much each row counts in training: 2 is as two rows. Metrics count each row once
    quantiles the quantiles of a number that are to be predicted, such as [0.1, 0.5, 0.9]: `run.predict` then has a column for
              each, and nine of ten values are below the last
    layout    of an array of images "channels_first" or "channels_last"; of a table whose columns count up "series", if each
              row is one, or "table"; where what is found out is wrong
    settings  keys of the experiment file, such as {"evolution.population": 48}
    progress  whether a bar is shown, what was seen in the data, and the scores and notes at the end (all on standard error;
              `run.summary()` has them later)
    wait      False returns while the search goes on; it is interrupted when this Python ends

    A KeyboardInterrupt (Ctrl+C, the stop button of a notebook) finishes what is in training and returns the run, which
    `resume` goes on with; a second one stops it at once and is raised. Both lose nothing that is recorded.
    """
    if task is not None and task not in TASKS:
        raise CladeError(f'task is "{task}"; it must be one of {", ".join(TASKS)}')
    if minutes is not None and not minutes > 0:
        raise CladeError(f"minutes is {minutes}; it must be more than 0")
    folder = pathlib.Path(runs if runs is not None else os.environ.get("CLADE_RUNS") or "runs").resolve()
    # A target that is no sequence of values names a column, by a text or a number.
    named = name or ("" if target is None or hasattr(target, "__len__") and not isinstance(target, str) else target)
    stem = plain_name(str(named))
    source = store_training(data, target, stem, folder / "data")
    forms = {"--quantiles": ",".join(map(str, quantiles)) if quantiles is not None else None, "--horizon": horizon, "--time": time, "--season": season, "--layout": layout, "--weights": weights,
             "--series": ",".join([series] if isinstance(series, str) else series) if series else None}
    experiment, seen = _write_experiment(source, folder / "data", stem, minutes, task, seed, slots, forms)
    say(seen_text(seen), progress)
    chosen = {"experiment.name": stem, **_category_settings(source, experiment), **(settings or {})}
    return start(experiment, folder, chosen, progress=progress, wait=wait, seen=seen)


def _category_settings(source: Source, experiment: pathlib.Path) -> dict[str, object]:
    """Returns the setting that has categories of numbers taken as such, beside what the experiment says of columns."""
    if not source.categories:
        return {}
    written = tomllib.loads(experiment.read_text(encoding="utf-8"))["data"].get("columns", {})
    return {"data.columns": {**written, **dict.fromkeys(source.categories, "category")}}


def _write_experiment(source: Source, store: pathlib.Path, name: str, minutes: float | None, task: str | None,
                      seed: int | None, slots: int | str | None,
                      forms: Mapping[str, object]) -> tuple[pathlib.Path, dict[str, Any]]:
    """Lets the program look at the data and write the experiment beside it; returns that file, and what it saw."""
    store.mkdir(parents=True, exist_ok=True)
    file = store / f"{name}-{source.file.name.partition('.')[0].removeprefix(name + '-')}.toml"
    words: list[object] = ["new", source.file, "--output", file, "--force", "--json"]
    if source.named:
        words += ["--header", "names", "--decimal", "."]
    for option, value in (("--target", source.target_file or source.target),
                          ("--targets", ",".join(source.targets) or None), ("--task", task), ("--minutes", minutes),
                          ("--seed", seed), ("--slots", slots), *forms.items()):
        if value is not None:
            words += [option, value]
    events = map(json.loads, call(*words).splitlines())
    return file, next((event for event in events if event.get("event") == "profile"), {})


def start(experiment: pathlib.Path, runs: pathlib.Path, settings: Mapping[str, object], *, progress: bool,
          wait: bool, seen: dict[str, Any] | None = None) -> Run:
    """Starts a run of an experiment's file below `runs`, and returns it at once or at its end.

    `seen`, what `clade new` saw in the data, is kept in the run's folder for its summary.
    """
    chosen: list[object] = []
    for key, value in settings.items():
        chosen += ["--set", f"{key}={literal(value)}"]
    session = Session("run", experiment, "--json", "--runs", runs, *chosen)
    try:
        for event in session.events():
            if event is None or event.get("event") != "run":
                continue
            run = Run(pathlib.Path(event["folder"]), session)
            if seen:
                (run.folder / PROFILE).write_text(json.dumps(seen) + "\n", encoding="utf-8")
            return run.wait(progress) if wait else run
    except KeyboardInterrupt:
        session.interrupt()
        raise
    session.finish()
    raise CladeError("the program ended before it made a run")
