"""Made-up tables of several numbers and of several labels, and what scikit-learn reaches on them.

usage: several_targets.py FOLDER    writes numbers.csv, labels.csv and their tests there, and prints scores of the tests
"""

import csv
import pathlib
import sys

import numpy as np
import pandas as pd
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss, r2_score

NUMBERS = ["heat", "flow", "cost"]
LABELS = ["red", "round", "soft", "loud", "wet", "odd one"]


def put(folder, name, head, rows):
    for part, some in (("", rows[:len(rows) * 4 // 5]), ("_test", rows[len(rows) * 4 // 5:])):
        with open(folder / f"{name}{part}.csv", "w", newline="") as file:
            csv.writer(file).writerows([head, *some])


def make(folder):
    chance = np.random.default_rng(1)
    x, kind = chance.normal(size=(900, 6)), chance.integers(0, 3, 900)
    heat = 100 + 20 * (x[:, 0] + np.sin(2 * x[:, 1]) + .5 * (kind == 1)) + 4 * chance.normal(size=900)
    flow = .01 * (x[:, 2] * x[:, 3] + x[:, 0]) + .003 * chance.normal(size=900)
    cost = 5000 + 900 * (abs(x[:, 4]) - x[:, 5] ** 2) + 200 * chance.normal(size=900)
    put(folder, "numbers", [*(f"x{i}" for i in range(6)), "kind", *NUMBERS],
        [[*(f"{v:.4f}" for v in x[i]), "abc"[kind[i]], f"{heat[i]:.3f}", f"{flow[i]:.5f}", f"{cost[i]:.1f}"] for i in range(900)])
    features, labels = make_multilabel_classification(n_samples=1200, n_features=12, n_classes=6, n_labels=2, random_state=3)
    put(folder, "labels", [*(f"f{i}" for i in range(12)), *LABELS], [[*map(int, f), *y] for f, y in zip(features, labels)])


def read(folder, name, targets):
    for part in ("", "_test"):
        table = pd.read_csv(folder / f"{name}{part}.csv")
        yield pd.get_dummies(table.drop(columns=targets)).astype(float), table[targets]


def main(folder):
    make(folder)
    (x, y), (new, true) = read(folder, "numbers", NUMBERS)
    each = [r2_score(true[t], HistGradientBoostingRegressor(random_state=1).fit(x, y[t]).predict(new)) for t in NUMBERS]
    forest = RandomForestRegressor(500, random_state=1).fit(x, y)
    print(f"numbers: mean r2 of boosting {np.mean(each):.3f}, of a forest {r2_score(true, forest.predict(new)):.3f}")
    (x, y), (new, true) = read(folder, "labels", LABELS)
    for name, one in (("boosting", HistGradientBoostingClassifier(random_state=1)),
                      ("a forest", RandomForestClassifier(500, random_state=1)),
                      ("logistic regression", LogisticRegression(max_iter=5000))):
        chances = np.column_stack([one.fit(x, y[label]).predict_proba(new)[:, 1] for label in LABELS])
        losses = [log_loss(true[label], chances[:, i]) for i, label in enumerate(LABELS)]
        print(f"labels: {name}: loss {np.mean(losses):.3f}, f1_micro {f1_score(true, chances >= .5, average='micro'):.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
