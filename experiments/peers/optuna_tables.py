#!/usr/bin/env python3
"""Runs Optuna's searches on the tables that `clade bench search` uses, measured alike.

usage: experiments/peers/optuna_tables.py [--tables FILE...] [--samplers tpe random nsga2 hyperband]
                                     [--seeds 100] [--evaluations 200] [--processes 2]
                                     [--maximize METRIC...] [--minimize METRIC...]

Reads the descriptions of engine/config/experiment/table_file.cpp (choices and ranges without conditions). An evaluation is one
seed of the greatest fidelity; one of fewer epochs counts as its share, and going on as what it adds (as all its epochs,
where the table's fidelities are separate trainings); the same row again is free, is told to the sampler once more,
and has the same value. The incumbent is the best of those evaluated at the greatest fidelity that any was. Prints one
JSON object with the names of `clade bench search --json`, which `clade bench search --against` reads; "ask" is the
processor time of asking and telling. With further metrics to maximize or minimize, which every table must have, its
search is for a front, and regret is that of hypervolume.
"""

import argparse
import csv
import gzip
import hashlib
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
import time
import tomllib

import optuna_fronts

TOP_ROWS = 16


def merged(file):
    """The description with what it includes, and the folder that `folder` is relative to."""
    says = tomllib.loads(file.read_text())
    home = file.parent / says["folder"] if "folder" in says else None
    if "include" in says:
        base, base_home = merged(file.parent / says.pop("include"))
        home = home or base_home
        for key, value in base.items():
            if isinstance(value, dict) and isinstance(says.get(key), dict):
                says[key] = value | says[key]
            else:
                says.setdefault(key, value)
    return says, home


def flattened(metrics, path=""):
    for key, value in metrics.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{path}{key}.")
        else:
            yield path + key, value


def domain_of(says):
    """("choice", values) or ("float"/"int", low, high, log)."""
    if isinstance(says, dict) and "low" in says:
        whole = isinstance(says["low"], int) and isinstance(says["high"], int)
        return ("int" if whole else "float", says["low"], says["high"], says.get("log", False))
    values = says.get("choice", says.get("value")) if isinstance(says, dict) else says
    values = values if isinstance(values, list) else [values]
    if any(isinstance(v, float) for v in values):
        values = [float(v) for v in values]
    numbers = all(not isinstance(v, str) for v in values)
    ordered = numbers and all(a < b for a, b in zip(values, values[1:]))
    if isinstance(says, dict):
        ordered = says.get("ordered", ordered)
    return ("choice", values, ordered)


def number(text):
    text = text.strip()
    if text in ("", "?", "NA"):
        return None
    value = float(text)
    return value if math.isfinite(value) else math.inf


