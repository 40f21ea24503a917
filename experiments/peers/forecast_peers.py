"""Forecasts that people take instead of Clade's: the value one season before, AutoETS and AutoARIMA (statsforecast).

usage: python3 forecast_peers.py make SEASONAL.csv            writes 200 made-up series of months (seed 1)
       python3 forecast_peers.py FILE.csv HORIZON SEASON [WINDOWS]
                                  the MASE of each on the last HORIZON steps of each series, or in so many windows

A series is told apart by the column "series", its times are in "time" and its values in "value". The MASE is that of
Hyndman and Koehler (2006): mean absolute errors in units of the mean absolute error of the seasonal naive forecast within
the series, before the last 2 * HORIZON steps, as Clade has it; then the mean over series and steps.
"""

import sys
import time

import numpy as np
import pandas as pd


def make(file):
    """Sums of a level, a trend, a season and noise, of sizes and shapes that differ; a third multiply."""
    random = np.random.default_rng(1)
    parts = []
    for number in range(200):
        n = int(random.integers(96, 180))
        t = np.arange(n)
        level = 10 ** random.uniform(1, 4)
        slope = random.normal(0, 0.004)
        shape = sum(random.normal(0, 0.12 / k) * np.sin(2 * np.pi * k * (t + random.integers(12)) / 12) for k in (1, 2, 3))
        noise = np.zeros(n)
        rest = random.normal(0, random.uniform(0.01, 0.08), n)
        memory = random.uniform(0, 0.9)
        for i in range(n):
            noise[i] = (memory * noise[i - 1] if i else 0) + rest[i]
        values = level * (np.exp(slope * t + shape + noise) if number % 3 == 0 else 1 + slope * t + shape + noise)
        times = pd.date_range("2008-01-01", periods=n, freq="MS").strftime("%Y-%m-%d")
        parts.append(pd.DataFrame({"series": f"s{number:03}", "time": times, "value": np.round(values, 3)}))
    pd.concat(parts).to_csv(file, index=False)


def mase(frame, horizon, season, windows):
    from statsforecast import StatsForecast
    from statsforecast.models import AutoARIMA, AutoETS, SeasonalNaive

    dates = pd.to_datetime(frame["time"], errors="coerce") if frame["time"].dtype == object else frame["time"]
    data = pd.DataFrame({"unique_id": frame["series"], "ds": dates, "y": frame["value"]})
    scale = {}
    for name, part in data.groupby("unique_id"):
        known = part["y"].to_numpy()[: -2 * horizon]
        scale[name] = np.abs(known[season:] - known[:-season]).mean()
    for model in (SeasonalNaive(season), AutoETS(season_length=season), AutoARIMA(season_length=season)):
        began = time.time()
        forecast = StatsForecast(models=[model], freq="MS" if data["ds"].dtype.kind == "M" else 1, n_jobs=1)
        result = forecast.cross_validation(h=horizon, df=data, n_windows=windows, step_size=horizon).reset_index()
        errors = (result["y"] - result[repr(model)]).abs() / result["unique_id"].map(scale)
        print(f"{model!r}: MASE {errors.mean():.3f} ({time.time() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        mase(pd.read_csv(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1)
