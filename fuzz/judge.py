"""Puts a problem to the package and says what is wrong with the answer.

The kinds of failure are the keys of `MEANING`; everything else here is how each is found.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from answers import Fit, View
from bad import BAD
from kinds import KINDS
from many import ClassPlain
from plain import EPS, Plain, Point
from problems import STORAGE, Problem
from reference import best_without_penalty, descend
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import clearning

SLOW = 5.0
# A fit that stops so far above its tolerance is counted as stalled, though it is warned about.
STALLED = 1e-3

MEANING = {
    "crash": "the interpreter died",
    "exception": "an exception of another kind than ValueError or TypeError, or without a sentence",
    "refused": "a good problem was refused",
    "accepted": "bad input was accepted",
    "blames another": "the message does not name what is wrong",
    "slow": f"it took more than {SLOW:g} s of processor time, or never ended",
    "not finite": "a coefficient, an intercept or an objective is not finite",
    "bad gap": "a gap is negative or not a number",
    "negative objective": "an objective is below zero",
    "wrong objective": "the objective is not the one at the coefficients returned",
    "false certificate": "a point below objective - gap exists",
    "silent": "not converged, and no warning",
    "false convergence": "called converged with a gap above tol * null objective",
    "wrong null objective": "not the objective of the best model without penalised coefficients",
    "wrong intercept": "an intercept where none was to be fitted",
    "out of bounds": "a coefficient lies outside its bounds",
    "contradiction": "probabilities and scores disagree",
    "no probabilities": "probabilities that are not finite, negative or do not sum to one",
    "wrong class": "predict is not the side of the score",
}


class Failure(NamedTuple):
    kind: str
    message: str


class Verdict(NamedTuple):
    """What went wrong, and what is only counted."""

    failures: list[Failure]
    fits: int = 0
    unconverged: int = 0
    stalled: int = 0
    infinite: int = 0


def namespace(problem: Problem) -> dict[str, Any]:
    """What the statements of a problem work on."""
    columns = dict(problem.columns)
    options, given = dict(problem.options), dict(problem.rows)
    if "lower" in columns:
        options["bounds"] = columns.pop("lower"), columns.pop("upper")
    options.update(columns)
    if problem.square is not None:
        given["penalty_kernel"] = problem.square
    return {
        "np": np,
        "sparse": sparse,
        "tempfile": tempfile,
        "clearning": clearning,
        "X": problem.X.copy(),
        "y": problem.y,
        "options": options,
        "given": given,
    }


def statements(problem: Problem) -> list[str]:
    """How the matrix is stored, what is spoilt, and the call."""
    spoilt = [] if problem.spoil is None else [BAD[problem.spoil].code]
    return [*(STORAGE[step] for step in problem.storage), *spoilt, KINDS[problem.kind].call]


class Answer(NamedTuple):
    """What the package gave back."""

    result: Any
    error: Exception | None
    warned: bool
    seconds: float


@lru_cache(maxsize=1000)
def _compiled(code: str) -> Any:
    return compile(code, "<call>", "exec")


def ask(problem: Problem) -> Answer:
    """Put a problem to the package."""
    names = namespace(problem)
    started = time.process_time()
    error, caught = None, []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(_compiled("\n".join(statements(problem))), names)
    except Exception as exception:
        error = exception
    warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return Answer(names.get("result"), error, warned, time.process_time() - started)


def judge(problem: Problem, *, thorough: bool = True) -> Verdict:
    """Ask the package, and hold its answer to what it promises.

    `thorough` asks other solvers too: for points below the certificate, and for the best model
    without penalised coefficients where columns are free.
    """
    answer, kind = ask(problem), KINDS[problem.kind]
    failures = [Failure("slow", f"{answer.seconds:.1f} s")] if answer.seconds > SLOW else []
    if answer.error is not None or problem.spoil is not None:
        return Verdict(failures + _judge_error(problem, answer.error))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits, views = kind.fits(problem, answer.result), kind.views(problem, answer.result)
    except Exception as exception:
        return Verdict([*failures, Failure("exception", _words(exception))])
    with np.errstate(all="ignore"):
        verdict = _judge_result(problem, fits, views, answer.warned, thorough)
    return verdict._replace(failures=failures + verdict.failures)


def _judge_result(
    problem: Problem, fits: list[Fit], views: list[View], warned: bool, thorough: bool
) -> Verdict:
    failures = []
    tol = problem.options.get("tol", 1e-6)
    best = best_without_penalty if thorough else _best_constant
    bests = {plain: best(plain) for plain in {fit.plain for fit in fits}}
    nulls = {plain: plain.value(point, 1.0) for plain, point in bests.items()}
    # A reference of coefficients without end is known up to what rounding makes of it.
    lost = {plain: plain.rounding(point, 1.0) for plain, point in bests.items()}
    scales = {plain: null + lost[plain] for plain, null in nulls.items()}
    for fit in fits:
        failures += _judge_fit(fit, scales[fit.plain], tol, warned)
    if "max_iter" not in problem.options:
        for plain, fit in {fit.plain: fit for fit in fits}.items():
            failures += _judge_null(fit, nulls[plain], lost[plain])
    failures += _judge_certificates(fits, thorough)
    for view in views:
        failures += _judge_view(view)
    return Verdict(
        failures,
        fits=len(fits),
        unconverged=sum(not _settled(fit, scales[fit.plain], tol) for fit in fits),
        stalled=sum(_is_stalled(problem, fit, scales[fit.plain], tol) for fit in fits),
        infinite=sum(bool(np.isposinf(fit.gap)) and not problem.refusable for fit in fits),
    )


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def _judge_error(problem: Problem, error: Exception | None) -> list[Failure]:
    if error is None:
        return [Failure("accepted", str(problem.spoil))]
    sentence = isinstance(error, (ValueError, TypeError)) and len(str(error).split()) > 2
    if not sentence or "std::" in str(error):
        return [Failure("exception", _words(error))]
    if problem.spoil is not None:
        about = BAD[problem.spoil].names
        if not any(name in str(error) for name in about):
            return [Failure("blames another", f"{problem.spoil}: {_words(error)}")]
        return []
    return [] if problem.refusable else [Failure("refused", _words(error))]


def _best_constant(plain: Plain | ClassPlain) -> Point:
    """The best model without penalised coefficients, or a bound on it where columns are free."""
    return plain.best_constant


def _floor(plain: Plain | ClassPlain) -> float:
    """The rounding of what is of the size of the objective at zero; no gap is held to less."""
    return 1e-300 + 4 * EPS * plain.value(plain.zero, 1.0)


def _settled(fit: Fit, null: float, tol: float) -> bool:
    if fit.converged is not None:
        return fit.converged
    # Where free columns separate the classes no model is best: the constant's scale is held to.
    scale = 1.01 * null + 1e-6 * fit.plain.value(fit.plain.best_constant, 1.0)
    return bool(fit.gap <= tol * scale + _floor(fit.plain))


def _is_stalled(problem: Problem, fit: Fit, null: float, tol: float) -> bool:
    patient = "max_iter" not in problem.options and not problem.refusable
    near = max(STALLED, tol) * null + _floor(fit.plain)
    return patient and not _settled(fit, null, tol) and not fit.gap <= near


def _judge_fit(fit: Fit, null: float, tol: float, warned: bool) -> list[Failure]:
    """What a fit says of itself."""
    point, failures = fit.point, []
    if not all(np.isfinite(v).all() for v in (point.coef, point.intercept, fit.objective)):
        worst = f"objective {fit.objective}, gap {fit.gap}, converged {fit.converged}"
        return [Failure("not finite", worst)]
    if not fit.gap >= 0:
        failures.append(Failure("bad gap", f"gap {fit.gap}"))
    plain = fit.plain
    said = f"objective {fit.objective:.12g}, gap {fit.gap:.3g}"
    failures += _judge_objective(fit, said)
    if np.any(point.intercept) and not plain.fit_intercept:
        failures.append(Failure("wrong intercept", f"intercept {point.intercept}"))
    if ((point.coef < plain.lower) | (point.coef > plain.upper)).any():
        failures.append(Failure("out of bounds", said))
    if not _settled(fit, null, tol) and not warned:
        failures.append(Failure("silent", f"{said}; tol {tol:.3g}, null objective {null:.6g}"))
    if fit.converged and fit.null is not None and not fit.gap <= tol * fit.null * (1 + 1e-9):
        failures.append(Failure("false convergence", f"{said}; {tol:.3g} * {fit.null:.6g}"))
    return failures


def _judge_objective(fit: Fit, said: str) -> list[Failure]:
    """Scores that are carried along drift, and the gap counts it: a tenth of it is no lie.

    How a kernel matrix is rounded is the estimator's affair, as long as the gap says so.
    """
    plain, failures = fit.plain, []
    off = fit.objective - plain.value(fit.point, fit.alpha)
    allowed = _floor(plain) + (fit.gap if plain.private else 0.1 * fit.gap)
    if abs(off) <= allowed and fit.objective >= 0:
        return []
    rounding = plain.rounding(fit.point, fit.alpha)
    if fit.objective < 0 and (fit.converged is not False or fit.objective < -rounding):
        failures.append(Failure("negative objective", said))
    if not abs(off) <= allowed + rounding:
        message = f"{said}; {off:.2g} off at its coefficients, +- {rounding:.1g}"
        failures.append(Failure("wrong objective", message))
    return failures


def _judge_null(fit: Fit, exact: float, rounding: float) -> list[Failure]:
    """A null objective against the best that is known, which is known up to some rounding."""
    if fit.null is None:
        return []
    constant = fit.plain.best_constant
    # Where free columns separate the classes no model is best: their scale is the constant's.
    slack = 1e-6 * fit.plain.value(constant, 1.0) + _floor(fit.plain)
    if abs(fit.null - exact) <= slack or fit.null == exact:
        return []
    slack += fit.plain.rounding(constant, 1.0) + fit.plain.grain + rounding
    high = not fit.null <= exact + slack
    # With free columns the reference may not have found the best model: it is a bound only.
    low = not fit.plain.free.any() and not fit.null >= exact - slack
    if not (high or low):
        return []
    return [Failure("wrong null objective", f"{fit.null:.12g}; the best is {exact:.12g}")]


def _judge_certificates(fits: list[Fit], thorough: bool) -> list[Failure]:
    """Look for points below objective − gap: the path's own, another solve's, a descent's."""
    finite = [fit for fit in fits if np.isfinite(fit.point.coef).all()]
    failures = []
    # Others are asked about one fit of a path, whichever the problem's size picks.
    asked = len(finite[0].plain.X) % len(finite) if thorough and finite else -1
    for k, fit in enumerate(finite):
        if not np.isfinite(fit.objective) or not fit.gap < np.inf:
            continue
        if np.any(fit.point.intercept) and not fit.plain.fit_intercept:
            continue
        rivals = [other.point for other in finite if other.point.coef.shape == fit.point.coef.shape]
        rivals.append(fit.plain.best_constant)
        if k == asked:
            rivals += second_opinion(fit.plain, fit.alpha)
            rivals.append(descend(fit.plain, fit.alpha, _lowest(fit, rivals)))
        best = _lowest(fit, rivals)
        floor = fit.objective - fit.gap
        lowest = fit.plain.value(best, fit.alpha)
        if lowest >= floor:
            continue
        slack = sum(
            fit.plain.rounding(point, fit.alpha) + fit.plain.doubt(point, fit.alpha)
            for point in (fit.point, best)
        )
        if lowest < floor - slack - _floor(fit.plain):
            said = f"fit {k}: objective {fit.objective:.12g}, gap {fit.gap:.3g}"
            message = f"{said}; {lowest:.12g}, {floor - lowest:.3g} less, is possible"
            failures.append(Failure("false certificate", message))
    return failures


