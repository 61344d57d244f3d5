"""The one cross-validation: from the first candidates to the best, from coarse to fine.

A candidate is one (l1_ratio, ρ, u) on one problem; a trial walks it down its penalties. A linear
classifier has one problem to search, a kernel classifier one for each width of its kernel. What is
given is tried as it is. What is "auto" is looked for one hyperparameter after the other: widths,
then loss, then l1_ratio, each around the best so far; last, finer penalties around the best.
Metrics and the selection see the scores f of test samples alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from clearning._designs import Array, Indices
from clearning._problem import Grid, Problem
from clearning._search_edges import warn_of_edges
from clearning._search_rounds import Work
from clearning._search_space import Combination, Space
from clearning._search_table import rows_of, select, summarize
from clearning._search_trial import FINE, Descent, Given, Schedule, Trial, is_better
from clearning.path import RegularizationPath, solve_path

Of = Mapping[str, float]

# How far below the end of an ordinary grid a score that still rises is followed.
_BELOW_THE_GRID = 1e-2
# A path on all samples, of those on five folds.
_REFIT = 0.4


class Problems(Protocol):
    """The problems that a search chooses among, by the hyperparameters they stand for."""

    def first(self) -> list[Of]:
        """What to try at first, each against all others."""

    def beside(self, best: Of) -> list[Of]:
        """What else to try around the best so far; nothing where it is settled."""

    def at(self, of: Of) -> Problem:
        """The problem itself."""

    def rows(self, of: Of) -> Indices | None:
        """Which samples it is on; None for all."""

    def settled(self, of: Of) -> Of:
        """The problem to fit in the end, where another stood for it so far."""

    def n_beside(self) -> int:
        """How many more than the first will be tried, as a rule."""


@dataclass(frozen=True)
class OneProblem:
    """Nothing to choose."""

    problem: Problem

    def first(self) -> list[Of]:
        return [{}]

    def beside(self, best: Of) -> list[Of]:
        return []

    def at(self, of: Of) -> Problem:
        return self.problem

    def rows(self, of: Of) -> None:
        return None

    def settled(self, of: Of) -> Of:
        return of

    def n_beside(self) -> int:
        return 0


@dataclass(frozen=True)
class Penalties:
    """A grid of penalties for all, or None: each trial's own descent, not below a floor.

    Where there is little of the ℓ₁ part it begins at `top` times the largest of that part alone.
    """

    grid: Grid | None
    top: float
    floor: float | None = None

    def schedule(self, problem: Problem, each: Combination, work: Work, near: float) -> Schedule:
        """Return the penalties of all samples, which every fold then takes."""
        if self.grid is not None and self.grid.alphas is not None:
            return Given(self.grid.alphas)
        first = solve_path(problem, each.loss, each.l1_ratio, Grid(None, 1), work.settings)
        top = float(first.alphas[0])
        if self.grid is not None:
            return Given(self.grid.below(top, problem.design))
        if self.floor is not None:
            return Descent(top, self.floor * top, near)
        floor = _BELOW_THE_GRID * problem.design.auto_min_ratio
        return Descent.below(top, each.l1_ratio, self.top, floor, near)


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    table : dict of ndarrays
        ``cv_results_``.
    index : int
        The chosen entry of the table.
    trial : Trial
        The chosen combination and its penalties.
    alpha_index : int
        The place of the chosen penalty among them.
    calibrator : object
        That of the chosen penalty; None without calibration.
    shift : float
        How far calibration moves the scores.
    problem : Problem
        The chosen problem.
    path : RegularizationPath
        The chosen trial's path on all samples.
    """

    table: dict[str, Any]
    index: int
    trial: Trial
    alpha_index: int
    calibrator: Any
    shift: float
    problem: Problem
    path: RegularizationPath


