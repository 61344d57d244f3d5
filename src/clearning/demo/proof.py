"""The demo's fourth part: a certificate beside solvers that stopped too early."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from clearning import CLearningClassifier

HEADINGS = ("solver", "iterations", "objective", "above the optimum, at most", "said so")
TITLE = "4. Is the fit done? Ridge logistic regression on columns in their own units"
NOTE = (
    "All solvers minimise the same objective. The dual point of a certified fit bounds the optimum "
    "from below, so that anyone's distance from it is known, whoever computed the answer."
)
OURS = "clearning"


class Proof:
    """One objective, and how far from its minimum each solver ends by default."""

    def __init__(self, C: float = 1.0) -> None:
        self.X, self.y = load_breast_cancer(return_X_y=True)
        self.C = C
        self.alpha = 1.0 / (C * len(self.y))
        self.rows: list[tuple[str, ...]] = []

    def run(self) -> Iterator[tuple[str, ...]]:
        """Yield a row a solver; ours comes first, for its proof is what bounds the others."""
        ours = CLearningClassifier(loss="logistic", alpha=self.alpha, l1_ratio=0.0)
        ours.fit(self.X, self.y)
        lower = ours.objective_ - ours.dual_gap_
        yield self._keep(OURS, ours, ours.objective_, ours.dual_gap_, "proved it")
        for solver in ("saga", "lbfgs"):
            model, warned = self._fit(solver)
            reached = self.objective(model)
            said = "a warning, no number" if warned else "nothing"
            yield self._keep(f"scikit-learn, {solver}", model, reached, reached - lower, said)

    def objective(self, model: Any) -> float:
        """The penalised objective of any linear classifier's coefficients."""
        margin = np.where(self.y == 1, 1, -1) * model.decision_function(self.X)
        loss = np.logaddexp(0.0, -margin).mean()
        return float(loss + 0.5 * self.alpha * (model.coef_**2).sum())

    def _fit(self, solver: str) -> tuple[LogisticRegression, bool]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = LogisticRegression(C=self.C, solver=solver, random_state=0)
            model.fit(self.X, self.y)
        return model, any(issubclass(w.category, ConvergenceWarning) for w in caught)

    def _keep(
        self, name: str, model: Any, objective: float, excess: float, said: str
    ) -> tuple[str, ...]:
        iterations = int(np.max(model.n_iter_))
        row = (name, str(iterations), f"{objective:.6f}", f"{excess:.0e}", said)
        self.rows.append(row)
        return row
