"""How much earlier, on one data set of NAS-Bench-201, a search finds what it finds when it begins with one of another.

    experiments/peers/earlier_runs.py [--seeds 40] [--clade build/torch/bin/clade]

For each seed a search of 100 candidates is made on one data set (strategy surrogate), then one on another, alone and with
--start-from. Printed is the mean of the best validation accuracy so far (in percent) after 10, 20, 40 and 100
candidates. Takes about 10 seconds a seed.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile

EXPERIMENTS = pathlib.Path(__file__).resolve().parent.parent
PAIRS = [("cifar10", "cifar100"), ("cifar10", "imagenet"), ("cifar100", "cifar10"), ("cifar100", "imagenet")]
AFTER = [10, 20, 40, 100]


def search(given, folder, table, seed, *more):
    """Returns the run's folder and the validation accuracy of each candidate, in order."""
    runs = pathlib.Path(tempfile.mkdtemp(dir=folder))
    subprocess.run([given.clade, "run", EXPERIMENTS / "nas-bench-201.toml", "--seed", str(seed), "--set",
                    f"table.file={EXPERIMENTS}/tables/nb201_{table}.toml", "--set", "evolution.strategy=surrogate", *more],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CLADE_RUNS": str(runs)})
    run = next(runs.glob("*/run.db")).parent
    with sqlite3.connect(run / "run.db") as database:
        rows = database.execute("select metrics from evaluations where outcome = 'succeeded' order by id").fetchall()
    return run, [json.loads(row[0])["validation.accuracy"] for row in rows]


def best_after(found):
    return [max(found[:n]) for n in AFTER]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seeds", type=int, default=40)
    words.add_argument("--clade", default=EXPERIMENTS.parent / "build/torch/bin/clade")
    given = words.parse_args()
    print(f"{'from':10}{'on':10}{'begins':12}" + "".join(f"{f'after {n}':>12}" for n in AFTER), flush=True)
    for source, target in PAIRS:
        alone, begun = [], []
        for seed in range(1, given.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                earlier, _ = search(given, folder, source, seed)
                alone.append(best_after(search(given, folder, target, 1000 + seed)[1]))
                begun.append(best_after(search(given, folder, target, 1000 + seed, "--start-from", earlier)[1]))
        for name, rows in (("alone", alone), ("with it", begun)):
            means = [statistics.mean(column) for column in zip(*rows)]
            print(f"{source:10}{target:10}{name:12}" + "".join(f"{m:12.3f}" for m in means), flush=True)


if __name__ == "__main__":
    main()
