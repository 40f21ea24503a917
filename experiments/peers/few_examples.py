"""How to choose among models that few examples cannot tell apart: simulated with scikit-learn's models.

    python3 -m venv /tmp/few && /tmp/few/bin/pip install scikit-learn
    /tmp/few/bin/python experiments/peers/few_examples.py DATA SEEDS

DATA has the folders tabular and time-series-classes. For each set, number of examples and seed, models are fitted: a linear
model, boosted trees (of series: random convolutions), three networks in five folds each, which stop at their own fold's
best epoch, and eight networks of a search, which know the train part and stop by the validation part, a fifth of the
examples. Then each rule chooses, and is compared on the test part with the best single one of those that were
cross-validated. Printed is the mean regret by 100, of accuracy (of numbers: of RMSE, as a share) and of log loss."""

import collections
import gzip
import os
import pathlib
import sys
import warnings

os.environ["OMP_NUM_THREADS"] = "1"
warnings.filterwarnings("ignore")

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler

SETS = {"ItalyPowerDemand": [30, 67, 200], "GunPoint": [50, 100], "breast_cancer": [50, 100, 300], "wine": [50, 100],
        "iris": [50, 100], "digits": [100, 300], "eight": [100, 300, 1000], "adult": [50, 100, 300, 1000],
        "diabetes": [50, 100, 300], "california": [50, 100, 300, 1000]}
GROUPS = {"to 100": (0, 100), "to 300": (101, 300), "1000 on": (1000, 10**9)}
EPOCHS = 50


