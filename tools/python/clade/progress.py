"""The lines that are shown while a search goes on, and the effect of an interrupt."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from typing import Any

from clade.session import Event, Session

TICK_S = 0.5


def _bar(shown: bool) -> Any:
    # Loaded by those who search only: a script that Clade runs may have nothing but the standard library. In a notebook
    # without its widgets the first bar of tqdm.auto would only warn.
    widgets = importlib.util.find_spec("ipywidgets") is not None
    tqdm = importlib.import_module("tqdm.auto" if widgets else "tqdm").tqdm
    return tqdm(disable=not shown, unit=" networks", dynamic_ncols=True, file=sys.stderr)


def _show(bar: Any, event: Event) -> None:
    if event.get("event") != "generation":
        return
    bar.update(event["succeeded"] + event["failed"])
    if event["best"]:
        bar.set_postfix_str(f"best {event['best_fitness']:.4g} (#{event['best']})")


def watch(session: Session, folder: pathlib.Path, progress: bool) -> None:
    """Shows the events of a search until it ends.

    The first KeyboardInterrupt lets the search finish what is in training; the second stops it at once and is raised.
    """
    interrupts = 0
    bar: Any = None
    while True:
        try:
            bar = _bar(progress) if bar is None else bar
            for event in session.events(TICK_S):
                bar.total = session.evaluations
                if event is None:
                    bar.refresh()
                else:
                    _show(bar, event)
            break
        except KeyboardInterrupt:
            interrupts += 1
            session.interrupt()
            if interrupts > 1:
                raise
            print(f"stopping: what is in training is finished first; go on later with "
                  f"clade.open({str(folder)!r}).resume()", file=sys.stderr)
    bar.close()
