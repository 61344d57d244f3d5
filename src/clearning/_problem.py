"""One problem: its samples, its design and its penalty, checked at the door and never again.

What is minimised is (1/n) Σ wᵢ φ(yᵢ(oᵢ + fᵢ)) + α × penalty. A `Problem` is all of it but the loss
φ and the penalty's α and ω; those come with a `Grid`, `Settings` and a `Start` for each solve.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from clearning._designs import Array, Design, Indices
from clearning._door import check_labels, check_numbers, check_weight, relative
from clearning._ranges import COUNT, POSITIVE, SHARE, Range
from clearning._sklearn import num_samples

# On its first check scikit-learn searches all installed packages for kinds of data frames, which
# takes longer than a small fit. Done here, no fit has to wait for it.
check_array(np.zeros((1, 1)))

# The square of a score, times a weight, is to be a number.
LARGEST_OFFSET = 1e100


@dataclass(frozen=True)
class Target:
    """The checked side of a problem that is not the design.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted; of two the second is the positive one.
    codes : ndarray of shape (n_samples,)
        The place of each sample's label among them.
    weight : ndarray of shape (n_samples,) or None
        Class weight times sample weight, as shares of the largest.
    offset : ndarray of shape (n_samples,) or (n_samples, n_classes) or None
        What is added to each sample's score, or to the m scores of more than two classes.
    """

    classes: NDArray[Any]
    codes: Indices
    weight: Array | None
    offset: Array | None

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def signs(self) -> Array:
        """Of two classes −1 for the first, +1 for the second."""
        return np.where(self.codes == 1, 1.0, -1.0)

    @property
    def shares(self) -> Array:
        """The weights, made to sum to one."""
        if self.weight is None:
            return np.full(len(self.codes), 1.0 / len(self.codes))
        return self.weight / self.weight.sum()

    @property
    def offsets(self) -> Array:
        """The offsets, zeros where there are none."""
        if self.offset is None:
            return np.zeros(len(self.codes))
        return np.ascontiguousarray(self.offset)

    def against_rest(self, k: int) -> Target:
        """Return the target of one class against all others."""
        return replace(
            self,
            classes=np.array([False, True]),
            codes=(self.codes == k).astype(np.intp),
            offset=None if self.offset is None else self.offset[:, k],
        )

    def rows(self, index: Indices) -> Target:
        """Return the target of some of the samples."""

        def take(values: Array | None) -> Array | None:
            return None if values is None else values[index]

        return replace(
            self, codes=self.codes[index], weight=take(self.weight), offset=take(self.offset)
        )


@dataclass(frozen=True)
class Penalty:
    """Factors pⱼ ≥ 0 and bounds: numbers for all coefficients, or arrays with one for each.

    `groups` holds the number of each column's group where columns are penalised together; factors
    are then those of the groups. With more than two classes bounds have a row a class.
    """

    factor: Array | float = 1.0
    lower: Array | float = -np.inf
    upper: Array | float = np.inf
    groups: Indices | None = None

    def on(self, n_columns: int) -> Penalty:
        """Return the same penalty on so many kernel functions, each of which is a group or none."""
        if self.groups is None or len(self.groups) == n_columns:
            return self
        return replace(self, groups=np.arange(n_columns))


@dataclass(frozen=True)
class Problem:
    """Everything that is given but the loss, α and ω: nothing behind the door checks it again.

    Attributes
    ----------
    design : Design
        The columns that carry the coefficients.
    target : Target
        Classes, weights and offsets of the samples.
    penalty : Penalty
        Factors and bounds of the coefficients.
    fit_intercept : bool
        Whether there is an (unpenalised) intercept.
    names : sequence of str or None
        Names of the columns.
    """

    design: Design
    target: Target
    penalty: Penalty
    fit_intercept: bool
    names: Any = None

    @cached_property
    def scales(self) -> Array:
        """What each column is divided by where columns are standardised; ones elsewhere."""
        return self.design.scales(self.target.shares)

    def rows(self, index: Indices) -> Problem:
        """Return the problem of some of the samples."""
        design = self.design.rows(index)
        penalty = self.penalty.on(design.n_columns)
        return replace(self, design=design, target=self.target.rows(index), penalty=penalty)


@dataclass(frozen=True)
class Grid:
    """The penalties α of a path: given from large to small, or how many to make.

    Made ones fall from the smallest α with all penalised coefficients at zero to `min_ratio` times
    it, evenly in log α; a `min_ratio` of None leaves the share to the design, here and in every
    cross-validation alike.
    """

    alphas: Array | None
    count: int
    min_ratio: float | None = None

    @classmethod
    def of(cls, alphas: ArrayLike) -> Grid:
        """Return the grid of given penalties, in order already."""
        given = np.array(alphas, dtype=np.float64)
        return cls(given, len(given))

    def ratio(self, design: Design) -> float:
        """Return the smallest penalty as a share of the largest."""
        return design.auto_min_ratio if self.min_ratio is None else self.min_ratio

    def below(self, top: float, design: Design) -> Array:
        """Return the penalties from the largest down, or those that were given."""
        if self.alphas is not None:
            return self.alphas
        least = float(np.finfo(np.float64).smallest_subnormal)
        return np.geomspace(max(top, least), max(top * self.ratio(design), least), self.count)


@dataclass(frozen=True)
class Settings:
    """When a solve ends: at a gap of `tol` times the null objective, or after `max_iter` steps."""

    tol: float
    max_iter: int


@dataclass(frozen=True)
class Start:
    """Where a solve begins."""

    coef: Array
    intercept: Any


def check_labelled(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    class_weight: Any = None,
    offset: Any = None,
    many: bool = False,
) -> Target:
    """Check a target whose labels nobody has looked at yet; `many` lets more than two in."""
    y = check_labels(y)
    check_consistent_length(X, y)
    return check_target(
        X,
        y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True),
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
        many=many,
    )


def check_target(
    X: Any,
    y: NDArray[Any],
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | str | None = None,
    offset: ArrayLike | None = None,
    many: bool = False,
) -> Target:
    """Encode the labels, multiply the weights and check the offset."""
    classes, codes = encode_labels(y, many=many)
    return Target(
        classes=classes,
        codes=codes,
        weight=_check_weight(X, classes, codes, sample_weight, class_weight),
        offset=None if offset is None else check_offset(X, offset, len(classes)),
    )


def encode_labels(y: NDArray[Any], *, many: bool = False) -> tuple[NDArray[Any], Indices]:
    """Return the classes, two unless there may be many, and the index of each sample's own."""
    # Integers are labels whatever they are; asking takes scikit-learn a tenth of a short path.
    if y.ndim != 1 or y.dtype.kind not in "biu":
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2 and not many:
        kind = type_of_target(y, input_name="y")
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}. y has {len(classes)} classes. Wrap the classifier in "
            "sklearn.multiclass.OneVsRestClassifier for those."
        )
    if len(classes) < 2:
        raise ValueError(
            "Samples of two classes are needed, but y contains only one class: "
            f"{classes.tolist()[0]!r}."
        )
    return classes, codes.reshape(-1)


