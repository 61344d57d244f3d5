"""Which penalties' curvature a pass takes anew, and the models that others make of it."""

from __future__ import annotations

import numpy as np

from clearning._blocks.curvature import Knot, Model
from clearning._blocks.plan import Plan, Sums
from clearning._blocks.problem import BlockProblem
from clearning._blocks.state import ACTIVE, WAITING, State

# Penalties from knot to knot at first.
KNOT_SPACING = 4
# Curvature is taken anew once scores have moved by this share of the loss's unit, or less where a
# task has run out of patience with it.
STALE = 0.03
# Rows that make a matrix, for each of its columns: its error is about the root of their ratio.
ROWS_A_COLUMN = 2000
# Numbers that all matrices may hold together.
MOST_GRAM_NUMBERS = 1 << 26


class Knots:
    """The matrices that a problem's tasks share."""

    def __init__(self, problem: BlockProblem, state: State) -> None:
        self.problem = problem
        self.state = state

    @property
    def cells(self) -> int:
        """How many matrices a knot has: one a fold, or one for all where they are large."""
        folds = self.problem.encoding.n_folds
        return folds if folds * self._size * 8 <= MOST_GRAM_NUMBERS else 1

    @property
    def thin(self) -> int:
        """One row in how many makes curvature: some thousands a coefficient are as good as all."""
        needed = ROWS_A_COLUMN * self.state.care * max(len(self.state.working), 1)
        return max(self.problem.n_rows // needed, 1)

    @property
    def least_lift(self) -> float:
        """The lift of losses that are flat in places, where a model would have no minimum."""
        return 0.0 if hasattr(self.problem.loss, "rho") else 1e-8

    @property
    def _size(self) -> int:
        return max(len(self.state.working) * self.problem.encoding.width, 1) ** 2

    @property
    def _spacing(self) -> int:
        """How many penalties share a knot: more where matrices are large."""
        fitting = max(MOST_GRAM_NUMBERS // (self._size * self.cells), 2)
        return max(KNOT_SPACING, -(-self.problem.shape[1] // fitting))

    def places(self) -> list[int]:
        """Return the penalties whose curvature is to be taken anew."""
        state, n_alphas, spacing = self.state, self.problem.shape[1], self._spacing
        spaced = np.zeros(n_alphas, dtype=bool)
        spaced[::spacing] = True
        spaced[-1] = True
        chosen = spaced | state.wanted
        if chosen.sum() * self.cells * self._size > MOST_GRAM_NUMBERS:
            chosen = spaced
        busy = np.flatnonzero(np.any(np.isin(state.status, (WAITING, ACTIVE)), axis=0))
        return [
            k
            for k in np.flatnonzero(chosen).tolist()
            if np.any(np.abs(busy - k) <= spacing) and self._is_stale(k)
        ]

    def _is_stale(self, k: int) -> bool:
        state, knot = self.state, self.state.knots.get(k)
        if knot is None or knot.size < len(state.working) or len(knot.gram) != self.cells:
            return True
        if knot.lift > 2.0 * max(state.lift[k], self.least_lift) or knot.thin > self.thin:
            return True
        moved = knot.moved(state.coef[0, k], state.intercept[0, k], self.problem.unit)
        return moved > STALE * state.patience[k]

    def keep(self, plan: Plan, tasks: list[tuple[int, int]], sums: Sums) -> None:
        """Take the curvature that a pass has found."""
        size, state = len(plan.working), self.state
        if len(plan.knot_task):
            # What knows fewer columns has served its time.
            known = state.knots.items()
            state.knots = {k: knot for k, knot in known if knot.size == size}
        for knot, row in enumerate(plan.knot_task.tolist()):
            state.knots[tasks[row][1]] = Knot(
                sums["gram"][knot],
                sums["curved"][knot],
                sums["total"][knot],
                plan.coef[row],
                plan.intercept[row],
                float(plan.knot_lift[knot]),
                plan.thin,
            )

    def model(self, task: tuple[int, int], models: dict[tuple[int, int], Model]) -> Model:
        """Return a task's model, between the knots around it; `models` keeps those of the knots."""
        part, k = task
        places = np.array(sorted(self.state.knots))
        right = min(int(np.searchsorted(places, k)), len(places) - 1)
        left = right if places[right] <= k else max(right - 1, 0)
        low, high = int(places[left]), int(places[right])
        share = (k - low) / (high - low) if high > low else 0.0
        return self._at(part, low, models).blended(self._at(part, high, models), share)

    def _at(self, part: int, k: int, models: dict[tuple[int, int], Model]) -> Model:
        if (part, k) not in models:
            weight = self.problem.total[[0, part]]
            models[part, k] = self.state.knots[k].model(int(self.problem.parts[part]), weight)
        return models[part, k]
