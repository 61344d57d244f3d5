"""A fit from the first pass to the last: scan, sample, null model, lock-step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearning._blocks.checkpoint import Checkpoint
from clearning._blocks.engine import Engine
from clearning._blocks.lockstep import LockStep
from clearning._blocks.measures import Measures, Null, constant_null, measure
from clearning._blocks.near_dependence import NearDependence
from clearning._blocks.problem import BlockProblem
from clearning._blocks.sample import SamplePath, sample_path
from clearning._blocks.scan import Scan, ScanPlan, block_scan, check_scan, merge_scans
from clearning._blocks.state import DONE, State
from clearning._designs import Array, Indices
from clearning._problem import Grid, Penalty, Settings, Start

# Up to so many columns all of them are in the working set from the start.
ALL_COLUMNS = 512
# As in the core's grids: rounding must not let a coefficient in at the top, and ridge problems
# begin where this l1_ratio's do.
ABOVE_THE_TOP = 1e-12
LEAST_L1_RATIO = 1e-3
# The null model is the scale of every tolerance, and its gradient the top of the grid.
NULL_TOL = 1e-9


@dataclass(frozen=True)
class Options:
    """What a user asks of a fit, checked."""

    loss: Any
    l1_ratio: float
    grid: Grid
    penalty: Penalty
    fit_intercept: bool
    standardize: bool
    settings: Settings


@dataclass(frozen=True)
class Reading:
    """How the rows are read: classes' weights, folds, and what they are drawn by."""

    class_weight: Any
    fit_intercept: bool
    n_folds: int
    seed: int


@dataclass(frozen=True)
class Solved:
    """A problem, its null model and where its tasks ended."""

    problem: BlockProblem
    null: Null
    state: State


