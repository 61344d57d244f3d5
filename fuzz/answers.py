"""What is read off a result: fits with their certificates, and predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from plain import EPS, Array, MarginLoss, Plain, Point
from problems import SPARSE, Problem, handed_over

from clearning._kernel_matrix import check_kernel_matrix

EPS32 = float(np.finfo(np.float32).eps)


class Fit(NamedTuple):
    """One solution and what the package says of it; None where it does not say."""

    plain: Plain
    alpha: float
    point: Point
    objective: float
    gap: float
    converged: bool | None = None
    null: float | None = None


class View(NamedTuple):
    """Scores of some samples, the classes predicted for them and their probabilities.

    `signed` is whether the package promises that probabilities never contradict the score.
    """

    scores: Array | None
    classes: NDArray[Any]
    predicted: NDArray[Any] | None
    probabilities: Array | None
    signed: bool = True


def loss_of(options: dict[str, Any], **changes: Any) -> MarginLoss:
    name = options.get("loss", "coherence")
    given = {key: options[key] for key in ("rho", "u", "delta") if key in options}
    if name == "hinge":
        given.pop("u", None)
    return MarginLoss(name, **{**given, **changes})


def weight_of(problem: Problem) -> Array:
    """Weights that sum to one, class weights included."""
    weight = problem.rows.get("sample_weight", np.ones(len(problem.X))).astype(np.longdouble)
    weight = weight / weight.max()
    if problem.options.get("class_weight") == "balanced":
        for sign in (-1.0, 1.0):
            members = problem.signs == sign
            weight[members] = weight[members] / weight[members].sum()
    return (weight / weight.sum()).astype(float)


def spread_of(X: Array, weight: Array) -> Array:
    """Weighted standard deviations of the columns; 1 where a column is constant.

    They stay in extended precision, as their squares may leave the range of a double.
    """
    X = X.astype(np.longdouble)
    weight = weight / weight.astype(np.longdouble).sum()
    mean = weight @ X
    variance = weight @ (X - mean) ** 2
    return np.sqrt(np.where(variance <= 1e-24 * (variance + mean**2), 1.0, variance))


def linear_plain(problem: Problem, loss: MarginLoss, l1_ratio: float) -> Plain:
    n, p = problem.X.shape
    weight = weight_of(problem)
    scale = spread_of(problem.X, weight) if problem.options.get("standardize") else np.ones(p)
    factor = problem.columns.get("penalty_factor", np.ones(p))
    return Plain(
        X=problem.X,
        y=problem.signs,
        weight=weight,
        offset=problem.rows.get("offset", np.zeros(n)),
        loss=loss,
        l1_ratio=l1_ratio,
        factor=factor * scale,
        Q=factor * scale**2,
        lower=problem.columns.get("lower", np.full(p, -np.inf)),
        upper=problem.columns.get("upper", np.full(p, np.inf)),
        fit_intercept=problem.options.get("fit_intercept", True),
    )


def kernel_plain(problem: Problem, K: Array, Q: Array, loss: MarginLoss, l1_ratio: float) -> Plain:
    n, m = K.shape
    single = "float32" in problem.storage or problem.options.get("dtype") == "float32"
    return Plain(
        X=K,
        y=problem.signs,
        weight=weight_of(problem),
        offset=problem.rows.get("offset", np.zeros(n)),
        loss=loss,
        l1_ratio=l1_ratio,
        factor=np.ones(m),
        Q=Q,
        lower=np.full(m, -np.inf),
        upper=np.full(m, np.inf),
        fit_intercept=problem.options.get("fit_intercept", True),
        noise=4 * n * (EPS32 if single else EPS) + 1e-11 * problem.refusable,
    )


def plain_of(problem: Problem, loss: MarginLoss, l1_ratio: float) -> Plain:
    """The objective of a path's problem."""
    if not problem.kind.startswith("kernel"):
        return linear_plain(problem, loss, l1_ratio)
    dtype = np.asarray(handed_over(problem.X, problem.storage)).dtype
    if problem.square is not None:
        return kernel_plain(problem, problem.X, lifted(problem.square, dtype), loss, l1_ratio)
    K = lifted(problem.X, dtype)
    return kernel_plain(problem, K, K, loss, l1_ratio)