class Table:
    def __init__(self, file):
        says, home = merged(pathlib.Path(file))
        root = os.environ.get("CLADE_BENCHMARKS") or home or pathlib.Path(file).parent
        columns = {}
        for name in says["files"]:
            path = pathlib.Path(root) / name
            opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="")
            with opened as text:
                rows = list(csv.reader(text))
            for i, column in enumerate(rows[0]):
                columns.setdefault(column, [row[i] for row in rows[1:]])
        self.name = pathlib.Path(file).stem
        self.count = len(next(iter(columns.values())))
        self.parameters = {k: domain_of(v) for k, v in sorted(says["hyperparameters"].items())}
        self.nearest = says.get("lookup", "exact") == "nearest"
        fidelities = says.get("fidelities", [1])
        if isinstance(fidelities, dict):
            fidelities = list(range(fidelities.get("first", 1), fidelities["last"] + 1))
        self.fidelities = fidelities
        self.separate = says.get("separate", False)
        goal = says["objective"]
        self.maximize = "maximize" in goal
        objective = goal["maximize"] if self.maximize else goal["minimize"]
        patterns = dict(flattened(says["metrics"]))
        seeds = [str(s) for s in says.get("seeds", [])]
        self.values = self.read_metric(columns, patterns[objective], seeds)
        of_test = "test." + objective.split(".", 1)[-1]
        truth = says.get("truth", of_test if of_test in patterns else objective)
        if "cost" in says:
            patterns["seconds"] = says["cost"]
        self.objective, self.truth, self.metrics = objective, truth, set(patterns)
        # At the greatest fidelity.
        self.metric = lambda name: self.read_metric(columns, patterns[name], seeds)[-1]
        self.truths = [self.mean(run) for run in self.read_metric(columns, patterns[truth], seeds)[-1]]
        self.read_keys(says.get("key", {}), columns)
        finite = sorted((t for t in self.truths if t is not None and math.isfinite(t)), reverse=self.maximize)
        self.best, self.worst = finite[0], finite[-1]
        limit = finite[min(TOP_ROWS, len(finite)) - 1]
        self.top = [t is not None and math.isfinite(t) and (t >= limit if self.maximize else t <= limit)
                    for t in self.truths]

    def read_metric(self, columns, pattern, seeds):
        """[fidelity][row]: the values of the seeds that were run."""
        patterns = pattern if isinstance(pattern, list) else [pattern] * len(self.fidelities)
        if len(patterns) == 1:
            patterns *= len(self.fidelities)
        result = []
        for index, (text, fidelity) in enumerate(zip(patterns, self.fidelities, strict=True)):
            text = text.replace("{fidelity}", str(fidelity)).replace("{index}", str(index))
            names = [text.replace("{seed}", s) for s in seeds] if "{seed}" in text else [text]
            read = [[number(cell) for cell in columns[name]] for name in names]
            result.append([[v for v in run if v is not None] for run in zip(*read)])
        return result

    def truth_of(self, name):
        of_test = "test." + name.split(".", 1)[-1]
        return self.truth if name == self.objective else of_test if of_test in self.metrics else name

    def mean(self, run):
        return sum(run) / len(run) if run else None

    def read_keys(self, key, columns):
        names = list(self.parameters)
        if "column" in key:
            order = [key["digits"].index(n) for n in names]
            digits = columns[key["column"]]
            settings = [tuple(int(text[i], 36) for i in order) for text in digits]
        else:
            read = [columns[key.get("columns", {}).get(n, n)] for n in names]
            settings = [tuple(self.code(n, text) for n, text in zip(names, row)) for row in zip(*read)]
        if self.nearest:
            import numpy
            self.places = numpy.array([[self.place(n, v) for n, v in zip(names, s)] for s in settings])
        self.rows = {s: i for i, s in enumerate(settings)}

    def code(self, name, text):
        domain = self.parameters[name]
        if domain[0] != "choice":
            return float(text)
        for i, value in enumerate(domain[1]):
            if value == text or (not isinstance(value, str) and value == float(text)):
                return i
        raise SystemExit(f"{self.name}: {name} is {text}, which the description does not list")

    def place(self, name, v):
        domain = self.parameters[name]
        if domain[0] == "choice":
            return v / max(len(domain[1]) - 1, 1) if domain[2] else v
        low, high, log = domain[1:]
        return (math.log(v / low) / math.log(high / low)) if log else (v - low) / (high - low)

    def find(self, setting):
        key = tuple(setting)
        if not self.nearest:
            return self.rows.get(key)
        import numpy
        wanted = numpy.array([self.place(n, v) for n, v in zip(self.parameters, key)])
        apart = (self.places - wanted) ** 2
        for i, domain in enumerate(self.parameters.values()):
            if domain[0] == "choice" and not domain[2]:
                apart[:, i] = apart[:, i] != 0
        return int(apart.sum(axis=1).argmin())

    def value(self, row, fidelity, seed):
        """Infinite where it diverged, at this fidelity or below; None where no seed was run."""
        value = None
        for values in self.values[:fidelity + 1]:
            value = self.drawn(values[row], row, seed)
            if value == math.inf:
                break
        return value

    def drawn(self, run, row, seed):
        if not run:
            return None
        drawn = hashlib.blake2b(repr((seed, row)).encode(), digest_size=8).digest()
        return run[int.from_bytes(drawn) % len(run)]

    def shortfall(self, row):
        truth = self.truths[row]
        return abs(self.best - (truth if truth is not None and math.isfinite(truth) else self.worst))


