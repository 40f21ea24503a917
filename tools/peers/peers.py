#!/usr/bin/env python3
"""What people would take instead of a search, on the same split and in the same time: for experiments/RESULTS.md.

    peers.py split TABLE --target COLUMN --seed 1 --out FOLDER     train.csv and test.csv, one fifth; for Clade too
    peers.py boosting|mlp|linear FOLDER --target COLUMN            scikit-learn, with its own defaults
    peers.py resnet TRAIN.bin.gz TEST.bin.gz --minutes 10          a small ResNet as one writes it by hand (PyTorch)

Needs numpy and, by command, pandas with scikit-learn or torch; none of them is needed by Clade.
"""

import argparse
import gzip
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


def table_model(options):
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
    folder = pathlib.Path(options.folder)
    train, target = read_table(folder / "train.csv", options.target)
    test, _ = read_table(folder / "test.csv", options.target)
    began = time.perf_counter()
    x, y = train.drop(columns=[target]), train[target]
    numbers = x.select_dtypes("number").columns
    words = [c for c in x.columns if c not in numbers]
    classes = y.dtype == object or y.nunique() <= 10
    if options.peer == "boosting":
        encode = ColumnTransformer([("words", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), words)],
                                   remainder="passthrough")
        model = HistGradientBoostingClassifier(random_state=1) if classes else HistGradientBoostingRegressor(random_state=1)
    else:
        encode = ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore"), words),
                                    ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers)], sparse_threshold=0)
        if options.peer == "mlp":
            model = MLPClassifier(random_state=1, early_stopping=True) if classes else MLPRegressor(random_state=1, early_stopping=True)
        else:
            model = LogisticRegression(max_iter=1000) if classes else RidgeCV()
    scale = (lambda v: v) if classes else (lambda v: (v - y.mean()) / y.std())
    fitted = make_pipeline(encode, model).fit(x, scale(y))
    said = fitted.predict(test.drop(columns=[target]))
    if classes:
        score = {"test.accuracy": float((said == test[target]).mean())}
    else:
        said = said * y.std() + y.mean()
        score = {"test.rmse": float(np.sqrt(((said - test[target]) ** 2).mean()))}
    print(json.dumps({"peer": options.peer, **score, "seconds": round(time.perf_counter() - began, 1)}))


def read_images(file):
    raw = np.frombuffer(gzip.open(file).read(), dtype=np.uint8).reshape(-1, 3073)
    return raw[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255, raw[:, 0].astype(np.int64)


def resnet(options):
    import torch
    from torch import nn
    from torch.nn import functional as F
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    began = time.perf_counter()
    (x, y), (test_x, test_y) = ([torch.from_numpy(part) for part in read_images(f)] for f in (options.train, options.test))
    mean, deviation = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
    x, test_x = (x - mean) / deviation, (test_x - mean) / deviation

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.a = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.b = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.na, self.nb = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
            self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, v):
            return F.relu(self.nb(self.b(F.relu(self.na(self.a(v))))) + self.skip(v))

    net = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), Block(16, 16, 1),
                        Block(16, 32, 2), Block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    best = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    batch, steps_an_epoch, epoch, an_epoch = 64, (len(x) + 63) // 64, 0, None
    while True:
        # The schedule is laid over the epochs that the time allows, as measured so far.
        start = time.perf_counter()
        left = options.minutes * 60 - (start - began)
        total = epoch + max(1, int(left / an_epoch)) if an_epoch else 70
        if an_epoch and left < an_epoch:
            break
        net.train()
        order = torch.randperm(len(x))
        for step, indices in enumerate(order.split(batch)):
            done = (epoch + step / steps_an_epoch) / total
            rate = 0.1 * (done / 0.3 if done < 0.3 else 0.5 * (1 + np.cos(np.pi * min(1, (done - 0.3) / 0.7))))
            for group in best.param_groups:
                group["lr"] = max(rate, 1e-4)
            images = x[indices]
            mirrored = torch.rand(len(images)) < 0.5
            images[mirrored] = images[mirrored].flip(3)
            down, right = torch.randint(0, 9, (2,)).tolist()
            images = F.pad(images, (4, 4, 4, 4))[:, :, down:down + 32, right:right + 32]
            best.zero_grad()
            F.cross_entropy(net(images), y[indices], label_smoothing=0.1).backward()
            best.step()
        epoch += 1
        an_epoch = time.perf_counter() - start
    net.eval()
    with torch.no_grad():
        said = torch.cat([net(part) for part in test_x.split(256)]).argmax(1)
    print(json.dumps({"peer": "resnet", "test.accuracy": float((said == test_y).float().mean()), "epochs": epoch,
                      "parameters": sum(p.numel() for p in net.parameters()), "seconds": round(time.perf_counter() - began, 1)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="peer", required=True)
    one = commands.add_parser("split")
    one.add_argument("table")
    one.add_argument("--target", required=True)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--out", required=True)
    for name in ("boosting", "mlp", "linear"):
        one = commands.add_parser(name)
        one.add_argument("folder")
        one.add_argument("--target", required=True)
    one = commands.add_parser("resnet")
    one.add_argument("train")
    one.add_argument("test")
    one.add_argument("--minutes", type=float, default=10)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    {"split": split, "resnet": resnet}.get(options.peer, table_model)(options)


if __name__ == "__main__":
    main()