def lifted(K: Array, dtype: Any) -> Array:
    """The matrix whose problem is solved: its diagonal makes up for eigenvalues below zero."""
    single = dtype == np.float32
    solved = check_kernel_matrix(K.astype(np.float32 if single else np.float64))
    most = (1e-4 if single else 1e-6) * len(K) * np.abs(K).max()
    assert np.abs(solved - K).max() <= most, "lifted by more than rounding"
    return solved.astype(np.float64)


def path_fits(problem: Problem, path: Any) -> list[Fit]:
    plain = plain_of(problem, loss_of(problem.options), problem.options["l1_ratio"])
    return _fits_along(plain, path)


def _fits_along(plain: Plain, path: Any) -> list[Fit]:
    return [
        Fit(
            plain,
            float(path.alphas[k]),
            Point(path.coefs[k], float(path.intercepts[k])),
            float(path.objectives[k]),
            float(path.dual_gaps[k]),
            bool(path.converged[k]),
            float(path.null_objective),
        )
        for k in range(len(path.alphas))
    ]


def linear_fits(problem: Problem, model: Any) -> list[Fit]:
    plain = linear_plain(problem, loss_of(problem.options), problem.options["l1_ratio"])
    return [_estimator_fit(plain, problem.options["alpha"], model)]


def cv_fits(problem: Problem, model: Any) -> list[Fit]:
    loss = loss_of(problem.options, rho=model.rho_)
    if loss.name != "hinge":
        loss = loss_of(problem.options, rho=model.rho_, u=model.u_)
    plain = linear_plain(problem, loss, model.l1_ratio_)
    fits = _fits_along(plain, model.path_)
    if model.calibrator_ is not None and "class_weight" in problem.options:
        return fits  # the calibration has moved the intercept
    return [*fits, _estimator_fit(plain, model.alpha_, model)]


def _estimator_fit(plain: Plain, alpha: float, model: Any) -> Fit:
    point = Point(model.coef_[0], float(model.intercept_[0]))
    return Fit(plain, alpha, point, model.objective_, model.dual_gap_)


def kernel_fits(problem: Problem, model: Any) -> list[Fit]:
    """The kernel estimators leave out samples without weight, as centres too."""
    weight = weight_of(problem)
    problem = problem if weight.all() else problem.keep_rows(np.flatnonzero(weight))
    held = np.flatnonzero(weight)
    options = problem.options
    K = kernel_matrix(problem.X, options, model.gamma_)
    if options["kernel"] == "precomputed":
        K = lifted(K, options.get("dtype", "float64"))
    centres = held if model.landmarks_ is None else model.landmarks_
    coef = np.zeros(len(weight))
    coef[model.support_] = model.dual_coef_[0]
    columns = np.searchsorted(held, centres)
    loss = loss_of(options, rho=getattr(model, "rho_", options.get("rho", 1.0)))
    if loss.name != "hinge":
        u = getattr(model, "u_", options.get("u", 1.0))
        loss = loss_of(options, rho=loss.rho, u=u)
    single = options.get("dtype") == "float32" or "float32" in problem.storage
    eps = EPS32 if single else 16 * problem.X.shape[1] * EPS
    ratio = getattr(model, "l1_ratio_", options.get("l1_ratio"))
    Q = K[np.ix_(columns, columns)]
    plain = kernel_plain(problem, K[:, columns], Q, loss, ratio)
    plain = replace(plain, eps=eps, private=options["kernel"] != "precomputed")
    alpha = getattr(model, "alpha_", options.get("alpha"))
    intercept = _fitted_intercept(model)
    point = Point(coef[centres], intercept)
    fits = [Fit(plain, alpha, point, model.objective_, model.dual_gap_)]
    if model.landmarks_ is not None and np.isfinite(model.full_gap_):
        full = replace(kernel_plain(problem, K, K, loss, ratio), eps=eps, private=True)
        whole = Point(coef[held], intercept)
        fits.append(Fit(full, alpha, whole, model.objective_, model.full_gap_, converged=True))
    return fits


def _fitted_intercept(model: Any) -> float:
    """The intercept that was fitted: a kernel search moves it by what its calibration asks for."""
    if not hasattr(model, "path_"):
        return float(model.intercept_[0])
    chosen = np.argmin(np.abs(model.path_.alphas - model.alpha_))
    return float(model.path_.intercepts[chosen])