def _check_weight(
    X: Any,
    classes: NDArray[Any],
    codes: Indices,
    sample_weight: ArrayLike | None,
    class_weight: dict[Any, float] | str | None,
) -> Array | None:
    """Return class weight times sample weight, or None where every sample counts the same."""
    given = check_weight(sample_weight, X)
    if given is None and class_weight is None:
        return None
    weight = np.ones(len(codes)) if given is None else relative(given)
    totals = np.bincount(codes, weights=weight, minlength=len(classes))
    if not totals.all():
        raise ValueError(
            f"Samples of {_count(classes)} classes are needed, but every sample of class "
            f"{classes.tolist()[int(np.argmin(totals))]!r} has sample_weight 0."
        )
    if class_weight is None:
        return weight
    if class_weight == "balanced":
        # Weighted counts, so that a weight of two is the same as a sample seen twice.
        return relative(weight / totals[codes])
    per_class = class_factors(class_weight, classes, classes[codes])
    return relative(weight * relative(per_class)[codes])


def _count(classes: NDArray[Any]) -> str:
    return "two" if len(classes) == 2 else str(len(classes))


def class_factors(class_weight: Any, classes: NDArray[Any], y: NDArray[Any]) -> Array:
    """Return the factor of each class, which is positive and finite."""
    given = class_weight.items() if isinstance(class_weight, dict) else ()
    _refuse_factors((label, value) for label, value in given if not _is_float(value))
    per_class = compute_class_weight(class_weight, classes=classes, y=y)
    by_class = zip(classes.tolist(), per_class.tolist())
    _refuse_factors((label, value) for label, value in by_class if value not in POSITIVE)
    return per_class


