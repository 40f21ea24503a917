#!/usr/bin/env python3
"""Compares searches in real training: Clade's strategies and Optuna's TPE, each with the same seconds of it.

usage: experiments/peers/optuna_training.py EXPERIMENT [--strategies auto random] [--seeds 5] [--seconds 60] [--clade build/torch/bin/clade]

Optuna trains through `clade evaluate EXPERIMENT` and so in the same space, with the same training, data, split and seed:
it defines by run how many layers there are, the operator of each, its settings and the hyperparameters, all of domains
that Clade tells it. Left out, for TPE has no word for them, are skip connections and the weights by which Clade draws
operators. A network that exceeds the space's limits is not trained, costs nothing, and is told as failed. Clade's
strategies run in `clade bench strategies`. Seconds are processor time inside trainings, measured alike in both; the
training that would end beyond them does not count. The best by validation then meets the test data, once. Methods take
turns seed by seed, and each has one thread.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time


class Desk:
    """`clade evaluate`: a line of JSON in, a line out."""

    def __init__(self, clade, experiment, overrides):
        command = [clade, "evaluate", experiment, "--slots", "cpu:1"]
        for one in overrides:
            command += ["--set", one]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"clade evaluate ended with status {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit(f"clade evaluate ended with status {self.process.returncode}")


def suggest(trial, path, parameter):
    """A value of the parameter's domain; of an ordered list Optuna is told the place."""
    name = path + parameter["name"]
    if parameter["type"] == "real":
        if parameter["low"] == parameter["high"]:
            return parameter["low"]
        return trial.suggest_float(name, parameter["low"], parameter["high"], log=parameter["log"])
    if parameter["type"] == "whole":
        if parameter["low"] == parameter["high"]:
            return parameter["low"]
        if parameter["log"]:
            return trial.suggest_int(name, parameter["low"], parameter["high"], log=True)
        return trial.suggest_int(name, parameter["low"], parameter["high"], step=parameter["step"])
    options = parameter["options"]
    if len(options) == 1:
        return options[0]
    if parameter["ordered"]:
        return options[trial.suggest_int(name, 0, len(options) - 1)]
    return trial.suggest_categorical(name, options)


def suggest_all(trial, path, parameters):
    """Returns the parameters that apply: a condition names one before it."""
    settings = {}
    for one in parameters:
        when = one.get("when")
        if when is None or settings.get(when["parameter"]) in when["values"]:
            settings[one["name"]] = suggest(trial, path, one)
    return settings


def define(trial, space):
    operators = {o["name"]: o["settings"] for o in space["operators"]}
    count = trial.suggest_int("layers", 0 if not operators else 1, space["limits"]["max_nodes"])
    layers = []
    for i in range(count):
        op = trial.suggest_categorical(f"layer{i}.op", list(operators))
        layers.append({"op": op, "settings": suggest_all(trial, f"layer{i}.{op}.", operators[op])})
    return {"layers": layers, "hyperparameters": suggest_all(trial, "", space["hyperparameters"])}


def search_by_tpe(options, seed):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    desk = Desk(options.clade, options.experiment, options.set + [f"experiment.seed={seed}"])
    told = desk.ask(describe=True)
    metric, sign = told["objective"]["metric"], 1 if told["objective"]["maximize"] else -1
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), direction="maximize")
    spent, evaluations, failed, refused, best = 0.0, 0, 0, 0, None
    start = time.process_time()
    while True:
        trial = study.ask()
        result = desk.ask(**define(trial, told["space"]))
        if "error" in result:
            refused += 1
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        spent += result["processor_seconds"]
        if spent > options.seconds:
            spent -= result["processor_seconds"]
            break
        evaluations += result["equal_to"] is None
        if result["outcome"] != "succeeded":
            failed += 1
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        value = sign * result["metrics"][metric]
        study.tell(trial, value)
        # The champion is named as Clade does it: of equals the one with the lower loss.
        rank = (value, -result["metrics"].get("validation.loss", 0))
        if best is None or rank > best[0]:
            best = (rank, result)
    if best is None:
        raise SystemExit(f"optuna tpe, seed {seed}: no training succeeded within the time; allow more --seconds")
    tested = desk.ask(test=best[1]["id"])
    if "error" in tested:
        raise SystemExit(f"optuna tpe, seed {seed}: {tested['error']}")
    desk.close()
    return {"strategy": "optuna tpe", "seed": seed, "evaluations": evaluations, "failed": failed, "refused": refused,
            "training_seconds": spent, "engine_seconds": time.process_time() - start, "champion": best[1]["id"],
            "parameters": best[1]["parameters"], "validation": best[1]["metrics"], "test": tested["metrics"]}


def search_by_clade(options, strategy, seed):
    command = [options.clade, "bench", "strategies", options.experiment, "--strategies", strategy, "--seeds", "1",
               "--first-seed", str(seed), "--seconds", str(options.seconds), "--slots", "cpu:1", "--json"]
    for one in options.set:
        command += ["--set", one]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"clade bench strategies ended with status {ran.returncode}")
    return json.loads(ran.stdout)


def tested(row):
    """The first metric of the test: accuracy, or the error of a regression."""
    return next(iter(row["test"].values()))


def table_of(rows, methods):
    lines = ["  method                 median test     least      most   median validation   evaluations   training s"]
    for name in methods:
        own = [r for r in rows if r["strategy"] == name]
        values = [tested(r) for r in own]
        seen = [next(iter(r["validation"].values())) for r in own]
        lines.append(f"  {name:20}   {statistics.median(values):11.4f}   {min(values):7.4f}   {max(values):7.4f}"
                     f"   {statistics.median(seen):17.4f}   {statistics.median(r['evaluations'] for r in own):11.0f}"
                     f"   {statistics.fmean(r['training_seconds'] for r in own):10.1f}")
    return "\n".join(lines)


def main():
    home = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment")
    parser.add_argument("--strategies", nargs="*", default=["auto", "random"], help="of Clade, as in clade bench strategies")
    parser.add_argument("--no-tpe", action="store_true", help="Clade's strategies alone")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--set", action="append", default=[], help="key=value, as for clade run")
    parser.add_argument("--clade", default=str(home / "build" / "torch" / "bin" / "clade"))
    parser.add_argument("--json", action="store_true", help="the rows too, as one JSON object")
    options = parser.parse_args()
    rows = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for strategy in options.strategies:
            rows.append(search_by_clade(options, strategy, seed))
        if not options.no_tpe:
            rows.append(search_by_tpe(options, seed))
        for row in rows[-len(options.strategies) - (not options.no_tpe):]:
            print(f"seed {seed}: {row['strategy']:20} test {tested(row):.4f}  {row['evaluations']} evaluations in "
                  f"{row['training_seconds']:.1f} s", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"experiment": options.experiment, "seconds": options.seconds, "rows": rows}))
    else:
        print(table_of(rows, list(dict.fromkeys(r["strategy"] for r in rows))))


if __name__ == "__main__":
    main()
