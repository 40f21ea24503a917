#!/usr/bin/env python3
"""Trains two small residual networks on CIFAR-like images by different recipes, for a number of epochs each.

    image_recipes.py TRAIN.bin.gz TEST.bin.gz --epochs 10 40 --seeds 3

Prints test accuracy, plain and as the mean of an image and its mirror image; on CUDA where there is a device. The best
recipe became search_spaces/residual.toml; RESULTS.md has figures of an H100. Needs torch and numpy.
"""

import argparse
import gzip
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NETWORKS = {"resnet": (16, (16, 1), (32, 2), (64, 2)), "wide_resnet": (24, (32, 2), (64, 2), (128, 2))}
RECIPES = {
    "SGD 0.1": {"rate": 0.1, "decay": 5e-4},
    "SGD 0.2": {"rate": 0.2, "decay": 5e-4},
    "Muon 0.05 with SGD 0.1": {"rate": 0.1, "decay": 5e-4, "muon": 0.05, "length": "aspect"},
    "Muon with AdamW, 0.005": {"rate": 0.005, "adamw": True, "muon": 0.005, "length": "rms"},
    "Muon with AdamW, 0.01": {"rate": 0.01, "adamw": True, "muon": 0.01, "length": "rms"},
    "Muon with AdamW, 0.02": {"rate": 0.02, "adamw": True, "muon": 0.02, "length": "rms"},
    "Muon 0.05 with SGD 0.1, whitened": {"rate": 0.1, "decay": 5e-4, "muon": 0.05, "length": "aspect", "whitens": True},
}
BATCH, SHIFT, MUON_DECAY, WARMUP = 64, 4, 0.1, 0.3


def read_images(file):
    raw = np.frombuffer(gzip.open(file).read(), np.uint8).reshape(-1, 3073)
    return torch.tensor(raw[:, 1:].reshape(-1, 3, 32, 32) / 255, dtype=torch.float32), torch.tensor(raw[:, 0].astype(np.int64))


