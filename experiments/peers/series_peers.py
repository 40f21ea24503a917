"""Accuracy of aeon's MultiRocket-Hydra, MiniRocket and 1-NN DTW on series with classes, beside Clade's runs.

    python3 -m venv /tmp/aeon && /tmp/aeon/bin/pip install aeon torch
    /tmp/aeon/bin/python experiments/peers/series_peers.py FOLDER [SET...]

FOLDER has SET_TRAIN.ts.gz and SET_TEST.ts.gz, train and test as they were published. Series of differing lengths end in
zeros, for all peers alike. Each line is a set, a peer, the mean test accuracy over three seeds and the seconds of one fit
with its answers; 1-NN DTW draws nothing, and its window is a tenth of the length."""

import gzip
import pathlib
import sys
import time
import warnings

import numpy as np
from aeon.classification.convolution_based import MiniRocketClassifier, MultiRocketHydraClassifier
from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

SEEDS = range(3)
PEERS = {
    "MultiRocket-Hydra": lambda seed: MultiRocketHydraClassifier(random_state=seed, n_jobs=2),
    "MiniRocket": lambda seed: MiniRocketClassifier(random_state=seed, n_jobs=2),
    "1-NN DTW": lambda seed: KNeighborsTimeSeriesClassifier(distance="dtw", distance_params={"window": 0.1}, n_jobs=2),
}
WITHOUT_SEEDS = {"1-NN DTW"}


def read(path):
    """The series of a .ts file, [channels, steps] each, and their classes."""
    series, classes = [], []
    with gzip.open(path, "rt") as file:
        for line in file:
            if line.startswith(("#", "@")) or not line.strip():
                continue
            *channels, label = line.strip().split(":")
            series.append(np.array([[float(v) for v in c.split(",")] for c in channels]))
            classes.append(label)
    return series, np.array(classes)


def padded(series, length):
    out = np.zeros((len(series), series[0].shape[0], length))
    for row, one in zip(out, series):
        row[:, : one.shape[1]] = one
    return out


def main(folder, names):
    warnings.filterwarnings("ignore")
    names = names or sorted(p.name.removesuffix("_TRAIN.ts.gz") for p in folder.glob("*_TRAIN.ts.gz"))
    for name in names:
        (train, labels), (test, answers) = (read(folder / f"{name}_{part}.ts.gz") for part in ("TRAIN", "TEST"))
        length = max(s.shape[1] for s in train + test)
        x, y = padded(train, length), padded(test, length)
        for peer, make in PEERS.items():
            right, seconds = [], []
            for seed in list(SEEDS)[: 1 if peer in WITHOUT_SEEDS else None]:
                start = time.time()
                model = make(seed).fit(x, labels)
                right.append(np.mean(model.predict(y) == answers))
                seconds.append(time.time() - start)
            # The first fit compiles.
            print(f"{name:20} {peer:18} {np.mean(right):.4f} {min(seconds):6.1f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
