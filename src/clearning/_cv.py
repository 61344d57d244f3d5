"""Cross-validation over (l1_ratio, ρ, u) and whole paths of alpha.

A candidate is one (l1_ratio, ρ, u) with its alphas; a job is one candidate's path on one fold. What
a path is, linear or kernel, is known only to the function that a caller passes in: it gets a
candidate and a fold and returns the scores f of the fold's test samples, one column per alpha.
Metrics and the selection see those scores alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from threading import Condition
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from clearning import _core
from clearning._base import MarginClassifierMixin, Target, check_values
from clearning._cv_calibration import Calibration
from clearning._progress import progress
from clearning.losses import CLoss, Loss, make_loss

Array = NDArray[np.float64]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Candidate:
    """One combination of hyperparameters, with the penalties of its path."""

    l1_ratio: float
    rho: float
    u: float
    loss: Loss
    alphas: Array


FoldScores = Callable[[Candidate, NDArray[np.intp], NDArray[np.intp]], Array]
Metric = Callable[[Loss, Array, NDArray[np.intp]], Array]


def make_candidates(
    loss: str | Loss,
    *,
    l1_ratios: ArrayLike,
    rhos: ArrayLike,
    us: ArrayLike,
    delta: float,
    alphas: Callable[[Loss, float], Array],
) -> list[Candidate]:
    """Return every combination of the grids; ρ and u vary only where the loss is named "coherence".

    ``alphas(loss, l1_ratio)`` gives the penalties of a combination.
    """
    ratios = check_values("l1_ratios", l1_ratios, 0.0, 1.0, closed=True).tolist()
    temperatures = check_values("rhos", rhos, 0.0, np.inf, closed=False).tolist()
    margins = check_values("us", us, 0.0, np.inf, closed=False).tolist()
    if loss != CLoss.name:
        temperatures, margins = temperatures[:1], margins[:1]
    candidates = []
    for l1_ratio, rho, u in product(ratios, temperatures, margins):
        made = make_loss(loss, rho=rho, u=u, delta=delta)
        candidates.append(Candidate(l1_ratio, rho, u, made, alphas(made, l1_ratio)))
    return candidates


def make_folds(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    target: Target,
    split_params: Mapping[str, Any] | None = None,
) -> list[Fold]:
    """Return stratified folds whose training parts hold both classes, or say why there are none."""
    counts = _class_counts(target, slice(None))
    if isinstance(cv, Integral) and min(counts) < int(cv):
        label = target.classes.tolist()[int(np.argmin(counts))]
        raise ValueError(
            f"cv={cv} needs at least {cv} samples of each class, but class {label!r} has "
            f"n_samples = {min(counts)}. Use fewer folds, or pass a splitter as cv."
        )
    folds = list(check_cv(cv, y, classifier=True).split(X, y, **(split_params or {})))
    for number, (train, test) in enumerate(folds):
        if min(_class_counts(target, train)) == 0:
            raise ValueError(
                f"Fold {number} of cv={cv!r} leaves only one class to train on. "
                "Use fewer folds, or folds that are stratified by class."
            )
        if max(_class_counts(target, test)) == 0:
            raise ValueError(f"Fold {number} of cv={cv!r} has no sample with weight to test on.")
    return folds


def make_calibration(
    folds: Sequence[Fold], target: Target, sample_weight: ArrayLike | None
) -> Calibration:
    """Return the calibration of these folds, or say why there is none."""
    every = np.arange(len(target.signs))
    tests = [every[test] for _, test in folds]
    for number in range(len(folds)):
        others = [test for k, test in enumerate(tests) if k != number]
        if not others or min(_class_counts(target, np.concatenate(others))) == 0:
            raise ValueError(
                "calibrate=True fits to the test samples of all folds but one, which must be of "
                f"both classes; without fold {number} of {len(folds)} they are not."
            )
    weight = None
    if sample_weight is not None:
        weight = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(target.signs))
    return Calibration(target.signs > 0, weight, tests)


def _class_counts(target: Target, index: Any) -> list[int]:
    """Samples of each class that carry weight."""
    signs = target.signs[index]
    if target.weight is not None:
        signs = signs[target.weight[index] > 0]
    positive = int(np.count_nonzero(signs > 0))
    return [len(signs) - positive, positive]


class FixedScores(MarginClassifierMixin, BaseEstimator):
    """A fitted classifier for scikit-learn's scorers, whose scores are known already."""

    def __init__(self, scores: Array, classes: NDArray[Any], loss: Loss) -> None:
        self.scores = scores
        self.classes_ = classes
        self.loss_ = loss

    def decision_function(self, X: Any, offset: None = None) -> Array:
        """Return the known scores, whatever X is."""
        return self.scores


