"""Tables of other libraries as files that the program reads. A library is imported by whoever has such a table, not here.

A table of pandas or polars is written by its own library; arrays of two dimensions become a CSV with the columns x0, x1,
...; arrays of more dimensions (images) become .npy files.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pathlib
import tempfile
from dataclasses import dataclass, replace
from typing import Any

from clade.labels import is_blank, kind_of
from clade.program import CladeError

DEFAULT_TARGET = "target"


@dataclass(frozen=True)
class Source:
    """A file of examples as the program takes it."""

    file: pathlib.Path
    target: str | None
    target_file: pathlib.Path | None = None
    labels: str = ""  # The kind of the target's values, one of clade.labels; "" where it is not known.
    categories: tuple[str, ...] = ()  # The columns that are categories although their values are numbers.
    targets: tuple[str, ...] = ()  # Several columns, in the place of `target`.
    named: bool = False  # Whether the first line of the file is known to name its columns.


def library_of(value: object) -> str:
    """Returns "pandas", "polars", "numpy", or whatever library the value's type is of."""
    return type(value).__module__.partition(".")[0]


def is_frame(value: object) -> bool:
    """Whether this is a table with named columns, of pandas or polars."""
    return library_of(value) in ("pandas", "polars") and hasattr(value, "columns") or type(value).__name__ == "LazyFrame"


def _check_names(names: list[Any]) -> None:
    if not names:
        raise CladeError("the table has no columns")
    for name in names:
        if isinstance(name, tuple):
            raise CladeError(f"the columns have names of several levels, such as {name}; join them to one text each")
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise CladeError(f'two columns are named "{name}"; rename one')
        seen.add(name)


def _refuse_nested(name: object, cell: object) -> None:
    if isinstance(cell, (list, tuple, dict, set, bytes)) or getattr(cell, "ndim", None):
        raise CladeError(f'column "{name}" holds values of type {type(cell).__name__}; a cell must be one number, text, '
                         "date or truth value")


def _write_pandas(frame: Any, file: pathlib.Path) -> None:
    _check_names(list(frame.columns))
    for name, dtype in zip(frame.columns, frame.dtypes):
        if dtype.kind == "m":
            raise CladeError(f'column "{name}" holds time spans; give numbers, such as df["{name}"].dt.total_seconds()')
        if dtype.kind == "c":
            raise CladeError(f'column "{name}" holds complex numbers; give their parts as columns of their own')
        if dtype.kind == "O":
            for cell in frame[name]:
                _refuse_nested(name, cell)
    frame.to_csv(file, index=False)


def _numbered_categories(frame: Any) -> tuple[str, ...]:
    """Returns the columns of pandas whose type says category and whose values say number."""
    if library_of(frame) != "pandas":
        return ()
    return tuple(str(name) for name, dtype in zip(frame.columns, frame.dtypes)
                 if hasattr(dtype, "categories") and kind_of(dtype.categories) in ("i", "f"))


def _write_polars(frame: Any, file: pathlib.Path) -> None:
    _check_names(list(frame.columns))
    blank = {}
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or str(dtype) in ("Binary", "Object"):
            raise CladeError(f'column "{name}" holds values of type {dtype}; a cell must be one number, text, date or '
                             "truth value")
        if str(dtype).startswith("Duration"):
            raise CladeError(f'column "{name}" holds time spans; give numbers, such as '
                             f'pl.col("{name}").dt.total_seconds()')
        if dtype.is_float():
            blank[name] = frame[name].fill_nan(None)
    frame.with_columns(**blank).write_csv(file)


def _write_rows(rows: Any, names: list[str], file: pathlib.Path) -> None:
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(names)
        for row in rows:
            writer.writerow(["" if is_blank(v) else v for v in row])


def write_examples(data: Any, file: pathlib.Path) -> pathlib.Path:
    """Writes rows without their target, or with it among the columns of a frame, and returns the file with its suffix."""
    if hasattr(data, "collect"):
        data = data.collect()
    if library_of(data) == "pandas" and hasattr(data, "to_frame") and not hasattr(data, "columns"):
        raise CladeError("one row or column of pandas is a Series; give a DataFrame, such as df.loc[[label]]")
    if is_frame(data):
        out = file.with_suffix(".csv")
        (_write_pandas if library_of(data) == "pandas" else _write_polars)(data, out)
        return out
    array = _as_array(data)
    if array.ndim > 2:
        return _save_array(array, file.with_suffix(".npy"))
    out = file.with_suffix(".csv")
    _write_rows(array.tolist(), [f"x{i}" for i in range(array.shape[1])], out)
    return out


