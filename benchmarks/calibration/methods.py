"""The methods compared: each turns a training sample into probabilities of a test sample.

All but three see the same cross-fitted scores, so that differences are those of the calibrators.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict

from clearning import (
    CoherenceCalibrator,
    PlattCalibrator,
    SollichCalibrator,
    WeightedMarginClassifier,
)

# The methods whose probability exceeds one half exactly where the score is positive.
SIGN_KEEPING = (
    "coherence",
    "coherence, linear tail",
    "coherence, one margin, linear tail",
    "coherence-svm",
    "coherence-svm, the paper's way",
    "temperature",
    "sollich",
    "scikit-learn temperature",
)
DEFAULT = "coherence"
N_WEIGHTS = 20


@dataclass
class Case:
    """One training and test sample, the SVM, and its scores."""

    svm: Any
    X: Any
    y: np.ndarray
    X_test: Any

    def __post_init__(self) -> None:
        started = time.process_time()
        self.cross_fitted = cross_val_predict(
            self.svm, self.X, self.y, cv=5, method="decision_function"
        )
        self.fitted = clone(self.svm).fit(self.X, self.y)
        self.seconds = time.process_time() - started
        self.trained = self.fitted.decision_function(self.X)
        self.test = self.fitted.decision_function(self.X_test)


class Identity(ClassifierMixin, BaseEstimator):
    """A classifier whose only feature is its score: lets scikit-learn calibrate given scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def calibrator(make: Callable[[], Any], *, trained: bool = False) -> Callable[[Case], np.ndarray]:
    def run(case: Case) -> np.ndarray:
        scores = case.trained if trained else case.cross_fitted
        return make().fit(scores, case.y).predict_proba(case.test)[:, 1]

    return run


def scikit_learn(method: str) -> Callable[[Case], np.ndarray]:
    def run(case: Case) -> np.ndarray:
        scores = case.cross_fitted[:, None]
        identity = FrozenEstimator(Identity().fit(scores, case.y))
        model = CalibratedClassifierCV(identity, method=method).fit(scores, case.y)
        return model.predict_proba(case.test[:, None])[:, 1]

    return run


def svc_probability(case: Case) -> np.ndarray:
    steps = clone(case.svm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        steps[-1].set_params(probability=True, random_state=0)
        return steps.fit(case.X, case.y).predict_proba(case.X_test)[:, 1]


def weighted(case: Case) -> np.ndarray:
    model = WeightedMarginClassifier(case.svm, n_weights=N_WEIGHTS).fit(case.X, case.y)
    return model.predict_proba(case.X_test)[:, 1]


def beta(case: Case) -> np.ndarray:
    from betacal import BetaCalibration

    # It maps probabilities to probabilities; the logistic function is the usual way in.
    model = BetaCalibration(parameters="abm").fit(expit(case.cross_fitted)[:, None], case.y)
    return model.predict(expit(case.test)[:, None])


def venn_abers(case: Case) -> np.ndarray:
    from venn_abers import VennAbers

    def columns(scores: np.ndarray) -> np.ndarray:
        return np.column_stack([expit(-scores), expit(scores)])

    model = VennAbers()
    model.fit(columns(case.cross_fitted), case.y)
    return model.predict_proba(columns(case.test))[0][:, 1]


METHODS: dict[str, Callable[[Case], np.ndarray]] = {
    "coherence": calibrator(CoherenceCalibrator),
    "coherence, linear tail": calibrator(lambda: CoherenceCalibrator(tail="linear")),
    "coherence, one margin, linear tail": calibrator(
        lambda: CoherenceCalibrator(u="fit-one", tail="linear")
    ),
    "coherence, offset": calibrator(lambda: CoherenceCalibrator(offset=True)),
    "coherence-svm": calibrator(lambda: CoherenceCalibrator(u=1.0)),
    "coherence-svm, the paper's way": calibrator(
        lambda: CoherenceCalibrator(u=1.0, smooth=False), trained=True
    ),
    "temperature": calibrator(lambda: CoherenceCalibrator(u=0.0)),
    "platt": calibrator(PlattCalibrator),
    "platt, training scores": calibrator(PlattCalibrator, trained=True),
    "sollich": calibrator(SollichCalibrator),
    "weighted fits": weighted,
    "scikit-learn sigmoid": scikit_learn("sigmoid"),
    "scikit-learn isotonic": scikit_learn("isotonic"),
    "scikit-learn temperature": scikit_learn("temperature"),
    "SVC(probability=True)": svc_probability,
    "betacal": beta,
    "venn-abers": venn_abers,
}
# These make their own fits; the others share the case's cross-fitted scores.
OWN_FITS = ("weighted fits", "SVC(probability=True)")
