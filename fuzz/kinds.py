"""The kinds of problems: how each is drawn, how it is put to the package, what it is to be held to.

A kind's `call` is a statement that is run by the fuzzer and printed in a reproduction. To add one,
write how it is drawn, the statement, and what of the result is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import problems as draws
from answers import (
    Fit,
    View,
    calibrator_views,
    cv_fits,
    estimator_views,
    kernel_fits,
    linear_fits,
    path_fits,
    path_views,
    temperature_fits,
    temperature_views,
)
from bad import spoil
from blocks import CALL, class_block_fits, class_block_views, draw_class_blocks, in_blocks
from kernel_many import kernel_class_fits, many_classes
from many import class_fits, class_views, draw_classes_path
from problems import Problem, Rng, chance, pick, power

# What has columns, some of which may have no penalty.
LINEAR = ("linear_path", "linear", "temperature_path", "classes_path", "blocks", "class_blocks")


@dataclass(frozen=True)
class Kind:
    """How often it is drawn, how, what is called, and what is read off the result."""

    share: float
    draw: Callable[[Rng], Problem]
    call: str
    fits: Callable[[Problem, Any], list[Fit]]
    views: Callable[[Problem, Any], list[View]]


def _no_fits(problem: Problem, result: Any) -> list[Fit]:
    return []


def _target(rng: Rng, X: Any) -> dict[str, Any]:
    signs = draws.draw_signs(rng, X)
    rows = draws.mend_weights(draws.draw_rows(rng, len(X)), signs)
    return {"signs": signs, "rows": rows, "labels": pick(rng, draws.LABELS)}


def _weights_of_classes(rng: Rng) -> dict[str, Any]:
    return {"class_weight": "balanced"} if chance(rng, 0.08) else {}


def draw_linear_path(rng: Rng) -> Problem:
    text = chance(rng, 0.05)
    if text:
        X, storage = _word_counts(rng)
    else:
        X, storage = draws.draw_storage(rng, draws.draw_matrix(rng, *draws.draw_shape(rng)))
    target = _target(rng, X)
    options = {**draws.draw_loss(rng), **draws.draw_solver(rng), **_weights_of_classes(rng)}
    if text and chance(rng, 0.5):
        options.update(loss="hinge", l1_ratio=0.0)
    options["alphas"] = draws.draw_alphas(rng, X, target["signs"])
    if chance(rng, 0.2):
        options["standardize"] = True
    columns = draws.draw_columns(rng, X, start=True)
    if "coef_init" in columns:
        options["intercept_init"] = float(rng.standard_normal())
    problem = Problem("linear_path", X, storage=storage, options=options, columns=columns, **target)
    return _extreme(rng, problem) if chance(rng, 0.04) else problem


def _word_counts(rng: Rng) -> tuple[Any, tuple[str, ...]]:
    """A few short texts: many columns of small integers, sparse, as a linear SVM is often given."""
    n, p = int(rng.integers(2, 30)), int(rng.integers(30, 200))
    counts = rng.integers(-2, 3, (n, p)) * (rng.random((n, p)) < pick(rng, (0.1, 0.5, 1.0)))
    form = pick(rng, draws.SPARSE)
    return counts.astype(float), pick(rng, (("float32", form), (form,)))


def _extreme(rng: Rng, problem: Problem) -> Problem:
    """Take one magnitude to the end of the number range: refuse it, or get it right."""
    rows, options, X = dict(problem.rows), dict(problem.options), problem.X
    n = len(X)
    what = rng.integers(6)
    if what == 0:
        X = X / max(np.abs(X).max(), 1e-300) * pick(rng, (1e200, 1e-200, 1e150, 1e300))
    elif what == 1:
        rows["sample_weight"] = np.full(n, pick(rng, (1e308, 5e-324, 1e300, 1e-310)))
    elif what == 2:
        rows["offset"] = pick(rng, (1e300, 1e150)) * rng.standard_normal(n)
    elif what == 3:
        options["alphas"] = np.array([pick(rng, (1e-300, 1e300, 1e-150))])
    elif what == 4:
        options["max_iter"] = 2**31
    else:
        rows["sample_weight"] = power(rng, -300, 300, n)
    storage = () if what == 0 else problem.storage
    return replace(problem, X=X, rows=rows, options=options, storage=storage, refusable=True)


def draw_linear(rng: Rng) -> Problem:
    problem = replace(draw_linear_path(rng), kind="linear")
    options = dict(problem.options)
    alphas = options.pop("alphas")
    options.pop("intercept_init", None)
    options["alpha"] = power(rng, -4, 0) if isinstance(alphas, int) else float(alphas[0])
    if chance(rng, 0.1):
        options["warm_start"] = True
    columns = {name: v for name, v in problem.columns.items() if name != "coef_init"}
    return replace(problem, options=options, columns=columns)


def draw_blocks(rng: Rng) -> Problem:
    return in_blocks(rng, replace(draw_linear(rng), kind="blocks"))


def _both_classes_in_every_fold(problem: Problem, folds: int) -> Problem:
    """Cross-validation needs samples of each class with weight in each fold; no extremes there."""
    n = len(problem.X)
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) if n < 6 * folds else problem.signs
    for sign in (-1.0, 1.0):
        if np.count_nonzero(signs == sign) < 2 * folds:
            signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    rows = {name: v for name, v in problem.rows.items() if name != "sample_weight"}
    return replace(problem, signs=signs, rows=rows, refusable=False)


def draw_linear_cv(rng: Rng) -> Problem:
    problem = draw_linear(rng)
    while len(problem.X) < 12 or problem.refusable:
        problem = draw_linear(rng)
    options = dict(problem.options)
    for name in ("alpha", "warm_start", "max_iter"):
        options.pop(name, None)
    options["l1_ratios"] = (options.pop("l1_ratio"),)
    if "rho" in options:
        options["rhos"] = (options.pop("rho"),)
    if "u" in options:
        options["us"] = (options.pop("u"),)
    options.update(alphas=4, cv=3)
    if chance(rng, 0.3):
        options["calibrate"] = True
    if chance(rng, 0.3):
        options["selection"] = "one_se"
    return _both_classes_in_every_fold(replace(problem, kind="linear_cv", options=options), 3)


def _gaussian(Z: Any, gamma: float) -> Any:
    return np.exp(-gamma * ((Z[:, None] - Z[None]) ** 2).sum(-1))


def draw_kernel_path(rng: Rng) -> Problem:
    n = int(rng.integers(2, 41))
    Z = rng.standard_normal((n, int(rng.integers(1, 6))))
    if chance(rng, 0.2):
        Z = Z[rng.integers(0, max(1, n // 2), n)]
    kind = rng.random()
    K = _gaussian(Z, power(rng, -3, 2)) if kind < 0.6 else Z @ Z.T
    if kind > 0.8:
        K = (1.0 + K) ** 3
    K = (K + K.T) / 2 * (power(rng, -6, 6) if chance(rng, 0.15) else 1.0)
    refusable = chance(rng, 0.06)
    if refusable:
        K = K - 1e-12 * np.abs(K).max() * np.eye(n)
    K, storage = draws.draw_storage(rng, K, kernel=True)
    target = _target(rng, Z)
    options = {**draws.draw_loss(rng), **draws.draw_solver(rng), **_weights_of_classes(rng)}
    options["alphas"] = draws.draw_alphas(rng, K, target["signs"])
    columns = {}
    if chance(rng, 0.1):
        columns["coef_init"] = rng.standard_normal(n)
        options["intercept_init"] = float(rng.standard_normal())
    problem = Problem(
        "kernel_path",
        K,
        storage=storage,
        options=options,
        columns=columns,
        refusable=refusable,
        **target,
    )
    return _with_landmarks(rng, problem) if n > 3 and chance(rng, 0.2) else problem


def draw_kernel_classes_path(rng: Rng) -> Problem:
    problem = many_classes(rng, draw_kernel_path(rng))
    while problem.kind == "kernel_path":
        problem = many_classes(rng, draw_kernel_path(rng))
    return problem


def _with_landmarks(rng: Rng, problem: Problem) -> Problem:
    n = len(problem.X)
    chosen = rng.choice(n, int(rng.integers(1, n)), replace=False)
    columns = {name: values[chosen] for name, values in problem.columns.items()}
    square = problem.X[np.ix_(chosen, chosen)]
    return replace(problem, X=problem.X[:, chosen], square=square, columns=columns)


def draw_kernel(rng: Rng) -> Problem:
    n, p = int(rng.integers(3, 41)), int(rng.integers(1, 6))
    X = draws.draw_matrix(rng, n, p)
    options = {**draws.draw_loss(rng), **draws.draw_solver(rng), **_weights_of_classes(rng)}
    options["kernel"] = pick(rng, draws.KERNELS)
    if options["kernel"] == "precomputed":
        X = _gaussian(rng.standard_normal((n, p)), power(rng, -2, 2))
        X = (X + X.T) / 2
    if chance(rng, 0.3):
        options["dtype"] = "float32"
    if chance(rng, 0.5):
        options["gamma"] = pick(rng, ("mean", "scale", power(rng, -2, 2)))
    if options["kernel"].startswith("poly"):
        options["degree"] = int(rng.integers(1, 5))
        options["coef0"] = float(pick(rng, (0.0, 1.0)))
    if chance(rng, 0.3):
        options["n_landmarks"] = int(rng.integers(1, n // 2 + 1))
    options["alpha"] = power(rng, -5, 1)
    if chance(rng, 0.1):
        options["warm_start"] = True
    X, storage = draws.draw_storage(rng, X, kernel=options["kernel"] == "precomputed")
    target = _target(rng, X)
    if "n_landmarks" in options:
        target["rows"].pop("sample_weight", None)
    # A power of large numbers may have no place among the floating-point ones.
    single, largest = options.get("dtype") == "float32", np.abs(X).max()
    # So may one over the variance of numbers that differ by little, or of which one has all weight.
    flat = bool(X.std() <= (1e-5 if single else 1e-12) * largest)
    flat |= single and "sample_weight" in target["rows"]
    if options["kernel"].startswith("poly"):
        refusable = flat or bool(largest > (1e2 if single else 1e6))
    else:
        refusable = options["kernel"] == "linear" and single and bool(largest > 1e15)
    return Problem("kernel", X, storage=storage, options=options, refusable=refusable, **target)


def draw_kernel_cv(rng: Rng) -> Problem:
    problem = draw_kernel(rng)
    while len(problem.X) < 12:
        problem = draw_kernel(rng)
    options = dict(problem.options)
    for name in ("alpha", "warm_start", "max_iter", "n_landmarks"):
        options.pop(name, None)
    options["l1_ratios"] = (options.pop("l1_ratio"),)
    for one, many in (("rho", "rhos"), ("u", "us"), ("gamma", "gammas")):
        if one in options:
            options[many] = (options.pop(one),)
    options.update(alphas=4, cv=3)
    searched = replace(problem, kind="kernel_cv", options=options)
    # What is extreme about a kernel are its samples, which stay.
    return replace(_both_classes_in_every_fold(searched, 3), refusable=problem.refusable)


def _temperatures(rng: Rng, problem: Problem, kind: str) -> Problem:
    keep = ("l1_ratio", "tol", "fit_intercept", "standardize", "class_weight")
    options = {name: v for name, v in problem.options.items() if name in keep}
    options["alpha"] = power(rng, -4, 0)
    options["rhos"] = power(rng, -4, 2, int(rng.integers(1, 4)))
    if chance(rng, 0.3):
        options["u"] = power(rng, -2, 2)
    columns = {name: v for name, v in problem.columns.items() if name != "coef_init"}
    return replace(problem, kind=kind, options=options, columns=columns)


def draw_temperature(rng: Rng) -> Problem:
    problem = draw_linear_path(rng)
    while problem.refusable:
        problem = draw_linear_path(rng)
    return _temperatures(rng, problem, "temperature_path")


def draw_kernel_temperature(rng: Rng) -> Problem:
    return _temperatures(rng, draw_kernel_path(rng), "kernel_temperature_path")


def draw_calibrator(rng: Rng) -> Problem:
    n = int(rng.integers(2, 60))
    signs = draws.draw_signs(rng, rng.standard_normal((n, 1)))
    scores = signs * rng.standard_normal(n) + pick(rng, (0.0, 1.0, 3.0)) * signs
    scores = scores * pick(rng, (1.0, 1.0, power(rng, -12, 12)))
    if chance(rng, 0.2):
        scores = np.rint(scores)
    rows = draws.mend_weights(draws.draw_rows(rng, n), signs)
    rows.pop("offset", None)
    method = pick(rng, ("CoherenceCalibrator", "PlattCalibrator", "SollichCalibrator"))
    options: dict[str, Any] = {"method": method}
    if method == "CoherenceCalibrator":
        options["u"] = pick(rng, ("fit", "fit-one", 0.0, 1.0, power(rng, -3, 3)))
        options["rho"] = pick(rng, ("fit", "fit", power(rng, -6, 3)))
        options["tail"] = pick(rng, ("auto", "linear", "log"))
        options["smooth"] = pick(rng, (True, False, 0.5))
    return Problem("calibrator", scores[:, None], signs, rows=rows, options=options)


def draw_calibrated(rng: Rng) -> Problem:
    problem = draw_linear(rng)
    while len(problem.X) < 12 or problem.refusable:
        problem = draw_linear(rng)
    options = dict(problem.options)
    options.pop("warm_start", None)
    options["method"] = pick(rng, ("coherence", "coherence-svm", "temperature", "sollich", "platt"))
    rows = {name: v for name, v in problem.rows.items() if name != "offset"}
    problem = replace(problem, kind="calibrated", options=options, rows=rows)
    return _both_classes_in_every_fold(problem, 3)


def draw_weighted(rng: Rng) -> Problem:
    problem = draw_linear(rng)
    while problem.refusable:
        problem = draw_linear(rng)
    options = dict(problem.options)
    for name in ("warm_start", "class_weight"):
        options.pop(name, None)
    options["n_weights"] = int(rng.integers(2, 6))
    rows = {name: v for name, v in problem.rows.items() if name != "offset"}
    return replace(problem, kind="weighted", options=options, rows=rows)


_TWICE = "\nresult = result.fit(X, y, **given) if options.get('warm_start') else result"

# Drawn the more often the less it costs to fit: rows in blocks and searches take many times a path.
KINDS: dict[str, Kind] = {
    "linear_path": Kind(
        0.46,
        draw_linear_path,
        "result = clearning.clearning_path(X, y, **options, **given)",
        path_fits,
        path_views,
    ),
    "linear": Kind(
        0.18,
        draw_linear,
        "result = clearning.CLearningClassifier(**options).fit(X, y, **given)" + _TWICE,
        linear_fits,
        estimator_views,
    ),
    "linear_cv": Kind(
        0.005,
        draw_linear_cv,
        "result = clearning.CLearningClassifierCV(**options).fit(X, y, **given)",
        cv_fits,
        estimator_views,
    ),
    "classes_path": Kind(
        0.1,
        draw_classes_path,
        "result = clearning.clearning_path(X, y, **options, **given)",
        class_fits,
        class_views,
    ),
    "blocks": Kind(0.002, draw_blocks, CALL, linear_fits, estimator_views),
    "class_blocks": Kind(0.002, draw_class_blocks, CALL, class_block_fits, class_block_views),
    "kernel_path": Kind(
        0.14,
        draw_kernel_path,
        "result = clearning.kernel_clearning_path(X, y, **options, **given)",
        path_fits,
        path_views,
    ),
    "kernel_classes_path": Kind(
        0.05,
        draw_kernel_classes_path,
        "result = clearning.kernel_clearning_path(X, y, **options, **given)",
        kernel_class_fits,
        class_views,
    ),
    "kernel": Kind(
        0.12,
        draw_kernel,
        "result = clearning.KernelCLearningClassifier(**options).fit(X, y, **given)" + _TWICE,
        kernel_fits,
        estimator_views,
    ),
    "kernel_cv": Kind(
        0.003,
        draw_kernel_cv,
        "result = clearning.KernelCLearningClassifierCV(**options).fit(X, y, **given)",
        kernel_fits,
        estimator_views,
    ),
    "temperature_path": Kind(
        0.02,
        draw_temperature,
        "result = clearning.temperature_path(X, y, **options, **given)",
        temperature_fits,
        temperature_views,
    ),
    "kernel_temperature_path": Kind(
        0.02,
        draw_kernel_temperature,
        "result = clearning.kernel_temperature_path(X, y, **options, **given)",
        temperature_fits,
        temperature_views,
    ),
    "calibrator": Kind(
        0.05,
        draw_calibrator,
        "method = options.pop('method')\n"
        "result = getattr(clearning, method)(**options).fit(np.ravel(X), y, **given)",
        _no_fits,
        calibrator_views,
    ),
    "calibrated": Kind(
        0.005,
        draw_calibrated,
        "method = options.pop('method')\n"
        "inner = clearning.CLearningClassifier(**options)\n"
        "result = clearning.CalibratedMarginClassifier(inner, method=method, cv=3)"
        ".fit(X, y, **given)",
        _no_fits,
        estimator_views,
    ),
    "weighted": Kind(
        0.005,
        draw_weighted,
        "n_weights = options.pop('n_weights')\n"
        "inner = clearning.CLearningClassifier(**options)\n"
        "result = clearning.WeightedMarginClassifier(inner, n_weights=n_weights)"
        ".fit(X, y, **given)",
        _no_fits,
        estimator_views,
    ),
}


def draw(seed: int, index: int) -> Problem:
    """Draw the problem that the seed and the index determine; one in twelve is bad input."""
    rng = np.random.default_rng([seed, index])
    kinds = list(KINDS.values())
    shares = np.array([kind.share for kind in kinds])
    problem = kinds[rng.choice(len(kinds), p=shares / shares.sum())].draw(rng)
    if chance(rng, 0.08):
        return spoil(rng, problem)
    problem = _nearly_equal(rng, problem) if chance(rng, 0.06) else problem
    problem = _with_a_hidden_detail(rng, problem) if chance(rng, 0.02) else problem
    return _with_levels(rng, problem) if chance(rng, 0.03) else problem


def _with_levels(rng: Rng, problem: Problem) -> Problem:
    """Levels of a category, a column each and without a penalty; classes avoid some of them."""
    if problem.kind not in LINEAR:
        return problem
    n, p = problem.X.shape
    count = min(int(rng.integers(2, 7)), p)
    if count < 2:
        return problem
    # Samples of one label mostly have the levels that are theirs.
    _, label = np.unique(problem.signs, return_inverse=True)
    theirs = rng.integers(0, count, (label.max() + 1, 2))
    strays = rng.random(n) < pick(rng, (0.0, 0.1, 0.5))
    level = np.where(
        strays, rng.integers(0, count, n), theirs[label.ravel(), rng.integers(0, 2, n)]
    )
    whole = any(step.startswith("int") for step in problem.storage)
    X, chosen = problem.X.copy(), rng.permutation(p)[:count]
    X[:, chosen] = (level[:, None] == np.arange(count)) * (
        1.0 if whole else 2.0 ** rng.integers(-10, 11)
    )
    columns = {name: values.copy() for name, values in problem.columns.items()}
    columns.setdefault("penalty_factor", np.ones(p))[chosen] = 0.0
    for name, end in (("lower", -np.inf), ("upper", np.inf)):
        if name in columns and chance(rng, 0.8):
            columns[name][chosen] = end
    return replace(problem, X=X, columns=columns)


def _with_a_hidden_detail(rng: Rng, problem: Problem) -> Problem:
    """A detail of next to nothing behind columns without a penalty, which tells the classes.

    Its coefficient can go as far as it needs to. A few rows give it away, or many columns hide it.
    """
    if problem.kind not in LINEAR:
        return problem
    n, p = problem.X.shape
    whole = any(step.startswith(("float32", "int")) for step in problem.storage)
    if n < 8 or p < 2 or whole:
        return problem
    few_rows = chance(rng, 0.5)
    if not few_rows:
        problem = _repeated(rng, problem, int(rng.integers(3, 26)))
        n, p = problem.X.shape
    X, (hidden, *behind) = problem.X.copy(), rng.permutation(p)[: int(rng.integers(2, 31))]
    side = np.where(problem.signs > 0, 1.0, -1.0)
    detail = (0.7 * side + rng.standard_normal(n)) * power(rng, -13, -6)
    if few_rows:
        del behind[1:]
        X[:, behind[0]] = rng.standard_normal(n) * power(rng, -1, 2)
        few = rng.permutation(n)[: int(rng.integers(1, 1 + n // 4))]
        detail[few] = side[few] * power(rng, -2, 3, len(few))
    else:
        # A category as a thermometer has it: each column is the one before and a step.
        level = rng.integers(0, len(behind) + 1, n)
        X[:, behind] = level[:, None] <= np.arange(len(behind))
        detail *= level <= rng.integers(0, len(behind))
    X[:, hidden] = X[:, behind[-1]] + detail
    columns = {name: values.copy() for name, values in problem.columns.items()}
    factor = columns.setdefault("penalty_factor", np.ones(p))
    factor[[hidden, *behind]] = 0.0
    for name, end in (("lower", -np.inf), ("upper", np.inf)):
        if name in columns:
            columns[name][[hidden, *behind]] = end
    return replace(problem, X=X, columns=columns)


def _repeated(rng: Rng, problem: Problem, p: int) -> Problem:
    """The problem with columns and rows of it drawn so often that each of p levels has some."""
    n, given = problem.X.shape
    columns, rows = rng.integers(0, given, p), rng.integers(0, n, max(n, 12 * p + 40))
    rows[:n] = np.arange(n)
    return problem.keep_columns(columns).keep_rows(rows)


def _nearly_equal(rng: Rng, problem: Problem) -> Problem:
    """Some columns differ by next to nothing, and have no penalty: coefficients may go far.

    All the farther where other columns are much like the difference, and take its scores back.
    """
    X, factor = problem.X, problem.columns.get("penalty_factor")
    if factor is None or not isinstance(X, np.ndarray) or len(factor) < 2:
        return problem
    first, *others = rng.permutation(len(factor))[: rng.integers(2, 5)]
    X, factor = X.copy(), factor.copy()
    apart = power(rng, -13, -3) * np.abs(X[:, first]).max()
    for j in others:
        difference = rng.standard_normal(len(X))
        X[:, j] = X[:, first] + apart * difference
    if chance(rng, 0.5):
        like = np.outer(difference, rng.standard_normal(len(factor)) * power(rng, 0, 4))
        rest = np.setdiff1d(np.arange(len(factor)), [first, *others])
        X[:, rest] += like[:, rest]
    factor[[first, *others]] = 0.0
    # As doubles: a smaller type would make them equal.
    storage = tuple(step for step in problem.storage if step in draws.DENSE + draws.SPARSE)
    columns = {**problem.columns, "penalty_factor": factor}
    return replace(problem, X=X, storage=storage, columns=columns)
