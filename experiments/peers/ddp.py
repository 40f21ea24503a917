#!/usr/bin/env python3
"""The peer of `clade train` on several slots: the same network by PyTorch's DistributedDataParallel over Gloo.

    torchrun --nproc-per-node 2 experiments/peers/ddp.py experiments/peers/shared_network.json [--epochs 3] [--batch 64]

One thread for each rank, --batch examples for each in a step, made-up images of MNIST's size. Prints the seconds of each
epoch after the first, and the steps a second of the median.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
from torch import distributed, nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench"))
from torch_step import Network, optimizer_of  # noqa: E402

EXAMPLES, INPUT, OUTPUTS = 10_000, (1, 28, 28), 10


def epoch(network, optimizer, features, targets, batch, rank, ranks, number):
    network.train()
    order = torch.randperm(len(features), generator=torch.Generator().manual_seed(number))
    for indices in order.split(batch * ranks):
        own = indices.tensor_split(ranks)[rank]
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(features[own]), targets[own]).backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    distributed.init_process_group("gloo")
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    with open(options.network, encoding="utf-8") as file:
        description = json.load(file)
    network = nn.parallel.DistributedDataParallel(Network({**description, "input": INPUT, "outputs": OUTPUTS}))
    optimizer = optimizer_of(network, description["hyperparameters"])
    features, targets = torch.randn(EXAMPLES, *INPUT), torch.randint(OUTPUTS, (EXAMPLES,))
    seconds = []
    for number in range(options.epochs + 1):
        distributed.barrier()
        start = time.perf_counter()
        epoch(network, optimizer, features, targets, options.batch, rank, ranks, number)
        distributed.barrier()
        seconds.append(time.perf_counter() - start)
    if rank == 0:
        steps = -(-EXAMPLES // (options.batch * ranks))
        print(json.dumps({"peer": "ddp", "ranks": ranks, "epochs": [round(s, 2) for s in seconds[1:]],
                          "steps_a_second": round(steps / statistics.median(seconds[1:]), 2)}))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
