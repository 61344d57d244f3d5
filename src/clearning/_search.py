"""Cross-validation over (l1_ratio, ρ, u) and whole paths of alpha, for any kind of problem.

A candidate is one (l1_ratio, ρ, u) with its alphas; a job is one candidate's path on one fold. A
linear classifier has one problem to search, a kernel classifier one for each width of its kernel.
Metrics and the selection see the scores f of test samples alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from clearning._designs import Array
from clearning._problem import Grid, Problem, Settings
from clearning._progress import progress
from clearning._ranges import NON_NEGATIVE, POSITIVE, SHARE
from clearning._search_calibration import Calibration
from clearning._search_folds import Crew, Fold, FoldPart
from clearning._search_scoring import Metric
from clearning.losses import CLoss, Loss, make_loss
from clearning.path import RegularizationPath, solve_path


@dataclass(frozen=True)
class Combination:
    """One combination of hyperparameters."""

    l1_ratio: float
    rho: float
    u: float
    loss: Loss


@dataclass(frozen=True)
class Candidate:
    """A combination on one of the problems, with the penalties of its path.

    `of` are the hyperparameters that the problem itself stands for, such as a kernel's width.
    """

    combination: Combination
    alphas: Array
    of: Mapping[str, float]

    def solve(self, problem: Problem, settings: Settings) -> RegularizationPath:
        """Run the path on all samples of a problem."""
        chosen, grid = self.combination, Grid.of(self.alphas)
        return solve_path(problem, chosen.loss, chosen.l1_ratio, grid, settings)

    @property
    def parameters(self) -> dict[str, float]:
        """What ``cv_results_`` names beside alpha."""
        chosen = self.combination
        own = {"l1_ratio": chosen.l1_ratio, "rho": chosen.rho, "u": chosen.u}
        return {**own, **self.of}


def make_combinations(
    loss: str | Loss, *, l1_ratios: ArrayLike, rhos: ArrayLike, us: ArrayLike, delta: float
) -> list[Combination]:
    """Return every combination; ρ and u vary only where the loss is named "coherence"."""
    ratios = SHARE.check_each("l1_ratios", l1_ratios).tolist()
    temperatures = POSITIVE.check_each("rhos", rhos).tolist()
    margins = NON_NEGATIVE.check_each("us", us).tolist()
    if loss != CLoss.name:
        temperatures, margins = temperatures[:1], margins[:1]
    return [
        Combination(l1_ratio, rho, u, make_loss(loss, rho=rho, u=u, delta=delta))
        for l1_ratio, rho, u in product(ratios, temperatures, margins)
    ]


@dataclass(frozen=True)
class Search:
    """What is to be done with every problem.

    Attributes
    ----------
    combinations : list of Combination
        What to try.
    grid : Grid
        The penalties of each path.
    settings : Settings
        When a solve ends.
    folds : sequence of Fold
        Training and test samples.
    metric : callable
        The judge of a fold's scores.
    fold_weight : ndarray of shape (n_folds,)
        Test weight of each fold in the mean over folds.
    calibration : Calibration or None
        How probabilities are made of scores, where the loss's own link does not.
    selection : {"best", "one_se"}
        The rule of choice.
    n_jobs : int or None
        Number of threads.
    """

    combinations: list[Combination]
    grid: Grid
    settings: Settings
    folds: Sequence[Fold]
    metric: Metric
    fold_weight: Array
    calibration: Calibration | None
    selection: str
    n_jobs: int | None

    def over(self, problems: Iterable[tuple[Mapping[str, float], Problem]]) -> Found:
        """Run every combination's path on every fold of every problem and choose by the mean.

        Problems come with the hyperparameters they stand for, each made when the last is done with.
        """
        candidates: list[Candidate] = []
        scores: list[Array] = []
        calibrators: list[Any] = []
        for of, problem in problems:
            tried = self._candidates(problem, of)
            judged, fitted = self._judge(problem, tried)
            candidates += tried
            scores.append(judged)
            calibrators += fitted
        table = summarize(candidates, np.concatenate(scores), self.fold_weight)
        n_alphas = scores[0].shape[1]
        index = select(table, n_alphas, self.selection)
        number, alpha_index = divmod(index, n_alphas)
        chosen = number // len(self.combinations)
        return Found(
            table=table,
            index=index,
            candidate=candidates[number],
            alpha_index=alpha_index,
            calibrator=calibrators[index],
            problem_index=chosen,
            problem=problem if chosen == len(scores) - 1 else None,
        )

    def _candidates(self, problem: Problem, of: Mapping[str, float]) -> list[Candidate]:
        """Give each combination the penalties of all samples, which every fold then takes."""
        return [Candidate(each, self._alphas(problem, each), of) for each in self.combinations]

    def _alphas(self, problem: Problem, each: Combination) -> Array:
        top = np.nan
        if self.grid.alphas is None:
            first = Grid(None, 1)
            path = solve_path(problem, each.loss, each.l1_ratio, first, self.settings)
            top = path.alphas[0]
        return self.grid.below(top, problem.design)

    def _judge(self, problem: Problem, candidates: list[Candidate]) -> tuple[Array, list[Any]]:
        """Return the metric (candidates, alphas, folds) and the calibrator of each alpha in turn.

        The jobs are threads: the solver releases the interpreter's lock, and no design is copied to
        another process.
        """
        crew = Crew()
        parts = [FoldPart(problem, fold, len(candidates)) for fold in self.folds]

        def job(candidate: Candidate, part: FoldPart) -> Array:
            with crew, part as training:
                path = candidate.solve(training, self.settings)
                scores = part.scores(path)
                # A calibrated metric has to wait for the other folds.
                if self.calibration is not None:
                    return scores
                return self.metric(path.loss, scores, part.test)

        jobs = [delayed(job)(candidate, part) for part in parts for candidate in candidates]
        parallel = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")
        try:
            results = list(progress(parallel(jobs), len(jobs), _label(candidates[0])))
        except BaseException as error:
            crew.call_off(at_once=isinstance(error, KeyboardInterrupt))
            raise
        return self._gather([results[i :: len(candidates)] for i in range(len(candidates))])

    def _gather(self, results: list[list[Array]]) -> tuple[Array, list[Any]]:
        """Order what the jobs gave, a list of folds for each candidate; calibrate where asked."""
        if self.calibration is None:
            scores = np.array(results).swapaxes(1, 2)
            return scores, [None] * (scores.shape[0] * scores.shape[1])
        fitted = [self.calibration.cross_fit(self.metric, folds) for folds in results]
        return np.array([table for table, _ in fitted]), [one for _, some in fitted for one in some]


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    table : dict of ndarrays
        ``cv_results_``.
    index : int
        The chosen entry of the table.
    candidate : Candidate
        The chosen combination and its penalties.
    alpha_index : int
        The place of the chosen penalty among them.
    calibrator : object
        That of the chosen penalty; None without calibration.
    problem_index : int
        The number of the chosen problem.
    problem : Problem or None
        The chosen problem itself, where it was the last and so is still at hand.
    """

    table: dict[str, Any]
    index: int
    candidate: Candidate
    alpha_index: int
    calibrator: Any
    problem_index: int
    problem: Problem | None


