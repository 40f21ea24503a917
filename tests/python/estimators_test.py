"""The estimators held to scikit-learn's own checks."""

import pathlib
import pickle
import tempfile
import time
import unittest

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import clade

# Which rows a search validates by, and in what order it takes them, depends on how many there are.
NOT_THE_SAME_DRAWS = "a row of weight 2 is as two in what is learnt, and no copy beside which other rows are drawn"
FAST = {"population": 2, "generations": 1, "epochs": 20, "slots": 1}


class Checks(unittest.TestCase):
    """Each of scikit-learn's checks is a sub-test; what they took is said at the end."""

    def hold_to_checks(self, estimator):
        took = []
        expected = {"check_sample_weight_equivalence_on_dense_data": NOT_THE_SAME_DRAWS}
        for made, check in estimator_checks_generator(estimator, legacy=True, expected_failed_checks=expected, mark="skip"):
            name = getattr(check, "func", check).__name__
            started = time.monotonic()
            with self.subTest(name):
                check(made)
            took.append((time.monotonic() - started, name))
        self.assertGreater(len(took), 40)
        print(f"{sum(t for t, _ in took):.1f} s:", ", ".join(f"{n} {t:.1f}" for t, n in sorted(took)[-8:]))

    def test_a_classifier_passes_scikit_learns_checks(self):
        self.hold_to_checks(clade.CladeClassifier(**FAST))

    def test_a_regressor_passes_scikit_learns_checks(self):
        self.hold_to_checks(clade.CladeRegressor(**FAST))


class Use(unittest.TestCase):
    def test_a_fitted_estimator_is_pickled_without_its_run(self):
        X, y = make_blobs(120, centers=3, random_state=1)
        names = np.array(["a", "b", "c"])[y]
        fitted = make_pipeline(StandardScaler(), clade.CladeClassifier(population=4, generations=2, epochs=30, slots=2))
        fitted.fit(X, names)
        self.assertGreater(fitted.score(X, names), 0.9)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))

    def test_tables_may_have_texts_dates_categories_and_blanks(self):
        n = 80
        frame = pd.DataFrame({
            "age": [20.5 + i % 40 if i % 7 else None for i in range(n)], "plan": [("basic", "plus", None)[i % 3] for i in range(n)],
            "active": [i % 2 == 0 for i in range(n)], "since": pd.date_range("2024-01-01", periods=n)[::-1],
            "zip": pd.Categorical([i % 4 for i in range(n)])})
        y = np.array(["yes" if i % 3 else "no" for i in range(n)])
        fitted = clade.CladeClassifier(**FAST).fit(frame, y)
        self.assertEqual(list(fitted.predict(frame)[::-1]), list(fitted.predict(frame.iloc[::-1])))
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict_proba(frame), fitted.predict_proba(frame))
        with self.assertRaisesRegex(ValueError, "age"):
            fitted.predict(frame.drop(columns="age"))

    def test_blanks_among_numbers_are_taken(self):
        X = np.random.default_rng(0).normal(size=(80, 3))
        y = 3 * X[:, 0]
        X[::9, 1] = np.nan
        fitted = clade.CladeRegressor(**FAST).fit(X, y)
        self.assertTrue(np.isfinite(fitted.predict(X)).all())
        with self.assertRaisesRegex(ValueError, "infinity"):
            fitted.predict(np.full((1, 3), np.inf))

    def test_rows_of_more_weight_count_more(self):
        random = np.random.default_rng(0)
        X = random.normal(size=(200, 3))
        y = np.where(X[:, 0] + 0.5 * random.normal(size=200) > 0, "yes", "no")
        weights = np.where(y == "yes", 1, 50)
        plain = clade.CladeClassifier(**FAST).fit(X, y)
        for X_of_kind in (X, pd.DataFrame(X, columns=["a", "b", "sample_weight"]).assign(kind=np.where(X[:, 1] > 0, "u", "v"))):
            weighted = clade.CladeClassifier(**FAST).fit(X_of_kind, y, sample_weight=weights)
            self.assertEqual(weighted.predict_proba(X_of_kind).shape, (200, 2))
            self.assertGreater((weighted.predict(X_of_kind) == "no").sum(), 20 + (plain.predict(X) == "no").sum())

    def test_a_row_of_no_weight_is_as_none(self):
        X = np.random.default_rng(0).normal(size=(90, 2))
        y = X[:, 0]
        counts = np.arange(90) % 3 > 0
        fitted = clade.CladeRegressor(**FAST).fit(X, y, sample_weight=counts)
        np.testing.assert_array_equal(fitted.predict(X), clade.CladeRegressor(**FAST).fit(X[counts], y[counts]).predict(X))
        np.testing.assert_array_equal(fitted.predict(X), clade.CladeRegressor(**FAST).fit(
            X[counts], y[counts], sample_weight=np.full(60, 7)).predict(X))

    def test_weights_that_are_none_are_named(self):
        X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
        for weights, words in ((np.full(40, -1.0), "Negative values"), (np.ones(39), "shape"), (np.full(40, np.nan), "NaN"),
                               (np.ones((40, 1)), "1D"), (np.zeros(40), "sample_weight|zero")):
            with self.assertRaisesRegex(ValueError, words):
                clade.CladeClassifier(**FAST).fit(X, y, sample_weight=weights)

    def test_the_search_is_for_the_metric_that_is_named(self):
        X = np.random.default_rng(0).normal(size=(60, 2))
        y = np.where(X[:, 0] > 0, "yes", "no")
        for made, target, metric in ((clade.CladeClassifier(metric="f1.yes"), y, "validation.f1.1"),
                                     (clade.CladeClassifier(metric="validation.auc"), y, "validation.auc"),
                                     (clade.CladeRegressor(metric="mae"), X[:, 0], "validation.mae")):
            with tempfile.TemporaryDirectory() as folder:
                made.set_params(folder=folder, **FAST).fit(X, target)
                run, = [clade.Run(f) for f in pathlib.Path(folder).iterdir() if f.name != "data"]
                self.assertIn(f"best {metric} ", repr(run))

    def test_a_metric_that_is_none_is_named_with_those_there_are(self):
        X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        for metric, words in (("accurracy", "did you mean 'accuracy'.*metrics of a classification are .*balanced_accuracy"),
                              ("rmse", "metrics of a classification are"), (3, "metric is 3"), ("f1.CLASS", "metric is")):
            with self.assertRaisesRegex(ValueError, words):
                clade.CladeClassifier(metric=metric, **FAST).fit(X, y)
        with self.assertRaisesRegex(ValueError, "metrics of a regression are rmse, mse, r2"):
            clade.CladeRegressor(metric="auc", **FAST).fit(X, y)

    def test_what_is_not_fitted_says_so(self):
        with self.assertRaises(NotFittedError):
            clade.CladeClassifier().predict([[1.0]])


if __name__ == "__main__":
    unittest.main()