def _refuse_factors(bad: Iterator[tuple[Any, Any]]) -> None:
    for label, value in bad:
        raise ValueError(
            "class_weight must hold positive, finite numbers; got "
            f"{reprlib.repr(value)} for class {label!r}."
        )


def _is_float(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def check_offset(X: Any, offset: ArrayLike, n_classes: int = 2) -> Array:
    """Return the offset as one finite float64 per row of X, or m of them for m > 2 classes."""
    checked = check_numbers("offset", offset)
    n_samples = num_samples(X)
    shape = (n_samples,) if n_classes == 2 else (n_samples, n_classes)
    if checked.shape != shape:
        raise ValueError(f"offset must be of shape {shape}; got shape {checked.shape}.")
    check_offset_size(float(np.abs(checked).max(initial=0.0)))
    return checked


def check_offset_size(largest: float) -> None:
    """Raise if the largest offset is no score that a loss could take."""
    if largest > LARGEST_OFFSET:
        raise ValueError(
            f"offset holds {largest:g} in size, but must lie within ±{LARGEST_OFFSET:g}: an offset "
            "is a score, and losses grow with its square."
        )


def check_penalty(
    penalty_factor: Any, bounds: Any, n_columns: int, *, n_classes: int = 2, groups: Any = None
) -> Penalty:
    """Return the penalty of so many coefficients."""
    penalty = Penalty()
    if penalty_factor is not None:
        penalty = replace(penalty, factor=_check_factor(penalty_factor, n_columns))
    if groups is not None:
        return check_groups(groups, penalty, bounds, n_columns, n_classes)
    if bounds is not None:
        lower, upper = _check_bounds(bounds, n_columns, n_classes)
        penalty = replace(penalty, lower=lower, upper=upper)
    return penalty


def check_groups(
    groups: Any, penalty: Penalty, bounds: Any, n_columns: int, n_classes: int
) -> Penalty:
    """Return the penalty of columns that enter and leave together, over all classes."""
    if bounds is not None:
        raise ValueError("bounds cannot be had with groups: leave one of them None.")
    if isinstance(groups, str):
        if groups != "classes":
            raise ValueError(f"groups={groups!r} must be None, 'classes' or an array of labels.")
        # With two classes a column has one coefficient, which is a group by itself.
        return penalty if n_classes == 2 else replace(penalty, groups=np.arange(n_columns))
    labels = np.asarray(groups)
    if labels.shape != (n_columns,):
        raise ValueError(
            f"groups has shape {labels.shape}; one label per feature, ({n_columns},), is needed."
        )
    _, first, numbers, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    if np.ndim(penalty.factor) == 0:
        return replace(penalty, factor=np.sqrt(sizes), groups=numbers.reshape(-1))
    factor = np.asarray(penalty.factor)
    if (factor != factor[first][numbers]).any():
        raise ValueError("penalty_factor must be the same for all features of a group.")
    return replace(penalty, factor=factor[first], groups=numbers.reshape(-1))


def check_kernel_groups(groups: Any, n_columns: int, n_classes: int) -> Penalty:
    """Return the penalty of kernel functions: each coefficient alone, or a function's together."""
    if groups is not None and not (isinstance(groups, str) and groups == "classes"):
        raise ValueError(
            f"groups={groups!r} must be None or 'classes': kernel functions have no other groups."
        )
    return check_groups(groups, Penalty(), None, n_columns, n_classes) if groups else Penalty()


def _check_factor(penalty_factor: Any, p: int) -> Array:
    factor = check_numbers("penalty_factor", penalty_factor).copy()
    if factor.shape != (p,):
        raise ValueError(
            f"penalty_factor has shape {factor.shape}; one factor per feature, ({p},), is needed."
        )
    if (factor < 0).any():
        raise ValueError("penalty_factor must hold finite numbers >= 0.")
    return factor


def _check_bounds(bounds: Any, p: int, n_classes: int) -> tuple[Array, Array]:
    shape = (p,) if n_classes == 2 else (n_classes, p)
    try:
        low, high = bounds
        lower = np.array(np.broadcast_to(np.asarray(low, dtype=float), shape), dtype=float)
        upper = np.array(np.broadcast_to(np.asarray(high, dtype=float), shape), dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        size = f"{p}" if n_classes == 2 else f"{n_classes} x {p}"
        raise ValueError(
            f"bounds={bounds!r} must be a pair (lower, upper) of numbers or arrays of {size} "
            "numbers."
        ) from error
    if np.isnan(lower).any() or np.isnan(upper).any() or (lower > 0).any() or (upper < 0).any():
        raise ValueError("bounds must satisfy lower <= 0 <= upper: zero has to stay possible.")
    return lower, upper


def check_grid(alphas: Any, alpha_min_ratio: Any = "auto") -> Grid:
    """Return the penalties, or the recipe for them."""
    if isinstance(alphas, Integral) and not isinstance(alphas, bool):
        if alphas not in COUNT:
            raise ValueError(
                f"alphas={alphas!r} must be a positive number of penalties or an array of them."
            )
        ratio = Range(0.0, 1.0).check("alpha_min_ratio", alpha_min_ratio, "auto")
        return Grid(None, int(alphas), None if ratio == "auto" else ratio)
    return Grid.of(np.sort(POSITIVE.check_each("alphas", np.atleast_1d(alphas)))[::-1])


def check_settings(tol: Any, max_iter: Any) -> Settings:
    """Return when to stop."""
    return Settings(
        tol=Range(0.0, 1.0, "right").check("tol", tol), max_iter=COUNT.check("max_iter", max_iter)
    )


def check_options(
    l1_ratio: Any, alphas: Any, alpha_min_ratio: Any, tol: Any, max_iter: Any
) -> tuple[float, Grid, Settings]:
    """Return ω, the penalties and when to stop."""
    return (
        SHARE.check("l1_ratio", l1_ratio),
        check_grid(alphas, alpha_min_ratio),
        check_settings(tol, max_iter),
    )


def check_start(
    coef_init: Any, intercept_init: Any, n_columns: int, n_classes: int = 2
) -> Start | None:
    """Return where to start, or None for the solver's own choice."""
    rows = 1 if n_classes == 2 else n_classes
    intercept = np.zeros(rows)
    if intercept_init is not None:
        intercept = np.ravel(check_numbers("intercept_init", intercept_init)).copy()
        if intercept.size != rows:
            number = "one finite number" if rows == 1 else f"{rows} finite numbers"
            raise ValueError(f"intercept_init must be {number}; got {intercept.size}.")
    if coef_init is None:
        return None
    coef = check_numbers("coef_init", coef_init).copy()
    if coef.size != rows * n_columns or (rows > 1 and coef.shape != (rows, n_columns)):
        size = f"{n_columns}" if rows == 1 else f"{rows} x {n_columns}"
        raise ValueError(f"coef_init must hold {size} finite numbers; got {coef.size}.")
    if rows == 1:
        return Start(np.ravel(coef), float(intercept[0]))
    return Start(coef, intercept)
