#!/usr/bin/env python3
"""How close `clade jobs run` comes to the best schedule of a folder of eight scripts, as a team has them: trainings by
scikit-learn, of which two fail, one hangs, one takes too much memory and one needs a second try.

usage: tools/bench/jobs_schedule.py CLADE [RUNS]       with a Python that has scikit-learn; in a folder of its own

The second and later runs know how long each job took and begin with the longest. The best schedule is the shortest
of all ways to give the jobs, as long as each took in that run, to two slots.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "data" / "digits.csv.gz"
SLOTS = 2

TRAIN = f"""import os, sys, time
import numpy
from sklearn.model_selection import cross_val_score
from {{module}} import {{model}}
table = numpy.loadtxt("{DIGITS}", delimiter=",")
for i in range({{times}}):
    print(cross_val_score({{model}}({{settings}}), table[:, :-1], table[:, -1], cv=5).mean(), flush=True)
"""


def training(module, model, settings, times):
    return TRAIN.format(module=module, model=model, settings=settings, times=times)


SCRIPTS = {
    "train_svc.py": training("sklearn.svm", "SVC", "C=10, gamma=0.001", 8),
    "train_forest.py": training("sklearn.ensemble", "RandomForestClassifier", "200, random_state=i", 3),
    "train_logistic.py": training("sklearn.linear_model", "LogisticRegression", "max_iter=100", 4),
    "train_neighbours.py": training("sklearn.neighbors", "KNeighborsClassifier", "3", 6)
                           + "if os.environ['CLADE_TRY'] == '1': sys.exit(75)\n",
    "train_broken.py": training("sklearn.naive_bayes", "GaussianNB", "", 40) + "raise ValueError('no such column')\n",
    "train_wrong.sh": "echo no data >&2; exit 3\n",
    "train_hanging.sh": "trap '' TERM; while :; do sleep 1; done\n",
    "train_large.py": "kept = []\nwhile True:\n    kept.append(b'x' * (1 << 22))\n",
}
OUTCOMES = {"train_svc": "succeeded", "train_forest": "succeeded", "train_logistic": "succeeded",
            "train_neighbours": "succeeded", "train_broken": "failed", "train_wrong": "failed",
            "train_hanging": "timed out", "train_large": "out of memory"}


def best_schedule(seconds):
    return min(max(sum(s for s, where in zip(seconds, slots) if where == slot) for slot in range(SLOTS))
               for slots in itertools.product(range(SLOTS), repeat=len(seconds)))


def run(clade, folder):
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([clade, "jobs", "run", "scripts", "--max-workers", str(SLOTS), "--oversubscribe", "--retries",
                           "1", "--timeout", "12s", "--memory", "1GiB"], cwd=folder, env=environment, check=False,
                          capture_output=True, text=True)
    file = max((folder / "summaries").glob("*.json"), key=lambda f: f.stat().st_mtime_ns)
    summary = json.loads(file.read_text())
    if done.returncode != 1 or {job["name"]: job["outcome"] for job in summary["jobs"]} != OUTCOMES:
        raise SystemExit(f"jobs_schedule.py: clade ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return summary


def main(clade, runs=3):
    with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd()) as name:
        folder = pathlib.Path(name)
        (folder / "scripts").mkdir()
        for script, text in SCRIPTS.items():
            (folder / "scripts" / script).write_text(text)
        for number in range(1, runs + 1):
            summary = run(str(pathlib.Path(clade).resolve()), folder)
            best = best_schedule([job["seconds"] for job in summary["jobs"]])
            print(json.dumps({"run": number, "one after another": round(summary["sequential_seconds"], 2), "best": round(best, 2),
                              "wall": round(summary["wall_seconds"], 2),
                              "over the best": round(summary["wall_seconds"] / best - 1, 3),
                              "load": round(os.getloadavg()[0], 1)}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
