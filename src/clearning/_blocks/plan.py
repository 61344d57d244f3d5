"""One pass over the rows as the compiled core reads it: what is computed for each task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning import _core
from clearning._blocks.audit import Audit
from clearning._blocks.draws import folds_of
from clearning._blocks.rows import BlockError, Rows, taken
from clearning._designs import Array, Indices


@dataclass(frozen=True)
class Encoding:
    """How labels, folds and columns are read, the same in every pass.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels; of two the second is the positive one.
    factors : ndarray of shape (n_classes,)
        What the weights of the classes are multiplied by.
    n_features : int
        Number of columns.
    centre : ndarray of shape (n_features,) or None
        What is taken off the columns; None for sparse rows, whose zeros stay zeros.
    n_folds : int
        Number of folds, 1 for none.
    seed : int
        What the folds are drawn by.
    audit : Audit
        What tells other rows from those of the first pass.
    """

    classes: NDArray[Any]
    factors: Array
    n_features: int
    centre: Array | None
    n_folds: int
    seed: int
    audit: Audit

    @property
    def width(self) -> int:
        """How many scores a row has: one for two classes, a score a class for more."""
        return len(self.classes) if len(self.classes) > 2 else 1

    def codes(self, y: NDArray[Any]) -> Array:
        """Return the number of each row's class."""
        codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        strange = np.flatnonzero(self.classes[codes] != y)
        if len(strange):
            raise BlockError(f"it holds the label {y[strange[0]]!r} now, which it did not before.")
        return codes.astype(np.float64)

    def offsets(self, offset: Array | None, n: int) -> Array:
        """Return what is added to the scores of each row, those of a row together."""
        shape = (n, self.width)
        if offset is None:
            return np.zeros(n * self.width)
        if offset.reshape(n, -1).shape != shape:
            raise BlockError(f"offset must be of shape {shape} now; got {offset.shape}.")
        return np.ascontiguousarray(offset).ravel()


@dataclass(frozen=True)
class Plan:
    """What one pass computes; see ``src/core/blocks/plan.hpp``, whose names these are.

    `coef` has an entry for each task, score and column of the working set, `intercept` one for each
    task and score. The core takes the columns of the working set in the order of `inner`: those
    that many tasks have come first, so that products end early for those that have few.
    """

    encoding: Encoding
    loss: dict[str, Any]
    working: Indices
    part: Indices
    coef: Array
    intercept: Array
    shrink: Array
    line_task: Indices
    line_coef: Array
    line_intercept: Array
    fractions: Array
    knot_task: Indices
    knot_lift: Array
    free: Indices
    tested: Indices
    parted: int = 0
    apart: bool = True
    thin: int = 1
    inner: Indices = field(init=False, repr=False)
    request: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points = np.concatenate([self.coef, self.line_coef])
        inner = np.argsort(-(points != 0).any(axis=1).sum(axis=0), kind="stable")
        rest = np.setdiff1d(np.arange(self.encoding.n_features), self.working)
        order = np.concatenate([self.working[inner], rest]).astype(np.int32)
        request: dict[str, Any] = {
            "loss": self.loss,
            "class_factors": self.encoding.factors,
            "order": order,
            "working": len(self.working),
            "folds": self.encoding.n_folds,
            "parted": self.parted,
            "apart": self.apart,
            "thin": self.thin,
            "coef": np.moveaxis(self.coef[:, :, inner], 2, 0).ravel(),
            "line_coef": np.moveaxis(self.line_coef[:, :, inner], 2, 0).ravel(),
            "centre": np.zeros(0) if self.encoding.centre is None else self.encoding.centre[order],
            "free": np.argsort(inner)[self.free].astype(np.int32),
        }
        request |= {name: np.ravel(getattr(self, name)) for name in _NUMBERS}
        request |= {name: getattr(self, name).astype(np.int32) for name in _INTEGERS}
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "request", request)