def _lowest(fit: Fit, points: list[Point]) -> Point:
    values = [fit.plain.value(point, fit.alpha) for point in points]
    return points[int(np.argmin(np.where(np.isfinite(values), values, np.inf)))]


def second_opinion(plain: Plain | ClassPlain, alpha: float) -> list[Point]:
    """The package itself at other settings; only its points count, and what they are worth here."""
    if isinstance(plain, ClassPlain):
        return []
    loss = plain.loss
    if loss.name == "hinge" and loss.u != 1.0:
        return []
    named: Any = loss.name
    if loss.name == "coherence" and not loss.scaled:
        named = clearning.losses.Coherence(loss.rho, loss.u)
    common = {"loss": named, "rho": loss.rho, "delta": loss.delta, "u": loss.u}
    common |= {"alphas": [alpha], "l1_ratio": max(plain.l1_ratio, 1e-12), "tol": 1e-9}
    common |= {"fit_intercept": plain.fit_intercept, "max_iter": 300}
    order = np.arange(len(plain.y))[::-1]
    y = plain.y[order]
    common |= {"sample_weight": plain.weight[order], "offset": plain.offset[order]}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if plain.Q.ndim == 2:
                K = plain.X[order]
                path = clearning.kernel_clearning_path(K, y, penalty_kernel=plain.Q, **common)
                return [Point(path.coefs[0], float(path.intercepts[0]))]
            scale = np.where(plain.factor > 0, plain.Q / plain.factor, 1.0).astype(float)
            path = clearning.clearning_path(
                plain.X[order] / scale,
                y,
                penalty_factor=(plain.factor / scale).astype(float),
                bounds=(plain.lower * scale, plain.upper * scale),
                **common,
            )
            coef = np.clip(path.coefs[0] / scale, plain.lower, plain.upper)
            return [Point(coef, float(path.intercepts[0]))]
    except (ValueError, TypeError):
        return []


