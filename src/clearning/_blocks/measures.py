"""From the scan to the parts of the rows: weights, scales, null models and the grid's top."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from clearning._blocks.audit import Audit
from clearning._blocks.plan import Encoding
from clearning._blocks.scan import Moments, Scan, check_weight
from clearning._designs import Array, Features, Indices, scales_of
from clearning._door import relative
from clearning._problem import (
    Grid,
    Penalty,
    Problem,
    Settings,
    Target,
    class_factors,
)
from clearning.losses import Loss, MultiCoherence
from clearning.path import solve_path


@dataclass(frozen=True)
class Measures:
    """Each part of the rows, all of them first and then the training rows of each fold.

    Attributes
    ----------
    scan : Scan
        The first pass.
    encoding : Encoding
        How blocks are read from now on.
    parts : ndarray of shape (n_parts,)
        −1, then the folds.
    weights : ndarray of shape (n_parts, n_classes)
        Weight of each class.
    class_means : ndarray of shape (n_parts, n_classes, n_features)
        Means of the columns in each class.
    mean, variance : ndarray of shape (n_parts, n_features)
        Those of the columns.
    """

    scan: Scan
    encoding: Encoding
    parts: Indices
    weights: Array
    class_means: Array
    mean: Array
    variance: Array

    @property
    def total(self) -> Array:
        return self.weights.sum(axis=1)

    @property
    def centre(self) -> Array:
        centre = self.encoding.centre
        return np.zeros(self.scan.n_features) if centre is None else centre

    @property
    def rms(self) -> Array:
        """Root mean squares of the columns less their centres."""
        return np.sqrt(self.variance + (self.mean - self.centre) ** 2)

    @property
    def largest(self) -> Array:
        """Bounds on the entries of the columns less their centres."""
        return np.maximum(self.scan.highest - self.centre, self.centre - self.scan.lowest)

    @property
    def constant(self) -> NDArray[np.bool_]:
        """The columns that are the same in all rows."""
        return self.scan.highest == self.scan.lowest

    def scales(self, standardize: bool) -> Array:
        """What the penalty takes as each column's unit, a row a part."""
        if not standardize:
            return np.ones_like(self.variance)
        largest = np.maximum(np.abs(self.scan.highest), np.abs(self.scan.lowest))
        return scales_of(self.variance, self.mean, lambda j: float(largest[j]))


def measure(
    scan: Scan, class_weight: Any, fit_intercept: bool, n_folds: int, seed: int
) -> Measures:
    """Check the classes that were found and measure every part of the rows."""
    classes, moments = _classes(scan)
    plain = np.array([each.weight.sum() for each in moments])
    check_weight(float(plain.sum()))
    _check_held_out(moments, n_folds)
    _check_offsets(scan, len(classes))
    factors = _factors(classes, plain, class_weight)
    parts = np.arange(-1, n_folds if n_folds > 1 else 0)
    weights, means, mean, variance = [], [], [], []
    for part in parts.tolist():
        chosen = np.arange(n_folds) != part
        own = [_part_moments(each, chosen, factor) for each, factor in zip(moments, factors)]
        weight = np.array([w for w, _, _ in own])
        if not weight.all():
            missing = classes.tolist()[int(np.argmin(weight))]
            lack = "only one class" if len(classes) == 2 else f"no sample of class {missing!r}"
            raise ValueError(f"Without fold {part} {lack} is left to train on. Use fewer folds.")
        share = weight / weight.sum()
        centre = sum(s * m for s, (_, m, _) in zip(share, own))
        spread = sum(s * (v + (m - centre) ** 2) for s, (_, m, v) in zip(share, own))
        weights.append(weight)
        means.append([m for _, m, _ in own])
        mean.append(centre)
        variance.append(spread)
    encoding = Encoding(
        classes=classes,
        factors=factors,
        n_features=scan.n_features,
        # Columns are centred for the digits of their products; only an intercept makes up for it.
        centre=None if scan.is_sparse or not fit_intercept else mean[0],
        n_folds=n_folds,
        seed=seed,
        audit=Audit.of_means(
            np.array([each.weight for each in moments]),
            np.array([each.mean for each in moments]),
            scan.largest,
            seed,
        ),
    )
    return Measures(
        scan,
        encoding,
        parts,
        np.array(weights),
        np.array(means),
        np.array(mean),
        np.array(variance),
    )