class Block(nn.Module):
    def __init__(self, before, filters, stride):
        super().__init__()
        self.first = nn.Conv2d(before, filters, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(filters)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(filters)
        fits = before == filters and stride == 1
        self.skip = nn.Identity() if fits else nn.Conv2d(before, filters, 1, stride, bias=False)

    def forward(self, x):
        branch = self.second_norm(self.second(F.relu(self.first_norm(self.first(x)))))
        return F.relu(branch + self.skip(x))


def make_network(stem, *blocks):
    parts = [nn.Conv2d(3, stem, 3, 1, 1, bias=False), nn.BatchNorm2d(stem), nn.ReLU()]
    before = stem
    for filters, stride in blocks:
        parts.append(Block(before, filters, stride))
        before = filters
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def nearest_orthogonal(matrix, iterations=5):
    x = matrix / (matrix.norm() + 1e-7)
    tall = x.size(0) > x.size(1)
    x = x.T if tall else x
    for _ in range(iterations):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.T if tall else x


class Muon:
    def __init__(self, parameters, length):
        self.parameters, self.length = parameters, length
        self.momenta = [torch.zeros_like(p) for p in parameters]

    @torch.no_grad()
    def step(self, rate):
        for p, momentum in zip(self.parameters, self.momenta):
            momentum.mul_(0.9).add_(p.grad)
            rows, columns = len(p), p.numel() // len(p)
            update = nearest_orthogonal(p.grad.add(momentum, alpha=0.9).reshape(rows, columns)).reshape(p.shape)
            scale = max(1, rows / columns) ** 0.5 if self.length == "aspect" else 0.2 * max(rows, columns) ** 0.5
            p.mul_(1 - rate * MUON_DECAY).add_(update, alpha=-rate * scale)


def whiten(stem, images):
    """The first filters are the largest eigenvectors of patches, of both signs, and are not trained."""
    patches = F.unfold(images[:2000], 3).permute(0, 2, 1).reshape(-1, 27)
    patches = patches[torch.randperm(len(patches), device=patches.device)[:200_000]]
    values, vectors = torch.linalg.eigh((patches.T @ patches / len(patches)).double())
    filters = (vectors.flip(1) / (values.flip(0) + 5e-4).sqrt()).T.float()
    kept = min(27, len(stem.weight) // 2)
    both = torch.cat([filters[:kept], -filters[:kept]]).reshape(-1, 3, 3, 3)
    length = stem.weight.flatten(1).norm(dim=1).mean()
    with torch.no_grad():
        stem.weight[:len(both)].copy_(both / both.flatten(1).norm(dim=1).reshape(-1, 1, 1, 1) * length)
    stem.weight.requires_grad_(False)


def augmented(x):
    n = len(x)
    padded = F.pad(x, (SHIFT,) * 4)
    down, right = (torch.randint(0, 2 * SHIFT + 1, (n, 1), device=DEVICE) + torch.arange(32, device=DEVICE) for _ in "yx")
    x = padded[torch.arange(n, device=DEVICE)[:, None, None, None], torch.arange(3, device=DEVICE)[None, :, None, None],
               down[:, None, :, None], right[:, None, None, :]]
    return torch.where((torch.rand(n, device=DEVICE) < 0.5)[:, None, None, None], x.flip(3), x)


def share_of_rate(done):
    if done < WARMUP:
        return 1 / 25 + 24 / 25 * done / WARMUP
    return 0.5 * (1 + math.cos(math.pi * (done - WARMUP) / (1 - WARMUP)))


def optimizers(network, recipe):
    own = [p for name, p in network.named_parameters() if p.requires_grad and p.dim() == 4 and not name.startswith("0.")]
    muon = Muon(own if "muon" in recipe else [], recipe.get("length"))
    chosen = {id(p) for p in muon.parameters}
    rest = [p for p in network.parameters() if p.requires_grad and id(p) not in chosen]
    decay = MUON_DECAY if "adamw" in recipe else recipe["decay"]
    groups = [{"params": [p for p in rest if p.dim() > 1], "weight_decay": decay},
              {"params": [p for p in rest if p.dim() <= 1], "weight_decay": 0}]
    if "adamw" in recipe:
        return muon, torch.optim.AdamW(groups, recipe["rate"])
    return muon, torch.optim.SGD(groups, recipe["rate"], 0.9, nesterov=True)


def accuracies(kind, recipe, epochs, seed, data):
    torch.manual_seed(seed)
    images, labels, test_images, test_labels = data
    train = torch.randperm(len(images), device=DEVICE)[:len(images) * 9 // 10]
    images, labels = images[train], labels[train]
    network = make_network(*NETWORKS[kind]).to(DEVICE)
    if recipe.get("whitens"):
        whiten(network[0], images)
    muon, others = optimizers(network, recipe)
    in_epoch = len(images) // BATCH
    for step in range(epochs * in_epoch):
        if step % in_epoch == 0:
            order = torch.randperm(len(images), device=DEVICE)
        batch = order[step % in_epoch * BATCH:][:BATCH]
        share = share_of_rate(step / (epochs * in_epoch))
        for group in others.param_groups:
            group["lr"] = recipe["rate"] * share
        network.zero_grad(set_to_none=True)
        F.cross_entropy(network(augmented(images[batch])), labels[batch], label_smoothing=0.1).backward()
        others.step()
        muon.step(recipe.get("muon", 0) * share)
    network.eval()
    with torch.no_grad():
        plain, mirrored = network(test_images), network(test_images.flip(3))
    return [(said.argmax(1) == test_labels).float().mean().item() for said in (plain, plain.softmax(1) + mirrored.softmax(1))]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("train")
    options.add_argument("test")
    options.add_argument("--epochs", type=int, nargs="+", default=[10])
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    options.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    asked = options.parse_args()
    images, labels = read_images(asked.train)
    test_images, test_labels = read_images(asked.test)
    mean, deviation = images.mean((0, 2, 3), keepdim=True), images.std((0, 2, 3), keepdim=True)
    data = [t.to(DEVICE) for t in ((images - mean) / deviation, labels, (test_images - mean) / deviation, test_labels)]
    for kind in asked.networks:
        for epochs in asked.epochs:
            for name in asked.recipes:
                all_seeds = [accuracies(kind, RECIPES[name], epochs, seed, data) for seed in range(asked.seeds)]
                plain, both = np.mean(all_seeds, 0)
                print(f"{kind:12} {epochs:3} epochs  {name:34} {plain:.4f}, both sides {both:.4f}", flush=True)


if __name__ == "__main__":
    main()
