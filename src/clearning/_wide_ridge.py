"""Ridges with fewer samples than features, solved as the kernel problems they are.

With Λ the penalty factors, b = Λ⁻¹X'β gives X b = Kβ and b'Λb = β'Kβ for K = XΛ⁻¹X'. An intercept
takes up any shift of the columns, so they are centred first: what is large in X but the same for
all samples would drown the rest of K in its rounding. What is claimed of a solution is claimed at
the coefficients b that are returned, not at β.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from clearning import _core
from clearning._door import Array
from clearning.losses import Loss

Raw = dict[str, Any]

# Each sum of products is off by a few roundings of the size of what is added up in it.
_ROUNDINGS = 4 * float(np.finfo(np.float64).eps)
# Columns that stay in the cache while they are worked on.
_BLOCK_ENTRIES = 2**17


def is_wide_ridge(X: Any, request: Raw) -> bool:
    """Whether there are fewer samples than features and nothing but a ridge on all of them.

    A sparse matrix cannot be centred and stay sparse: it goes by columns.
    """
    return (
        request["l1_ratio"] == 0.0
        and not sparse.issparse(X)
        and X.shape[0] < X.shape[1]
        and X.dtype == np.float64
        and bool(np.all(request["l2_factor"] > 0))
        and bool(np.all(np.isinf(request["lower"])) and np.all(np.isinf(request["upper"])))
    )


def solve_wide_ridge(X: Array, request: Raw, loss: Loss) -> Raw:
    """Solve by rows and, where that leaves a gap that is not rounding alone, by columns too.

    Of the two, each penalty keeps the solution with the smaller gap.
    """
    if request["alphas"] is None:
        # The grid is the linear problem's own.
        top = _core.solve_dense(X, {**request, "n_alphas": 1, "tol": 1.0})["alphas"][0]
        grid = top * request["alpha_min_ratio"] ** np.linspace(0.0, 1.0, request["n_alphas"])
        request = {**request, "alphas": grid}
    # What overflows makes K useless, and is then left to the columns.
    with np.errstate(all="ignore"):
        mean = request["weight"] @ X if request["fit_intercept"] else np.zeros(X.shape[1])
        unit = 1.0 / np.sqrt(request["l2_factor"])
        scaled = (X - mean) * unit
        K = np.asfortranarray(scaled @ scaled.T)
    if not np.isfinite(K).all():
        return _core.solve_dense(X, request)
    raw, coefs = _solve_by_rows(K, scaled, unit, mean, request)
    by_rows, rounding = _prove(raw, X, coefs, request, loss)
    if np.all(by_rows["converged"] | (by_rows["dual_gaps"] <= 2 * rounding)):
        return by_rows
    by_columns = _core.solve_dense(X, {**request, "coef_init": None, "intercept_init": 0.0})
    return _better_of(by_rows, by_columns, X.shape[1])


def _solve_by_rows(
    K: Array, scaled: Array, unit: Array, mean: Array, request: Raw
) -> tuple[Raw, Array]:
    """Return the path in K, and its coefficients in X, whose columns are unit * scaled + mean."""
    n = len(K)
    start = request["coef_init"]
    at_start = {"coef_init": None, "intercept_init": request["intercept_init"]}
    if start is not None:
        at_start["coef_init"] = _start_by_rows(K, scaled @ (start / unit))
        at_start["intercept_init"] += float(mean @ start)
    raw = _core.solve_kernel(
        K,
        K,
        {
            **request,
            **at_start,
            **{name: np.ones(n) for name in ("l1_factor", "l2_factor")},
            "lower": np.full(n, -np.inf),
            "upper": np.full(n, np.inf),
        },
    )
    with np.errstate(all="ignore"):
        coefs = (_rows_of(raw, n) @ scaled) * unit
        raw["intercepts"] = raw["intercepts"] - coefs @ mean
    return {**raw, **_as_sparse(coefs)}, coefs


def _prove(raw: Raw, X: Array, coefs: Array, request: Raw, loss: Loss) -> tuple[Raw, Array]:
    """Claim of each penalty what holds at the coefficients returned, rounding included."""
    dual = raw["objectives"] - raw["dual_gaps"]
    with np.errstate(all="ignore"):
        objectives, rounding = _objectives(raw, X, coefs, request, loss)
        gaps = np.maximum(objectives - dual, 0.0) + rounding
        # Losses and penalties are not negative, so zero is a bound too.
        gaps = np.minimum(gaps, objectives)
    gaps[~(gaps >= 0.0) | ~np.isfinite(objectives)] = np.inf
    converged = np.isfinite(gaps) & (gaps <= request["tol"] * raw["null_objective"])
    return {**raw, "objectives": objectives, "dual_gaps": gaps, "converged": converged}, rounding


def _objectives(raw: Raw, X: Array, coefs: Array, request: Raw, loss: Loss) -> tuple[Array, Array]:
    """Return each objective, and how far rounding may move it or the dual value below it."""
    weight, signs = request["weight"][:, None], request["y"][:, None]
    shift = request["offset"][:, None] + raw["intercepts"]
    margins = signs * (X @ coefs.T + shift)
    sizes = np.abs(request["offset"])[:, None] + np.abs(raw["intercepts"])
    width = max(1, _BLOCK_ENTRIES // len(X))
    for start in range(0, X.shape[1], width):
        columns = slice(start, start + width)
        sizes = sizes + np.abs(X[:, columns]) @ np.abs(coefs[:, columns]).T
    penalties = raw["alphas"] / 2.0 * (coefs**2 @ request["l2_factor"])
    objectives = (weight * loss.value(margins)).sum(axis=0) + penalties
    slopes = np.abs(loss.gradient(margins))
    return objectives, _ROUNDINGS * (objectives + (weight * slopes * sizes).sum(axis=0))


def _better_of(first: Raw, second: Raw, p: int) -> Raw:
    """Return, of two paths over the same penalties, the solutions with the smaller gaps."""
    better = first["dual_gaps"] <= second["dual_gaps"]
    names = ("intercepts", "objectives", "dual_gaps", "n_iters", "converged")
    chosen = {name: np.where(better, first[name], second[name]) for name in names}
    rows = np.where(better[:, None], _rows_of(first, p).toarray(), _rows_of(second, p).toarray())
    return {**second, **chosen, **_as_sparse(rows)}


def _rows_of(raw: Raw, n_columns: int) -> sparse.csr_array:
    """Return a path's coefficients, one row for each penalty."""
    shape = (len(raw["alphas"]), n_columns)
    return sparse.csr_array((raw["values"], raw["columns"], raw["starts"]), shape)


def _as_sparse(coefs: Array) -> Raw:
    """Return coefficients as the core gives them."""
    stored = sparse.csr_array(coefs)
    return {
        "values": stored.data,
        "columns": stored.indices.astype(np.int32),
        "starts": stored.indptr.astype(np.int64),
    }


def _start_by_rows(K: Array, scores: Array) -> Array | None:
    """Return β with Kβ near the scores X b of a start b, or None where K has no size.

    The little that is added to K's diagonal makes it regular where samples repeat; it changes the
    start, never the solution.
    """
    size = float(np.linalg.norm(K))
    if not 0.0 < size < np.inf:
        return None
    return cho_solve(cho_factor(K + 1e-10 * size * np.eye(len(K))), scores)
