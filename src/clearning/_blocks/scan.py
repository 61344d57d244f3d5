"""The first pass: every value is checked, classes and columns are measured, and rows are drawn.

Moments are kept for each class and fold, so that weights, scales and null models of all folds
follow from them. The rows drawn are those with the smallest random numbers, so that it does not
matter in which order blocks are put together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning._blocks.draws import folds_of, priorities
from clearning._blocks.rows import BlockError, Rows, checked
from clearning._designs import Array
from clearning._problem import check_offset_size

# Rows that start a fit: at most this share of all, and at most so many numbers of them; of a small
# block so many, which also tell whether columns depend on each other.
SHARE_DRAWN = 0.05
LEAST_DRAWN = 100
MOST_NUMBERS_DRAWN = 1 << 24
MOST_ROWS_DRAWN = 50_000
# Weights that sum to less, or to more than its inverse, leave no room for squares of columns.
LEAST_WEIGHT = 1e-200
# More labels than these are no classes.
MOST_CLASSES = 1000
TOO_MANY = f"y must hold the labels of at most {MOST_CLASSES} classes"


@dataclass(frozen=True)
class Moments:
    """Count, weight, mean and centred squares of the columns, for each fold of one class."""

    count: Array
    weight: Array
    mean: Array
    squares: Array

    def merged(self, other: Moments) -> Moments:
        """Return the moments of both, as Chan, Golub and LeVeque merge them."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        apart = other.mean - self.mean
        between = (self.weight * share)[:, None] * apart**2
        return Moments(
            self.count + other.count,
            weight,
            self.mean + share[:, None] * apart,
            self.squares + other.squares + between,
        )


@dataclass(frozen=True)
class Drawn:
    """Rows that were drawn of one class, in the order of their random numbers."""

    X: Any
    weight: Array
    offset: Array
    priority: Array

    def merged(self, other: Drawn, most: int) -> Drawn:
        """Return those of both with the smallest numbers."""
        stack = (lambda pair: sparse.vstack(pair, "csr")) if sparse.issparse(self.X) else np.vstack
        both = Drawn(
            stack([self.X, other.X]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.offset, other.offset]),
            np.concatenate([self.priority, other.priority]),
        )
        return both.taken(np.argsort(both.priority, kind="stable")[:most])

    def taken(self, rows: Any) -> Drawn:
        """Return some of the rows."""
        return Drawn(self.X[rows], self.weight[rows], self.offset[rows], self.priority[rows])

    def first(self, most: int) -> Drawn:
        """Return those that were drawn first."""
        return self.taken(slice(most))


@dataclass(frozen=True)
class ClassScan:
    """What a scan knows of one label: its moments, the rows drawn, and the block it was seen in."""

    moments: Moments
    drawn: Drawn
    seen_in: int


@dataclass(frozen=True)
class Scan:
    """What the first pass finds out.

    `labels` has an entry for each label; `strangers` are blocks that do not go with the first one,
    with the number of their columns and whether they are sparse.
    """

    labels: dict[Any, ClassScan]
    lowest: Array
    highest: Array
    offset_size: float
    offset_width: int
    n_rows: int
    is_sparse: bool
    strangers: tuple[tuple[int, int, bool], ...] = ()

    @property
    def n_features(self) -> int:
        return len(self.lowest)

    @property
    def numbers_a_row(self) -> float:
        """How many numbers the rows drawn have that are stored, on average."""
        if not self.is_sparse:
            return float(self.n_features)
        drawn = [each.drawn.X for each in self.labels.values()]
        return sum(X.nnz for X in drawn) / max(sum(X.shape[0] for X in drawn), 1)

    @property
    def largest(self) -> Array:
        """The largest size of an entry, of each column."""
        return np.maximum(self.highest, -self.lowest)


@dataclass(frozen=True)
class ScanPlan:
    """How the first pass is to read and draw."""

    seed: int
    n_folds: int