def lines(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        return [line.strip() for line in file if line.strip()]


def cells(path, header):
    return [line.replace(", ", ",").split(",") for line in lines(path)[header:]]


def series(folder, name):
    rows = [line.rsplit(":", 1) for part in ("TRAIN", "TEST") for line in lines(folder / f"{name}_{part}.ts.gz")
            if line[0] not in "#@"]
    x = np.array([[float(v) for v in row.split(",")] for row, _ in rows])
    return (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + 1e-9), np.unique([c for _, c in rows], return_inverse=True)[1]


def indicators(column):
    return [(np.array(column) == value).astype(float) for value in sorted(set(column))]


def load(data, name):
    """Features and targets; whole numbers are classes."""
    tables = data / "tabular"
    if name in ("ItalyPowerDemand", "GunPoint"):
        return series(data / "time-series-classes", name)
    if name == "diabetes":
        x, y = (np.array([line.split() for line in lines(tables / f"diabetes_{part}.csv.gz")], float)
                for part in ("data_raw", "target"))
        return x, y[:, 0]
    if name == "adult":
        rows = [row for row in cells(tables / "adult.data.gz", 0) if len(row) > 10][:8000]
        columns = [np.array([float(row[i]) for row in rows]) for i in (0, 4, 10, 11, 12)]
        columns += [c for i in (1, 5, 6, 7, 9) for c in indicators([row[i] for row in rows])]
        return np.stack(columns, 1), np.array([row[-1].startswith(">") for row in rows]).astype(int)
    if name == "california":
        rows = cells(tables / "california_housing.csv.gz", 1)
        x = np.stack([np.array([float(row[i] or 500) for row in rows]) for i in range(8)] + indicators([row[9] for row in rows]), 1)
        kept = np.random.RandomState(0).permutation(len(rows))[:6000]
        return x[kept], np.array([float(row[8]) for row in rows])[kept]
    file, header = {"breast_cancer": ("breast_cancer.csv", 1), "wine": ("wine_data.csv", 1), "iris": ("iris.csv", 1)}.get(
        name, ("digits.csv.gz", 0))
    table = np.array(cells(tables / file, header), float)
    y = table[:, -1].astype(int)
    return table[:, :-1], (y == 8).astype(int) if name == "eight" else y


def convolved(x, random, kernels=400):
    features = []
    for _ in range(kernels):
        apart = 2 ** random.randint(0, max(1, int(np.log2((x.shape[1] - 1) / 8))) + 1)
        weights = random.randn(9)
        places = np.arange(x.shape[1])[:, None] + (np.arange(9) - 4)[None] * apart
        inside = (places >= 0) & (places < x.shape[1])
        said = (x[:, np.clip(places, 0, x.shape[1] - 1)] * inside) @ (weights - weights.mean())
        features += [(said > t).mean(1) for t in np.quantile(said[random.randint(30)], random.rand(4))] + [said.max(1)]
    return np.stack(features, 1)


class Split:
    """Examples that are known, of which a part validates, and examples of the test."""

    def __init__(self, x, y, n, seed):
        random = self.random = np.random.RandomState(1000 * seed + n)
        self.numbers = y.dtype.kind == "f"
        classes = None if self.numbers else y
        known, test = train_test_split(np.arange(len(y)), train_size=n, random_state=random.randint(1 << 30), stratify=classes)
        self.n, self.y, self.test_y = n, y[known], y[test[:4000]]
        self.train, self.validation = train_test_split(np.arange(n), test_size=0.2, random_state=random.randint(1 << 30),
                                                       stratify=None if self.numbers else self.y)
        scaler = StandardScaler().fit(x[known][self.train])
        self.x, self.test_x = scaler.transform(x[known]), scaler.transform(x[test[:4000]])
        if self.numbers:
            mean, deviation = self.y[self.train].mean(), self.y[self.train].std()
            self.y, self.test_y = (self.y - mean) / deviation, (self.test_y - mean) / deviation
        self.outputs = 1 if self.numbers else y.max() + 1
        dealt = (KFold if self.numbers else StratifiedKFold)(5, shuffle=True, random_state=random.randint(1 << 30))
        self.folds = list(dealt.split(self.x, self.y))
        self.known, self.tested = {}, {}  # Answers by model; NaN where it was not judged.

    def says(self, model, x):
        if self.numbers:
            return np.clip(model.predict(x), -1e3, 1e3)[:, None]
        out = np.zeros((len(x), self.outputs))
        out[:, model.classes_] = model.predict_proba(x)
        return out

    def losses(self, said, y):
        if self.numbers:
            return (said[:, 0] - y) ** 2
        said = np.maximum(said, min(1 / (self.n + 1), 0.5 / self.outputs))
        return -np.log((said / said.sum(1, keepdims=True))[np.arange(len(y)), y])

    def metric(self, said, y):
        return -np.sqrt(self.losses(said, y).mean()) if self.numbers else (said.argmax(1) == y).mean()

    def best_epoch(self, steps, learnt, left_out):
        """Returns the answers for the examples that are left out, and for the test, after the epoch of the lowest loss on the former."""
        lowest = np.inf
        for model in steps(learnt):
            said = self.says(model, self.x[left_out])
            if (loss := self.losses(said, self.y[left_out]).mean()) < lowest:
                lowest, best = loss, (said, self.says(model, self.test_x))
        return best

    def add_folds(self, name, said_by):
        known, tested = np.zeros((self.n, self.outputs)), 0
        for fold, (learnt, left_out) in enumerate(self.folds):
            known[left_out], of_test = said_by(fold, learnt, left_out)
            tested = tested + of_test / len(self.folds)
        self.known[name], self.tested[name] = known, tested

    def add_part(self, name, of_validation, of_test):
        self.known[name] = np.full((self.n, self.outputs), np.nan)
        self.known[name][self.validation], self.tested[name] = of_validation, of_test

    def add_linear(self):
        make = (lambda c: Ridge(alpha=1 / c)) if self.numbers else (lambda c: LogisticRegression(C=c, max_iter=300))
        strengths = [1e-3, 1e-2, 0.1, 1, 10, 100]
        lone = min((make(c).fit(self.x[self.train], self.y[self.train]) for c in strengths),
                   key=lambda m: self.losses(self.says(m, self.x[self.validation]), self.y[self.validation]).mean())
        self.add_part("linear of train", self.says(lone, self.x[self.validation]), self.says(lone, self.test_x))
        best = np.inf
        for c in strengths:
            def said_by(_, learnt, left_out):
                model = make(c).fit(self.x[learnt], self.y[learnt])
                return self.says(model, self.x[left_out]), self.says(model, self.test_x)
            self.add_folds("one", said_by)
            known, tested = self.known.pop("one"), self.tested.pop("one")
            if (loss := self.losses(known, self.y).mean()) < best:
                best, self.known["linear"], self.tested["linear"] = loss, known, tested

    def add_trees(self):
        kind = GradientBoostingRegressor if self.numbers else GradientBoostingClassifier
        make = lambda fold: kind(n_estimators=40 if self.outputs > 2 else 80, max_depth=2 if self.n <= 300 else 4, subsample=0.7,
                                 max_features=0.5 if self.x.shape[1] > 7 else None, random_state=fold)

        def said_by(fold, learnt, left_out):
            model = make(fold).fit(self.x[learnt], self.y[learnt])
            stages = (lambda x: [s[:, None] for s in model.staged_predict(x)]) if self.numbers else (
                lambda x: list(model.staged_predict_proba(x)))
            if not self.numbers and len(model.classes_) < self.outputs:
                return self.says(model, self.x[left_out]), self.says(model, self.test_x)
            of_fold = stages(self.x[left_out])
            stage = min(range(len(of_fold)), key=lambda i: self.losses(of_fold[i], self.y[left_out]).mean())
            return of_fold[stage], stages(self.test_x)[stage]
        self.add_folds("trees", said_by)

    def add_convolutions(self):
        features = convolved(np.concatenate([self.x, self.test_x]), self.random)
        features = StandardScaler().fit(features[:self.n]).transform(features) / np.sqrt(features.shape[1])
        a, y = features[:self.n], np.eye(self.outputs)[self.y]
        values, vectors = np.linalg.eigh(a @ a.T)
        values, best = np.maximum(values, 0), np.inf
        for penalty in (1e-3, 1e-2, 0.1, 1, 10, 100):
            hat = (vectors * (values / (values + penalty))) @ vectors.T
            errors = (y - y.mean(0) - hat @ (y - y.mean(0))) / np.maximum(1 - np.diag(hat) - 1 / self.n, 1e-9)[:, None]
            if (loss := (errors ** 2).sum()) < best:
                best, left_out = loss, y - errors
                weight = a.T @ (vectors / (values + penalty)) @ (vectors.T @ (y - y.mean(0)))
        expected = y * (1 - 1 / (self.n + 1)) + 1 / (self.n + 1) / self.outputs
        scale = min((10 ** (i / 10) for i in range(31)), key=lambda s: -(np.log(softmax(left_out * s) + 1e-300) * expected).sum())
        self.known["convolutions"] = softmax(left_out * scale)
        self.tested["convolutions"] = softmax((features[self.n:] @ weight + y.mean(0)) * scale)

    def network(self, layers, decay, rate, seed):
        kind = MLPRegressor if self.numbers else MLPClassifier

        def steps(learnt):
            model = kind(hidden_layer_sizes=layers, alpha=decay, learning_rate_init=rate, random_state=seed)
            for _ in range(EPOCHS):
                model.partial_fit(self.x[learnt], self.y[learnt], **({} if self.numbers else {"classes": np.arange(self.outputs)}))
                yield model
        return steps

    def add_networks(self):
        for i, kind in enumerate([((16,), 1e-3, 3e-2), ((64,), 1e-2, 1e-2), ((32, 32), 1e-3, 1e-2)]):
            self.add_folds(f"folds {i}", lambda fold, learnt, out: self.best_epoch(self.network(*kind, 10 * i + fold), learnt, out))
        for i in range(8):
            layers = (int(2 ** self.random.uniform(2, 7)),) * self.random.randint(1, 3)
            steps = self.network(layers, 10 ** self.random.uniform(-4, 0), 10 ** self.random.uniform(-3, -1.3), i)
            self.add_part(f"search {i}", *self.best_epoch(steps, self.train, self.validation))


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


class Choice:
    """Models that are compared on some of the known examples."""

    def __init__(self, split, names, part):
        self.split, self.names, self.part, self.y = split, names, part, split.y[part]
        self.said = [split.known[name][part] for name in names]

    def mean(self, shares, said=None):
        return sum(s * p for s, p in zip(shares, said or self.said) if s > 0)

    def alone(self, i):
        return np.eye(len(self.names))[i]

    def best(self, measure):
        return self.alone(max(range(len(self.names)), key=lambda i: measure(self.said[i])))

    def lowest_loss(self, rows=slice(None), rounds=50):
        y = self.y[rows]
        answers = np.stack([p[rows][:, 0] - y if self.split.numbers else p[rows][np.arange(len(y)), y] for p in self.said])
        loss = (lambda m: (m ** 2).mean(-1)) if self.split.numbers else (lambda m: -np.log(np.maximum(m, 1e-12)).mean(-1))
        counts, total, lowest, found = np.zeros(len(answers)), 0, np.inf, None
        for k in range(1, rounds + 1):
            losses = loss((total + answers) / k)
            i = losses.argmin()
            counts[i] += 1
            total = total + answers[i]
            if losses[i] < lowest - 1e-9 * abs(lowest) or found is None:
                lowest, found = losses[i], counts / k
        return found

    def from_samples(self):
        random = np.random.RandomState(0)
        return sum(self.lowest_loss(random.randint(len(self.y), size=len(self.y)), 25) for _ in range(20)) / 20

    def errors_ahead(self, i, said):
        """By how many standard errors model i is ahead of what is said."""
        s = self.split
        if s.numbers:
            d = s.losses(said, self.y) - s.losses(self.said[i], self.y)
            return d.sum() / max(1e-12, np.sqrt(((d - d.mean()) ** 2).sum()))
        d = (self.said[i].argmax(1) == self.y).astype(float) - (said.argmax(1) == self.y)
        return d.sum() / np.sqrt(((d - d.mean()) ** 2).sum() + 1)

    def ahead(self, said, errors):
        there = [i for i in range(len(self.names)) if self.split.metric(self.said[i], self.y) > self.split.metric(said, self.y)
                 and self.errors_ahead(i, said) > errors]
        return max(there, key=lambda i: (self.split.metric(self.said[i], self.y), -self.split.losses(self.said[i], self.y).mean()),
                   default=None)

    def grown(self, first):
        def measure(counts):
            said = self.mean(counts / counts.sum())
            return round(self.split.metric(said, self.y), 9), -self.split.losses(said, self.y).mean()
        counts = self.alone(first)
        for _ in range(10):
            key, i = max((measure(counts + self.alone(i)), i) for i in range(len(self.names)))
            if key <= measure(counts):
                break
            counts = counts + self.alone(i)
        return counts / counts.sum()

    def not_behind(self, shares, errors):
        first = self.ahead(self.mean(shares), errors)
        return shares if first is None else self.grown(first)

    def of_test(self, shares):
        return self.mean(shares, [self.split.tested[name] for name in self.names])


def choices(s):
    """Returns the answers for the test of what each rule chooses, and those of the single models."""
    fitted = [name for name in s.known if name in ("trees", "convolutions")]
    folds, search = ([name for name in s.known if name.startswith(start)] for start in ("folds", "search"))
    everything = np.arange(s.n)

    def after(names):
        first = Choice(s, names, everything)
        shares = first.not_behind(first.from_samples(), 2)
        others = Choice(s, search, s.validation)
        there = Choice(s, names, s.validation)
        if others.ahead(there.mean(shares), 3) is None:
            return first.of_test(shares)
        both = Choice(s, names + search, s.validation)
        return both.of_test(both.not_behind(both.from_samples(), 2))

    before, every = Choice(s, ["linear of train", *fitted, *folds], s.validation), Choice(s, ["linear of train", *fitted, *folds, *search], s.validation)
    chosen = np.concatenate([before.lowest_loss(), np.zeros(len(search))])
    crossed = Choice(s, ["linear", *fitted, *folds], everything)
    short = Choice(s, ["linear of train", *fitted, *search], s.validation)
    return {
        "before": every.of_test(every.not_behind(chosen, 0)),
        "before, two standard errors": every.of_test(every.not_behind(chosen, 2)),
        "crossed, the best by accuracy": crossed.of_test(crossed.best(lambda said: s.metric(said, crossed.y))),
        "crossed, equal shares": crossed.of_test(np.ones(len(crossed.names)) / len(crossed.names)),
        "crossed, lowest loss": crossed.of_test(crossed.not_behind(crossed.lowest_loss(), 0)),
        "crossed, two standard errors": crossed.of_test(crossed.not_behind(crossed.lowest_loss(), 2)),
        "after": after(crossed.names),
        "no folds, before": short.of_test(short.not_behind(short.lowest_loss(), 0)),
        "no folds, after": after(["linear", *fitted]),
    }, [s.tested[name] for name in crossed.names]


def main(data, seeds):
    regrets = collections.defaultdict(list)
    for name, sizes in SETS.items():
        x, y = load(data, name)
        for n in sizes:
            for seed in range(seeds if n < 1000 else 1):
                s = Split(x, y, n, seed)
                s.add_linear()
                s.add_convolutions() if name in ("ItalyPowerDemand", "GunPoint") else s.add_trees()
                s.add_networks()
                said, singles = choices(s)
                for rule, of_test in said.items():
                    for kind, measure in (("metric", s.metric), ("loss", lambda p, t: -s.losses(p, t).mean())):
                        best = max(measure(p, s.test_y) for p in singles)
                        regrets[rule, kind, name, n].append((best - measure(of_test, s.test_y)) / (abs(best) if s.numbers else 1))
    for rule in dict.fromkeys(key[0] for key in regrets):
        print(f"{rule:32}", *(f"{kind} {group}: {100 * np.mean([np.mean(v) for (r, k, _, n), v in regrets.items() if r == rule and k == kind and low <= n <= high]):6.2f}"
                              for kind in ("metric", "loss") for group, (low, high) in GROUPS.items()))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