def kernel_matrix(X: Array, options: dict[str, Any], gamma: float) -> Array:
    """The kernel matrix from its formula, in extended precision and without matrix products."""
    kernel = options["kernel"]
    if kernel == "precomputed":
        return X.astype(np.float32).astype(float) if options.get("dtype") == "float32" else X
    X = X.astype(np.longdouble)
    with np.errstate(all="ignore"):
        if kernel == "cosine":
            norms = np.sqrt((X * X).sum(-1, keepdims=True))
            X, kernel = X / np.where(norms > 0, norms, 1), "linear"
        if kernel == "rbf":
            K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))
        elif kernel == "laplacian":
            K = np.exp(-gamma * np.abs(X[:, None] - X[None]).sum(-1))
        elif kernel == "linear":
            K = (X[:, None] * X[None]).sum(-1)
        else:
            inner = gamma * (X[:, None] * X[None]).sum(-1) + options["coef0"]
            K = inner ** options["degree"]
        return K.astype(float)


def temperature_fits(problem: Problem, path: Any) -> list[Fit]:
    """Every temperature's fit with V itself, and the hinge's."""
    options = problem.options
    ratio, alpha, u = options["l1_ratio"], options["alpha"], options.get("u", 1.0)
    plain = plain_of(problem, MarginLoss("coherence", 1.0, u, scaled=False), ratio)
    fits = [
        Fit(
            plain.with_loss(rho=float(path.rhos[k])),
            alpha,
            Point(path.coefs[k], float(path.intercepts[k])),
            float(path.objectives[k]),
            float(path.dual_gaps[k]),
            bool(path.converged[k]),
        )
        for k in range(len(path.rhos))
    ]
    end = path.hinge_limit
    point = Point(end.coef, end.intercept)
    hinge = plain.with_loss(name="hinge")
    return [*fits, Fit(hinge, alpha, point, end.objective, end.dual_gap, end.converged)]


def probes(problem: Problem) -> Array:
    """Samples to predict: the training ones, and some much nearer to zero and farther from it."""
    X = problem.X[:12]
    with np.errstate(all="ignore"):
        rows = np.concatenate([X, 1e-3 * X[:4], 1e3 * X[:2], 1e-12 * X[:2], 0 * X[:1]])
    return rows[np.isfinite(rows).all(axis=1)]


def path_views(problem: Problem, path: Any) -> list[View]:
    X = probes(problem)
    with np.errstate(all="ignore"):
        scores = path.decision_function(X)
    proba = path.predict_proba(X) if path.loss.has_link else None
    predicted = path.predict(X)
    return [
        View(scores[:, k], path.classes, predicted[:, k], None if proba is None else proba[:, k])
        for k in range(scores.shape[1])
    ]


def temperature_views(problem: Problem, path: Any) -> list[View]:
    X = probes(problem)
    scores, predicted, proba = path.decision_function(X), path.predict(X), path.predict_proba(X)
    return [
        View(scores[:, k], path.classes, predicted[:, k], proba[:, k])
        for k in range(scores.shape[1])
    ]


def estimator_views(problem: Problem, model: Any) -> list[View]:
    X: Any = problem.X[:12] if problem.options.get("kernel") == "precomputed" else probes(problem)
    if problem.storage and problem.storage[-1] in SPARSE:
        X = handed_over(X, problem.storage[-1:])
    scores = model.decision_function(X) if hasattr(model, "decision_function") else None
    try:
        proba = model.predict_proba(X)
    except AttributeError as error:
        # What a loss without a link is documented to say.
        if "CalibratedMarginClassifier" not in str(error):
            raise
        proba = None
    signed = problem.options.get("method") != "platt"
    # A calibrator that moves the rate of weighted classes moves where they change.
    if getattr(getattr(model, "calibrator_", None), "offset", False):
        scores = None
    return [View(scores, model.classes_, model.predict(X), proba, signed)]


def calibrator_views(problem: Problem, model: Any) -> list[View]:
    scores = probes(problem)[:, 0]
    signed = problem.options["method"] != "PlattCalibrator"
    return [View(scores, model.classes_, None, model.predict_proba(scores), signed)]