class BlockFit:
    """The first pass over some blocks, and the fits that follow from it.

    What was found is kept in the checkpoint after each pass; a fit that finds it there goes on.
    """

    def __init__(
        self, engine: Engine, reading: Reading, checkpoint: Checkpoint, n_threads: int
    ) -> None:
        self.engine = engine
        self.checkpoint = checkpoint
        self.n_threads = n_threads
        kept = checkpoint.get("measures")
        self.measures: Measures = self._measure(reading) if kept is None else kept
        self.near_dependence = NearDependence(self.measures, engine)
        self._passes = 1

    @property
    def passes(self) -> int:
        """How often the rows were read."""
        return self._passes + self.near_dependence.passes

    def _measure(self, reading: Reading) -> Measures:
        plan = ScanPlan(reading.seed, reading.n_folds)
        scan: Scan | None = self.engine.run(block_scan, merge_scans, plan, "pass 1")
        if scan is None:
            raise ValueError("There are no rows to fit to: every block is empty.")
        check_scan(scan)
        measures = measure(
            scan, reading.class_weight, reading.fit_intercept, reading.n_folds, reading.seed
        )
        self.checkpoint.keep("measures", measures)
        return measures

    def solve(self, options: Options, name: str = "fit", start: Start | None = None) -> Solved:
        """Solve the path of one loss on all rows and on the training rows of each fold."""
        measures, p = self.measures, self.measures.scan.n_features
        factor = np.broadcast_to(options.penalty.factor, (p,))
        scales = measures.scales(options.standardize)
        factors = factor * scales, factor * scales**2
        null = self._null(options, factors, name)
        problem = self._problem(options, self._alphas(options, factors[0][0], null), factors, null)
        state = self.checkpoint.get(name)
        if state is None:
            sample = self._given(problem, start) or sample_path(measures, problem)
            working = np.arange(p) if p <= ALL_COLUMNS else _working(problem, sample)
            state = _start(problem, sample, null, working)
            _look_back_at(null, state)
        return Solved(problem, null, self._run(problem, state, name).state)

    def _given(self, problem: BlockProblem, start: Start | None) -> SamplePath | None:
        """Return the start that was given in the place of the sample's path, if it fits."""
        if start is None or np.shape(start.coef) != problem.lower.shape:
            return None
        coef = np.clip(start.coef, problem.lower, problem.upper)
        intercept = np.asarray(start.intercept) + coef @ self.measures.centre
        if not problem.fit_intercept:
            intercept = np.zeros_like(intercept)
        n_alphas = len(problem.alphas)
        return SamplePath(
            np.repeat(coef[None], n_alphas, axis=0),
            np.repeat(intercept[None], n_alphas, axis=0),
            (coef != 0).any(axis=0),
        )

    def _run(self, problem: BlockProblem, state: State, name: str) -> LockStep:
        solver = LockStep(problem, state, self.engine, self.n_threads)
        solver.run(lambda state: self.checkpoint.keep(name, state))
        self._passes += state.passes
        return solver

    def _problem(
        self, options: Options, alphas: Array, factors: tuple[Array, Array], null: Null
    ) -> BlockProblem:
        measures = self.measures
        p, total = measures.scan.n_features, measures.total
        # The intercept does all that a constant column could: its coefficient would be any number.
        idle = measures.constant & options.fit_intercept
        lower, upper = (
            np.where(idle, 0.0, _each(bound, (measures.encoding.width, p)))
            for bound in (options.penalty.lower, options.penalty.upper)
        )
        far = (np.isinf(lower) | np.isinf(upper)).any(axis=0)  # as coefficients may go
        loose = np.flatnonzero(far & (factors[0][0] == 0))
        return BlockProblem(
            encoding=measures.encoding,
            loss=options.loss,
            l1_ratio=options.l1_ratio,
            alphas=alphas,
            parts=measures.parts,
            n_rows=measures.scan.n_rows,
            total=total,
            l1_factor=factors[0],
            l2_factor=factors[1],
            lower=lower,
            upper=upper,
            fit_intercept=options.fit_intercept,
            goal=options.settings.tol * null.objective,
            rms=measures.rms,
            largest=measures.largest,
            dependence=self.near_dependence(loose, options.fit_intercept),
            offset_size=measures.scan.offset_size / total,
            numbers_a_row=measures.scan.numbers_a_row,
            max_passes=options.settings.max_iter,
        )

    def _null(self, options: Options, factors: tuple[Array, Array], name: str) -> Null:
        """Return the null model; offsets and columns without a penalty ask for passes of it."""
        constant = constant_null(self.measures, options.loss, options.fit_intercept)
        penalised = factors[0][0] > 0
        if penalised.all() and self.measures.scan.offset_size == 0.0:
            return constant
        kept = self.checkpoint.get(f"{name}, null")
        if kept is not None:
            null, passes = kept
            self._passes += passes
            return null
        bounds = (
            np.where(penalised, 0.0, bound)
            for bound in (options.penalty.lower, options.penalty.upper)
        )
        bare = replace(
            options,
            l1_ratio=1.0,
            penalty=Penalty(options.penalty.factor, *bounds),
            settings=replace(options.settings, tol=min(options.settings.tol, NULL_TOL)),
        )
        problem = self._problem(bare, np.ones(1), factors, constant)
        free = np.flatnonzero(~penalised)
        sample = sample_path(self.measures, problem)
        start = _start(problem, sample, constant, free)
        solver = LockStep(problem, start, self.engine, self.n_threads)
        state = solver.run()
        self._passes += state.passes
        coef = np.zeros_like(constant.coef)
        coef[:, :, free] = state.coef[:, 0]
        # A null model that was not found may be as good as its proof says: no tolerance is larger.
        doubt = np.where(state.status[:, 0] == DONE, 0.0, state.gap[:, 0])
        objective = state.objective[:, 0] - doubt
        null = Null(objective, state.intercept[:, 0], coef, solver.gradient)
        self.checkpoint.keep(f"{name}, null", (null, state.passes))
        return null

    def _alphas(self, options: Options, l1: Array, null: Null) -> Array:
        """Return the penalties: those given, or a grid from the smallest without coefficients."""
        grid, penalty, scan = options.grid, options.penalty, self.measures.scan
        if grid.alphas is not None:
            return grid.alphas
        v = null.gradient
        allowed = np.where(v < 0, np.greater(penalty.upper, 0), np.less(penalty.lower, 0))
        pull = np.where(allowed, np.abs(v), 0.0).max(axis=0)[l1 > 0]
        ratio = max(options.l1_ratio, LEAST_L1_RATIO)
        top = float(np.max(pull / (ratio * l1[l1 > 0]), initial=0.0))
        first = top * (1 + ABOVE_THE_TOP) if top > 0 else 1.0
        auto = 1e-2 if scan.n_rows < scan.n_features else 1e-4
        least = auto if grid.min_ratio is None else grid.min_ratio
        return first * least ** (np.arange(grid.count) / max(grid.count - 1, 1))


def _each(bound: Array | float, shape: tuple[int, int]) -> Array:
    """Return a bound for each score and column."""
    return np.array(np.broadcast_to(bound, shape))


def _working(problem: BlockProblem, sample: SamplePath | None) -> Indices:
    candidates = np.zeros(problem.n_features, dtype=bool)
    candidates[problem.free] = True
    if sample is not None:
        candidates |= sample.candidates
    return np.flatnonzero(candidates)


def _start(problem: BlockProblem, sample: SamplePath | None, null: Null, working: Indices) -> State:
    """Begin all parts of the rows at the sample's path, or at the null model without one."""
    n_parts, n_alphas = problem.shape
    if sample is None:
        coef = np.repeat(null.coef[:1, :, working], n_alphas, axis=0)
        intercept = np.repeat(null.intercept[:1], n_alphas, axis=0)
    else:
        coef, intercept = sample.coefs[:, :, working], sample.intercepts
    return State.start(
        working, np.repeat(coef[None], n_parts, axis=0), np.repeat(intercept[None], n_parts, axis=0)
    )


def _look_back_at(null: Null, state: State) -> None:
    """Let the first pass look at the way from the null model, for a sample that went too far."""
    state.origin_coef[0] = null.coef[0][:, state.working]
    state.origin_intercept[0] = null.intercept[0]
    state.origin_objective[0] = null.objective[0]
    state.promise[0] = 0.0
    state.searched[0] = True