def _as_array(data: Any) -> Any:
    try:
        import numpy as np
    except ImportError:
        raise CladeError("give a table of pandas or polars, the path of a file, or install numpy for arrays") from None
    array = np.asarray(data)
    if array.ndim < 2 or array.size == 0:
        raise CladeError(f"the examples have the shape {array.shape}; give at least one row, and rows of columns")
    return array


def _save_labels(labels: list[Any], kind: str, file: pathlib.Path) -> pathlib.Path:
    """Writes the targets of images: numbers, 0 and 1 for truth values, or texts of a fixed length."""
    import numpy as np
    if any(map(is_blank, labels)):
        raise CladeError("a target is blank; leave its image out")
    types = {"b": np.uint8, "i": np.int64, "f": np.float64}
    np.save(file, np.array(labels, dtype=types.get(kind, np.str_)), allow_pickle=False)
    return file


def _save_array(array: Any, file: pathlib.Path) -> pathlib.Path:
    import numpy as np
    if array.dtype.kind not in "biuf":
        raise CladeError(f"the examples are of type {array.dtype}; an array of images holds numbers")
    # In the order and with the bytes that every reader knows, whatever the array is a view of.
    np.save(file, np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")), allow_pickle=False)
    return file


def _write_arrays(data: Any, labels: Any, folder: pathlib.Path) -> Source:
    array = _as_array(data)
    if getattr(labels, "ndim", 1) == 2 and labels.shape[1] > 1:
        return _write_several(array, labels, folder)
    labels = _as_column(labels)
    if len(array) != len(labels):
        raise CladeError(f"there are {len(array)} examples and {len(labels)} targets")
    kind = kind_of(labels)
    if array.ndim > 2:
        return Source(_save_array(array, folder / "examples.npy"), None,
                      _save_labels(labels, kind, folder / "targets.npy"), kind)
    names = [f"x{i}" for i in range(array.shape[1])] + [DEFAULT_TARGET]
    file = folder / "examples.csv"
    _write_rows(([*row, label] for row, label in zip(array.tolist(), labels)), names, file)
    return Source(file, DEFAULT_TARGET, labels=kind, named=True)


def _write_several(array: Any, targets: Any, folder: pathlib.Path) -> Source:
    """Writes examples that have a row of targets each."""
    import numpy as np
    targets = np.asarray(targets)
    if len(array) != len(targets):
        raise CladeError(f"there are {len(array)} examples and {len(targets)} rows of targets")
    if targets.dtype.kind not in "biuf":
        raise CladeError(f"the targets are of type {targets.dtype}; several of them are numbers, or 1 and 0 of labels")
    if array.ndim > 2:
        file = folder / "targets.npy"
        np.save(file, targets.astype(np.uint8 if targets.dtype.kind == "b" else targets.dtype), allow_pickle=False)
        return Source(_save_array(array, folder / "examples.npy"), None, file)
    names = tuple(f"{DEFAULT_TARGET}{i}" for i in range(targets.shape[1]))
    out = folder / "examples.csv"
    _write_rows(([*row, *own] for row, own in zip(array.tolist(), targets.tolist())),
                [*(f"x{i}" for i in range(array.shape[1])), *names], out)
    return Source(out, None, targets=names, named=True)


def _as_column(labels: Any) -> list[Any]:
    for name in ("to_list", "tolist"):
        if hasattr(labels, name):
            labels = getattr(labels, name)()
    column = [label.decode() if isinstance(label, bytes) else label for label in labels]
    if column and isinstance(column[0], (list, tuple)):
        raise CladeError("the targets have several columns; one is predicted at a time")
    return column


def _with_target(frame: Any, labels: Any) -> tuple[Any, str]:
    """Returns a frame with these labels as one more column, and that column's name."""
    name = getattr(labels, "name", None)
    name = DEFAULT_TARGET if name is None or name == "" else str(name)
    column = _as_column(labels)
    if len(column) != len(frame):
        raise CladeError(f"there are {len(frame)} examples and {len(column)} targets")
    if name in map(str, frame.columns):
        raise CladeError(f'the examples have a column "{name}" too; give another name to the targets')
    if library_of(frame) == "pandas":
        return frame.assign(**{name: column}), name
    import polars as pl
    return frame.with_columns(pl.Series(name, column)), name


def with_column(data: Any, name: str, values: Any) -> tuple[Any, str]:
    """Returns examples with one more column of numbers, the last, and that column's name in the file that is written of
    them: of an array x and its number, of a frame `name`, with a "_" behind it as long as there is such a column."""
    if not is_frame(data):
        import numpy as np
        return np.column_stack([data, values]), f"x{data.shape[1]}"
    while name in map(str, data.columns):
        name += "_"
    if library_of(data) == "pandas":
        return data.assign(**{name: values}), name
    import polars as pl
    return data.with_columns(pl.Series(name, values)), name


def _are_texts(target: Any) -> bool:
    return isinstance(target, (list, tuple)) and len(target) > 1 and all(isinstance(name, str) for name in target)


def _names_of_targets(target: Any) -> tuple[str, ...]:
    """Returns the names of several columns, as the program can be given them."""
    for name in target:
        if "," in name:
            raise CladeError(f'the target "{name}" has a comma in its name; rename the column')
    return tuple(target)


def _check_column(name: str, names: list[str]) -> None:
    if name not in names:
        raise CladeError(f'there is no column "{name}"; there are {", ".join(names[:20])}')


def _write_training(data: Any, target: Any, folder: pathlib.Path) -> Source:
    if hasattr(data, "collect"):
        data = data.collect()
    if not is_frame(data):
        if target is None or isinstance(target, str):
            raise CladeError("arrays come with their targets: clade.search(X, y)")
        return _write_arrays(data, target, folder)
    _check_names(list(data.columns))
    if target is None:
        raise CladeError('say which column is to be predicted: target="..."')
    if is_frame(target):
        for own in target.columns:
            data, _ = _with_target(data, target[own])
        target = [str(own) for own in target.columns]
        target = target[0] if len(target) == 1 else target
    names = [str(c) for c in data.columns]
    # Other texts, one for each row, are the values of a target.
    if _are_texts(target) and (len(target) != len(data) or set(target) <= set(names)):
        several = _names_of_targets(target)
        for name in several:
            _check_column(name, names)
        file = write_examples(data, folder / "examples")
        return Source(file, None, targets=several, named=True,
                      categories=tuple(name for name in _numbered_categories(data) if name not in several))
    if not isinstance(target, str) and not hasattr(target, "__len__"):
        target = str(target)  # Columns may be named by numbers.
    if not isinstance(target, str):
        data, target = _with_target(data, target)
    names = [str(c) for c in data.columns]
    _check_column(target, names)
    column = data[data.columns[names.index(target)]]
    file = write_examples(data, folder / "examples")
    return Source(file, target, labels=kind_of(column), named=True,
                  categories=tuple(name for name in _numbered_categories(data) if name != target))


def _digest(files: list[pathlib.Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        with open(file, "rb") as content:
            total.update(hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()[:12]


def store_training(data: Any, target: Any, name: str, store: pathlib.Path) -> Source:
    """Writes the examples of a search below `store`, where its runs find them later too, and returns the file.

    The file's name holds a digest of its content, so that searches on equal data share one file. A path is taken as it is.
    """
    if isinstance(data, (str, os.PathLike)):
        several = _names_of_targets(target) if _are_texts(target) else ()
        if target is not None and not isinstance(target, str) and not several:
            raise CladeError("a file has its target in it; name the column, or give arrays")
        file = pathlib.Path(data).expanduser().resolve()
        if not file.exists():
            raise CladeError(f"{file}: no such file or folder")
        return Source(file, None, targets=several) if several else Source(file, target)
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=store, prefix=".") as scratch:
        made = _write_training(data, target, pathlib.Path(scratch))
        files = [made.file] if made.target_file is None else [made.file, made.target_file]
        stem = f"{name}-{_digest(files)}"
        kept = [f.replace(store / f"{stem}{'-targets' if f == made.target_file else ''}{f.suffix}") for f in files]
    (store / f"{stem}.json").write_text(json.dumps({"labels": made.labels}) + "\n", encoding="utf-8")
    return replace(made, file=kept[0], target_file=kept[1] if len(kept) > 1 else None)


def labels_of(file: pathlib.Path) -> str:
    """Returns the kind of the target's values of a file that `store_training` wrote; "" of any other."""
    note = file.with_suffix(".json")
    try:
        kind = json.loads(note.read_text(encoding="utf-8"))["labels"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return kind if isinstance(kind, str) else ""
