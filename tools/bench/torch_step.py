#!/usr/bin/env python3
"""The peer of `clade bench step`: trains a network of the same layers by PyTorch, as people write it.

usage: tools/bench/torch_step.py NETWORK.json [--compile]        started by `clade bench step`

NETWORK.json has "layers" and "hyperparameters" as `clade evaluate` takes them, "input" (the shape of an example),
"outputs" and "examples" (of an epoch). After two epochs that warm up it says "ready PARAMETERS", or "failed WHY" where
they fail, as they do with --compile where nothing compiles. Each line that it then reads lets it train an epoch, whose
seconds it writes: forward, loss, backward and step of every batch, gathered in a new order.
"""

import argparse
import json
import sys
import time

import torch
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "none": nn.Identity}


def conv(channels, settings, filters, groups):
    kernel, stride = settings["kernel"], settings.get("stride", 1)
    return nn.Sequential(
        nn.Conv2d(channels, filters, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(filters), ACTIVATIONS[settings["activation"]]())


def layer(op, settings, width):
    """The module, and the width that leaves it."""
    if op == "conv":
        return conv(width, settings, settings["filters"], 1), settings["filters"]
    if op == "depthwise_conv":
        return conv(width, settings, width, width), width
    if op == "dense":
        return nn.Sequential(nn.Linear(width, settings["units"]), nn.ReLU()), settings["units"]
    if op == "activation":
        return nn.ReLU(), width
    if op == "global_avg_pool":
        return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), width
    raise ValueError(f"no module for {op}")


class Network(nn.Module):
    def __init__(self, description):
        super().__init__()
        widths = [description["input"][0]]
        self.inputs = []
        self.steps = nn.ModuleList()
        for one in description["layers"]:
            module, width = layer(one["op"], one["settings"], widths[one["inputs"][0]])
            self.steps.append(module)
            self.inputs.append(one["inputs"])
            widths.append(width)
        self.output = nn.Linear(widths[-1], description["outputs"])

    def forward(self, x):
        values = [x]
        for module, inputs in zip(self.steps, self.inputs):
            value = values[inputs[0]]
            for other in inputs[1:]:
                value = value + values[other]
            values.append(module(value))
        return self.output(values[-1])


def optimizer_of(network, h):
    if h["optimizer"] == "sgd":
        return torch.optim.SGD(network.parameters(), lr=h["learning_rate"], momentum=h["momentum"], nesterov=True,
                               weight_decay=h["weight_decay"])
    return torch.optim.AdamW(network.parameters(), lr=h["learning_rate"], weight_decay=h["weight_decay"])


def epoch(network, optimizer, features, targets, batch):
    start = time.perf_counter()
    network.train()
    total = 0.0
    for indices in torch.randperm(len(features)).split(batch):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(features[indices]), targets[indices])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(indices)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("network")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    with open(options.network, encoding="utf-8") as file:
        description = json.load(file)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    network = Network(description)
    parameters = sum(p.numel() for p in network.parameters())
    optimizer = optimizer_of(network, description["hyperparameters"])
    features = torch.randn(description["examples"], *description["input"])
    targets = torch.randint(description["outputs"], (description["examples"],))
    batch = description["hyperparameters"]["batch_size"]
    trained = torch.compile(network) if options.compile else network
    try:
        # torch.compile compiles again when it first meets another size, that of the last batch.
        for _ in range(2):
            epoch(trained, optimizer, features, targets, batch)
    except Exception as failure:  # torch.compile raises what its back end raises
        print("failed", type(failure).__name__ + ":", (str(failure).strip().splitlines() or [""])[0], flush=True)
        sys.exit(1)
    print("ready", parameters, flush=True)
    for _ in sys.stdin:
        print(epoch(trained, optimizer, features, targets, batch), flush=True)


if __name__ == "__main__":
    main()
