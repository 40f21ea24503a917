#!/usr/bin/env python3
"""The methods that people would take instead of a search, on the same split and in the same time: for
experiments/RESULTS.md.

    peers.py split TABLE --target COLUMN --seed 1 --out FOLDER     train.csv and test.csv, one fifth; for Clade too
    peers.py boosting|mlp|linear FOLDER --target COLUMN            scikit-learn, with its own defaults
    peers.py resnet TRAIN TEST --minutes 10                        a small ResNet as one writes it by hand (PyTorch)
    peers.py optuna-resnet TRAIN TEST --minutes 10                 the same, its recipe, width and depth by Optuna's TPE
    peers.py optuna-mlp FOLDER --target COLUMN --minutes 10        an MLP for tables likewise

Images: CIFAR's binary files, IDX files named as MNIST's (labels beside images), or a CSV with --target; zipped or not.
Needs numpy and, by command, pandas with scikit-learn, torch or optuna; none of them is needed by Clade.
"""

import argparse
import json
import pathlib
import time

import numpy as np


def read_table(file, target):
    import pandas as pd
    header = 0 if target != "last" else None
    table = pd.read_csv(file, header=header, skipinitialspace=True, na_values=["?"])
    return table, (table.columns[-1] if target == "last" else target)


def split(options):
    table, target = read_table(options.table, options.target)
    order = np.random.default_rng(options.seed).permutation(len(table))
    test = len(table) // 5
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for name, rows in (("test", order[:test]), ("train", order[test:])):
        table.iloc[np.sort(rows)].to_csv(out / f"{name}.csv", index=False, header=options.target != "last")


class Table:
    """train.csv and test.csv of a folder; a text, or a number of few values, is a class."""

    def __init__(self, options):
        folder = pathlib.Path(options.folder)
        train, target = read_table(folder / "train.csv", options.target)
        test, _ = read_table(folder / "test.csv", options.target)
        self.x, self.y = train.drop(columns=[target]), train[target]
        self.test_x, self.test_y = test.drop(columns=[target]), test[target]
        self.numbers = self.x.select_dtypes("number").columns
        self.words = [c for c in self.x.columns if c not in self.numbers]
        self.classes = self.y.dtype == object or self.y.nunique() <= 10

    def encoder(self):
        """Words one-hot, numbers imputed and standardised."""
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler
        return ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore"), self.words),
                                  ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), self.numbers)],
                                 sparse_threshold=0)


def table_model(options):
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    table = Table(options)
    classes, y = table.classes, table.y
    if options.peer == "boosting":
        ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        encode = ColumnTransformer([("words", ordinal, table.words)], remainder="passthrough")
        model = HistGradientBoostingClassifier(random_state=1) if classes else HistGradientBoostingRegressor(random_state=1)
    else:
        encode = table.encoder()
        if options.peer == "mlp":
            model = (MLPClassifier if classes else MLPRegressor)(random_state=1, early_stopping=True)
        else:
            model = LogisticRegression(max_iter=1000) if classes else RidgeCV()
    scale = (lambda v: v) if classes else (lambda v: (v - y.mean()) / y.std())
    said = make_pipeline(encode, model).fit(table.x, scale(y)).predict(table.test_x)
    if classes:
        return {"test.accuracy": float((said == table.test_y).mean())}
    said = said * y.std() + y.mean()
    return {"test.rmse": float(np.sqrt(((said - table.test_y) ** 2).mean()))}


def optuna_mlp(options):
    import tuned
    return tuned.optuna_mlp(options, Table(options))


def optuna_resnet(options):
    import tuned
    return tuned.optuna_resnet(options)


def resnet(options):
    import torch

    import images as of
    end = time.perf_counter() + 60 * options.minutes
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    images = of.Images(options)
    recipe = images.by_hand()
    network = images.network(recipe)
    epochs = of.train_until(network, recipe, images.x, images.y, end)
    return {"test.accuracy": of.accuracy(network, images.test_x, images.test_y), "epochs": epochs,
            "parameters": of.parameters_of(network)}


PEERS = {"split": split, "resnet": resnet, "optuna-resnet": optuna_resnet, "optuna-mlp": optuna_mlp,
         **dict.fromkeys(("boosting", "mlp", "linear"), table_model)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="peer", required=True)
    one = commands.add_parser("split")
    one.add_argument("table")
    one.add_argument("--target", required=True)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--out", required=True)
    for name in ("boosting", "mlp", "linear", "optuna-mlp"):
        one = commands.add_parser(name)
        one.add_argument("folder")
        one.add_argument("--target", required=True)
        if name == "optuna-mlp":
            add_budget(one)
    for name in ("resnet", "optuna-resnet"):
        one = commands.add_parser(name)
        one.add_argument("train")
        one.add_argument("test")
        one.add_argument("--target", default="last", help="of a CSV: the column of the classes")
        one.add_argument("--limit", type=int, default=0, help="train on so many images, drawn by the seed; 0: on all")
        add_budget(one)
    options = parser.parse_args()
    began = time.perf_counter()
    measured = PEERS[options.peer](options)
    if measured:
        print(json.dumps({"peer": options.peer, **measured, "seconds": round(time.perf_counter() - began, 1)}))


def add_budget(parser):
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)


if __name__ == "__main__":
    main()