class Account:
    """The counts of engine/simulation/table_search.cpp."""

    def __init__(self, table, seed, evaluations):
        self.table, self.seed, self.evaluations = table, seed, evaluations
        self.regret, self.first_top, self.first_best, self.spent, self.best = [], None, None, 0.0, None
        self.trained = {}

    def full(self):
        return len(self.regret) >= self.evaluations

    def current(self):
        return self.best[2] if self.best else abs(self.table.best - self.table.worst)

    def evaluate(self, setting, fidelity):
        """The value, greater is better; None where it failed."""
        table = self.table
        row = table.find(setting)
        value = None if row is None else table.value(row, fidelity, self.seed)
        before = -1 if row is None else self.trained.get(row, -1)
        if fidelity > before:
            known = table.fidelities[before] if before >= 0 and not table.separate else 0
            epochs = table.fidelities[fidelity] - known
            self.trained[row] = fidelity
            self.charge(epochs / table.fidelities[-1], row, fidelity, value)
        if value is None or not math.isfinite(value):
            return None
        return value if table.maximize else -value

    def charge(self, cost, row, fidelity, value):
        ended = self.spent + cost
        while len(self.regret) + 1 < ended - 1e-9 and not self.full():
            self.regret.append(self.current())
        self.spent = ended
        if row is not None and value is not None and math.isfinite(value):
            worth = (fidelity, value if self.table.maximize else -value)
            if self.best is None or worth > self.best[:2]:
                self.best = (*worth, self.table.shortfall(row))
        last = len(self.table.fidelities) - 1
        if row is not None and self.table.top[row] and fidelity == last:
            if self.first_top is None:
                self.first_top = self.spent
            if self.first_best is None and self.table.truths[row] == self.table.best:
                self.first_best = self.spent
        while len(self.regret) + 1 <= ended + 1e-9 and not self.full():
            self.regret.append(self.current())


class FrontAccount(Account):
    """The same of several objectives."""

    def __init__(self, table, front, seed, evaluations):
        super().__init__(table, seed, evaluations)
        self.front, self.found = front, optuna_fronts.FoundFront(front)

    def current(self):
        return self.found.regret

    def evaluate(self, setting, fidelity):
        """All objectives, greater is better; None where one failed."""
        row = self.table.find(setting)
        told = None
        if row is not None:
            first = self.table.value(row, fidelity, setting, self.seed)
            values = [first if self.table.maximize or first is None else -first]
            for runs, sign in self.front.others:
                v = self.table.drawn(runs[row], row, self.seed)
                values.append(v if v is None else sign * v)
            if all(v is not None and math.isfinite(v) for v in values):
                told = tuple(values)
        if told is not None:
            self.found.add(row)
        super().evaluate(setting, fidelity)
        return told


def distributions(optuna, table):
    result = {}
    for name, domain in table.parameters.items():
        if domain[0] == "choice":
            # Optuna's numbers of a list are told to be ordered by their place in it.
            count = len(domain[1])
            result[name] = (optuna.distributions.IntDistribution(0, count - 1) if domain[2]
                            else optuna.distributions.CategoricalDistribution(list(range(count))))
        elif domain[0] == "int":
            result[name] = optuna.distributions.IntDistribution(domain[1], domain[2], log=domain[3])
        else:
            result[name] = optuna.distributions.FloatDistribution(domain[1], domain[2], log=domain[3])
    return result


def study_of(optuna, sampler, table, seed, objectives=1):
    samplers = optuna.samplers
    pruner = optuna.pruners.NopPruner()
    made = {"tpe": lambda: samplers.TPESampler(seed=seed),
            "random": lambda: samplers.RandomSampler(seed=seed),
            "nsga2": lambda: samplers.NSGAIISampler(seed=seed),
            "hyperband": lambda: samplers.TPESampler(seed=seed)}[sampler]()
    if sampler == "hyperband":
        pruner = optuna.pruners.HyperbandPruner(min_resource=table.fidelities[0], max_resource=table.fidelities[-1])
    if objectives > 1:
        return optuna.create_study(sampler=made, directions=["maximize"] * objectives)
    return optuna.create_study(sampler=made, pruner=pruner, direction="maximize")


def search(task):
    file, sampler, seed, evaluations, others = task
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    table = opened(file)
    study = study_of(optuna, sampler, table, seed, 1 + len(others))
    space = distributions(optuna, table)
    account = (FrontAccount(table, front_of(file, others), seed, evaluations) if others
               else Account(table, seed, evaluations))
    fidelities = range(len(table.fidelities)) if sampler == "hyperband" else [len(table.fidelities) - 1]
    asks = []
    while not account.full() and len(asks) < 20 * evaluations + 1000:
        start = time.process_time()
        trial = study.ask(space)
        spent = time.process_time() - start
        setting = tuple(trial.params[name] for name in table.parameters)
        state, value = optuna.trial.TrialState.COMPLETE, None
        for fidelity in fidelities:
            value = account.evaluate(setting, fidelity)
            if value is None:
                state = optuna.trial.TrialState.FAIL
                break
            if sampler == "hyperband" and fidelity < fidelities[-1]:
                start = time.process_time()
                trial.report(value, table.fidelities[fidelity])
                pruned = trial.should_prune()
                spent += time.process_time() - start
                if pruned:
                    state = optuna.trial.TrialState.PRUNED
                    break
        start = time.process_time()
        study.tell(trial, value if state == optuna.trial.TrialState.COMPLETE else None, state)
        asks.append(spent + time.process_time() - start)
    account.regret += [account.current()] * (evaluations - len(account.regret))
    return account.regret, account.first_top, statistics.fmean(asks), max(asks), account.first_best


