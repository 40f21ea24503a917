"""The lines that are shown while a search goes on, and the effect of an interrupt."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from typing import Any

from clade.session import Event, Session

TICK_S = 0.5


def _tqdm() -> Any:
    # Loaded by those who search only: a script that Clade runs may have nothing but the standard library. In a notebook
    # without its widgets the first bar of tqdm.auto would only warn.
    widgets = importlib.util.find_spec("ipywidgets") is not None
    return importlib.import_module("tqdm.auto" if widgets else "tqdm").tqdm


def time_left(seconds: float) -> str:
    """Returns "45 s left", "1 min 40 s left" or "2 h 05 min left"."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s left"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s left"
    return f"{whole // 3600} h {whole // 60 % 60:02} min left"


class Bars:
    """A bar of the networks that the search tries, and then one of the trainings of its final phase."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._final = False
        self._bar = _tqdm()(disable=not shown, unit=" networks", dynamic_ncols=True, file=sys.stderr)

    def tick(self, networks: int | None) -> None:
        """Draws it anew; `networks` are those of the whole search, as far as that is known."""
        if not self._final:
            self._bar.total = networks
        self._bar.refresh()

    def show(self, event: Event, networks: int | None) -> None:
        """Shows what an event says."""
        if event.get("event") == "final":
            self._show_final(event)
        elif event.get("event") == "generation":
            self._bar.total = networks
            self._bar.update(event["succeeded"] + event["failed"])
            if event["best"]:
                self._bar.set_postfix_str(f"best {event['best_fitness']:.4g} (#{event['best']})")

    def _show_final(self, event: Event) -> None:
        if not self._final:
            self.close()
            self._final = True
            # The program says what time is left; tqdm would count from the begin of this bar, when none had ended.
            self._bar = _tqdm()(disable=not self._shown, desc="final", total=event["trainings"], dynamic_ncols=True,
                                file=sys.stderr, bar_format="{l_bar}{bar}| {n_fmt} of {total_fmt} trainings [{elapsed}{postfix}]")
        self._bar.update(event["trained"] - self._bar.n)
        if event["trained"] >= event["trainings"]:
            self._bar.set_postfix_str("putting the model together")
        elif event["seconds_left"] is not None:
            self._bar.set_postfix_str(time_left(event["seconds_left"]))

    def close(self) -> None:
        """Leaves the bar as it stands."""
        self._bar.close()


def watch(session: Session, folder: pathlib.Path, progress: bool) -> None:
    """Shows the events of a search until it ends.

    The first KeyboardInterrupt lets the search finish what is in training; the second stops it at once and is raised.
    """
    interrupts = 0
    bars: Bars | None = None
    while True:
        try:
            bars = Bars(progress) if bars is None else bars
            for event in session.events(TICK_S):
                if event is None:
                    bars.tick(session.evaluations)
                else:
                    bars.show(event, session.evaluations)
            break
        except KeyboardInterrupt:
            interrupts += 1
            session.interrupt()
            if interrupts > 1:
                raise
            print(f"stopping: what is in training is finished first; go on later with "
                  f"clade.open({str(folder)!r}).resume()", file=sys.stderr)
    bars.close()
