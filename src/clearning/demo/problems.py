"""The demo's three contests: a wide problem, a curved one, and three classes.

All methods are tuned by five-fold cross-validation on the training samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from clearning import (
    CalibratedMarginClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifierCV,
)
from clearning.demo.contest import Contest, features_kept, n_vectors
from clearning.metrics import cross_entropy

OURS = "C-learning"
ONE_SE = "C-learning, one standard error"
GROUPED = "C-learning, pixels in groups"
LOGISTIC = "logistic regression, ridge"
LASSO = "logistic regression, lasso"
SVM = "SVM, Platt's sigmoid"
COHERENT_SVM = "SVM, coherence link"
N_REAL = 30
DIGITS = (3, 8, 9)


def wide(quick: bool = False) -> Contest:
    """Thirty real measurements among many that say nothing."""
    data, n_features = load_breast_cancer(), 300 if quick else 2000
    rng = np.random.default_rng(0)
    borrowed = data.data[:, rng.integers(N_REAL, size=n_features - N_REAL)]
    X = np.hstack([data.data, rng.permuted(borrowed, axis=0)])
    X, X_test, y, y_test = train_test_split(
        X, data.target, train_size=120, stratify=data.target, random_state=0
    )
    logistic = LogisticRegression(max_iter=1000)
    return Contest(
        title=f"1. Many columns, few that matter: {len(X)} patients, {n_features} measurements",
        note=f"The first {N_REAL} columns are scikit-learn's breast-cancer data; the others are "
        "shuffled copies of them, which say nothing. Who finds the real ones?",
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        methods=_scaled(
            {
                OURS: CLearningClassifierCV(n_jobs=2),
                ONE_SE: CLearningClassifierCV(selection="one_se", n_jobs=2),
                LASSO: _tuned(_lasso(), {"C": np.logspace(-1.5, 1, 3 if quick else 6)}),
                LOGISTIC: _tuned(logistic, {"C": np.logspace(-5, 0, 3 if quick else 6)}),
                SVM: _tuned_inside(_platt(SVC(kernel="linear")), {"C": np.logspace(-4, -2, 3)}),
            }
        ),
        needs=lambda model: (
            f"{features_kept(model).sum()} columns, {features_kept(model)[:N_REAL].sum()} real"
        ),
    )


@dataclass(frozen=True)
class Mixture:
    """Two classes, each of ten Gaussians of variance 0.2, after Hastie, Tibshirani and Friedman."""

    centres: NDArray[np.float64]

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Mixture:
        """Centres around (0, 1) for the first class, around (1, 0) for the second."""
        middles = np.array([[0.0, 1.0], [1.0, 0.0]])[:, None, :]
        return cls(rng.normal(middles, 1.0, (2, 10, 2)))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw samples and their labels, 0 and 1."""
        y = rng.integers(0, 2, n)
        X = self.centres[y, rng.integers(0, 10, n)] + rng.normal(0.0, np.sqrt(0.2), (n, 2))
        return X, y

    def probability(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """The true probability of the second class."""
        squares = ((X[:, None, None, :] - self.centres) ** 2).sum(axis=-1)
        density = logsumexp(-squares / 0.4, axis=-1)
        return expit(density[:, 1] - density[:, 0])


MIXTURE = Mixture.drawn(np.random.default_rng(7))  # whose boundary is clearly curved


def curved(quick: bool = False) -> Contest:
    """A boundary that no line follows, whose true probability is known."""
    rng = np.random.default_rng(1)
    X, y = MIXTURE.sample(150 if quick else 400, rng)
    X_test, y_test = MIXTURE.sample(1000 if quick else 10_000, rng)
    truth = MIXTURE.probability(X_test)
    grid = {"C": np.logspace(-1, 2, 2 if quick else 4), "gamma": ["scale", 2.0]}
    return Contest(
        title=f"2. A curved boundary, and how sure to be: {len(X)} samples in the plane",
        note="Each class is a mixture of ten Gaussians, so that the true probability is known. "
        "Whose probabilities come closest, and with how many support vectors?",
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        methods=_scaled(
            {
                OURS: KernelCLearningClassifierCV(n_jobs=2),
                SVM: _tuned_inside(_platt(SVC()), grid),
                COHERENT_SVM: _tuned_inside(CalibratedMarginClassifier(SVC()), grid),
                LOGISTIC: _tuned(LogisticRegression(), {"C": np.logspace(-3, 2, 6)}),
            }
        ),
        needs=lambda model: (
            "2 columns" if hasattr(model, "coef_") else f"{n_vectors(model)} of {len(X)} vectors"
        ),
        best=(float(np.mean((truth > 0.5) != y_test)), cross_entropy(y_test, truth)),
    )


def three_classes(quick: bool = False) -> Contest:
    """Threes, eights and nines, from few pictures of eight by eight pixels."""
    X, digit = load_digits(return_X_y=True)
    X, digit = X[np.isin(digit, DIGITS)] / 16, digit[np.isin(digit, DIGITS)]
    X, X_test, y, y_test = train_test_split(
        X, digit, train_size=150, stratify=digit, random_state=0
    )
    alphas = {"alphas": 20} if quick else {}
    models = {
        OURS: CLearningClassifierCV(n_jobs=2, **alphas),
        GROUPED: CLearningClassifierCV(groups="classes", n_jobs=2, **alphas),
        LOGISTIC: _tuned(LogisticRegression(max_iter=1000), {"C": np.logspace(-2, 2, 5)}),
        SVM: _tuned_inside(_platt(SVC(kernel="linear")), {"C": np.logspace(-2, 1, 4)}),
    }
    return Contest(
        title=f"3. Three classes: {len(X)} pictures of threes, eights and nines",
        note="One loss for all three scores, and one certificate. In groups, a pixel is in for all "
        "classes or out.",
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        methods={name: make_pipeline(model) for name, model in models.items()},
        needs=lambda model: f"{features_kept(model).sum()} of 64 pixels",
    )


def _scaled(models: dict[str, BaseEstimator]) -> dict[str, BaseEstimator]:
    return {name: make_pipeline(StandardScaler(), model) for name, model in models.items()}


def _tuned(model: BaseEstimator, grid: dict[str, Any]) -> GridSearchCV:
    """The candidate of the best log-loss."""
    return GridSearchCV(model, grid, scoring="neg_log_loss")


def _lasso() -> LogisticRegression:
    """The ℓ₁ penalty as the installed scikit-learn wants it said: 1.8 renamed it."""
    old = signature(LogisticRegression).parameters["penalty"].default == "l2"
    l1 = {"penalty": "l1"} if old else {"l1_ratio": 1.0}
    return LogisticRegression(solver="liblinear", random_state=0, **l1)


def _platt(svm: SVC) -> CalibratedClassifierCV:
    """An SVM with Platt's sigmoid on cross-fitted scores."""
    return CalibratedClassifierCV(svm, ensemble=False)


def _tuned_inside(calibrated: BaseEstimator, grid: dict[str, Any]) -> GridSearchCV:
    """The same choice for the SVM within a calibrator."""
    return _tuned(calibrated, {f"estimator__{name}": values for name, values in grid.items()})
