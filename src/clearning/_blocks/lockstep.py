"""Newton in lock-step: one pass over the rows moves every penalty of every fold by a step.

A pass evaluates loss, gradient and certificate of all tasks at their points, the curvature at some
knots, and the loss on the way to a point where that is far. Between two passes each task takes the
step of its model. The full path goes first; folds start from where it is once its steps are short:
its sums are kept apart for each fold, so that the first step of a fold costs no evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from clearning._blocks.certificate import (
    UNIT_ROUNDING,
    Point,
    duality_gap,
)
from clearning._blocks.curvature import Model
from clearning._blocks.drawn_rows import DrawnRows, draw_rows
from clearning._blocks.engine import ONE_BLAS_THREAD, Engine
from clearning._blocks.knots import Knots
from clearning._blocks.plan import Plan, Sums, add_sums, block_sums, shaped, without_fold
from clearning._blocks.problem import BlockProblem
from clearning._blocks.state import ACTIVE, DONE, STUCK, WAITING, State
from clearning._blocks.wide import RowModel, is_wide
from clearning._designs import Array

# Fractions of a long step at which the loss is looked at beside its end.
FRACTIONS = np.array([0.5, 0.25, 0.1, 0.03])
# A step that moves scores by more than this share of the loss's unit is long.
LONG_STEP = 0.3
# Folds start from the full path once its steps are shorter than this.
SHORT_STEP = 0.1
# A task that a pass leaves with more than this share of its violation asks for a fresh knot.
POOR_CONTRACTION = 0.3
# A step that promises less than this share of the goal, and left more than the next of the
# violations, gains nothing; after so many of them a task gives up.
WORTHWHILE = 1e-4
STALLED = 0.95
PATIENCE = 3
ARMIJO = 1e-4
# Curvature is lifted by this share of the majoriser after a step that went too far, then by more.
LEAST_LIFT = 1e-4
# Held-out rows judge a task once its last step promised less than so many times the goal.
HOPEFUL = 10.0
# A task on all rows whose gap is small enough goes on as long as a step promises more than this
# share of it: the proof is often much larger than what is left to gain, but not always. Folds
# choose a penalty, and end with their proof.
POLISHED = 1e-3
# Columns that the sample let in leave the working set once it needs no more than this share.
CROWDED = 0.5
# A step is expected to leave no more than this share of what dual weights have to give up.
SHRINK = 0.2


class LockStep:
    """A problem, where its tasks stand, and the passes that move them on."""

    def __init__(
        self,
        problem: BlockProblem,
        state: State,
        engine: Engine,
        n_threads: int,
    ) -> None:
        self.problem = problem
        self.state = state
        self.engine = engine
        self.rows: DrawnRows | None = None
        self.by_products = False
        self.knots = Knots(problem, state)
        self.n_threads = n_threads
        # of the last point on all rows
        self.gradient = np.zeros((problem.encoding.width, problem.n_features))

    def run(self, after_pass: Callable[[State], None] = lambda state: None) -> State:
        """Pass over the rows until every task is done, or the passes are used up."""
        state = self.state
        state.status[0, state.status[0] == WAITING] = ACTIVE
        with ONE_BLAS_THREAD:
            while self._unfinished().any() and state.passes < self.problem.max_passes:
                self.one_pass()
                after_pass(state)
            self._give_up()
            if self._untested().any():
                self.one_pass()
                after_pass(state)
        return state

    def one_pass(self) -> None:
        """Evaluate every task at its point and take it a step further."""
        problem, state = self.problem, self.state
        plan, tasks = self._plan()
        worst = np.max(state.gap[state.status == ACTIVE], initial=0.0)
        label = f"pass {state.passes + 1}, worst gap {worst:.1e}"
        found = self.engine.run(block_sums, add_sums, plan, label)
        problem.encoding.audit.check(None if found is None else found["audit"])
        sums = shaped(found, plan)
        state.passes += 1
        self.knots.keep(plan, tasks, sums)
        settled = [
            (task, self._point(task, row, plan, sums))
            for row, task in enumerate(tasks)
            if self._settle(task, row, plan, sums)
        ]
        self.poor = False
        for task, point in settled:
            self._certify(task, point)
        if self.poor and self.knots.thin > 1:
            state.care *= 4
        moving = [(task, point) for task, point in settled if state.status[task] == ACTIVE]
        self._let_columns_in(settled)
        self._steps(moving)
        self._steps(self._let_folds_in(plan, tasks, found, dict(settled)))

    # --- What the next pass computes ---

    def _unfinished(self) -> NDArray[np.bool_]:
        return np.isin(self.state.status, (WAITING, ACTIVE))

    def _untested(self) -> NDArray[np.bool_]:
        """Return the tasks that have ended on a fold whose other rows have not judged them."""
        state = self.state
        ended = np.isin(state.status, (DONE, STUCK))
        return ended & ~state.tested & (self.problem.parts >= 0)[:, None]

    def _give_up(self) -> None:
        """Leave every task that is not done at the last point that a pass has seen."""
        state = self.state
        for part, k in np.argwhere(self._unfinished()).tolist():
            task = part, k
            if np.isfinite(state.origin_objective[task]) and state.status[task] == ACTIVE:
                state.coef[task] = state.origin_coef[task]
                state.intercept[task] = state.origin_intercept[task]
                self._stand_at(task, state.origin_objective[task])
            proved = state.gap[task] <= self.problem.goal[part]
            state.status[task] = DONE if proved else STUCK

    def _plan(self) -> tuple[Plan, list[tuple[int, int]]]:
        problem, state = self.problem, self.state
        self.by_products = is_wide(problem, state)
        places = [] if self.by_products else self.knots.places()
        chosen = (state.status == ACTIVE) | self._untested()
        chosen[0, places] = True
        tasks = [(int(part), int(k)) for part, k in np.argwhere(chosen)]
        part, k = np.array(tasks).T
        searched = np.flatnonzero(state.searched[part, k])
        hopeful = state.promise[part, k] <= HOPEFUL * problem.goal[part]
        finished = state.status[part, k] != ACTIVE
        tested = np.flatnonzero((problem.parts[part] >= 0) & (hopeful | finished))
        order = np.argsort(state.working)
        plan = Plan(
            encoding=problem.encoding,
            loss=problem.core_loss,
            working=state.working,
            part=problem.parts[part],
            coef=state.coef[part, k],
            intercept=state.intercept[part, k],
            shrink=SHRINK * state.lost[part, k],
            line_task=searched,
            line_coef=state.origin_coef[part, k][searched],
            line_intercept=state.origin_intercept[part, k][searched],
            fractions=FRACTIONS,
            knot_task=np.array([tasks.index((0, place)) for place in places], dtype=int),
            knot_lift=np.maximum(state.lift[places], self.knots.least_lift),
            free=order[np.searchsorted(state.working, problem.free, sorter=order)],
            tested=tested,
            parted=int((part == 0).sum()) if np.any(state.status == WAITING) else 0,
            apart=self.knots.cells > 1,
            thin=self.knots.thin,
        )
        return plan, tasks

    # --- What a pass found ---

    def _settle(self, task: tuple[int, int], row: int, plan: Plan, sums: Sums) -> bool:
        """Take the objective of a task's point, or turn back on the way to it; False if it did."""
        problem, state = self.problem, self.state
        if state.status[task] != ACTIVE:
            self._take_test(task, row, plan, sums)
            return False
        part, k = task
        columns = problem.columns(part, problem.alphas[k])
        objective = sums["value"][row] / problem.total[part]
        objective += columns.penalty(self._dense(state.coef[task]))
        origin = state.origin_objective[task]
        rounding = self._rounding(task, origin)
        # What is no number is no decrease.
        if np.isfinite(origin) and not (
            objective <= origin - ARMIJO * state.promise[task] + rounding
        ):
            self._turn_back(task, row, plan, sums)
            return False
        if part == 0 and np.isfinite(origin):
            # A step that went well lets curvature be what it is.
            state.lift[k] = 0.25 * state.lift[k] if state.lift[k] > LEAST_LIFT else 0.0
        state.objective[task] = objective
        state.searched[task] = False
        self._take_test(task, row, plan, sums)
        return True

    def _take_test(self, task: tuple[int, int], row: int, plan: Plan, sums: Sums) -> None:
        if row in plan.tested:
            self.state.test[task] = sums["test"][row]
            self.state.tested[task] = True

    def _turn_back(self, task: tuple[int, int], row: int, plan: Plan, sums: Sums) -> None:
        """Go to the best of the fractions; where they were not looked at, half of the way."""
        problem, state = self.problem, self.state
        part, k = task
        columns = problem.columns(part, problem.alphas[k])
        start, end = self._dense(state.origin_coef[task]), self._dense(state.coef[task])
        share = 0.5
        line = np.flatnonzero(plan.line_task == row)
        if len(line):
            values = sums["line"][line[0]] / problem.total[part]
            values = values + [columns.penalty(start + f * (end - start)) for f in FRACTIONS]
            best = int(np.argmin(np.where(np.isfinite(values), values, np.inf)))
            # Where no fraction is better than the origin, back to it, with more curvature.
            share = float(FRACTIONS[best]) if values[best] < state.origin_objective[task] else 0.0
        for value, origin in (
            (state.coef, state.origin_coef),
            (state.intercept, state.origin_intercept),
        ):
            value[task] = origin[task] + (share * (value[task] - origin[task]) if share else 0.0)
        state.promise[task] *= share
        state.searched[task] = share > 0.0
        if share == 0.0:
            self._stand_at(task, state.origin_objective[task])
            state.origin_objective[task] = np.inf
        more = 4.0 if share > 0.0 else 16.0
        state.lift[k] = min(1.0, more * max(state.lift[k], LEAST_LIFT))
        state.wanted[k] = True

    def _stand_at(self, task: tuple[int, int], objective: float) -> None:
        """Take an objective that a pass has found before; no loss is negative."""
        state = self.state
        state.objective[task] = objective
        state.gap[task] = self._proved(task, np.inf, self._rounding(task, objective))

    def _proved(self, task: tuple[int, int], gap: float, rounding: float) -> float:
        """Return what a gap found here, and the best dual value found elsewhere, prove."""
        objective = self.state.objective[task]
        proved = max(min(gap, objective - max(self.state.dual[task], 0.0)), 0.0) + rounding
        return float(np.fmin(proved, objective))

    def _point(self, task: tuple[int, int], row: int, plan: Plan, sums: Sums) -> Point:
        total = self.problem.total[task[0]]
        return Point(
            b=self._dense(self.state.coef[task]),
            loss=sums["value"][row] / total,
            v=sums["gradient"][row] / total,
            slope=sums["slope"][row] / total,
            border=sums["border"][row] / total,
            energy=sums["energy"][row] / total,
            shrink=plan.shrink[row],
            shrunk=sums["shrunk"][row] / total,
        )

    def _certify(self, task: tuple[int, int], point: Point) -> None:
        """Take the dual value of a point, and see what is proved of the task."""
        problem, state = self.problem, self.state
        part, k = task
        if part == 0:
            self.gradient = point.v
        columns = problem.columns(part, problem.alphas[k])
        reach = problem.reach(part)
        gap, state.lost[task] = duality_gap(columns, reach, point, problem.fit_intercept)
        objective = state.objective[task]
        rounding = self._rounding(task, objective)
        state.gap[task] = self._proved(task, gap, rounding)
        # For other points, less what rounding may have made of this one's scores.
        state.dual[task] = max(state.dual[task], objective - gap - rounding, 0.0)
        before = state.violation[task]
        state.violation[task] = columns.violations(point.b, point.v).max(initial=0.0)
        if state.gap[task] <= problem.goal[part]:
            return
        if state.violation[task] > POOR_CONTRACTION * before:
            state.wanted[k] = True
            state.patience[k] = max(0.1 * state.patience[k], 1e-6)
            self.poor = True
        # A task that is back where it was has not tried its new curvature yet.
        idle = np.isfinite(state.origin_objective[task])
        idle &= state.promise[task] < WORTHWHILE * problem.goal[part]
        idle &= state.violation[task] > STALLED * before
        # A step that promises no more than rounding has nothing to give, whatever it does.
        idle |= state.promise[task] <= rounding
        state.idle[task] = state.idle[task] + 1 if idle else 0
        if state.idle[task] >= PATIENCE:
            state.status[task] = STUCK

    def _rounding(self, task: tuple[int, int], objective: float) -> float:
        """Return what rounding may have made of an objective and of the dual value below it."""
        problem, state = self.problem, self.state
        part = task[0]
        size = np.abs(state.intercept[task]) + problem.offset_size[part]
        size += np.abs(state.coef[task]) @ problem.rms[part][state.working]
        slope = problem.steepest(objective)
        return float(UNIT_ROUNDING * (abs(objective) + slope * size.max()))

    # --- Where the next pass goes ---

    def _let_columns_in(self, settled: list[tuple[tuple[int, int], Point]]) -> None:
        """Let in every column that a penalty may let in, and out those that nobody needs."""
        problem, state = self.problem, self.state
        inside = np.zeros(problem.n_features, dtype=bool)
        inside[state.working] = True
        if inside.all():
            return
        wanted = np.zeros(problem.n_features, dtype=bool)
        for (part, k), point in settled:
            wanted |= problem.may_enter(part, k, point.v)
        wanted[problem.free] = True
        needed = wanted[state.working] | state.used
        # A task that turned back has not said which columns it needs.
        is_calm = len(settled) >= (state.status == ACTIVE).sum()
        if is_calm and needed.sum() < CROWDED * len(needed):
            state.narrow(np.flatnonzero(needed))
        entering = np.flatnonzero(wanted & ~inside)
        if len(entering):
            state.widen(entering)

    def _steps(self, moving: list[tuple[tuple[int, int], Point]]) -> None:
        models: dict[tuple[int, int], Model] = {}
        if moving and self.by_products and self.rows is None:
            label = f"pass {self.state.passes + 1}, rows for their curvature"
            self.rows = draw_rows(self.engine, self.problem, label)
            self.state.passes += 1
        with ThreadPoolExecutor(self.n_threads) as pool:
            for _ in pool.map(lambda each: self._step(each[0], each[1], models), moving):
                pass

    def _row_model(self, task: tuple[int, int]) -> RowModel:
        problem, state, rows, working = self.problem, self.state, self.rows, self.state.working
        assert rows is not None
        part = int(problem.parts[task[0]])
        h = rows.curvature(problem.loss, part, working, state.coef[task], state.intercept[task])
        squares = problem.rms[task[0]][working] ** 2
        lack = rows.lack(working, problem.rms[0] ** 2)
        lack = lack + max(float(state.lift[task[1]]), self.knots.least_lift)
        return RowModel(rows.X[:, working], h, lack * squares)

    def _step(
        self, task: tuple[int, int], point: Point, models: dict[tuple[int, int], Model]
    ) -> None:
        problem, state = self.problem, self.state
        part, k = task
        model: Model | RowModel
        if self.by_products:
            model, known = self._row_model(task), state.working
        else:
            model = self.knots.model(task, models)
            known = state.working[: model.size]
        columns = problem.columns(part, problem.alphas[k]).of(known)
        coef = state.coef[task].copy()
        own = coef[:, : len(known)]
        step = model.step(columns, own, point.v[:, known], point.slope, problem.fit_intercept)
        goal = problem.goal[part]
        # A model that promises a rise is no model: rounding has eaten its curvature.
        sound = step.promise >= -self._rounding(task, state.objective[task])
        if not (sound and np.isfinite(step.coef).all() and np.isfinite(step.by).all()):
            state.status[task] = STUCK
            return
        if state.gap[task] <= goal and (part > 0 or step.promise <= POLISHED * goal):
            state.status[task] = DONE
            return
        state.origin_coef[task] = coef
        state.origin_intercept[task] = state.intercept[task]
        state.origin_objective[task] = state.objective[task]
        coef[:, : len(known)] = step.coef
        state.coef[task] = coef
        state.intercept[task] += step.by
        state.promise[task] = step.promise
        state.length[task] = step.length / problem.unit
        state.searched[task] = state.length[task] > LONG_STEP or self.by_products
        state.tested[task] = False

    def _let_folds_in(
        self,
        plan: Plan,
        tasks: list[tuple[int, int]],
        found: Sums,
        settled: dict[tuple[int, int], Point],
    ) -> list[tuple[tuple[int, int], Point]]:
        """Start the folds of a penalty where the full path was, once that is nearly at its end.

        Their sums at that point are those of the full path but for the fold's own.
        """
        problem, state = self.problem, self.state
        near = (state.status[0] != ACTIVE) | (
            (state.length[0] <= SHORT_STEP) & ~state.searched[0] & (state.promise[0] < np.inf)
        )
        entering = near & (state.status == WAITING)
        entered = []
        for part in np.flatnonzero(entering.any(axis=1)).tolist():
            sums = without_fold(found, plan, int(problem.parts[part]))
            for row, (_, k) in enumerate(tasks[: plan.parted]):
                if entering[part, k] and (0, k) in settled:
                    task = part, k
                    state.coef[task] = settled[0, k].b[:, state.working]
                    state.intercept[task] = plan.intercept[row]
                    state.status[task] = ACTIVE
                    point = self._point(task, row, plan, sums)
                    penalty = problem.columns(part, problem.alphas[k]).penalty(point.b)
                    state.objective[task] = point.loss + penalty
                    self._certify(task, point)
                    entered.append((task, point))
        return [(task, point) for task, point in entered if state.status[task] == ACTIVE]

    def _dense(self, coef: Array) -> Array:
        out = np.zeros((len(coef), self.problem.n_features))
        out[:, self.state.working] = coef
        return out