def make_metric(
    scoring: str | Callable[..., float] | None,
    X: Any,
    target: Target,
    score_params: Mapping[str, Any],
    *,
    has_link: bool,
) -> Metric:
    """Return the metric: a function of (loss, scores, test) that gives one number per alpha.

    Larger is better. The default is "neg_log_loss" where the loss has a link, "accuracy"
    elsewhere; these two are computed for all alphas at once.
    """
    if scoring is None:
        scoring = "neg_log_loss" if has_link else "accuracy"
    scorer = get_scorer(scoring)
    if not has_link and getattr(scorer, "_response_method", None) == "predict_proba":
        raise ValueError(
            f"scoring={scoring!r} needs probabilities, to which the loss has no link. Use another "
            "score or calibrate=True, or wrap the classifier in CalibratedMarginClassifier."
        )
    pointwise = {"neg_log_loss": _log_likelihood, "accuracy": _hits}
    if isinstance(scoring, str) and scoring in pointwise and set(score_params) <= {"sample_weight"}:
        return _mean_metric(pointwise[scoring], target, score_params.get("sample_weight"))
    return _scorer_metric(scorer, X, target, score_params)


def _mean_metric(
    quality: Callable[[Loss, Array, Array], Array], target: Target, weight: ArrayLike | None
) -> Metric:
    weights = np.ones(len(target.signs)) if weight is None else np.asarray(weight)

    def metric(loss: Loss, scores: Array, test: NDArray[np.intp]) -> Array:
        each = quality(loss, target.signs[test, None], scores)
        return np.average(each, axis=0, weights=weights[test])

    return metric


def _log_likelihood(loss: Loss, signs: Array, scores: Array) -> Array:
    # η̃(−f) = 1 − η̃(f) lets one formula do; the clipping is that of scikit-learn's log_loss.
    eps = np.finfo(scores.dtype).eps
    return np.log(np.clip(loss.inverse_link(signs * scores), eps, 1.0 - eps))


def _hits(loss: Loss, signs: Array, scores: Array) -> Array:
    return ((scores > 0) == (signs > 0)).astype(np.float64)


def _scorer_metric(
    scorer: Callable[..., float], X: Any, target: Target, score_params: Mapping[str, Any]
) -> Metric:
    labels = target.classes[(target.signs > 0).astype(np.intp)]

    def metric(loss: Loss, scores: Array, test: NDArray[np.intp]) -> Array:
        X_test, y_test = _safe_indexing(X, test), labels[test]
        params = {name: _safe_indexing(value, test) for name, value in score_params.items()}
        models = (FixedScores(column, target.classes, loss) for column in scores.T)
        return np.array([scorer(model, X_test, y_test, **params) for model in models])

    return metric


@dataclass(frozen=True)
class Search:
    """What a cross-validation found.

    Attributes
    ----------
    table : dict of ndarrays
        ``cv_results_``.
    index : int
        The chosen entry of the table.
    candidate : Candidate
        The chosen combination.
    alpha_index : int
        The place of the chosen penalty among the candidate's alphas.
    calibrator : object
        That of the chosen penalty; None without calibration.
    """

    table: dict[str, Any]
    index: int
    candidate: Candidate
    alpha_index: int
    calibrator: Any


