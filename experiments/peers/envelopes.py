#!/usr/bin/env python3
"""Compares strategies in the space of search_spaces/envelope.toml at equal time: the best validation accuracy after
so many seconds, of MNIST and of images as CIFAR-10's.

    experiments/peers/envelopes.py [--seconds 60] [--seeds 5] [--images 400] [--clade build/torch/bin/clade]
                                   [--data mnist cifar-like]

MNIST and the images are where the experiments have them. Strategies take turns, seed by seed. The experiments and their
runs are written to the folder where this is called.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared/data"
STRATEGIES = ["envelopenets", "regularized", "random"]

DATA = {
    "mnist": """file = "train-images-idx3-ubyte.gz"
target_file = "train-labels-idx1-ubyte.gz"
shape = [1, 28, 28]
""",
    "cifar-like": """file = "cifar10_train.bin.gz"
""",
}

EXPERIMENT = """[experiment]
name = {name}
seed = {seed}

[data]
folder = {folder}
{files}limit = {limit}
split = {{train = {images}, validation = {validation}, test = {validation}}}

[search_space]
file = {space}

[evolution]
strategy = {strategy}
population = 8
generations = 1000
tournament = 3

[training]
epochs = 3

[limits]
wall_time = "{seconds}s"

[slots]
local = "auto"
"""


def run(data, strategy, seed, options):
    name = f"{data}-{strategy}-{seed}"
    validation = options.images
    text = EXPERIMENT.format(
        name=json.dumps(name), seed=seed, folder=json.dumps(str(SHARED / data)), files=DATA[data],
        limit=options.images + 2 * validation, images=options.images, validation=validation,
        space=json.dumps(str(ROOT / "search_spaces/envelope.toml")), strategy=json.dumps(strategy),
        seconds=options.seconds)
    pathlib.Path(f"{name}.toml").write_text(text)
    subprocess.run([options.clade, "run", f"{name}.toml", "--runs", "runs"], check=True,
                   stdout=subprocess.DEVNULL)
    folder = sorted(pathlib.Path("runs").glob(f"{name}-*"))[-1]
    shown = subprocess.run([options.clade, "show", str(folder), "--json"], check=True, capture_output=True, text=True)
    return json.loads(shown.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--images", type=int, default=400, help="for training, and as many for validation")
    parser.add_argument("--clade", default=str(ROOT / "build/torch/bin/clade"))
    parser.add_argument("--data", nargs="+", choices=sorted(DATA), default=list(DATA))
    options = parser.parse_args()
    for data in options.data:
        best = {strategy: [] for strategy in STRATEGIES}
        trained = {strategy: [] for strategy in STRATEGIES}
        for seed in range(1, options.seeds + 1):
            for strategy in STRATEGIES:
                shown = run(data, strategy, seed, options)
                best[strategy].append(shown["best_fitness"])
                trained[strategy].append(shown["evaluated"])
        print(f"{data}, {options.images} images, {options.seconds} s, {options.seeds} seeds", flush=True)
        for strategy in STRATEGIES:
            values = best[strategy]
            spread = statistics.stdev(values) if len(values) > 1 else 0
            print(f"  {strategy:13} best validation.accuracy {statistics.mean(values):.4f} "
                  f"(standard deviation {spread:.4f}; {', '.join(f'{v:.4f}' for v in values)}), "
                  f"{statistics.mean(trained[strategy]):.0f} candidates", flush=True)


if __name__ == "__main__":
    main()
