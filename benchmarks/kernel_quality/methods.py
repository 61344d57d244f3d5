"""The classifiers compared, each tuned by log-loss over the same folds and as many candidates.

A penalty α of the loss's mean is C = 1/(nα) of the SVM's sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from clearning import KernelCLearningClassifierCV
from clearning.kernels import kernel_width

WIDTHS = (0.3, 1.0, 3.0)
ALPHAS = np.logspace(-2, -5.5, 8)
# C-learning also chooses its temperature, and pays with fewer penalties.
TEMPERATURES = (1.0, 0.1)
FEWER_ALPHAS = np.logspace(-2, -6.5, 4)
N_CANDIDATES = len(WIDTHS) * len(ALPHAS)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@dataclass(frozen=True)
class Fitted:
    model: Any
    n_support: int


def widths(X, y) -> list[float]:
    """Multiples of the paper's rule: one over the squared median distance between the classes."""
    rule = kernel_width("median", X, y)
    return [rule * factor for factor in WIDTHS]


def tuned(X, y, **grid: Any) -> Fitted:
    model = KernelCLearningClassifierCV(
        search="paper", gammas=widths(X, y), n_landmarks=None, cv=FOLDS, **grid
    )
    model.fit(X, y)
    assert len(model.cv_results_["rank_test_score"]) == N_CANDIDATES
    return Fitted(model, len(model.support_))


def c_learning(X, y) -> Fitted:
    return tuned(X, y, l1_ratios=(0.0,), rhos=TEMPERATURES, alphas=FEWER_ALPHAS, calibrate=True)


def kernel_logistic(X, y) -> Fitted:
    return tuned(X, y, loss="logistic", l1_ratios=(0.0,), alphas=ALPHAS)


def calibrated_svc(X, y) -> Fitted:
    n_fold = len(y) * (FOLDS.get_n_splits() - 1) / FOLDS.get_n_splits()
    grid = {"estimator__gamma": widths(X, y), "estimator__C": list(1 / (n_fold * ALPHAS))}
    model = GridSearchCV(
        CalibratedClassifierCV(SVC(), ensemble=False), grid, cv=FOLDS, scoring="neg_log_loss"
    ).fit(X, y)
    svm = model.best_estimator_.calibrated_classifiers_[0].estimator
    return Fitted(model, int(svm.n_support_.sum()))


METHODS = {
    "C-learning": c_learning,
    "calibrated SVC": calibrated_svc,
    "kernel logistic": kernel_logistic,
}
