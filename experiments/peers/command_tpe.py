#!/usr/bin/env python3
"""Clade and Optuna's TPE over the same function, that of experiments/command_sklearn.py: for experiments/RESULTS.md.

    command_tpe.py --clade build/torch/bin/clade --seeds 10 [--candidates 100] [--first-seed 1] [--peers clade optuna ...]

For each seed all search the space of experiments/command_sklearn_space.toml with two candidates at a time, each on one
core, and keep their record in SQLite. They take turns in who is first, so that none has the machine at its quieter.

    clade               runs experiments/command-sklearn.toml: the script, a process for each candidate
    optuna              calls the function in two threads of one process, n_jobs=2
    optuna_processes    calls it in two processes that share the study, as its documentation advises for more cores
    optuna_programs     starts the script anew for each trial

Optuna is its TPE with `constant_liar`, as its documentation advises for several trials at a time. Prints a line for
each search, then the medians. Needs optuna and scikit-learn in the Python that runs this.
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
    generations, rest = divmod(options.candidates, 20)
    if rest:
        raise SystemExit("command_tpe.py: --candidates must be a multiple of 20, the experiment's population")
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


def script_score(params, seed, folder):
    """The work of the script, in a process of its own."""
    file = folder / f"{time.monotonic_ns()}.json"
    file.write_text(json.dumps(params))
    words = [sys.executable, "command_sklearn.py", str(file), "--data=data/digits.csv.gz", f"--seed={seed}"]
    done = subprocess.run(words, cwd=EXPERIMENTS, env={**os.environ, **ONE_CORE}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["accuracy"]


def function_score(params, seed, _):
    sys.path.insert(0, str(EXPERIMENTS))
    from command_sklearn import scores_of
    return float(scores_of(params, EXPERIMENTS / "data" / "digits.csv.gz", seed).mean())


def study_of(seed, folder):
    import optuna as library
    library.logging.set_verbosity(library.logging.WARNING)
    warnings.simplefilter("ignore", library.exceptions.ExperimentalWarning)
    return library.create_study(study_name="digits", direction="maximize", storage=f"sqlite:///{folder}/study.db",
                                load_if_exists=True, sampler=library.samplers.TPESampler(seed=seed, constant_liar=True))


def threads(score):
    def search(options, seed, folder):
        """In a process of its own, so that what it has imported helps nobody after it."""
        words = [sys.executable, __file__, "--study", str(folder), "--first-seed", str(seed), "--score", score.__name__,
                 "--candidates", str(options.candidates), "--clade", options.clade]
        subprocess.run(words, env={**os.environ, **ONE_CORE}, check=True)
        return [trial.value for trial in study_of(seed, folder).trials if trial.value is not None]
    return search


def optuna_processes(options, seed, folder):
    study_of(seed, folder)
    # Each has a sampler of its own; with the same seed both would begin alike.
    words = [sys.executable, __file__, "--study", str(folder), "--score", "function_score", "--jobs", "1", "--clade",
             options.clade, "--candidates", str(options.candidates // AT_ONCE), "--first-seed"]
    processes = [subprocess.Popen([*words, str(AT_ONCE * seed + i)], env={**os.environ, **ONE_CORE})
                 for i in range(AT_ONCE)]
    for process in processes:
        if process.wait() != 0:
            raise SystemExit("command_tpe.py: a process of Optuna failed")
    return [trial.value for trial in study_of(seed, folder).trials if trial.value is not None]


def optimize(options):
    """The work of a process of Optuna's."""
    score = {"script_score": script_score, "function_score": function_score}[options.score]
    study_of(options.first_seed, options.study).optimize(
        lambda trial: score(params_of(trial), options.first_seed, options.study), n_trials=options.candidates,
        n_jobs=options.jobs)


PEERS = {"clade": clade, "optuna": threads(function_score), "optuna_processes": optuna_processes,
         "optuna_programs": threads(script_score)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clade", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=["clade", "optuna", "optuna_processes"])
    parser.add_argument("--study", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--score", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=AT_ONCE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.study:
        optimize(options)
        return
    best, seconds = {name: [] for name in options.peers}, {name: [] for name in options.peers}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for name in options.peers[::-1] if seed % 2 == 0 else options.peers:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="clade-peers-"))
            began = time.perf_counter()
            scores = PEERS[name](options, seed, folder)
            seconds[name].append(time.perf_counter() - began)
            best[name].append(max(scores))
            print(json.dumps({"peer": name, "seed": seed, "candidates": len(scores), "best": round(max(scores), 5),
                              "seconds": round(seconds[name][-1], 1), "load": round(os.getloadavg()[0], 1)}), flush=True)
            shutil.rmtree(folder)
    for name in options.peers:
        print(json.dumps({"peer": name, "seeds": options.seeds, "median best": round(statistics.median(best[name]), 5),
                          "median seconds": round(statistics.median(seconds[name]), 1)}))


if __name__ == "__main__":
    main()
