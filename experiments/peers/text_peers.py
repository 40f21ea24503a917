#!/usr/bin/env python3
"""Logistic regression on n-grams of sentences, on the same files as Clade.

usage: text_peers.py split FILE FOLDER FOLD    FOLDER/train.txt and test.txt: lines "label sentence" of FILE (gzip or not), of
                                               ten folds, each with its share of each class, that of this number (from 0)
                                               is for the test
       text_peers.py fit FOLDER                how good it is on them

Clade beside it: `clade new FOLDER/train.txt --test FOLDER/test.txt --run --minutes 3`. A fifth of the rows for training,
drawn once for all, chooses how strongly weights are held down.
"""

import gzip
import pathlib
import sys

import numpy
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split


def read(file):
    with (gzip.open if file.endswith(".gz") else open)(file, "rt", encoding="utf-8", newline="\n") as text:
        lines = [line.split(None, 1) for line in text.read().split("\n") if line.strip()]
    return numpy.array([target for target, _ in lines]), numpy.array([text.strip() for _, text in lines], dtype=object)


def words():
    return TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"(?u)\w+(?:'\w+)?|[!?]")


def pieces():
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=2, sublinear_tf=True)


def fitted(vectors, targets, strength):
    return LogisticRegression(C=strength, max_iter=1000).fit(vectors, targets)


def examine(name, kinds, train, validation, test):
    vectorizers = [kind().fit(train[1]) for kind in kinds]
    encode = lambda texts: hstack([v.transform(texts) for v in vectorizers]).tocsr()
    of_train, of_validation, of_test = encode(train[1]), encode(validation[1]), encode(test[1])
    models = [fitted(of_train, train[0], c) for c in (0.3, 1, 3, 10, 30)]
    best = max(models, key=lambda m: m.score(of_validation, validation[0]))
    print(f"{name:40} {best.score(of_test, test[0]):.4f}   C = {best.C}, {of_train.shape[1]:,} terms", flush=True)


def split(file, folder, fold):
    targets, texts = read(file)
    parts = list(StratifiedKFold(10, shuffle=True, random_state=0).split(texts, targets))[int(fold)]
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for name, part in zip(("train.txt", "test.txt"), parts):
        (pathlib.Path(folder) / name).write_text("".join(f"{targets[i]} {texts[i]}\n" for i in part), encoding="utf-8")


def fit(folder):
    targets, texts = read(f"{folder}/train.txt")
    train, validation = train_test_split(numpy.arange(len(targets)), test_size=0.2, random_state=1, stratify=targets)
    parts = [(targets[part], texts[part]) for part in (train, validation)] + [read(f"{folder}/test.txt")]
    print(" + ".join(f"{len(of)}" for of, _ in parts), "rows")
    examine("words and pairs, logistic regression", [words], *parts)
    examine("with pieces of words", [words, pieces], *parts)


if __name__ == "__main__":
    {"split": split, "fit": fit}[sys.argv[1]](*sys.argv[2:])
