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
from sklearn.calibration import _SigmoidCalibration
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
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


class TunedSVC:
    """`GridSearchCV(CalibratedClassifierCV(SVC(), ensemble=False))` by log-loss, but quicker.

    It sees nothing of the samples but distances: they are computed once, and fits are of slices.
    """

    def fit(self, X: Any, y: np.ndarray) -> TunedSVC:
        self.X, squares = X, euclidean_distances(X, squared=True)
        variance = X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
        losses = {}
        for gamma in np.array(WIDTHS) / (X.shape[1] * variance):
            K = np.exp(-gamma * squares)
            for C in COSTS:
                losses[C, gamma] = np.mean(
                    [_fold_loss(K, y, C, *fold) for fold in FOLDS.split(X, y)]
                )
        C, self.gamma = min(losses, key=losses.__getitem__)
        self.predict_calibrated, self.size = _calibrated_svc(np.exp(-self.gamma * squares), y, C)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        p = self.predict_calibrated(
            np.exp(-self.gamma * euclidean_distances(X, self.X, squared=True))
        )
        return np.column_stack([1.0 - p, p])


def _fold_loss(K: np.ndarray, y: np.ndarray, C: float, train: Any, test: Any) -> float:
    predict, _ = _calibrated_svc(K[np.ix_(train, train)], y[train], C)
    return log_loss(y[test], predict(K[np.ix_(test, train)]))


def _calibrated_svc(K: np.ndarray, y: np.ndarray, C: float) -> tuple[Callable[..., Any], int]:
    """An SVM of kernel values, with a sigmoid fitted to scores of the folds."""

    def score(rows: np.ndarray) -> tuple[Callable[..., Any], int]:
        machine = SVC(C=C, kernel="precomputed").fit(K[np.ix_(rows, rows)], y[rows])
        support, coef, intercept = machine.support_, machine.dual_coef_[0], machine.intercept_[0]
        # What decision_function does, without its checks.
        return lambda K: K[:, support] @ coef + intercept, len(support)

    scores = np.empty(len(y))
    for train, test in FOLDS.split(K, y):
        scores[test] = score(train)[0](K[np.ix_(test, train)])
    sigmoid = _SigmoidCalibration().fit(scores, y)
    whole, size = score(np.arange(len(y)))
    return lambda K: sigmoid.predict(whole(K)), size


def svc(X, y) -> Fitted:
    return _timed(TunedSVC(), X, y, lambda model: model.size)


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