def _judge_view(view: View) -> list[Failure]:
    """Scores, classes and probabilities must tell the same story."""
    failures = []
    scores, proba = view.scores, view.probabilities
    if scores is not None and not np.isfinite(scores).all():
        return []
    if scores is not None and scores.ndim == 2:
        return _judge_class_view(scores, view)
    if scores is not None and view.predicted is not None and view.signed:
        wrong = view.predicted != view.classes[(scores > 0).astype(int)]
        # A calibrated score of zero goes the way of the estimator inside.
        if (wrong & (scores != 0)).any():
            failures.append(Failure("wrong class", f"score {scores[wrong][0]!r}"))
    if proba is None:
        return failures
    if not (np.isfinite(proba).all() and (proba >= 0).all()):
        return [*failures, Failure("no probabilities", repr(proba[~np.isfinite(proba)][:3]))]
    if (np.abs(proba.sum(axis=1) - 1) > 8 * EPS).any():
        failures.append(Failure("no probabilities", f"sums {proba.sum(axis=1)!r}"))
    if not view.signed:
        return failures
    if scores is None:
        against = (proba[:, 1] > proba[:, 0]) & (view.predicted != view.classes[1])
        against |= (proba[:, 1] < proba[:, 0]) & (view.predicted != view.classes[0])
    else:
        against = (proba[:, 1] > proba[:, 0]) != (scores > 0)
        against |= (proba[:, 0] > proba[:, 1]) != (scores < 0)
        against &= scores != 0
    if against.any():
        at = int(np.argmax(against))
        score = None if scores is None else float(scores[at])
        failures.append(Failure("contradiction", f"score {score}, {proba[at].tolist()}"))
    return failures


def _judge_class_view(scores: Any, view: View) -> list[Failure]:
    """The same of many classes: one order, by score and by probability."""
    proba, failures = view.probabilities, []
    if (view.predicted != view.classes[scores.argmax(axis=1)]).any():
        failures.append(Failure("wrong class", "predict is not the largest score's class"))
    if not (np.isfinite(proba).all() and (proba >= 0).all()):
        return [*failures, Failure("no probabilities", repr(proba[~np.isfinite(proba)][:3]))]
    if (np.abs(proba.sum(axis=1) - 1) > 8 * len(view.classes) * EPS).any():
        failures.append(Failure("no probabilities", f"sums {proba.sum(axis=1)!r}"))
    order = np.argsort(scores, axis=1, kind="stable")
    falls = (np.diff(np.take_along_axis(proba, order, axis=1), axis=1) < 0).any(axis=1)
    top = np.take_along_axis(proba, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
    against = falls | (top < proba.max(axis=1))
    if against.any():
        at = int(np.argmax(against))
        failures.append(
            Failure("contradiction", f"scores {scores[at].tolist()}, {proba[at].tolist()}")
        )
    return failures
