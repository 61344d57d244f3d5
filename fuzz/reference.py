"""Points with a low objective, found by others: what a certificate must stay below.

SciPy's L-BFGS-B works on centred and scaled columns, with b = b⁺ − b⁻ where there is an l1 part.
Columns without a penalty are made orthogonal to each other before, so that it sees what sets nearly
equal ones apart. The hinge is approached through smooth losses; its own objective judges.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from many import ClassPlain
from plain import LONG, Plain, Point
from scipy.optimize import minimize

MAX_STEPS = 150
# Columns that differ by less than this share of their length are told apart by their last digits.
SAME_COLUMN = 2e-14
# Rows stand out that are so many times farther than the median; looked for so many times.
FAR_OUT = 100.0
FAR_ROUNDS = 4


def descend(plain: Plain | ClassPlain, alpha: float, start: Point) -> Point:
    """Go down from a point, and once more without the rows that alone tell columns apart."""
    if isinstance(plain, ClassPlain):
        found = _descents_of_classes(plain, alpha, start)
    else:
        found = _descents(plain, alpha, start)
    return min(found, key=lambda at: plain.value(at, alpha))


def _descents(plain: Plain, alpha: float, start: Point) -> list[Point]:
    found = [start, _descend_cooling(plain, alpha, start)]
    kept = _rows_that_are_near(plain, plain.free & np.isinf(plain.lower) & np.isinf(plain.upper))
    if plain.Q.ndim == 1 and not kept.all():
        near = replace(
            plain,
            X=plain.X[kept],
            y=plain.y[kept],
            weight=plain.weight[kept],
            offset=plain.offset[kept],
        )
        found.append(_descend_cooling(near, alpha, start))
    return found


def _descents_of_classes(plain: ClassPlain, alpha: float, start: Point) -> list[Point]:
    found = [start, plain.descend(alpha, start)]
    if plain.free.sum() < 2:
        return found
    rows = {
        tuple(kept): kept for kept in (plain.weight > 0, _rows_that_are_near(plain, plain.free))
    }
    return found + [_descend_turned(plain, kept, alpha, start) for kept in rows.values()]


def _descend_turned(plain: ClassPlain, kept: np.ndarray, alpha: float, start: Point) -> Point:
    """Of some rows, and by columns without a penalty that are orthogonal to each other."""
    loose = np.flatnonzero(plain.free)
    X, weight = plain.X[kept].copy(), plain.weight[kept]
    centre = plain.fit_intercept * (weight @ X[:, loose]) / weight.sum()
    with np.errstate(all="ignore"):
        X[:, loose], turn, back = _orthogonal(X[:, loose] - centre)
    if not np.isfinite(turn).all():
        return start
    turned = replace(plain, X=X, codes=plain.codes[kept], weight=weight, offset=plain.offset[kept])
    coef = start.coef.copy()
    coef[:, loose] = start.coef[:, loose] @ turn.T
    found = turned.descend(alpha, Point(coef, start.intercept + start.coef[:, loose] @ centre))
    coef = found.coef.copy()
    coef[:, loose] = found.coef[:, loose] @ back.T
    return Point(coef, found.intercept - coef[:, loose] @ centre)


def _descend_cooling(plain: Plain, alpha: float, start: Point) -> Point:
    """The hinge goes through colder and colder coherence functions."""
    if plain.loss.name != "hinge":
        return _descend(plain, alpha, start)
    size = max(plain.loss.u, 1e-300)
    for rho in (1e-1 * size, 1e-3 * size, 1e-5 * size):
        smooth = plain.with_loss(name="coherence", rho=rho, scaled=False)
        start = min(start, _descend(smooth, alpha, start), key=lambda at: plain.value(at, alpha))
    return start


def _rows_that_are_near(plain: Plain | ClassPlain, loose: np.ndarray) -> np.ndarray:
    """Which rows do not stand out in what sets columns without a penalty apart.

    A rival may put those that do on their right side, as far as it likes.
    """
    kept = plain.weight > 0
    if loose.sum() < 2:
        return np.ones_like(kept)
    for _ in range(FAR_ROUNDS):
        with np.errstate(all="ignore"):
            Z = plain.X[np.ix_(kept, loose)]
            rests = np.abs(_orthogonal(Z - plain.fit_intercept * Z.mean(axis=0))[0])
            typical = np.median(rests, axis=0)
            out = (rests > FAR_OUT * typical) & (typical > 0)
        if not out.any() or 2 * np.count_nonzero(~out.any(axis=1)) < len(kept):
            break
        kept[np.flatnonzero(kept)[out.any(axis=1)]] = False
    return kept


def best_without_penalty(plain: Plain | ClassPlain) -> Point:
    """The best model whose penalised coefficients are all zero."""
    point = plain.best_constant
    if isinstance(plain, ClassPlain) or not plain.free.any():
        return point
    held = replace(
        plain,
        lower=np.where(plain.free, plain.lower, 0.0),
        upper=np.where(plain.free, plain.upper, 0.0),
    )
    return min(point, descend(held, 1.0, point), key=lambda at: plain.value(at, 1.0))


def _descend(plain: Plain, alpha: float, start: Point) -> Point:
    X, y, w = plain.X, plain.y, plain.weight
    with np.errstate(all="ignore"):
        centre = w @ X if plain.fit_intercept else np.zeros(X.shape[1])
        Z = X - centre
        scale = np.abs(Z).max(axis=0)
        scale[(scale == 0) | ~np.isfinite(1 / scale)] = 1.0
        loose = np.flatnonzero(plain.free & np.isinf(plain.lower) & np.isinf(plain.upper))
        if plain.Q.ndim == 2 or len(loose) < 2:
            loose = loose[:0]
        Z = Z / scale
        Z[:, loose], turn, back = _orthogonal(Z[:, loose])
        lasso = (alpha * plain.l1_ratio * plain.factor / scale).astype(float)
        squares = scale.astype(LONG) ** 2 if plain.Q.ndim == 1 else np.outer(scale, scale)
        Q = (alpha * (1 - plain.l1_ratio) * plain.Q / squares).astype(float)
        limits = np.column_stack([plain.lower * scale, plain.upper * scale])
        limits[np.isnan(limits)] = 0.0

    def smooth(a: float, c: np.ndarray) -> tuple[float, float, np.ndarray]:
        z = y * (plain.offset + a + Z @ c)
        residual = -w * y * plain.loss.slope(z)
        Qc = Q * c if Q.ndim == 1 else Q @ c
        value = w @ plain.loss.value(z) + 0.5 * (c @ Qc)
        return value, residual.sum() * plain.fit_intercept, Z.T @ residual + Qc

    def split(x: np.ndarray) -> tuple[float, np.ndarray]:
        up, down = x[1 : len(scale) + 1], x[len(scale) + 1 :]
        value, slope, gradient = smooth(x[0], up - down)
        pushes = np.concatenate([[slope], gradient + lasso, lasso - gradient])
        return value + lasso @ (up + down), pushes

    c, a = start.coef * scale, start.intercept + centre @ start.coef
    c[loose] = turn @ c[loose]
    first = np.concatenate([[a], np.maximum(c, 0), np.maximum(-c, 0)])
    box = [(None, None), *[(0, top) for top in limits[:, 1]], *[(0, -low) for low in limits[:, 0]]]
    if not np.isfinite(first).all():
        return start
    with np.errstate(all="ignore"):
        options = {"maxiter": MAX_STEPS, "ftol": 0.0, "gtol": 1e-12, "maxcor": 20}
        x = minimize(split, first, jac=True, method="L-BFGS-B", bounds=box, options=options).x
        c = x[1 : len(scale) + 1] - x[len(scale) + 1 :]
        c[loose] = back @ c[loose]
        coef = c / scale
    found = Point(np.clip(coef, plain.lower, plain.upper), float(x[0] - centre @ coef))
    return found if plain.value(found, alpha) < plain.value(start, alpha) else start


def _orthogonal(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns as long as they have rows that span the same, R and its inverse: Z = Q R.

    What depends on the columns before it, for what double precision can say, is left out.
    """
    n, k = Z.shape
    Q, R, back = np.zeros((n, k), LONG), np.zeros((k, k), LONG), np.zeros((k, k), LONG)
    for j in range(k):
        rest, along = Z[:, j].astype(LONG), np.zeros(k, LONG)
        for _ in range(3):
            more = Q.T @ rest / n
            rest, along = rest - Q @ more, along + more
        size = np.sqrt(rest @ rest / n)
        R[:, j] = along
        if size > SAME_COLUMN * np.sqrt(Z[:, j] @ Z[:, j] / n):
            Q[:, j], R[j, j] = rest / size, size
            back[:, j] = -(back @ along) / size
            back[j, j] = 1 / size
    return Q.astype(float), R.astype(float), back.astype(float)
