"""What the lock-step solver is given: penalties, parts of the rows, and what the scan knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning._blocks.certificate import Columns, Reach
from clearning._blocks.near_dependence import Dependence
from clearning._blocks.plan import Encoding
from clearning._core_input import core_loss
from clearning._designs import Array, Indices
from clearning.losses import MultiCoherence

# Columns whose correlation is above this share of their threshold are in the working set.
ENTERING = 0.9


@dataclass(frozen=True)
class BlockProblem:
    """A path of penalties on all rows and on the training rows of each fold.

    Attributes
    ----------
    encoding : Encoding
        How blocks are read.
    loss : Loss or MultiCoherence
        The loss of two classes, or of more.
    l1_ratio : float
        ω.
    alphas : ndarray of shape (n_alphas,)
        The penalties, descending.
    parts : ndarray of shape (n_parts,)
        −1 for all rows, then the folds that are left out.
    n_rows : int
        Number of all rows.
    total : ndarray of shape (n_parts,)
        Weight of each part's rows.
    l1_factor, l2_factor : ndarray of shape (n_parts, n_features)
        Factors of the penalty's two halves.
    lower, upper : ndarray of shape (n_scores, n_features)
        Bounds.
    fit_intercept : bool
        Whether there is an intercept.
    goal : ndarray of shape (n_parts,)
        The gap to reach.
    rms : ndarray of shape (n_parts, n_features)
        Root mean square of each column, less its centre.
    largest : ndarray of shape (n_features,)
        Largest entry of each column, less its centre.
    dependence : Dependence
        How the columns that neither a penalty nor bounds on both sides hold depend on each other.
    offset_size : ndarray of shape (n_parts,)
        Mean size of the offsets, or a bound on it.
    numbers_a_row : float
        How many numbers a row has that are not zero, about.
    max_passes : int
        Most passes over the rows.
    """

    encoding: Encoding
    loss: Any
    l1_ratio: float
    alphas: Array
    parts: Indices
    n_rows: int
    total: Array
    l1_factor: Array
    l2_factor: Array
    lower: Array
    upper: Array
    fit_intercept: bool
    goal: Array
    rms: Array
    largest: Array
    dependence: Dependence
    offset_size: Array
    numbers_a_row: float
    max_passes: int

    @property
    def n_features(self) -> int:
        return self.encoding.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """Number of parts and of penalties."""
        return len(self.parts), len(self.alphas)

    @cached_property
    def free(self) -> Indices:
        """The columns without a penalty."""
        return np.flatnonzero(self.l1_factor[0] == 0)

    @property
    def core_loss(self) -> dict[str, Any]:
        """The loss as the compiled core reads it."""
        if not isinstance(self.loss, MultiCoherence):
            return core_loss(self.loss)
        kappa = self.loss.scale(self.encoding.width)
        return {"rho": self.loss.rho, "u": self.loss.u, "kappa": kappa}

    @property
    def unit(self) -> float:
        """The change of a score that changes the loss's curvature."""
        if isinstance(self.loss, MultiCoherence):
            return self.loss.rho
        parameters = self.loss.solver_parameters
        return parameters.get("rho", parameters.get("delta", 1.0))

    def steepest(self, objective: float) -> float:
        """Return how fast the mean loss can change with the scores, at such an objective."""
        if isinstance(self.loss, MultiCoherence):
            return 2.0 * self.loss.scale(self.encoding.width)
        if self.loss.solver == "squared_hinge":
            return 2.0 * float(np.sqrt(abs(objective)))
        return self.loss.solver_parameters.get("kappa", 1.0)

    def columns(self, part: int, alpha: float) -> Columns:
        """Return the penalties of one task."""
        l1 = alpha * self.l1_ratio * self.l1_factor[part]
        with np.errstate(over="ignore"):
            ridge = alpha * (1.0 - self.l1_ratio) * self.l2_factor[part]
        if not np.isfinite(ridge).all():
            raise ValueError(
                f"alpha={alpha:g} times the square of a column's scale is beyond the range of a "
                "double. Scale X."
            )
        shape = self.lower.shape
        return Columns(
            np.broadcast_to(l1, shape), np.broadcast_to(ridge, shape), self.lower, self.upper
        )

    def may_enter(self, part: int, k: int, v: Array) -> NDArray[np.bool_]:
        """Return the columns that a penalty may let in, seen from near its solution.

        The strong rule looks from one penalty to the next; here each is looked at from its own
        point, so that a small step below its threshold will do. What it misses, a pass finds.
        """
        threshold = ENTERING * self.alphas[k] * self.l1_ratio
        pulls = np.where(v < 0, self.upper > 0, self.lower < 0)
        return np.any(pulls & (np.abs(v) >= threshold * self.l1_factor[part]), axis=0)

    def reach(self, part: int) -> Reach:
        """Return how large the columns of a part's rows can be."""
        return Reach(self.rms[part], self.free, self.largest[self.free], self.dependence)
