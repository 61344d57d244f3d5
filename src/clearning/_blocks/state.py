"""Where every task of a lock-step fit stands: all that a checkpoint has to keep."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clearning._blocks.curvature import Knot
from clearning._designs import Array, Indices

WAITING, ACTIVE, DONE, STUCK = range(4)


@dataclass
class State:
    """Arrays with an entry for each part of the rows and each penalty.

    Coefficients and intercepts have one more for each score, of which two classes have one.

    Attributes
    ----------
    working : ndarray of shape (n_working,)
        The working set, in the order of its columns' arrival.
    coef, intercept
        The point that the next pass evaluates, on the working set; intercepts are those of centred
        columns.
    objective, dual, gap
        The objective at that point once a pass has been there, the largest dual value seen, and
        what is proved of it.
    status
        Waiting for the full path, active, done or stuck.
    origin_coef, origin_intercept, origin_objective
        The point that the last step left.
    promise, length
        The decrease that the step promised, and how far it moved the scores.
    searched
        Whether the next pass looks at the way from the origin, too.
    violation, lost, idle
        The worst violation of the optimality conditions, the share of its weight that a sample
        loses on the way to the dual point, and the passes that gained nothing.
    test, tested
        Sums over held-out rows, and whether they belong to the point.
    lift, wanted, patience, knots
        What each penalty's curvature is lifted by, whether it asks for a knot of its own, how old
        that may become, and the curvatures that are known.
    care
        How many times more rows than usual make curvature.
    passes
        Passes over the rows so far.
    """

    working: Indices
    coef: Array
    intercept: Array
    objective: Array
    dual: Array
    gap: Array
    status: NDArray[np.int64]
    origin_coef: Array
    origin_intercept: Array
    origin_objective: Array
    promise: Array
    length: Array
    searched: NDArray[np.bool_]
    violation: Array
    lost: Array
    idle: NDArray[np.int64]
    test: Array
    tested: NDArray[np.bool_]
    lift: Array
    wanted: NDArray[np.bool_]
    patience: Array
    knots: dict[int, Knot] = field(default_factory=dict)
    care: int = 1
    passes: int = 0

    @classmethod
    def start(cls, working: Indices, coef: Array, intercept: Array) -> State:
        """Begin at one point a penalty, which all parts of the rows share."""
        shape = intercept.shape[:2]
        none, never = np.full(shape, np.inf), np.zeros(shape, dtype=bool)
        return cls(
            working=working,
            coef=coef,
            intercept=intercept,
            objective=none.copy(),
            dual=-none,
            gap=none.copy(),
            status=np.full(shape, WAITING),
            origin_coef=np.zeros_like(coef),
            origin_intercept=np.zeros_like(intercept),
            origin_objective=none.copy(),
            promise=none.copy(),
            length=none.copy(),
            searched=never.copy(),
            violation=none.copy(),
            lost=np.ones(shape),
            idle=np.zeros(shape, dtype=int),
            test=np.zeros((*shape, 3)),
            tested=never.copy(),
            lift=np.zeros(shape[1]),
            wanted=np.zeros(shape[1], dtype=bool),
            patience=np.ones(shape[1]),
        )

    @property
    def used(self) -> NDArray[np.bool_]:
        """The columns of the working set that some task's point has, or has left."""
        begun = self.status != WAITING
        return ((self.coef[begun] != 0) | (self.origin_coef[begun] != 0)).any(axis=(0, 1))

    def narrow(self, kept: Indices) -> None:
        """Keep some places of the working set; tasks that wait will start from another's point."""
        self.working = self.working[kept]
        self.coef, self.origin_coef = self.coef[..., kept], self.origin_coef[..., kept]
        self.knots = {k: knot.narrowed(kept) for k, knot in self.knots.items()}

    def widen(self, entering: Indices) -> None:
        """Let more columns into the working set; their coefficients are zero so far."""
        self.working = np.concatenate([self.working, entering])
        room = ((0, 0), (0, 0), (0, 0), (0, len(entering)))
        self.coef = np.pad(self.coef, room)
        self.origin_coef = np.pad(self.origin_coef, room)
