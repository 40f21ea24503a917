"""Writes made.parquet, made.feather and made.arrows here: python make.py, with pyarrow 26."""

import datetime
import decimal
import pathlib

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

table = pa.table({
    "code": pa.array(["007", None, "a,b"]),
    "n": pa.array([1, -2, None], pa.int8()),
    "x": pa.array([0.1, float("nan"), 2.0], pa.float32()),
    "yes": pa.array([True, False, None]),
    "kind": pa.array(["0", "1", "0"]).dictionary_encode(),
    "day": pa.array([datetime.date(2026, 1, 31), None, datetime.date(1969, 12, 31)]),
    "at": pa.array([0, 1500, -1], pa.timestamp("ms", "UTC")),
    "price": pa.array([None, decimal.Decimal("1.00"), decimal.Decimal("2.00")]),
    "inner": pa.array([{"a": 1, "b": {"c": "z"}}, None, {"a": 3, "b": None}]),
    "list": pa.array([[1], [], None]),
})
folder = pathlib.Path(__file__).parent
pyarrow.parquet.write_table(table, folder / "made.parquet")
pyarrow.feather.write_feather(table, folder / "made.feather", compression="zstd")
with pa.OSFile(str(folder / "made.arrows"), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
    stream.write_table(table)
