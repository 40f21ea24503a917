#!/usr/bin/env python3
"""Trains cells of NAS-Bench-201 for some epochs on 10,000 images of MNIST, and prints how their order agrees
with the table's (CIFAR-10, 200 epochs): the rank correlation of both accuracies.

    experiments/peers/nas201_ranks.py [--cells 20] [--epochs 2] [--clade build/torch/bin/clade]

The cells are spread evenly over all 15,625 by their accuracy. The table is that of tables/nb201_cifar10.toml
(CLADE_BENCHMARKS), MNIST is where mnist-small.toml has it. The experiment and its run are written
to the folder where this is called; `--show` prints the last run's again.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import optuna_tables

EXPERIMENTS = pathlib.Path(__file__).resolve().parent.parent
# Edges of search_spaces/nas201.toml in the order of the table's six digits, and its operators where they have another name.
EDGES = ["edge_01", "edge_02", "edge_12", "edge_03", "edge_13", "edge_23"]
RENAMED = {"none": "zero", "skip_connect": "identity"}


def table_cells(table):
    """All cells as (accuracy by its objective, six digits), the worst first."""
    edges = {f"edge_{name[5]}{name[7]}": i for i, name in enumerate(table.parameters)}
    return sorted((statistics.mean(table.values[-1][row]), "".join(str(setting[edges[e]]) for e in EDGES))
                  for setting, row in table.rows.items())


def settings_of(arch, words):
    return {edge: RENAMED.get(words[int(digit)], words[int(digit)]) for edge, digit in zip(EDGES, arch)}


def write_experiment(folder, cells, words, epochs):
    points = []
    for _, arch in cells:
        settings = ", ".join(f'{edge} = "{name}"' for edge, name in settings_of(arch, words).items())
        points.append(f'[points.c{arch}]\nlayers = [{{op = "nas201", {settings}}}]\n')
    (folder / "points.toml").write_text("\n".join(points))
    text = (EXPERIMENTS / "mnist-small.toml").read_text()
    for before, after in [
        ('name = "mnist-small"', 'name = "nas201-ranks"'),
        ('"../../shared/data/mnist"', json.dumps(str(EXPERIMENTS.parent.parent / "shared/data/mnist"))),
        ('"../search_spaces/image.toml"', json.dumps(str(EXPERIMENTS.parent / "search_spaces/nas201.toml"))),
        ('strategy = "auto"\npopulation = 16\ngenerations = 6',
         f'strategy = "random"\nfirst = "points.toml"\npopulation = {len(cells)}\ngenerations = 1'),
        ("epochs = 2", f"epochs = {epochs}"),
        ('evaluation_time = "5min"', 'evaluation_time = "1h"'),
    ]:
        assert before in text, f"mnist-small.toml has no {before!r}"
        text = text.replace(before, after)
    (folder / "nas201-ranks.toml").write_text(text)


def ranks(values):
    """From 1; equal values share the mean of their ranks."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def trained(clade):
    """Fitness and parameters of all cells that are trained, by their six digits."""
    shown = subprocess.run([clade, "show", "nas201-ranks", "--generation", "0", "--json"], check=True, capture_output=True)
    return {c["origin"].removeprefix("the seed c"): (c["fitness"], c["parameters"])
            for c in json.loads(shown.stdout)["candidates"] if c["outcome"] == "succeeded"}


def show(cells, found):
    print("cell    table's CIFAR-10  here, MNIST  parameters")
    for accuracy, arch in cells:
        fitness, parameters = found.get(arch, (None, None))
        print(f"{arch}  {accuracy:16.2f}  " + (f"{100 * fitness:11.2f}  {parameters:10,}" if fitness else "          -"))
    both = [(accuracy, found[arch][0]) for accuracy, arch in cells if arch in found]
    if len(both) < 2:
        sys.exit("nas201_ranks: fewer than two cells are trained so far; call this again with --show later")
    correlation = statistics.correlation(*map(ranks, zip(*both)))
    print(f"Spearman's rank correlation of {len(both)} cells: {correlation:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=20, help="how many (20)")
    parser.add_argument("--epochs", type=int, default=2, help="of each training (2)")
    parser.add_argument("--clade", default=str(EXPERIMENTS.parent / "build/torch/bin/clade"))
    parser.add_argument("--show", action="store_true", help="only print what the last run found")
    given = parser.parse_args()
    table = optuna_tables.Table(EXPERIMENTS / "tables" / "nb201_cifar10.toml")
    every = table_cells(table)
    cells = [every[round(i * (len(every) - 1) / (given.cells - 1))] for i in range(given.cells)]
    if not given.show:
        write_experiment(pathlib.Path.cwd(), cells, table.parameters["edge_0_1"][1], given.epochs)
        subprocess.run([given.clade, "run", "nas201-ranks.toml"], check=True)
    show(cells, trained(given.clade))


if __name__ == "__main__":
    main()
