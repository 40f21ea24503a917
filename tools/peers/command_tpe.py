#!/usr/bin/env python3
"""Clade and Optuna's TPE over the same program, experiments/command_sklearn.py: for experiments/RESULTS.md.

    command_tpe.py --clade build/torch/bin/clade --seeds 10 [--candidates 100] [--first-seed 1]

For each seed both search the space of experiments/command_sklearn_space.toml with two candidates at a time, each on one
core, and start the program anew for each. They take turns in who is first, so that neither has the machine at its
quieter. Optuna is its TPE with `constant_liar`, as its documentation advises for several trials at a time, two threads,
and a study in SQLite, so that both have a record that outlives them. Prints a line for each search, then the medians.
Needs optuna and scikit-learn in the Python that runs this; the programs run in the same.
"""

import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "experiments"
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
AT_ONCE = 2


def clade(options, seed, folder):
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    generations, rest = divmod(options.candidates, 10)
    if rest:
        raise SystemExit("command_tpe.py: --candidates must be a multiple of 10, the experiment's population")
    words = [options.clade, "run", str(EXPERIMENTS / "command-sklearn.toml"), "--runs", str(folder), "--slots",
             f"cpu:{AT_ONCE}", "--set", f"experiment.seed={seed}", "--set", f"evolution.generations={generations}"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"command_tpe.py: clade ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    [store] = folder.glob("*/run.db")
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        scores = connection.execute("select value from metrics where name = 'accuracy'").fetchall()
    return [score for score, in scores]


def params_of(trial):
    """The space of command_sklearn_space.toml."""
    params = {"scaler": trial.suggest_categorical("scaler", ["none", "standard", "minmax", "quantile"]),
              "components": trial.suggest_float("components", 0.3, 1.0),
              "model": trial.suggest_categorical("model", ["svc", "knn", "forest", "logistic"])}
    if params["model"] == "svc":
        params["svc_c"] = trial.suggest_float("svc_c", 0.1, 1000, log=True)
        params["svc_gamma"] = trial.suggest_float("svc_gamma", 0.0001, 1, log=True)
    elif params["model"] == "knn":
        params["neighbours"] = trial.suggest_int("neighbours", 1, 15)
        params["weights"] = trial.suggest_categorical("weights", ["uniform", "distance"])
    elif params["model"] == "forest":
        params["trees"] = trial.suggest_categorical("trees", [50, 100, 200])
        params["depth"] = trial.suggest_int("depth", 3, 20)
    else:
        params["logistic_c"] = trial.suggest_float("logistic_c", 0.001, 100, log=True)
    return params


def optuna(options, seed, folder):
    import optuna as library
    library.logging.set_verbosity(library.logging.WARNING)
    warnings.simplefilter("ignore", library.exceptions.ExperimentalWarning)

    def score(trial):
        file = folder / f"{trial.number}.json"
        file.write_text(json.dumps(params_of(trial)))
        words = [sys.executable, "command_sklearn.py", str(file), "--data=data/digits.csv.gz", f"--seed={seed}"]
        done = subprocess.run(words, cwd=EXPERIMENTS, env={**os.environ, **ONE_CORE}, capture_output=True, text=True,
                              check=True)
        return json.loads(done.stdout.splitlines()[-1])["accuracy"]

    study = library.create_study(direction="maximize", storage=f"sqlite:///{folder}/study.db",
                                 sampler=library.samplers.TPESampler(seed=seed, constant_liar=True))
    study.optimize(score, n_trials=options.candidates, n_jobs=AT_ONCE)
    return [trial.value for trial in study.trials if trial.value is not None]


PEERS = {"clade": clade, "optuna": optuna}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clade", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=100)
    options = parser.parse_args()
    best, seconds = {name: [] for name in PEERS}, {name: [] for name in PEERS}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for name in sorted(PEERS, reverse=seed % 2 == 0):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="clade-peers-"))
            began = time.perf_counter()
            scores = PEERS[name](options, seed, folder)
            seconds[name].append(time.perf_counter() - began)
            best[name].append(max(scores))
            print(json.dumps({"peer": name, "seed": seed, "candidates": len(scores), "best": round(max(scores), 5),
                              "seconds": round(seconds[name][-1], 1), "load": round(os.getloadavg()[0], 1)}), flush=True)
            shutil.rmtree(folder)
    for name in PEERS:
        print(json.dumps({"peer": name, "seeds": options.seeds, "median best": round(statistics.median(best[name]), 5),
                          "median seconds": round(statistics.median(seconds[name]), 1)}))


if __name__ == "__main__":
    main()