@dataclass
class Search:
    """A search under way.

    Attributes
    ----------
    space : Space
        What to try.
    penalties : Penalties
        Those of each path.
    work : Work
        How trials are fitted and judged.
    work_on : callable
        The same on some of the samples.
    fold_weight : ndarray of shape (n_folds,)
        Test weight of each fold in the mean over folds.
    selection : {"best", "one_se"}
        The rule of choice.
    clearly : float
        Standard errors by which a rival must win.
    searched : mapping
        What is searched, each with the parameter that sets its range.
    trials : list of Trial
        All that was tried.
    """

    space: Space
    penalties: Penalties
    work: Work
    work_on: Callable[[Indices], Work]
    fold_weight: Array
    selection: str
    clearly: float
    searched: Mapping[str, str]
    trials: list[Trial] = field(default_factory=list)
    _part: Work | None = field(default=None, init=False)

    def over(self, problems: Problems) -> Found:
        """Try what there is to try, and choose."""
        with self.work.watch as watch:
            watch.expected = self._cost(problems)
            best = self._better(*self._widths(problems, self._first(problems)))
            for axis in self.space.axes:
                others = [each for each in axis(best.combination) if each != best.combination]
                best = self._better(best, self._try(problems, best.of, others))
            best = self._settle(problems, best)
            found = self._found(problems, best)
        warn_of_edges(best, self.trials, self.searched)
        return found

    def _cost(self, problems: Problems) -> float:
        """Return what all the paths will cost, the last one on all samples among them."""
        first, n_first = problems.first(), len(self.space.first)
        around = sum(len(axis(self.space.first[0])) - 1 for axis in self.space.axes)
        coarse, fine = _path_cost(first[0]), _path_cost(settled := problems.settled(first[0]))
        paths = len(first) * n_first + problems.n_beside() + around
        return paths * coarse + (_REFIT + float(settled is not first[0])) * fine

    def _first(self, problems: Problems) -> Trial:
        """Try what is given: the best mean wins, the first among equals."""
        for of in problems.first():
            trials = self._try(problems, of, self.space.first)
            for trial in trials:
                if trial is not max(self.trials, key=lambda each: each.means[each.best]):
                    trial.forget()
        return max(self.trials, key=lambda each: each.means[each.best])

    def _widths(self, problems: Problems, first: Trial) -> tuple[Trial, list[Trial]]:
        """Follow the best mean from problem to problem; return where it began, and its rivals.

        Whether the way was worth it is asked at its end, not at each step.
        """
        best, rivals = first, []
        while beside := problems.beside(best.of):
            tried = [self._try(problems, of, [first.combination])[0] for of in beside]
            rivals += tried
            best = max([best, *tried], key=lambda each: each.means[each.best])
            for trial in rivals:
                if trial is not best:
                    trial.forget()
        return first, rivals

    def _better(self, best: Trial, rivals: Sequence[Trial]) -> Trial:
        """Return the best of the rivals where it is clearly better, else the best so far.

        Folds are few and rivals many, and the best of many has often won by chance: it must win by
        some standard errors of the difference, fold for fold.
        """
        if not rivals:
            return best
        rival = max(rivals, key=lambda each: each.means[each.best])
        if is_better(rival.scores[rival.best], best.scores[best.best], best.share, self.clearly):
            best, rivals = rival, [best, *rivals]
        for trial in rivals:
            if trial is not best:
                trial.forget()
        return best

    def _try(
        self,
        problems: Problems,
        of: Of,
        combinations: Sequence[Combination],
        near: float = 0.0,
    ) -> list[Trial]:
        problem, work = problems.at(of), self._work(problems.rows(of))
        share: Array = self.fold_weight / self.fold_weight.sum()
        schedules = [self.penalties.schedule(problem, c, work, near) for c in combinations]
        null = work.null_scores
        trials = [Trial(c, of, each, share, null) for c, each in zip(combinations, schedules)]
        work.watch.label = _label(of)
        work.walk(problem, trials, _path_cost(of))
        self.trials += trials
        return trials

    def _work(self, rows: Indices | None) -> Work:
        """Return what fits and judges on these samples, which are always the same."""
        if rows is None:
            return self.work
        if self._part is None:
            self._part = self.work_on(rows)
        return self._part

    def _settle(self, problems: Problems, best: Trial) -> Trial:
        """Give the best finer penalties around its own, and fit it on what it stands for."""
        if self.penalties.grid is None:
            self._work(problems.rows(best.of)).add(problems.at(best.of), best, best.between())
        best.forget()
        if (of := problems.settled(best.of)) is best.of:
            return best
        near = float(best.alphas[best.best]) / FINE
        return self._try(problems, of, [best.combination], near)[0]

    def _found(self, problems: Problems, best: Trial) -> Found:
        table = summarize(self.trials, self.fold_weight)
        rows = rows_of(self.trials, best)
        index = select(table, rows, self.selection)
        place = index - rows.start
        calibrator, shift = self._calibrated([part[:, place] for part in best.held_out])
        problem, chosen, grid = problems.at(best.of), best.combination, Grid.of(best.alphas)
        return Found(
            table=table,
            index=index,
            trial=best,
            alpha_index=place,
            calibrator=calibrator,
            shift=shift,
            problem=problem,
            path=solve_path(problem, chosen.loss, chosen.l1_ratio, grid, self.work.settings),
        )

    def _calibrated(self, held_out: Sequence[Array]) -> tuple[Any, float]:
        calibration = self.work.calibration
        return (None, 0.0) if calibration is None else calibration.fit(held_out)


def _path_cost(of: Of) -> float:
    """Return the cost of a path on every fold.

    It grows with the samples, and with the square of a kernel's functions.
    """
    return float(of.get("n_samples", 1.0)) * float(of.get("n_landmarks", 1.0)) ** 2


def _label(of: Of) -> str:
    """Say what is at work: which of the problems, where there is a choice."""
    gamma = of.get("gamma", np.nan)
    return "cross-validation" if np.isnan(gamma) else f"cross-validation at gamma={gamma:.3g}"