def search(
    fold_scores: FoldScores,
    candidates: Sequence[Candidate],
    folds: Sequence[Fold],
    *,
    X: Any,
    target: Target,
    scoring: str | Callable[..., float] | None,
    score_params: Mapping[str, Any],
    selection: str,
    calibration: Calibration | None,
    n_jobs: int | None,
) -> Search:
    """Run every candidate's path on every fold and choose by the mean score.

    X is seen by scorers alone, which get its rows as they are; score_params are arrays with one
    entry per sample.
    """
    has_link = candidates[0].loss.has_link or calibration is not None
    metric = make_metric(scoring, X, target, score_params, has_link=has_link)
    scores, calibrators = run_folds(
        fold_scores, metric, candidates, folds, calibration=calibration, n_jobs=n_jobs
    )
    weight = np.asarray(score_params.get("sample_weight", np.ones(len(target.signs))))
    table = summarize(candidates, scores, [weight[test].sum() for _, test in folds])
    n_alphas = scores.shape[1]
    index = select(table, n_alphas, selection)
    candidate, alpha_index = divmod(index, n_alphas)
    return Search(table, index, candidates[candidate], alpha_index, calibrators[index])


def run_folds(
    fold_scores: FoldScores,
    metric: Metric,
    candidates: Sequence[Candidate],
    folds: Sequence[Fold],
    *,
    calibration: Calibration | None,
    n_jobs: int | None = None,
    label: str = "cross-validation",
) -> tuple[NDArray[np.float64], list[Any]]:
    """Run each candidate's path on each fold; return scores (candidates, alphas, folds).

    Also returned are the calibrators of all candidates' alphas in turn, None without calibration.
    The jobs are threads: the solver releases the interpreter's lock, and no design is copied to
    another process.
    """
    crew = _Crew()

    def job(candidate: Candidate, fold: Fold) -> Array:
        train, test = fold
        with crew:
            scores = fold_scores(candidate, train, test)
            # A calibrated metric has to wait for the other folds.
            return scores if calibration else metric(candidate.loss, scores, test)

    jobs = [delayed(job)(candidate, fold) for candidate in candidates for fold in folds]
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    try:
        results = list(progress(parallel(jobs), total=len(jobs), label=label))
    except BaseException as error:
        crew.call_off(at_once=isinstance(error, KeyboardInterrupt))
        raise
    if calibration is None:
        scores = np.array(results).reshape(len(candidates), len(folds), -1).swapaxes(1, 2)
        return scores, [None] * (scores.shape[0] * scores.shape[1])
    starts = range(0, len(jobs), len(folds))
    fitted = [calibration.cross_fit(metric, results[i : i + len(folds)]) for i in starts]
    return np.array([table for table, _ in fitted]), [one for _, some in fitted for one in some]


class _Crew:
    """Threads at work, to be waited for when the work is called off.

    An interrupt reaches the main thread alone. Were the others left behind in compiled code, the
    interpreter could not end in peace.
    """

    def __init__(self) -> None:
        self.state = Condition()
        self.at_work = 0
        self.called_off = False

    def __enter__(self) -> None:
        with self.state:
            if self.called_off:
                raise KeyboardInterrupt
            self.at_work += 1

    def __exit__(self, *error: object) -> None:
        with self.state:
            self.at_work -= 1
            self.state.notify_all()

    def call_off(self, *, at_once: bool) -> None:
        """Let no job begin any more, and wait for those that have begun; at once, end them too."""
        with self.state:
            self.called_off = True
            if at_once:
                _core.interrupt()
            self.state.wait_for(lambda: self.at_work == 0)


def summarize(
    candidates: Sequence[Candidate], scores: NDArray[np.float64], fold_weight: ArrayLike
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
    for name in ("l1_ratio", "rho", "u"):
        values = [getattr(candidate, name) for candidate in candidates]
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
