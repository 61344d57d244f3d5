"""The part of a table that is held out to test on: at random, the latest, or whole groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, train_test_split

from clearning._words import count
from clearning.tables.errors import TableError, place, quoted
from clearning.tables.kinds import decide
from clearning.tables.schema import Source
from clearning.tables.values import strings

Indices = NDArray[np.intp]

# Folds where no number is asked for.
_FOLDS = 5


def hold_out(labels: NDArray[Any], share: float, seed: int) -> tuple[Indices, Indices]:
    """Hold out rows at random, as many of each class as its share."""
    n_classes = len(np.unique(labels))
    size = max(round(share * len(labels)), n_classes)
    if len(labels) - size < 2 * n_classes:
        raise TableError(
            f"--test {share:g} leaves {len(labels) - size} of {count(len(labels), 'row')} to learn "
            "from; hold out less."
        )
    train, test = train_test_split(
        np.arange(len(labels)), test_size=size, stratify=labels, random_state=seed
    )
    return np.sort(train), np.sort(test)


def hold_out_latest(
    source: Source, name: str, labels: NDArray[Any], share: float
) -> tuple[Indices, Indices]:
    """Hold out the rows of the latest times; equal times stay together."""
    series = source.column(name, "time")
    column = decide(name, series, source.row_of)
    if column.kind not in ("date", "number") and "counts the rows" not in column.why:
        raise TableError(f"{place(source.path, None, name)} holds no times: {column.why}.")
    times = column.values(series) if column.used else series.cast(float)
    moments = times.to_numpy()
    if np.isnan(moments).any():
        first = source.row_of(int(np.isnan(moments).argmax()))
        raise TableError(f"{place(source.path, first, name)} has no time.")
    border = np.quantile(moments, 1.0 - share, method="higher")
    late = moments >= border
    parts = np.flatnonzero(~late), np.flatnonzero(late)
    _check_parts(source, name, labels, *parts)
    return parts


def read_groups(source: Source, name: str) -> NDArray[Any]:
    """Number the groups of the rows; a missing group is one of its own."""
    text = strings(source.column(name, "group")).fill_null("")
    return text.rank("dense").to_numpy()


def hold_out_groups(
    source: Source,
    name: str,
    labels: NDArray[Any],
    groups: NDArray[Any],
    share: float,
    seed: int,
) -> tuple[Indices, Indices]:
    """Hold out whole groups."""
    folds, n_groups = max(2, round(1.0 / share)), len(np.unique(groups))
    if n_groups < 2 * folds:
        raise TableError(
            f"{place(source.path, None, name)} holds {count(n_groups, 'group')}, and at least "
            f"{2 * folds} are needed to hold out some and cross-validate with the others."
        )
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    parts = next(splitter.split(labels, labels, groups))
    _check_parts(source, name, labels, *parts)
    return parts


@dataclass(frozen=True)
class Folds:
    """The folds of a cross-validation, and how they came about, for a reader."""

    cv: Any
    count: int
    how: str


def group_folds(
    source: Source, name: str, labels: NDArray[Any], groups: NDArray[Any], asked: int | None
) -> Folds:
    """Folds that keep groups together."""
    n_groups = len(np.unique(groups))
    held = f"{place(source.path, None, name)} holds {count(n_groups, 'group')} to learn from"
    n_folds = _how_many(asked, n_groups, held)
    cv = list(StratifiedGroupKFold(n_folds).split(labels, labels, groups))
    return Folds(cv, n_folds, f"of whole groups of {quoted(name)}")


def class_folds(
    source: Source, name: str, labels: NDArray[Any], asked: int | None, seed: int | None
) -> Folds:
    """Folds with each class in its share: shuffled, or without a seed in the order of the file."""
    classes, counts = np.unique(labels, return_counts=True)
    rarest, smallest = classes[counts.argmin()], int(counts.min())
    held = (
        f"{place(source.path, None, name)} has {count(smallest, 'row')} of class {quoted(rarest)} "
        "to learn from"
    )
    if smallest < 2:
        raise TableError(f"{held}, and two are needed; a smaller --test leaves more.")
    n_folds = _how_many(asked, smallest, held)
    if seed is None:
        return Folds(StratifiedKFold(n_folds), n_folds, "in the order of the file")
    cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return Folds(cv, n_folds, f"shuffled by the seed {seed}")


def _how_many(asked: int | None, most: int, held: str) -> int:
    if asked is None:
        return min(_FOLDS, most)
    if asked > most:
        raise TableError(f"--folds {asked} is too many: {held}, so at most {most} can be made.")
    return asked


def _check_parts(
    source: Source, name: str, labels: NDArray[Any], train: Indices, test: Indices
) -> None:
    for part, role in ((train, "learn from"), (test, "test on")):
        absent = np.setdiff1d(labels, labels[part])
        if len(absent):
            raise TableError(
                f"{place(source.path, None, name)} parts the rows so that no {quoted(absent[0])} "
                f"is left to {role}; change --test or hold out at random."
            )