def _check_held_out(moments: list[Moments], n_folds: int) -> None:
    held_out = sum(each.weight for each in moments)
    if not np.all(held_out):
        raise ValueError(
            f"Fold {int(np.argmin(held_out))} of cv={n_folds} has no row with weight to test on. "
            "Use fewer folds."
        )


def _check_offsets(scan: Scan, n_classes: int) -> None:
    """Refuse offsets that have not a number for each score."""
    needed = 1 if n_classes == 2 else n_classes
    if scan.offset_width not in (0, needed):
        shape = "(n_rows,)" if needed == 1 else f"(n_rows, {needed})"
        raise ValueError(
            f"offset must be of shape {shape} where y has {n_classes} classes; it has "
            f"{scan.offset_width} column(s)."
        )


def _classes(scan: Scan) -> tuple[NDArray[Any], list[Moments]]:
    labels = sorted(scan.labels)
    if len(labels) < 2:
        raise ValueError(
            f"Samples of two or more classes are needed, but y contains only one class: "
            f"{labels[0]!r}."
        )
    moments = [scan.labels[label].moments for label in labels]
    if not any(each.weight.any() for each in moments):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    for label, each in zip(labels, moments):
        if not each.weight.any():
            raise ValueError(
                f"Samples of {'two' if len(labels) == 2 else len(labels)} classes are needed, but "
                f"every sample of class {label!r} has sample_weight 0."
            )
    return np.array(labels), moments


def _factors(classes: NDArray[Any], weight: Array, class_weight: Any) -> Array:
    """Return the factors of the classes' weights, as `check_target` has them."""
    if class_weight is None:
        return np.ones(len(classes))
    if class_weight == "balanced":
        return relative(weight.sum() / (len(classes) * weight))
    return relative(class_factors(class_weight, classes, classes))


def _part_moments(each: Moments, chosen: Array, factor: float) -> tuple[float, Array, Array]:
    """Return the weight, means and variances of one class in some folds."""
    weight = each.weight[chosen]
    total = float(weight.sum())
    if total == 0.0:
        return 0.0, each.mean[0], each.mean[0]
    share = weight / total
    mean = share @ each.mean[chosen]
    variance = each.squares[chosen].sum(axis=0) / total
    return factor * total, mean, variance + share @ (each.mean[chosen] - mean) ** 2


@dataclass(frozen=True)
class Null:
    """The best model without penalised coefficients of each part: objectives and intercepts.

    `gradient` is that of all rows; `coef` are the coefficients of columns without a penalty. All
    but the objective have an entry a score.
    """

    objective: Array
    intercept: Array
    coef: Array
    gradient: Array


def constant_null(measures: Measures, loss: Loss | MultiCoherence, fit_intercept: bool) -> Null:
    """Return the null model where constant scores are all there is: it follows from the scan."""
    shares = measures.weights / measures.total[:, None]
    if isinstance(loss, MultiCoherence):
        every = np.arange(len(measures.encoding.classes))
        intercepts = loss.link(shares) if fit_intercept else np.zeros_like(shares)
        scores = intercepts[:, None] + np.zeros((len(every), 1))
        objectives = (shares * loss.value(scores, every)).sum(axis=1)
        residual = shares[0][:, None] * loss.gradient(scores[0], every)
    else:
        pairs = [_constant_score(weight, loss, fit_intercept) for weight in measures.weights]
        objectives, intercepts = np.array([p[0] for p in pairs]), np.array([[p[1]] for p in pairs])
        a, (negative, positive) = intercepts[0, 0], shares[0]
        residual = np.array([[-negative * loss.gradient(-a)], [positive * loss.gradient(a)]])
    coef = np.zeros((*intercepts.shape, measures.scan.n_features))
    return Null(objectives, intercepts, coef, residual.T @ measures.class_means[0])


def _constant_score(weight: Array, loss: Loss, fit_intercept: bool) -> tuple[float, float]:
    """Return the objective of the best constant score of two classes, and that score."""
    problem = Problem(
        Features(np.asfortranarray([[1.0], [-1.0]])),
        Target(np.array([0, 1]), np.array([0, 1]), weight, None),
        Penalty(lower=np.zeros(1), upper=np.zeros(1)),
        fit_intercept,
    )
    with warnings.catch_warnings():
        # Where one class has nearly all weight, rounding exceeds the tolerance: told below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = solve_path(problem, loss, 0.5, Grid.of([1.0]), Settings(1e-12, 1000))
    doubt = 0.0 if path.converged[0] else path.dual_gaps[0]
    return max(path.null_objective - doubt, 0.0), float(path.intercepts[0])
