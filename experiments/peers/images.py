"""Image files, and a small ResNet as one writes it by hand, for peers.py. Needs numpy and torch; pandas for CSV files."""

import gzip
import pathlib
import struct
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def read_bytes(file):
    return (gzip.open if str(file).endswith(".gz") else open)(file, "rb").read()


def read_idx(raw):
    """An array of bytes in the format of MNIST: 0, 0, 8 for bytes, the number of sizes, the sizes, the values."""
    if raw[:3] != b"\0\0\x08":
        raise ValueError("no IDX file of bytes")
    sizes = struct.unpack_from(f">{raw[3]}I", raw, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(sizes)


def read_csv(file, target):
    """Square grey images, a row each, with the class in one column: its name, or "last" where there is no header."""
    import pandas as pd
    table = pd.read_csv(file, header=None if target == "last" else 0)
    labels = table.pop(table.columns[-1] if target == "last" else target)
    side = round(table.shape[1] ** 0.5)
    return table.to_numpy(np.float32).reshape(-1, 1, side, side), labels.to_numpy(np.int64)


def read_images(file, target):
    """Images [n, channels, height, width] and labels, as tensors. IDX images have their labels in the file beside them
    that is named labels-idx1 for images-idx3."""
    file = pathlib.Path(file)
    if "images-idx3" in file.name:
        images = read_idx(read_bytes(file))[:, None].astype(np.float32) / 255
        labels = read_idx(read_bytes(file.with_name(file.name.replace("images-idx3", "labels-idx1"))))
    elif ".csv" in file.name:
        images, labels = read_csv(file, target)
    else:  # CIFAR's: a byte for the class, then 3x32x32
        raw = np.frombuffer(read_bytes(file), dtype=np.uint8).reshape(-1, 3073)
        images, labels = raw[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255, raw[:, 0]
    return torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64))


class Images:
    """A training and a test set, scaled by the mean and deviation of the training images' channels."""

    def __init__(self, options):
        (x, self.y), (test_x, self.test_y) = (read_images(f, options.target) for f in (options.train, options.test))
        if options.limit:
            kept = torch.from_numpy(np.random.default_rng(options.seed).permutation(len(x))[:options.limit])
            x, self.y = x[kept], self.y[kept]
        mean, deviation = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
        self.x, self.test_x = (x - mean) / deviation, (test_x - mean) / deviation
        self.channels, self.height = x.shape[1:3]
        self.classes = int(self.y.max()) + 1

    def by_hand(self):
        """The recipe and size that one takes without trying: photographs are mirrored, digits are not."""
        return {"learning_rate": 0.1, "weight_decay": 5e-4, "label_smoothing": 0.1, "batch": 64,
                "shift": self.height // 8, "flip": self.channels == 3, "width": 16, "depth": 1}

    def network(self, recipe):
        return resnet(self.channels, self.classes, recipe["width"], recipe["depth"])


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.a = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.b = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, v):
        return F.relu(self.nb(self.b(F.relu(self.na(self.a(v))))) + self.skip(v))


def resnet(channels, classes, width, depth):
    """Three stages of `depth` blocks, of once, twice and four times the width."""
    layers = [nn.Conv2d(channels, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    inputs = width
    for stage in range(3):
        for block in range(depth):
            layers.append(Block(inputs, width << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def parameters_of(network):
    return sum(p.numel() for p in network.parameters())


def augmented(images, recipe):
    if recipe["flip"]:
        mirrored = torch.rand(len(images)) < 0.5
        images[mirrored] = images[mirrored].flip(3)
    shift = recipe["shift"]
    if shift > 0:
        height, width = images.shape[2:]
        down, right = torch.randint(0, 2 * shift + 1, (2,)).tolist()
        images = F.pad(images, (shift,) * 4)[:, :, down:down + height, right:right + width]
    return images


def one_cycle(highest, done):
    rate = highest * (done / 0.3 if done < 0.3 else 0.5 * (1 + np.cos(np.pi * min(1, (done - 0.3) / 0.7))))
    return max(rate, 1e-3 * highest)


def train_epoch(network, optimizer, recipe, x, y, done, deadline):
    """`done(share)` is the share of the training that lies behind, given the epoch's. False if time ran out."""
    network.train()
    batches = torch.randperm(len(x)).split(recipe["batch"])
    for step, indices in enumerate(batches):
        if time.perf_counter() > deadline:
            return False
        if len(indices) == 1:
            continue  # Which batch norm cannot normalise.
        for group in optimizer.param_groups:
            group["lr"] = one_cycle(recipe["learning_rate"], done(step / len(batches)))
        optimizer.zero_grad()
        F.cross_entropy(network(augmented(x[indices], recipe)), y[indices],
                        label_smoothing=recipe["label_smoothing"]).backward()
        optimizer.step()
    return True


def sgd(network, recipe):
    return torch.optim.SGD(network.parameters(), lr=recipe["learning_rate"], momentum=0.9, nesterov=True,
                           weight_decay=recipe["weight_decay"])


def train_until(network, recipe, x, y, deadline):
    """Trains for as many epochs as the time allows, as measured so far; the schedule is laid over them."""
    optimizer, epoch, an_epoch = sgd(network, recipe), 0, None
    while True:
        start = time.perf_counter()
        left = deadline - start
        total = epoch + max(1, int(left / an_epoch)) if an_epoch else 70
        if an_epoch and left < an_epoch or left < 0:
            return epoch
        train_epoch(network, optimizer, recipe, x, y, lambda share: (epoch + share) / total, deadline)
        epoch += 1
        an_epoch = time.perf_counter() - start


def accuracy(network, x, y):
    network.eval()
    with torch.no_grad():
        said = torch.cat([network(part) for part in x.split(256)]).argmax(1)
    return float((said == y).float().mean())
