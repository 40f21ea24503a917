"""The words to people about a search: what was seen in the data, and what is to be known at its end."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

WIDTH = 100
MOST_NAMES = 12


def _paragraph(head: str, text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False)


def _names(columns: list[str]) -> str:
    rest = len(columns) - MOST_NAMES
    return ", ".join(columns[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def seen_text(profile: dict[str, Any]) -> str:
    """Returns what `clade new` saw in the data: its size, the target, what was left out, and what to look at."""
    columns = profile.get("columns") or []
    size = f"{profile['rows']:,} " + (f"rows, {len(columns):,} columns" if columns else "examples")
    classes = profile.get("classes")
    kind = profile["task"] + (f" of {len(classes)} classes" if classes else "")
    target = f"; target {profile['target']}" if profile.get("target") else ""
    lines = [_paragraph("data      ", f"{size}{target}; {kind}")]
    reasons: dict[str, list[str]] = {}
    for column in columns:
        if column["use"] == "ignore":
            reasons.setdefault(column.get("reason", "ignored"), []).append(column["name"])
    for reason, names in reasons.items():
        lines.append(_paragraph("left out  ", f"{_names(names)} ({reason.replace('_', ' ')})"))
    for suspicion in profile.get("suspicions") or []:
        lines.append(_paragraph("look at   ", suspicion))
    return "\n".join(lines)


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def end_text(end: dict[str, Any] | None) -> str:
    """Returns the scores of what a run ended with, the model that predicts first, and the notes on them."""
    if not end:
        return ""
    rows = sorted(end["comparison"], key=lambda one: one["subject"] != "final model")
    lines = [f"{'':24}{end['validation_metric']:>28}{end['test_metric']:>22}{'parameters':>13}"] if rows else []
    for one in rows:
        name = one["subject"] + (f" #{one['id']}" if one["id"] else "")
        size = "-" if one["parameters"] is None else f"{one['parameters']:,}"
        lines.append(f"{name:24}{_score(one['validation']):>28}{_score(one['test']):>22}{size:>13}")
    return "\n".join(lines + [_paragraph("note      ", note) for note in end["verdict"]])


def say(text: str, shown: bool = True) -> None:
    """Prints to standard error, where the bar is."""
    if shown and text:
        print(text, file=sys.stderr)