def block_scan(rows: Rows, block: int, plan: ScanPlan) -> Scan:
    """Check one block and measure it."""
    rows = checked(rows)
    check_weight(float(rows.weight.max(initial=0.0)), least=0.0)
    X, n = rows.X, len(rows)
    names, codes = np.unique(rows.y, return_inverse=True)
    if len(names) > MOST_CLASSES:
        raise BlockError(f"{TOO_MANY}; it holds {len(names)}, {_listed(names)} among them.")
    fold = folds_of(rows, plan.seed, block, plan.n_folds)
    priority = priorities(plan.seed, block, n)
    rows_drawn = max(int(np.ceil(SHARE_DRAWN * n)), LEAST_DRAWN)
    quota = _quota(np.bincount(codes), rows_drawn, most_drawn(X, len(names)))
    labels = {
        label: ClassScan(
            _moments(X, rows.weight, fold, codes == code, plan.n_folds),
            _drawn(rows, priority, codes == code, quota[code]),
            block,
        )
        for code, label in enumerate(names.tolist())
    }
    lowest, highest = column_range(X)
    return Scan(
        labels=labels,
        lowest=lowest,
        highest=highest,
        offset_size=0.0 if rows.offset is None else _offset_size(rows),
        offset_width=0 if rows.offset is None else rows.offset.reshape(n, -1).shape[1],
        n_rows=n,
        is_sparse=sparse.issparse(X),
    )


def merge_scans(first: Scan, second: Scan) -> Scan:
    """Return the scan of both; a block that does not go with the others is remembered."""
    own = (first.n_features, first.is_sparse)
    others = [each for each in second.strangers if each[1:] != own]
    if (second.n_features, second.is_sparse) != own:
        block = min(each.seen_in for each in second.labels.values())
        stranger = (block, second.n_features, second.is_sparse)
        return replace(first, strangers=(*first.strangers, stranger, *others))
    if first.offset_width != second.offset_width:
        raise BlockError(_offsets_differ(first, second))
    labels = dict(first.labels)
    n_labels = len(labels | second.labels)
    if n_labels > MOST_CLASSES:
        raise BlockError(f"{TOO_MANY}; the blocks hold more.")
    most = most_drawn(next(iter(first.labels.values())).drawn.X, n_labels)
    for label, other in second.labels.items():
        known = labels.get(label)
        labels[label] = other if known is None else _merged_class(known, other, most)
    return replace(
        first,
        labels=labels,
        lowest=np.minimum(first.lowest, second.lowest),
        highest=np.maximum(first.highest, second.highest),
        offset_size=first.offset_size + second.offset_size,
        n_rows=first.n_rows + second.n_rows,
        strangers=(*first.strangers, *others),
    )


def check_scan(scan: Scan) -> None:
    """Raise if some block does not go with those before it."""
    if scan.strangers:
        block, n_features, is_sparse = min(scan.strangers)
        if n_features != scan.n_features:
            raise BlockError(
                f"Block {block} has {n_features} columns, but the first has {scan.n_features}."
            )
        kinds = ("dense", "sparse") if is_sparse else ("sparse", "dense")
        raise BlockError(f"Block {block} is {kinds[1]}, but the first is {kinds[0]}.")


def check_weight(total: float, least: float = LEAST_WEIGHT) -> None:
    """Refuse weights whose sum leaves no room; no block knows the largest of all."""
    if not least <= total <= 1 / LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight must sum to between {LEAST_WEIGHT:g} and {1 / LEAST_WEIGHT:g} where "
            f"rows come in blocks; got {total:g}. Divide the weights by the largest of them."
        )


def _offset_size(rows: Rows) -> float:
    """Return the sum of the largest offset of each row, by weight."""
    assert rows.offset is not None
    sizes = np.abs(rows.offset.reshape(len(rows), -1)).max(axis=1)
    check_offset_size(float(sizes.max(initial=0.0)))
    return float(rows.weight @ sizes)


