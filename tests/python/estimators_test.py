"""The estimators held to scikit-learn's own checks."""

import pickle
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

FAST = {"population": 2, "generations": 1, "epochs": 20, "slots": 1}


class Checks(unittest.TestCase):
    """Each of scikit-learn's checks is a sub-test; what they took is said at the end."""

    def hold_to_checks(self, estimator):
        took = []
        for made, check in estimator_checks_generator(estimator, legacy=True):
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

    def test_what_is_not_fitted_says_so(self):
        with self.assertRaises(NotFittedError):
            clade.CladeClassifier().predict([[1.0]])


if __name__ == "__main__":
    unittest.main()
