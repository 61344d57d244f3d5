"""The classifiers compared: our defaults, and others tuned by log-loss over the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from peers import GlmnetR, Unavailable
from scipy import sparse
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from workloads import Workload

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
COSTS = np.logspace(-1, 4, 6)
WIDTHS = (0.1, 0.3, 1.0, 3.0)
# Length scales are fitted to arrays; this many features are too many for that.
MOST_GP_FEATURES = 5000


class Skipped(Exception):
    """The method cannot be had here, or not on these data; the message says why."""


class Fitted(NamedTuple):
    """The probability of the positive class, what the model consists of, and its cost."""

    predict: Callable[[Any], np.ndarray]
    size: int
    seconds: float


def _timed(model: Any, X: Any, y: np.ndarray, size: Callable[[Any], int]) -> Fitted:
    started = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - started
    return Fitted(lambda X: model.predict_proba(X)[:, 1], size(model), seconds)


def linear(X, y) -> Fitted:
    return _timed(
        CLearningClassifierCV(cv=FOLDS), X, y, lambda model: np.count_nonzero(model.coef_)
    )


def own_logistic(X, y) -> Fitted:
    """The same search with the logistic loss in the place of the coherence function."""
    model = CLearningClassifierCV(loss="logistic", cv=FOLDS)
    return _timed(model, X, y, lambda model: np.count_nonzero(model.coef_))


def kernel(X, y) -> Fitted:
    return _timed(KernelCLearningClassifierCV(cv=FOLDS), X, y, lambda model: len(model.support_))


def logistic(X, y) -> Fitted:
    model = LogisticRegressionCV(
        Cs=10,
        l1_ratios=(0.0,),
        scoring="neg_log_loss",
        cv=FOLDS,
        max_iter=10_000,
        use_legacy_attributes=False,
    )
    return _timed(model, X, y, lambda model: np.count_nonzero(model.coef_))


def glmnet(X, y) -> Fitted:
    """cv.glmnet as it comes: the lasso, its own penalties, the one of the least deviance."""
    try:
        GlmnetR.version()
    except Unavailable as error:
        raise Skipped(str(error)) from error
    folds = np.empty(len(y), dtype=int)
    for number, (_, test) in enumerate(FOLDS.split(X, y)):
        folds[test] = number
    peer = GlmnetR()
    try:
        peer.prepare(Workload("study", X if sparse.issparse(X) else np.asfortranarray(X), y))
        chosen = peer.choose(folds)
    finally:
        peer.close()
    coef, intercept = chosen.coefs.toarray()[0], chosen.intercepts[0]
    return Fitted(
        lambda X: expit(np.asarray(X @ coef) + intercept), np.count_nonzero(coef), chosen.seconds
    )


def svc(X, y) -> Fitted:
    variance = X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
    scale = 1.0 / (X.shape[1] * variance)
    grid = {"estimator__gamma": [scale * width for width in WIDTHS], "estimator__C": list(COSTS)}
    model = GridSearchCV(
        CalibratedClassifierCV(SVC(), ensemble=False, cv=FOLDS),
        grid,
        cv=FOLDS,
        scoring="neg_log_loss",
    )
    return _timed(
        model,
        X,
        y,
        lambda model: int(
            model.best_estimator_.calibrated_classifiers_[0].estimator.n_support_.sum()
        ),
    )


def gaussian_process(X, y) -> Fitted:
    if X.shape[1] > MOST_GP_FEATURES:
        raise Skipped(f"{X.shape[1]} features are too many for a Gaussian process here")
    dense = _as_array(X)
    lengths = RBF(np.sqrt(2 * X.shape[1] * dense.var()), (1e-3, 1e5))
    model = GaussianProcessClassifier(ConstantKernel(1.0, (1e-3, 1e5)) * lengths, random_state=0)
    fitted = _timed(model, dense, y, lambda model: len(y))
    return fitted._replace(predict=lambda X: model.predict_proba(_as_array(X))[:, 1])


def _as_array(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


LINEAR, KERNEL, LOGISTIC = "linear default", "kernel default", "linear, logistic loss"
METHODS: dict[str, Callable[..., Fitted]] = {
    LINEAR: linear,
    KERNEL: kernel,
    LOGISTIC: own_logistic,
    "LogisticRegressionCV": logistic,
    "cv.glmnet": glmnet,
    "calibrated SVC": svc,
    "Gaussian process": gaussian_process,
}
# Whom each default is held against.
DUELS = {
    LINEAR: (LOGISTIC, "LogisticRegressionCV", "cv.glmnet"),
    KERNEL: ("calibrated SVC", "Gaussian process", LINEAR),
}


def fit(method: str, X: Any, y: np.ndarray) -> Fitted:
    """Fit a method; its warnings are its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return METHODS[method](X, y)
