"""Scores one pipeline of scikit-learn by cross-validation: command_sklearn.py PARAMS.json --data FILE.csv.gz"""

import argparse
import json
import pathlib

import numpy
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
from sklearn.svm import SVC


def model_of(params, seed):
    if params["model"] == "svc":
        return SVC(C=params["svc_c"], gamma=params["svc_gamma"])
    if params["model"] == "knn":
        return KNeighborsClassifier(params["neighbours"], weights=params["weights"])
    if params["model"] == "forest":
        return RandomForestClassifier(params["trees"], max_depth=params["depth"], random_state=seed)
    return LogisticRegression(C=params["logistic_c"], max_iter=300)


def pipeline_of(params, features, seed):
    scalers = {"standard": StandardScaler(), "minmax": MinMaxScaler(), "quantile": QuantileTransformer(n_quantiles=100)}
    steps = [scalers[params["scaler"]]] if params["scaler"] in scalers else []
    kept = max(1, round(params["components"] * features))
    if kept < features:
        steps.append(PCA(kept, random_state=seed))
    return make_pipeline(*steps, model_of(params, seed))


def scores_of(params, data, seed=0, folds=3):
    """Returns the accuracy of each fold."""
    table = numpy.loadtxt(data, delimiter=",")
    x, y = table[:, :-1], table[:, -1].astype(int)
    parts = StratifiedKFold(folds, shuffle=True, random_state=0)  # The same for all candidates.
    return cross_val_score(pipeline_of(params, x.shape[1], seed), x, y, cv=parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("params", type=pathlib.Path)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=3)
    given = parser.parse_args()
    scores = scores_of(json.loads(given.params.read_text()), given.data, given.seed, given.folds)
    print(json.dumps({"accuracy": scores.mean(), "accuracy.deviation": scores.std()}))


if __name__ == "__main__":
    main()
