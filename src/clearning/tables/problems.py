"""What is odd about a table and should be known before its model is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning._words import count
from clearning.tables.errors import listed
from clearning.tables.kinds import AS_ASKED, Column
from clearning.tables.pipeline import words_of
from clearning.tables.schema import Target
from clearning.tables.values import nameless

Codes = NDArray[np.intp]

_RARE = 0.05
_MUCH_MISSING = 0.3
# On fewer rows a column tells the classes apart by chance.
_FEWEST_FOR_LEAK = 20
# So many cuts more than classes need are allowed, where each class has enough rows that chance
# does not make them.
_MORE_CUTS = 2
_FEWEST_FOR_MORE_CUTS = 20
_GLANCE = 200
_MOST_TOLD = 10


def find_problems(frame: Any, columns: Sequence[Column], target: Target) -> list[str]:
    """Sentences about a prepared frame and its labels, the gravest first."""
    labels = target.labels
    used = [column for column in columns if column.used]
    told = [_leak(name) for name in leaks(frame, used, labels)[:5]]
    for lack, rows in (("target", target.n_unlabelled), ("weight", target.n_weightless)):
        if rows:
            told.append(
                count(
                    rows,
                    f"row has no {lack} and was left out.",
                    f"rows have no {lack} and were left out.",
                )
            )
    told += [f"Column {listed([column.name])}: {column.odd}." for column in used if column.odd]
    told += _missing(frame)
    told += _left_out(columns)
    repeated = len(frame) - frame.n_unique()
    if repeated:
        told.append(
            f"{count(repeated, 'row repeats', 'rows repeat')} another row's values; a copy that "
            "falls into the test part flatters the test."
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
            f"Values are missing in {count(len(holed), 'column')} ({listed(holed)}): numbers and "
            "dates become their median with a mark that they were missing, categories one of "
            "their own."
        )
    if much:
        told.append(f"More than {_MUCH_MISSING:.0%} of the values are missing in {listed(much)}.")
    return told


def _left_out(columns: Sequence[Column]) -> list[str]:
    unasked = [c for c in columns if not c.used and c.why != AS_ASKED]
    told = [f"Column {listed([c.name])} was left out: {c.why}." for c in unasked[:_MOST_TOLD]]
    more = len(unasked) - _MOST_TOLD
    if more > 0:
        told.append(count(more, "more column was left out.", "more columns were left out."))
    return told


def leaks(frame: Any, columns: Sequence[Column], labels: NDArray[Any]) -> list[str]:
    """Columns that alone tell every row's class, or that of every row that has them."""
    if len(labels) < _FEWEST_FOR_LEAK:
        return []
    classes, codes = np.unique(labels, return_inverse=True)
    tests = {
        "number": _parting_cuts,
        "date": _parting_cuts,
        "category": _parting_values,
        "text": _parting_words,
    }
    return [c.name for c in columns if tests[c.kind](frame[c.name], codes, len(classes))]


def _parting_cuts(series: Any, codes: Codes, n_classes: int) -> bool:
    """Whether a few cuts of a number, and whether it is missing, tell the classes apart."""
    values = series.to_numpy()
    missing = np.isnan(values)
    # Missing in one class only, it tells that class, too.
    mark = codes[missing][:1] if _alike(codes[missing]) else codes[:0]
    values, present = values[~missing], codes[~missing]
    told = codes if len(mark) else present
    if len(told) < _FEWEST_FOR_LEAK or len(np.unique(told)) < n_classes:
        return False
    cuts = _most_cuts(told, n_classes) - len(mark)
    step = max(1, len(values) // _GLANCE)
    # Some rows need no more cuts than all.
    return _few_cuts(values[::step], present[::step], cuts) and _few_cuts(values, present, cuts)


def _most_cuts(codes: Codes, n_classes: int) -> int:
    return n_classes - 1 + _MORE_CUTS * int(np.bincount(codes).min() >= _FEWEST_FOR_MORE_CUTS)


def _few_cuts(values: NDArray[np.float64], codes: Codes, cuts: int) -> bool:
    order = np.argsort(values)
    values, codes = values[order], codes[order]
    ends = np.flatnonzero(codes[1:] != codes[:-1])
    return len(ends) <= cuts and bool((values[ends] < values[ends + 1]).all())


def _alike(codes: Codes) -> bool:
    return bool((codes == codes[:1]).all())


def _parting_values(series: Any, codes: Codes, n_classes: int) -> bool:
    """Whether every category belongs to one class, and categories are not nearly rows."""
    import polars as pl

    pairs = pl.DataFrame({"value": nameless(series), "class": codes})
    n_values, n_pairs = pairs["value"].n_unique(), pairs.n_unique()
    return n_pairs == n_values and 1 < n_values <= len(codes) / 4


def _parting_words(series: Any, codes: Codes, n_classes: int) -> bool:
    """Whether all classes but one have a word, or no word at all, of their own in every row."""
    cells, words = series.to_numpy(), words_of()
    # Drawn, so that words that are common to the classes are soon met in both.
    order = np.random.default_rng(0).permutation(len(codes))

    def marked(k: int) -> bool:
        marks = words(cells[np.argmax(codes == k)])
        for i in order:
            marks = marks & words(cells[i]) if codes[i] == k else marks - words(cells[i])
            if not marks:
                return False
        return True

    return sum(map(marked, range(n_classes))) >= n_classes - 1
