"""The estimators held to scikit-learn's own checks."""

import pickle
import time
import unittest

import numpy as np
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

    def test_what_is_not_fitted_says_so(self):
        with self.assertRaises(NotFittedError):
            clade.CladeClassifier().predict([[1.0]])


if __name__ == "__main__":
    unittest.main()
