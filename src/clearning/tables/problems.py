"""What is odd about a table and should be known before its model is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning.tables.errors import listed
from clearning.tables.kinds import Column
from clearning.tables.schema import Target
from clearning.tables.values import nameless

_RARE = 0.05
_MUCH_MISSING = 0.3
# On fewer rows a column tells the classes apart by chance.
_FEWEST_FOR_LEAK = 20
# So many cuts more than classes need are allowed, where each class has enough rows that chance
# does not make them.
_MORE_CUTS = 2
_FEWEST_FOR_MORE_CUTS = 20
_GLANCE = 200


def find_problems(frame: Any, columns: Sequence[Column], target: Target) -> list[str]:
    """Sentences about a prepared frame and its labels, the gravest first."""
    labels = target.labels
    used = [column for column in columns if column.used]
    told = [_leak(name) for name in leaks(frame, used, labels)[:5]]
    if target.n_unlabelled:
        told.append(f"{target.n_unlabelled:,} rows have no target and were left out.")
    if target.n_weightless:
        told.append(f"{target.n_weightless:,} rows have no weight and were left out.")
    told += [f"Column {listed([column.name])}: {column.odd}." for column in used if column.odd]
    told += _missing(frame)
    told += _left_out(columns)
    repeated = len(frame) - frame.n_unique()
    if repeated:
        told.append(
            f"{repeated:,} rows repeat another row's values; a copy that falls into the test part "
            "flatters the test."
        )
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < _RARE * len(labels):
        told.append(
            f"Class {classes[counts.argmin()]} is rare: {counts.min():,} of {len(labels):,} rows. "
            "Nothing was reweighted, so probabilities stay true; choose the threshold by costs."
        )
    return told


def _leak(name: str) -> str:
    return (
        f"Column {listed([name])} alone tells the classes apart without error. If it is only known "
        "once the target is, it gives the answer away: leave it out."
    )


def _missing(frame: Any) -> list[str]:
    shares = {}
    for series in frame.iter_columns():
        values = series.to_numpy()
        gaps = np.isnan(values) if series.dtype.is_float() else values == ""
        shares[series.name] = float(np.mean(gaps))
    holed = [name for name, share in shares.items() if share > 0]
    much = [name for name in holed if shares[name] > _MUCH_MISSING]
    told = []
    if holed:
        told.append(
            f"Values are missing in {len(holed)} columns ({listed(holed)}): numbers and dates "
            "become their median with a mark that they were missing, categories one of their own."
        )
    if much:
        told.append(f"More than {_MUCH_MISSING:.0%} of the values are missing in {listed(much)}.")
    return told


def _left_out(columns: Sequence[Column]) -> list[str]:
    unasked = [c for c in columns if not c.used and c.why != "as asked"]
    return [f"Column {listed([c.name])} was left out: {c.why}." for c in unasked[:10]] + (
        [f"{len(unasked) - 10} more columns were left out."] if len(unasked) > 10 else []
    )


def leaks(frame: Any, columns: Sequence[Column], labels: NDArray[Any]) -> list[str]:
    """Columns that alone tell every row's class."""
    if len(labels) < _FEWEST_FOR_LEAK:
        return []
    numeric = [column.name for column in columns if column.kind in ("number", "date")]
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    cuts = len(classes) - 1 + _MORE_CUTS * int(counts.min() >= _FEWEST_FOR_MORE_CUTS)
    found = set(_parting_numbers(frame[:, numeric], labels))
    found |= {
        series.name
        for series in frame[:, numeric].iter_columns()
        if _parting_cuts(series.to_numpy(), codes, cuts)
    }
    for column in columns:
        if column.kind == "category" and _parting_words(frame[column.name], labels):
            found.add(column.name)
        if column.kind == "text" and _parting_gaps(frame[column.name].to_numpy() == "", codes):
            found.add(column.name)
    return [column.name for column in columns if column.name in found]


def _parting_numbers(frame: Any, labels: NDArray[Any]) -> list[str]:
    """Numbers whose ranges in the classes do not overlap."""
    if not frame.columns:
        return []
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.r_[True, labels[order][1:] != labels[order][:-1]])
    values = frame.to_numpy()[order]
    low = np.fmin.reduceat(values, starts, axis=0)
    high = np.fmax.reduceat(values, starts, axis=0)
    rank = np.argsort(low, axis=0)
    low, high = (np.take_along_axis(ends, rank, axis=0) for ends in (low, high))
    apart = np.atleast_1d((high[:-1] < low[1:]).all(axis=0))
    return [name for name, parted in zip(frame.columns, apart) if parted]


def _parting_cuts(values: NDArray[Any], codes: NDArray[Any], cuts: int) -> bool:
    """Whether so few cuts of a number, and whether it is missing, tell every row's class."""
    step = len(values) // _GLANCE
    if step > 1 and not _parting_cuts(values[::step], codes[::step], cuts):
        return False  # some rows need no more cuts than all
    missing = np.isnan(values)
    if not _alike(codes[missing]):
        return False
    order = np.argsort(values[~missing])
    values, codes = values[~missing][order], codes[~missing][order]
    ends = np.flatnonzero(codes[1:] != codes[:-1])
    return len(ends) + missing.any() <= cuts and bool((values[ends] < values[ends + 1]).all())


def _parting_gaps(missing: NDArray[np.bool_], codes: NDArray[Any]) -> bool:
    """Whether a cell is missing in one class and there in another, always."""
    return bool(missing.any()) and _alike(codes[missing]) and _alike(codes[~missing])


def _alike(codes: NDArray[Any]) -> bool:
    return bool((codes == codes[:1]).all())


def _parting_words(series: Any, labels: NDArray[Any]) -> bool:
    """Whether every category belongs to one class, and categories are not nearly rows."""
    import polars as pl

    pairs = pl.DataFrame({"value": nameless(series), "label": labels})
    n_values, n_pairs = pairs["value"].n_unique(), pairs.n_unique()
    return n_pairs == n_values and 1 < n_values <= len(labels) / 4
