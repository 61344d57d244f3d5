"""The compiled core's words: a loss and a problem as it reads them, a path as it answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clearning._problem import Grid, Problem, Settings, Start
from clearning.losses import Loss


def core_loss(loss: Loss) -> dict[str, Any]:
    """Describe a loss to the compiled core."""
    if loss.solver is None:
        raise ValueError(f"loss={loss!r} has no solver.")
    unused = {"rho": 1.0, "u": 0.0, "delta": 2.0, "kappa": 1.0}
    return {"kind": loss.solver, **unused, **loss.solver_parameters}


def core_request(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None,
) -> dict[str, Any]:
    """Describe a solve to the compiled core; weights sum to one there."""
    target, penalty, scales = problem.target, problem.penalty, problem.scales
    coef, intercept = None, 0.0
    if start is not None:
        # A start is a hint: what is not to be fitted, or not allowed, is left out of it.
        coef = np.clip(start.coef, penalty.lower, penalty.upper)
        intercept = start.intercept if problem.fit_intercept else 0.0
    return {
        "loss": core_loss(loss),
        "y": target.signs,
        "weight": target.shares,
        "offset": target.offsets,
        # A penalty on standardised columns is one on the columns themselves with other factors.
        "l1_factor": penalty.factor * scales,
        "l2_factor": penalty.factor * scales**2,
        "lower": np.full(len(scales), penalty.lower),
        "upper": np.full(len(scales), penalty.upper),
        "coef_init": coef,
        "intercept_init": intercept,
        **core_settings(problem, l1_ratio, grid, settings),
    }


def core_settings(
    problem: Problem, l1_ratio: float, grid: Grid, settings: Settings
) -> dict[str, Any]:
    """Describe the penalties and how they are solved, whatever the number of classes."""
    return {
        "l1_ratio": l1_ratio,
        "fit_intercept": problem.fit_intercept,
        "alphas": grid.alphas,
        "n_alphas": grid.count,
        "alpha_min_ratio": grid.ratio(problem.design),
        "tol": settings.tol,
        "max_iter": settings.max_iter,
    }


def read_path(
    problem: Problem, raw: dict[str, Any], width: int, loss: Any, l1_ratio: float
) -> dict[str, Any]:
    """Return the fields of the path that the core's answer describes, of rows so wide."""
    starts = raw["starts"].astype(raw["columns"].dtype)
    shape = (len(raw["alphas"]), width)
    return {
        "alphas": raw["alphas"],
        "sparse_coefs": sparse.csr_array((raw["values"], raw["columns"], starts), shape),
        "intercepts": raw["intercepts"],
        "objectives": raw["objectives"],
        "dual_gaps": raw["dual_gaps"],
        "n_iters": raw["n_iters"],
        "converged": raw["converged"].astype(bool),
        "null_objective": raw["null_objective"],
        "loss": loss,
        "l1_ratio": l1_ratio,
        "classes": problem.target.classes,
        "feature_names": None if problem.names is None else tuple(problem.names),
    }
