"""Trains a network that Clade wrote, and says after each epoch how good it is: train_network.py network.py --data FILE"""

import argparse
import gzip
import importlib.util
import json

import torch
from torch.nn import functional


def network_of(file):
    spec = importlib.util.spec_from_file_location("network", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network")
    parser.add_argument("--data", required=True)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with gzip.open(given.data, "rt") as lines:
        table = torch.tensor([[float(value) for value in line.split(",")] for line in lines])
    table = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(0))]  # The same for all candidates.
    x, y = table[:, :-1].reshape(-1, 1, 8, 8) / 16, table[:, -1].long()
    kept = len(x) // 4
    torch.manual_seed(given.seed)
    network = network_of(given.network)
    optimiser = torch.optim.AdamW(network.parameters(), given.lr)
    for epoch in range(1, given.epochs + 1):
        network.train()
        for batch in (kept + torch.randperm(len(x) - kept)).split(64):
            optimiser.zero_grad()
            functional.cross_entropy(network(x[batch]), y[batch]).backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            accuracy = (network(x[:kept]).argmax(1) == y[:kept]).float().mean().item()
        print(json.dumps({"epoch": epoch, "accuracy": accuracy}), flush=True)


if __name__ == "__main__":
    main()