def _offsets_differ(first: Scan, second: Scan) -> str:
    block = min(each.seen_in for each in second.labels.values())
    return (
        f"Block {block} has {second.offset_width} columns of offsets, but blocks before it have "
        f"{first.offset_width}."
    )


def most_drawn(X: Any, n_classes: int) -> int:
    """Return how many rows of a class are drawn at most; sparse ones hold few numbers."""
    fitting = MOST_ROWS_DRAWN if sparse.issparse(X) else MOST_NUMBERS_DRAWN // max(X.shape[1], 1)
    return max(1, min(MOST_ROWS_DRAWN, fitting) // max(n_classes, 2))


def _merged_class(own: ClassScan, other: ClassScan, most: int) -> ClassScan:
    return ClassScan(
        own.moments.merged(other.moments),
        own.drawn.merged(other.drawn, most),
        min(own.seen_in, other.seen_in),
    )


def _quota(counts: NDArray[Any], allowed: int, most: int) -> NDArray[Any]:
    """Share the rows to be drawn evenly between the classes; a rare one gives its rest away."""
    quota = np.zeros(len(counts), dtype=int)
    for left, rare in zip(range(len(counts), 0, -1), np.argsort(counts, kind="stable")):
        quota[rare] = min(int(counts[rare]), allowed // left)
        allowed -= quota[rare]
    return np.minimum(quota, most)


def _drawn(rows: Rows, priority: Array, inside: NDArray[Any], most: int) -> Drawn:
    members = np.flatnonzero(inside)
    chosen = members[np.argsort(priority[members], kind="stable")[:most]]
    X = rows.X[chosen]
    # A copy, so that nothing holds on to the block or to the file behind it.
    X = X.copy() if sparse.issparse(X) else np.array(X, dtype=np.float64)
    offset = np.zeros((len(rows), 0)) if rows.offset is None else rows.offset.reshape(len(rows), -1)
    return Drawn(X, rows.weight[chosen].copy(), offset[chosen].copy(), priority[chosen])


def _moments(X: Any, weight: Array, fold: Any, inside: NDArray[Any], n_folds: int) -> Moments:
    p = X.shape[1]
    count, total = np.zeros(n_folds), np.zeros(n_folds)
    mean, squares = np.zeros((n_folds, p)), np.zeros((n_folds, p))
    for k in range(n_folds):
        rows = np.flatnonzero(inside & (fold == k))
        w = weight[rows]
        count[k], total[k] = np.count_nonzero(w), w.sum()
        if total[k] > 0:
            mean[k], squares[k] = _about_mean(X[rows], w, float(total[k]))
    return Moments(count, total, mean, squares)


def _about_mean(X: Any, w: Array, total: float) -> tuple[Array, Array]:
    mean = np.asarray(X.T @ w, dtype=np.float64).ravel() / total
    if not sparse.issparse(X):
        return mean, w @ (X - mean) ** 2
    columns = X.indices
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    p = X.shape[1]
    stored = np.bincount(columns, w[rows], minlength=p)
    squares = np.bincount(columns, w[rows] * (X.data - mean[columns]) ** 2, minlength=p)
    # A column without zeros leaves nothing to them, whatever rounding says.
    full = np.bincount(columns, minlength=p) == X.shape[0]
    zeros = np.where(full, 0.0, np.maximum(total - stored, 0.0))
    return mean, squares + zeros * mean**2


def column_range(X: Any) -> tuple[Array, Array]:
    """Return the smallest and the largest entry of each column."""
    ends = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        ends = ends[0].toarray().ravel(), ends[1].toarray().ravel()
    return ends[0].astype(np.float64), ends[1].astype(np.float64)


def _listed(labels: Any) -> str:
    return ", ".join(map(repr, list(np.asarray(labels, dtype=object))[:5]))
