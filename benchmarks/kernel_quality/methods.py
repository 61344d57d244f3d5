"""The classifiers compared, each tuned over the same widths and the same penalties.

A penalty α of the loss's mean is C = 1/(nα) of the SVM's sum. All are tuned by log-loss over the
same five folds: 3 widths times 8 penalties each.
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

ALPHAS = np.logspace(-2, -5.5, 8)
WIDTHS = (0.3, 1.0, 3.0)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@dataclass(frozen=True)
class Fitted:
    model: Any
    n_support: int


def widths(X, y) -> list[float]:
    """Multiples of the paper's rule: one over the squared median distance between the classes."""
    rule = kernel_width("median", X, y)
    return [rule * factor for factor in WIDTHS]


def c_learning(X, y, *, loss: str = "coherence", l1_ratio: float = 0.5) -> Fitted:
    model = KernelCLearningClassifierCV(
        loss=loss, l1_ratios=(l1_ratio,), gammas=widths(X, y), alphas=ALPHAS, cv=FOLDS
    ).fit(X, y)
    return Fitted(model, len(model.support_))


def c_learning_ridge(X, y) -> Fitted:
    return c_learning(X, y, l1_ratio=0.0)


def kernel_logistic(X, y) -> Fitted:
    return c_learning(X, y, loss="logistic", l1_ratio=0.0)


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
    "C-learning, no l1": c_learning_ridge,
    "calibrated SVC": calibrated_svc,
    "kernel logistic": kernel_logistic,
}
