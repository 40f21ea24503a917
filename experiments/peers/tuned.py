"""Optuna's TPE over the recipe and the size of the ResNet of images.py, and of an MLP for tables, for peers.py.

The time is divided as a careful user would: 70 % for the search, where trials train on nine tenths of the training set,
are compared on the other tenth and are pruned by the median; the rest for the best of them, trained on all.
"""

import math
import time

import numpy as np
import optuna
import torch
from torch import nn
from torch.nn import functional as F

from images import Images, accuracy, parameters_of, sgd, train_epoch, train_until

SEARCH_SHARE = 0.7
WANTED_TRIALS = 20  # Whole ones for which the epochs of a trial leave time.


def split_tenth(count, seed):
    order = torch.from_numpy(np.random.default_rng(seed).permutation(count))
    return order[count // 10:], order[:count // 10]


def search(objective, seed, deadline, first):
    """The best trial's parameters and attributes, and how many trials there were. `first` is what one would try by
    hand, and the answer where the time was too short for a whole trial."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True),
                                pruner=optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=2))
    study.enqueue_trial(first)
    study.optimize(objective, timeout=max(deadline - time.perf_counter(), 0.1))
    states = [trial.state for trial in study.trials]
    complete = states.count(optuna.trial.TrialState.COMPLETE)
    counts = {"trials": len(states), "pruned": len(states) - complete}
    return (study.best_params, study.best_trial.user_attrs, counts) if complete else (first, {}, counts)


def out_of_time(trial):
    trial.study.stop()
    return optuna.TrialPruned()


def epochs_of_trial(train, count, search_end, most):
    """By the time that `train(n)` takes for a part of the examples, after a smaller part that warms up."""
    train(min(count, 512))
    start, some = time.perf_counter(), min(count, 2048)
    train(some)
    seconds_an_epoch = (time.perf_counter() - start) * count / some
    left = search_end - time.perf_counter()
    return min(max(math.floor(left / (WANTED_TRIALS * seconds_an_epoch)), 3), most)


def optuna_resnet(options):
    began = time.perf_counter()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    images = Images(options)
    search_end = began + 60 * options.minutes * SEARCH_SHARE
    train, validation = split_tenth(len(images.x), options.seed)
    x, y = images.x[train], images.y[train]
    by_hand = images.by_hand()

    def train_some(count):
        network = images.network(by_hand)
        train_epoch(network, sgd(network, by_hand), by_hand, x[:count], y[:count], lambda share: share, search_end)

    epochs = epochs_of_trial(train_some, len(x), search_end, 40)

    def objective(trial):
        recipe = {"learning_rate": trial.suggest_float("learning_rate", 0.01, 0.5, log=True),
                  "weight_decay": trial.suggest_float("weight_decay", 1e-5, 5e-3, log=True),
                  "label_smoothing": trial.suggest_float("label_smoothing", 0, 0.2),
                  "batch": trial.suggest_categorical("batch", [32, 64, 128, 256]),
                  "shift": trial.suggest_int("shift", 0, images.height // 4),
                  "flip": trial.suggest_categorical("flip", [False, True]),
                  "width": trial.suggest_categorical("width", [8, 12, 16, 24, 32]),
                  "depth": trial.suggest_int("depth", 1, 3)}
        network = images.network(recipe)
        optimizer = sgd(network, recipe)
        for epoch in range(epochs):
            if not train_epoch(network, optimizer, recipe, x, y, lambda share: (epoch + share) / epochs, search_end):
                raise out_of_time(trial)
            score = accuracy(network, images.x[validation], images.y[validation])
            trial.report(score, epoch)
            if epoch + 1 < epochs and trial.should_prune():
                raise optuna.TrialPruned
        return score

    best, _, counts = search(objective, options.seed, search_end, by_hand)
    network = images.network(best)
    trained = train_until(network, best, images.x, images.y, began + 60 * options.minutes)
    return {"test.accuracy": accuracy(network, images.test_x, images.test_y), **counts, "epochs of a trial": epochs,
            "epochs": trained, "parameters": parameters_of(network), "best": best}


def mlp(inputs, outputs, recipe):
    layers = []
    for _ in range(recipe["depth"]):
        layers += [nn.Linear(inputs, recipe["width"]), nn.ReLU(), nn.Dropout(recipe["dropout"])]
        inputs = recipe["width"]
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


class Fitting:
    """An MLP on its way: an epoch at a time, with AdamW and a cosine over all epochs."""

    def __init__(self, table, recipe, x, y, epochs):
        self.table, self.recipe, self.x, self.y, self.epochs = table, recipe, x, y, epochs
        self.network = mlp(x.shape[1], table.outputs, recipe)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=recipe["learning_rate"],
                                           weight_decay=recipe["weight_decay"])

    def train_epoch(self, epoch, deadline):
        """False if time ran out."""
        self.network.train()
        batches = torch.randperm(len(self.x)).split(self.recipe["batch"])
        for step, indices in enumerate(batches):
            if time.perf_counter() > deadline:
                return False
            done = (epoch + step / len(batches)) / self.epochs
            for group in self.optimizer.param_groups:
                group["lr"] = self.recipe["learning_rate"] * 0.5 * (1 + math.cos(math.pi * done))
            self.optimizer.zero_grad()
            said = self.network(self.x[indices])
            loss = (F.cross_entropy(said, self.y[indices]) if self.table.classes is not None
                    else F.mse_loss(said[:, 0], self.y[indices]))
            loss.backward()
            self.optimizer.step()
        return True

    def answers(self, x):
        """Probabilities, or standardised values."""
        self.network.eval()
        with torch.no_grad():
            said = torch.cat([self.network(part) for part in x.split(4096)])
        return said.softmax(1) if self.table.classes is not None else said[:, 0]


class PreparedTable:
    """Rows as tensors: words one-hot, numbers imputed and standardised; the target as classes or standardised."""

    def __init__(self, table):
        encode = table.encoder()
        self.x = torch.from_numpy(encode.fit_transform(table.x).astype(np.float32))
        self.test_x = torch.from_numpy(encode.transform(table.test_x).astype(np.float32))
        self.classes = sorted(table.y.unique()) if table.classes else None
        if table.classes:
            self.y, self.test_y = (torch.tensor([self.classes.index(v) for v in part]) for part in (table.y, table.test_y))
            self.outputs, self.scale = len(self.classes), 1.0
        else:
            mean, self.scale = float(table.y.mean()), float(table.y.std())
            self.y, self.test_y = (torch.tensor((part.to_numpy(np.float32) - mean) / self.scale)
                                   for part in (table.y, table.test_y))
            self.outputs = 1

    def score(self, said, y):
        """More is better."""
        if self.classes is not None:
            return float((said.argmax(1) == y).float().mean())
        return -self.scale * float((said - y).square().mean().sqrt())

    def named_score(self, said, y):
        score = self.score(said, y)
        return {"test.accuracy": score} if self.classes is not None else {"test.rmse": -score}


def optuna_mlp(options, table):
    began = time.perf_counter()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    data = PreparedTable(table)
    search_end, end = (began + 60 * options.minutes * share for share in (SEARCH_SHARE, 1))
    train, validation = split_tenth(len(data.x), options.seed)
    by_hand = {"learning_rate": 1e-3, "weight_decay": 1e-4, "batch": 128, "dropout": 0.1, "width": 128, "depth": 2}

    def train_some(count):
        Fitting(data, by_hand, data.x[train][:count], data.y[train][:count], 1).train_epoch(0, search_end)

    epochs = epochs_of_trial(train_some, len(train), search_end, 100)

    def objective(trial):
        recipe = {"learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
                  "weight_decay": trial.suggest_float("weight_decay", 1e-6, 1e-1, log=True),
                  "batch": trial.suggest_categorical("batch", [32, 64, 128, 256]),
                  "dropout": trial.suggest_float("dropout", 0, 0.5),
                  "width": trial.suggest_categorical("width", [32, 64, 128, 256, 512]),
                  "depth": trial.suggest_int("depth", 1, 4)}
        fitting = Fitting(data, recipe, data.x[train], data.y[train], epochs)
        best = -math.inf
        for epoch in range(epochs):
            if not fitting.train_epoch(epoch, search_end):
                raise out_of_time(trial)
            score = data.score(fitting.answers(data.x[validation]), data.y[validation])
            if score > best:
                best = score
                trial.set_user_attr("epochs", epoch + 1)
            trial.report(best, epoch)
            if epoch + 1 < epochs and trial.should_prune():
                raise optuna.TrialPruned
        return best

    best, known, counts = search(objective, options.seed, search_end, by_hand)
    # The answers of as many trainings on all rows as the time allows are averaged; each stops where the trial was best.
    stop = known.get("epochs", epochs)
    sum_of_answers, models = 0, 0
    while time.perf_counter() < end or models == 0:
        fitting = Fitting(data, best, data.x, data.y, epochs)
        whole = all(fitting.train_epoch(epoch, end) for epoch in range(stop))
        if not whole and models > 0:
            break
        sum_of_answers, models = sum_of_answers + fitting.answers(data.test_x), models + 1
    return {**data.named_score(sum_of_answers / models, data.test_y), **counts, "epochs of a trial": epochs,
            "epochs": stop, "models": models, "parameters": parameters_of(fitting.network), "best": best}
