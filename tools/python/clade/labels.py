"""Labels: what kind the values of a target are of, so that predictions can be of the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The kinds: truth values, whole numbers, other numbers, and texts, which is all else.
KINDS = ("b", "i", "f", "s")


def is_blank(value: Any) -> bool:
    """Whether a cell holds nothing: None, a NaN, and what pandas calls NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return _kind_of_one(value) == "f" and bool(value != value)


def _kind_of_one(value: Any) -> str:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool) or kind == "b":
        return "b"
    if isinstance(value, int) or kind in ("i", "u"):
        return "i"
    if isinstance(value, float) or kind == "f":
        return "f"
    return "s"


def kind_of(values: Iterable[Any]) -> str:
    """Returns the kind of all values that are not blank; "" where there is none.

    Whole numbers beside others are numbers; what is of several kinds comes back as text.
    """
    kinds = {_kind_of_one(v) for v in values if not is_blank(v)}
    if kinds == {"i", "f"}:
        return "f"
    return kinds.pop() if len(kinds) == 1 else "s" if kinds else ""


def to_label(text: str, kind: str) -> Any:
    """Returns a class, which the program writes as a text, as the kind that the targets were of."""
    if kind == "b":
        return text.lower() in ("true", "1")
    if kind == "i":
        # A float would lose the last digits of long numbers.
        return int(text) if text.lstrip("+-").isdecimal() else int(float(text))
    if kind == "f":
        return float(text)
    return text
