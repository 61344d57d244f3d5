"""Checks of a path's options: each returns what the compiled core needs, or says what is wrong."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d


def check_settings(l1_ratio: Any, tol: Any, max_iter: Any, fit_intercept: Any) -> dict[str, Any]:
    """What every solve needs."""
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be an integer >= 1.")
    return {
        "l1_ratio": check_real("l1_ratio", l1_ratio, 0.0, 1.0, "both"),
        "tol": check_real("tol", tol, 0.0, 1.0, "right"),
        "max_iter": int(max_iter),
        "fit_intercept": bool(fit_intercept),
    }


def check_real(name: str, value: Any, low: float, high: float, closed: str) -> float:
    """A number between `low` and `high`."""
    inside = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if inside:
        v = float(value)
        inside = (low <= v if closed in ("left", "both") else low < v) and (
            v <= high if closed in ("right", "both") else v < high
        )
    if not inside:
        left, right = (
            ("[" if closed in ("left", "both") else "("),
            ("]" if closed in ("right", "both") else ")"),
        )
        raise ValueError(f"{name}={value!r} must be a number in {left}{low:g}, {high:g}{right}.")
    return float(value)


def check_grid(alphas: Any, alpha_min_ratio: Any, auto: float) -> dict[str, Any]:
    """The penalties: given, or the recipe for a grid."""
    if isinstance(alphas, Integral) and not isinstance(alphas, bool):
        if alphas < 1:
            raise ValueError(
                f"alphas={alphas!r} must be a positive number of penalties or an array of them."
            )
        ratio = auto
        if not (isinstance(alpha_min_ratio, str) and alpha_min_ratio == "auto"):
            ratio = check_real("alpha_min_ratio", alpha_min_ratio, 0.0, 1.0, "neither")
        return {"alphas": None, "n_alphas": int(alphas), "alpha_min_ratio": ratio}
    grid = np.array(column_or_1d(np.atleast_1d(np.asarray(alphas, dtype=float))), dtype=float)
    if grid.size == 0 or not np.all(np.isfinite(grid)) or np.any(grid <= 0):
        raise ValueError(f"alphas={alphas!r} must hold positive, finite penalties.")
    return {"alphas": np.sort(grid)[::-1].copy(), "n_alphas": grid.size, "alpha_min_ratio": 1.0}


def check_bounds(bounds: Any, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds, one of each per coefficient."""
    if bounds is None:
        return np.full(p, -np.inf), np.full(p, np.inf)
    try:
        low, high = bounds
        lower = np.array(np.broadcast_to(np.asarray(low, dtype=float), (p,)), dtype=float)
        upper = np.array(np.broadcast_to(np.asarray(high, dtype=float), (p,)), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bounds={bounds!r} must be a pair (lower, upper) of numbers or arrays of {p} numbers."
        ) from error
    if np.isnan(lower).any() or np.isnan(upper).any() or (lower > 0).any() or (upper < 0).any():
        raise ValueError("bounds must satisfy lower <= 0 <= upper: zero has to stay possible.")
    return lower, upper


def check_penalty_factor(penalty_factor: Any, p: int) -> np.ndarray:
    """One factor pⱼ ≥ 0 per coefficient."""
    if penalty_factor is None:
        return np.ones(p)
    factor = np.array(penalty_factor, dtype=float)
    if factor.shape != (p,):
        raise ValueError(
            f"penalty_factor has shape {factor.shape}; one factor per feature, ({p},), is needed."
        )
    if not np.all(np.isfinite(factor)) or (factor < 0).any():
        raise ValueError("penalty_factor must hold finite numbers >= 0.")
    return factor


def check_start(coef_init: Any, intercept_init: Any, p: int) -> dict[str, Any]:
    """Where the solver starts."""
    if coef_init is None:
        return {"coef_init": None, "intercept_init": 0.0}
    coef = np.array(np.ravel(coef_init), dtype=float)
    if coef.shape != (p,) or not np.all(np.isfinite(coef)):
        raise ValueError(f"coef_init must hold {p} finite numbers.")
    intercept = float(np.ravel(0.0 if intercept_init is None else intercept_init)[0])
    return {"coef_init": coef, "intercept_init": intercept}