_NUMBERS = ("intercept", "shrink", "line_intercept", "fractions", "knot_lift")
_INTEGERS = ("part", "line_task", "knot_task", "tested")

Sums = dict[str, Array]


def block_sums(rows: Rows, block: int, plan: Plan) -> Sums:
    """Return one block's share of a pass."""
    encoding = plan.encoding
    rows = taken(rows)
    if rows.X.shape[1] != encoding.n_features:
        raise BlockError(f"it has {rows.X.shape[1]} columns now, {encoding.n_features} before.")
    samples = {
        "label": encoding.codes(rows.y),
        "weight": rows.weight,
        "offset": encoding.offsets(rows.offset, len(rows)),
        "fold": folds_of(rows, encoding.seed, block, encoding.n_folds),
    }
    audit = encoding.audit.of_rows(rows.X, rows.weight, samples["label"], samples["fold"])
    return {**_core_sums(rows.X, samples, plan), "audit": audit}


def _core_sums(X: Any, samples: dict[str, Any], plan: Plan) -> Sums:
    if not sparse.issparse(X):
        return _core.dense_block(X, samples, plan.request)
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return _core.sparse_block(X.data, indices, indptr, X.shape[1], samples, plan.request)


def add_sums(first: Sums, second: Sums) -> Sums:
    """Return the sums of two blocks; neither is changed, as an engine may want it again."""
    return {name: values + second[name] for name, values in first.items()}


def shaped(sums: Sums, plan: Plan) -> Sums:
    """Return the sums of all rows in their shapes, columns in their own order."""
    k, width = len(plan.working), plan.encoding.width
    cells = plan.encoding.n_folds if plan.apart else 1
    matrices = (len(plan.knot_task), cells, width * (width + 1) // 2)
    whole = {name: _of_tasks(values, plan) for name, values in _of_slots(sums, plan).items()}
    lower = sums["gram"].reshape(*matrices, k, k)
    gram, curved = np.empty_like(lower), np.empty((*matrices, k))
    gram[..., plan.inner[:, None], plan.inner] = lower + np.tril(lower, -1).swapaxes(-1, -2)
    curved[..., plan.inner] = sums["curved"].reshape(*matrices, k)
    return {
        **sums,
        **whole,
        "line": sums["line"].reshape(len(plan.line_task), len(plan.fractions)),
        "gram": gram,
        "curved": curved,
        "total": sums["total"].reshape(matrices),
        "test": sums["test"].reshape(len(plan.part), 3),
    }


def without_fold(sums: Sums, plan: Plan, fold: int) -> Sums:
    """Return the sums over all folds but one, of the tasks whose folds were kept apart."""
    slots = _of_slots(sums, plan)
    keep = np.arange(plan.encoding.n_folds) != fold
    return {name: _by_fold(values, plan)[keep].sum(axis=0) for name, values in slots.items()}


def _of_slots(sums: Sums, plan: Plan) -> Sums:
    """Return what tasks' points are judged by, a row a slot."""
    slots, width = len(sums["value"]), plan.encoding.width
    border = len(plan.free) + 1
    gradient = np.empty((slots, width, plan.encoding.n_features))
    gradient[:, :, plan.request["order"]] = np.moveaxis(
        sums["gradient"].reshape(-1, slots, width), 0, 2
    )
    return {
        "value": sums["value"],
        "gradient": gradient,
        "slope": sums["slope"].reshape(slots, width),
        "energy": sums["energy"].reshape(slots, width),
        "border": sums["border"].reshape(slots, width, width, border, border),
        "shrunk": sums["shrunk"],
    }


def _by_fold(values: Array, plan: Plan) -> Array:
    """Return the slots that are kept apart, by fold and task."""
    n_folds = plan.encoding.n_folds
    return values[: plan.parted * n_folds].reshape(n_folds, plan.parted, *values.shape[1:])


def _of_tasks(values: Array, plan: Plan) -> Array:
    own = values[plan.parted * plan.encoding.n_folds :]
    return np.concatenate([_by_fold(values, plan).sum(axis=0), own])
