"""Trains a small convolutional network on MNIST and prints a JSON line after each epoch.

With --save FILE it saves after each epoch, and goes on from the file if it is there.
"""

import argparse
import gzip
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional


def read_idx(file, limit):
    content = bytearray(gzip.decompress(file.read_bytes()))
    sizes = [int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(content[3])]
    return torch.frombuffer(content, dtype=torch.uint8, offset=4 + 4 * len(sizes)).reshape(sizes)[: limit or None]


def load(folder, part, limit):
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz", limit)
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz", limit)
    return (images.unsqueeze(1).float() - 33.3) / 78.6, labels.long()


def make_network(width, dropout):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(dropout), nn.Linear(2 * width * 49, 10),
    )


def train_epoch(network, optimizer, images, labels, batch_size):
    network.train()
    for batch in torch.randperm(len(labels)).split(batch_size):
        optimizer.zero_grad()
        functional.cross_entropy(network(images[batch]), labels[batch]).backward()
        optimizer.step()


@torch.no_grad()
def validate(network, images, labels):
    network.eval()
    scores = network(images)
    return {
        "loss": functional.cross_entropy(scores, labels).item(),
        "accuracy": (scores.argmax(1) == labels).float().mean().item(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the files of MNIST")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--dropout", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=0, help="use so many images; 0 for all")
    parser.add_argument("--save", type=pathlib.Path)
    given = parser.parse_args()

    torch.manual_seed(given.seed)
    images, labels = load(given.data, "train", given.limit)
    held_back = len(labels) // 6  # The last sixth validates.
    network = make_network(given.width, given.dropout)
    optimizer = torch.optim.SGD(network.parameters(), lr=given.lr, momentum=given.momentum)
    done = 0
    if given.save and given.save.exists():
        saved = torch.load(given.save)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["random"])
        done = saved["epoch"]
    for epoch in range(done + 1, given.epochs + 1):
        train_epoch(network, optimizer, images[:-held_back], labels[:-held_back], given.batch_size)
        measured = validate(network, images[-held_back:], labels[-held_back:])
        if given.save:
            torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(),
                        "random": torch.get_rng_state(), "epoch": epoch}, given.save)
        print(json.dumps({"epoch": epoch, **measured}), flush=True)


if __name__ == "__main__":
    main()
