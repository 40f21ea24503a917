#!/usr/bin/env python3
"""One network trained by each distribution on slots of this machine: what comes out and how long it takes.

    experiments/peers/distributions.py [--network FILE] [--experiment FILE] [--epochs 3] [--devices 2 3]
                                 [--only mirrored ...] [--gloo NETWORK] [--set KEY=VALUE ...]

Prints a line for each training: test accuracy, the hash of the weights, and the median seconds of an epoch. With --gloo,
such as --gloo 127.0.0.0/8, each that is by a team comes a second time, over Gloo in that network. Run it on a quiet machine. CLADE_BINARY: instead of tools/clade.
"""

import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
CLADE = os.environ.get("CLADE_BINARY", str(ROOT / "tools" / "clade"))

# The parameters of each beside its name.
ALL = {
    "mirrored": (),
    "central_storage": (),
    "local_sgd": (),
    "multi_worker_mirrored": (),
    "sharded": (),
    "pipeline": (),
    "parameter_server": ("training.updates=synchronous",),
    "parameter_server, asynchronous": ("training.updates=asynchronous",),
    "peer_to_peer": (),
}
BY_TEAM = ("multi_worker_mirrored", "sharded", "pipeline", "parameter_server", "peer_to_peer")


def trained(options, name, devices, settings, runs):
    """Accuracy on the test data, hash, and seconds of each epoch."""
    distribution = name.partition(",")[0]
    said = [f"training.distribution={distribution}", f"training.devices={devices}"] if devices > 1 else []
    words = [CLADE, "train", options.network, "--experiment", options.experiment, "--epochs", str(options.epochs),
             "--slots", f"cpu:{options.slots or devices}", "--runs", runs]
    for setting in (*said, *(settings if devices > 1 else ()), *options.set):
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    run = max(pathlib.Path(runs).glob("*/run.db"), key=lambda f: f.stat().st_mtime)
    with contextlib.closing(sqlite3.connect(run)) as store:
        weights = store.execute("select weights_hash from evaluations").fetchone()[0]
        seconds = [s for (s,) in store.execute("select seconds from epochs order by number")]
        tested = store.execute("select metrics from examinations where subject = 'champion'").fetchone()[0]
    return json.loads(tested)["test.accuracy"], weights, seconds


def trainings(options, devices):
    """Names and settings, in the order in which they come."""
    if devices == 1:
        return [("one_device", ())]
    found = []
    for name in options.only:
        found.append((name, ALL[name]))
        if options.gloo and name.partition(",")[0] in BY_TEAM:
            carried = f'training.collectives={{backend = "gloo", network = "{options.gloo}"}}'
            found.append((f"{name}, gloo", (*ALL[name], carried)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default=HERE / "shared_network.json")
    parser.add_argument("--experiment", default=HERE / "shared.toml")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--devices", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--slots", type=int, help="instead of as many as devices")
    parser.add_argument("--only", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--gloo", metavar="NETWORK")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    print(f"{'distribution':<38}{'k':>3}  {'accuracy':>8}  {'s an epoch':>10}  weights")
    for devices in options.devices:
        for name, settings in trainings(options, devices):
            with tempfile.TemporaryDirectory() as runs:
                accuracy, weights, seconds = trained(options, name, devices, settings, runs)
            print(f"{name:<38}{devices:>3}  {accuracy:>8.4f}  {statistics.median(seconds):>10.2f}  {weights}",
                  flush=True)


if __name__ == "__main__":
    main()
