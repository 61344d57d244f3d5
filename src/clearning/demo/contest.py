"""The data, the methods and the measurements of the demo."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
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
from clearning.datasets import make_simulation
from clearning.metrics import cross_entropy, expected_calibration_error

HEADINGS = ("method", "test error", "log-loss", "calibration", "kept", "duality gap", "seconds")

LINEAR = "C-learning, linear"
KERNEL = "C-learning, kernel"
LOGISTIC = "logistic regression"
SVM = "SVM, Platt's sigmoid"
COHERENT_SVM = "SVM, coherence link"
OURS = (LINEAR, KERNEL, COHERENT_SVM)
BINS: dict[str, Any] = {"n_bins": 10, "strategy": "quantile"}  # of every calibration error shown


@dataclass(frozen=True)
class Row:
    """What one method did on the test samples."""

    method: str
    error: float
    log_loss: float
    calibration: float
    kept: str
    gap: float | None
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `HEADINGS`."""
        return (
            self.method,
            f"{self.error:.2%}",
            f"{self.log_loss:.4f}",
            f"{self.calibration:.4f}",
            self.kept,
            "–" if self.gap is None else f"{self.gap:.1e}",
            f"{self.seconds:.2f}",
        )


@dataclass
class Contest:
    """One data set, the methods on it, and, once `run`, their rows and probabilities."""

    title: str
    note: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    methods: dict[str, BaseEstimator]
    feature_names: tuple[str, ...]
    simulation: int | None = None
    rows: list[Row] = field(default_factory=list)
    probabilities: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def run(self) -> Iterator[Row]:
        """Fit and measure one method after the other; each yields its row."""
        for name, model in self.methods.items():
            start = time.perf_counter()
            model.fit(self.X, self.y)
            seconds = time.perf_counter() - start
            p = model.predict_proba(self.X_test)[:, 1]
            self.probabilities[name] = p
            row = Row(
                method=name,
                error=float(np.mean(model.predict(self.X_test) != self.y_test)),
                log_loss=cross_entropy(self.y_test, p),
                calibration=expected_calibration_error(self.y_test, p, **BINS),
                kept=kept(model, len(self.X)),
                gap=getattr(model[-1], "dual_gap_", None),
                seconds=seconds,
            )
            self.rows.append(row)
            yield row


def contests(quick: bool = False) -> list[Contest]:
    """The two data sets of the demo."""
    return [_breast_cancer(quick), _simulation(quick)]


def _breast_cancer(quick: bool) -> Contest:
    data = load_breast_cancer()
    X, X_test, y, y_test = train_test_split(
        data.data, data.target, test_size=0.4, stratify=data.target, random_state=0
    )
    return Contest(
        title=f"Breast cancer: {len(X)} samples to learn from, {len(X_test)} to test on",
        note="Thirty measurements of cell nuclei; is the tumour benign?",
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        methods=methods(quick),
        feature_names=tuple(data.feature_names),
    )


def _simulation(quick: bool) -> Contest:
    n = 150 if quick else 400
    X, y, _ = make_simulation(2, n, random_state=0)
    X_test, y_test, _ = make_simulation(2, 500 if quick else 5000, random_state=1)
    return Contest(
        title=f"Simulation 2 of the paper: {n} samples to learn from, {len(X_test)} to test on",
        note="Two mirrored sine waves that touch near x₁ = 3π/2. The true probability is known: "
        "away from there it is near 0 or 1, there it is near one half.",
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        methods=methods(quick),
        feature_names=("x₁", "x₂"),
        simulation=2,
    )


def methods(quick: bool) -> dict[str, BaseEstimator]:
    """Every method standardises the features and tunes itself by five-fold cross-validation."""
    n_alphas = 15 if quick else 100
    svm_grid = {
        "C": np.logspace(-1, 2, 2 if quick else 4),
        "gamma": ["scale"] if quick else ["scale", 0.1, 1.0],
    }
    svm = GridSearchCV(SVC(), svm_grid)
    models = {
        LINEAR: CLearningClassifierCV(alphas=n_alphas, l1_ratios=(0.5, 1.0), n_jobs=2),
        KERNEL: KernelCLearningClassifierCV(
            alphas=n_alphas,
            alpha_min_ratio=1e-3 if quick else 1e-5,
            gammas=("median", "scale"),
            n_jobs=2,
        ),
        LOGISTIC: GridSearchCV(
            LogisticRegression(max_iter=1000),
            {"C": np.logspace(-3, 3, 7 if quick else 25)},
            scoring="neg_log_loss",
        ),
        SVM: CalibratedClassifierCV(svm, ensemble=False),
        COHERENT_SVM: CalibratedMarginClassifier(svm),
    }
    return {name: make_pipeline(StandardScaler(), model) for name, model in models.items()}


def kept(model: Any, n_samples: int) -> str:
    """How many features or support vectors a fitted pipeline needs to predict."""
    coef = getattr(_final(model), "coef_", None)
    if coef is not None:
        return f"{np.count_nonzero(coef)} of {coef.size} features"
    return f"{n_vectors(model)} of {n_samples} vectors"


def n_vectors(model: Any) -> int:
    """Number of support vectors of a fitted pipeline, calibrated or not."""
    return int(_final(model).n_support_.sum())


def _final(model: Any) -> Any:
    """The classifier at the heart of a pipeline, out of calibrator and grid search."""
    final = model[-1]
    if hasattr(final, "calibrated_classifiers_"):
        final = final.calibrated_classifiers_[0].estimator
    return getattr(final, "best_estimator_", final)
