#!/usr/bin/env python3
"""Quantiles of numbers on the tables of tables.py: for experiments/RESULTS.md.

    quantiles.py FOLDER NAME ...     FOLDER as `tables.py write` makes it; prints the mean pinball loss of the quantiles .1,
                                     .5 and .9 on the test part, and the share of values that are between the outer two

Each peer is fitted once for each quantile, stopped early by a fifth of the training rows. Needs pandas, scikit-learn and
lightgbm; none of them is needed by Clade.
"""

import pathlib
import sys
import time

import lightgbm
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

QUANTILES = (.1, .5, .9)


def by_lightgbm(x, y, new, q):
    x, new = ({**table.select_dtypes("number")} | {name: table[name].astype("category") for name in table.select_dtypes(exclude="number")}
              for table in (x, new))
    x, new = pd.DataFrame(x), pd.DataFrame(new)
    for name in x.select_dtypes("category"):
        new[name] = new[name].cat.set_categories(x[name].cat.categories)
    fit, stop, of_fit, of_stop = train_test_split(x, y, test_size=.2, random_state=1)
    model = lightgbm.LGBMRegressor(objective="quantile", alpha=q, n_estimators=2000, learning_rate=.05, n_jobs=2, verbose=-1)
    model.fit(fit, of_fit, eval_set=[(stop, of_stop)], callbacks=[lightgbm.early_stopping(50, verbose=False)])
    return model.predict(new)


def by_a_line(x, y, new, q):
    columns = make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
                                      (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")))
    return make_pipeline(columns, QuantileRegressor(quantile=q, alpha=0, solver="highs")).fit(x, y).predict(new)


def main(folder, names):
    for name in names:
        target = (folder / name / "target").read_text()
        train, test = (pd.read_csv(folder / name / f"{part}.csv") for part in ("train", "test"))
        x, y, new, true = train.drop(columns=target), train[target], test.drop(columns=target), test[target]
        for peer, fit in (("LightGBM", by_lightgbm), ("linear", by_a_line)):
            if fit is by_a_line and len(x) > 10_000:
                continue  # It takes minutes.
            start = time.monotonic()
            said = np.sort(np.column_stack([fit(x, y, new, q) for q in QUANTILES]), axis=1)
            losses = [mean_pinball_loss(true, said[:, i], alpha=q) for i, q in enumerate(QUANTILES)]
            within = np.mean((true > said[:, 0]) & (true <= said[:, -1]))
            print(f"{name}: {peer}: pinball {np.mean(losses):.4g}, within {within:.3f}, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