def _label(candidate: Candidate) -> str:
    """Say what is at work: which of the problems, where there is a choice."""
    given = [f"{name}={value:.3g}" for name, value in candidate.of.items() if not np.isnan(value)]
    return " at ".join(["cross-validation", *given])


def summarize(
    candidates: Sequence[Candidate], scores: Array, fold_weight: ArrayLike
) -> dict[str, Any]:
    """Return ``cv_results_``: one entry per candidate and alpha, in scikit-learn's names.

    The mean over folds is weighted by the test weight of each, so that it is the mean over the
    samples. ``sem_test_score`` is the standard error of that mean, as R's cv.glmnet has it.
    """
    n_candidates, n_alphas, n_folds = scores.shape
    flat = scores.reshape(n_candidates * n_alphas, n_folds)
    share = np.asarray(fold_weight, dtype=np.float64)
    share = share / share.sum()
    mean = flat @ share
    std = np.sqrt((flat - mean[:, None]) ** 2 @ share)
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(1, len(order) + 1)
    results: dict[str, Any] = {
        "param_alpha": np.concatenate([candidate.alphas for candidate in candidates]),
    }
    for name in candidates[0].parameters:
        values = [candidate.parameters[name] for candidate in candidates]
        results[f"param_{name}"] = np.repeat(values, n_alphas)
    results |= {f"split{k}_test_score": flat[:, k] for k in range(n_folds)}
    return results | {
        "mean_test_score": mean,
        "std_test_score": std,
        "sem_test_score": std / np.sqrt(max(int(np.count_nonzero(share)) - 1, 1)),
        "rank_test_score": rank,
    }


def select(results: Mapping[str, Any], n_alphas: int, selection: str) -> int:
    """Return the index of the chosen entry of ``cv_results_``.

    "best" has the largest mean score, the largest alpha among equals; "one_se" is the largest
    alpha of the same (l1_ratio, ρ, u) whose mean is within one standard error of the best.
    """
    mean = np.nan_to_num(results["mean_test_score"], nan=-np.inf)
    best = int(np.argmax(mean))
    if mean[best] == -np.inf:
        raise ValueError("scoring gave no finite mean score at any alpha.")
    if selection == "best":
        return best
    first = best - best % n_alphas
    within = mean[first : best + 1] >= mean[best] - results["sem_test_score"][best]
    return first + int(np.argmax(within))
