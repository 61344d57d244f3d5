"""What a contest is: data, methods, and what each method did on samples it has not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import log_loss

HEADINGS = ("method", "test error", "log-loss", "needs", "duality gap", "seconds")


@dataclass(frozen=True)
class Row:
    """What one method did on the test samples."""

    method: str
    error: float
    log_loss: float
    needs: str
    gap: float | None
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `HEADINGS`."""
        return (
            self.method,
            f"{self.error:.2%}",
            f"{self.log_loss:.3f}",
            self.needs,
            "–" if self.gap is None else f"{self.gap:.0e}",
            f"{self.seconds:.1f}",
        )


@dataclass
class Contest:
    """One problem, the methods on it, and, once `run`, their rows.

    `needs` says what a fitted classifier keeps; `best` is the error and the log-loss of the true
    probability, where that is known; `warned` are the words of warning that were heard.
    """

    title: str
    note: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    methods: dict[str, BaseEstimator]
    needs: Callable[[Any], str]
    best: tuple[float, float] | None = None
    rows: list[Row] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    def run(self) -> Iterator[Row]:
        """Fit and measure one method after the other; each yields its row."""
        if self.best is not None:
            yield self._keep(Row("the true probability", *self.best, "–", None, 0.0))
        for name, model in self.methods.items():
            start = time.perf_counter()
            with warnings.catch_warnings(record=True) as told:
                model.fit(self.X, self.y)
            seconds = time.perf_counter() - start
            self.warned += [f"{name} warned: {each.message}" for each in told]
            final = classifier(model)
            yield self._keep(
                Row(
                    method=name,
                    error=float(np.mean(model.predict(self.X_test) != self.y_test)),
                    log_loss=float(log_loss(self.y_test, model.predict_proba(self.X_test))),
                    needs=self.needs(final),
                    gap=getattr(final, "dual_gap_", None),
                    seconds=seconds,
                )
            )

    def _keep(self, row: Row) -> Row:
        self.rows.append(row)
        return row


def classifier(model: Any) -> Any:
    """The classifier at the heart of a pipeline, out of grid search and calibrator."""
    final = model[-1]
    final = getattr(final, "best_estimator_", final)
    if hasattr(final, "calibrated_classifiers_"):
        final = final.calibrated_classifiers_[0].estimator
    return final


def features_kept(model: Any) -> NDArray[np.bool_]:
    """Which features a linear classifier needs, for any of its classes."""
    return (np.asarray(model.coef_) != 0).any(axis=0)


def n_vectors(model: Any) -> int:
    """Number of support vectors of a kernel classifier."""
    return int(model.n_support_.sum())