TABLES = {}


def opened(file):
    if file not in TABLES:
        TABLES[file] = Table(file)
    return TABLES[file]


FRONTS = {}


def front_of(file, others):
    if (file, others) not in FRONTS:
        table = opened(file)
        FRONTS[file, others] = optuna_fronts.Front(table, ((table.objective, table.maximize), *others))
    return FRONTS[file, others]


def student(freedom):
    few = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306]
    if freedom < 1:
        return 0
    if freedom <= len(few):
        return few[freedom - 1]
    z = 1.959963985
    return (z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))


def until_of(what, seeds):
    """Evaluations until it was found, over all seeds; a mean only where all of them found it."""
    until = sorted(math.inf if s is None else s for s in seeds)
    found = {"median": (until[(len(until) - 1) // 2] + until[len(until) // 2]) / 2, "mean": statistics.fmean(until)}
    return {f"{k}_to_{what}": v if math.isfinite(v) else None for k, v in found.items()} | {
        f"reached_{what}": sum(map(math.isfinite, until))}


def row_of(name, outcomes, checkpoints):
    means, halves, of_seeds = [], [], []
    for at in checkpoints:
        values = [o[0][at - 1] for o in outcomes]
        of_seeds.append(values)
        means.append(statistics.fmean(values))
        halves.append(student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
                      if len(values) > 1 else 0.0)
    return {"name": name, "regret": means, "interval": halves,
            **until_of("top", [o[1] for o in outcomes]),
            **until_of("best", [o[4] for o in outcomes]),
            "ask_mean_ms": 1e3 * statistics.fmean(o[2] for o in outcomes),
            "ask_max_ms": 1e3 * max(o[3] for o in outcomes),
            "regret_of_seeds": of_seeds}


def main():
    here = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "tables"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=sorted(map(str, here.glob("*.toml"))))
    parser.add_argument("--samplers", nargs="+", default=["tpe", "random", "nsga2", "hyperband"],
                        choices=["tpe", "random", "nsga2", "hyperband"])
    parser.add_argument("--maximize", nargs="+", default=[], help="metrics beside each table's objective")
    parser.add_argument("--minimize", nargs="+", default=[], help="the same, to be lowered")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    checkpoints = [n for n in (25, 50, 100, 200) if n < options.evaluations] + [options.evaluations]
    out = {"seeds": options.seeds, "evaluations": options.evaluations, "checkpoints": checkpoints, "tables": []}
    others = (*((name, True) for name in options.maximize), *((name, False) for name in options.minimize))
    if others and "hyperband" in options.samplers:
        parser.error("Optuna prunes by one objective: name --samplers without hyperband")
    for file in options.tables:  # Before the processes begin, which share them.
        missing = [name for name, _ in others if name not in opened(file).metrics]
        if missing:
            parser.error(f"{file} has no metric {missing[0]}; it has {', '.join(sorted(opened(file).metrics))}")
        if others:
            front_of(file, others)
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        for file in options.tables:
            table = opened(file)
            rows = []
            for sampler in options.samplers:
                if sampler == "hyperband" and len(table.fidelities) == 1:
                    continue
                tasks = [(file, sampler, seed, options.evaluations, others) for seed in range(1, options.seeds + 1)]
                rows.append(row_of("optuna " + sampler, pool.map(search, tasks, chunksize=1), checkpoints))
                shown = {name: value for name, value in rows[-1].items() if name != "regret_of_seeds"}
                print(f"{table.name}: {json.dumps(shown)}", file=sys.stderr, flush=True)
            out["tables"].append({"name": table.name, "rows": rows})
    print(json.dumps(out))


if __name__ == "__main__":
    main()
