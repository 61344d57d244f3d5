"""The columns of a table by their roles: what is predicted, from what, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning._words import count
from clearning.tables.errors import TableError, listed, place, quoted
from clearning.tables.files import first_row
from clearning.tables.kinds import Column, asked_for, decide_all
from clearning.tables.values import PLAIN, all_numbers, nameless, numbers, strings

# More distinct numbers than these are an amount, not classes.
_MOST_CLASSES = 100
# A new table may hold so many odd cells in a column before it must be another column.
_MOST_ODD = 0.5
# Beyond the first a number's square overflows; beyond the second not every whole number is one.
_LARGEST = 1e150
_EXACT = 2**53


@dataclass(frozen=True)
class Source:
    """A table and the file it came from."""

    frame: Any
    path: Path
    held: NDArray[np.intp] | None = None

    def row_of(self, index: int) -> int:
        """The row of the file, counted from 1."""
        place = index if self.held is None else self.held[index]
        return int(place) + first_row(self.path)

    def column(self, name: str, role: str) -> Any:
        """A column by its name, or the sentence that says it is not there."""
        if name in self.frame.columns:
            return nameless(self.frame[name])
        folded = {column.strip().casefold(): column for column in self.frame.columns}
        near = get_close_matches(name.strip().casefold(), folded, 1)
        hint = f"did you mean {quoted(folded[near[0]])}?" if near else _those(self.frame.columns)
        raise TableError(f"{self.path} has no column {quoted(name)} to take as the {role}; {hint}")

    def rows(self, held: NDArray[np.intp]) -> Source:
        """Some of the rows, which know their places in the file."""
        return Source(self.frame[held], self.path, held)


def _those(names: Sequence[str]) -> str:
    return f"its columns are {listed(names)}."


def decide_columns(
    source: Source, roles: Mapping[str, str | None], asked: Mapping[str, str]
) -> list[Column]:
    """Decide about every column that has no role already."""
    for name in asked:
        source.column(name, f"{asked[name]} it was declared to be")
    taken = set(roles.values())
    free = [name for name in source.frame.columns if name not in taken]
    found = decide_all(source.frame[:, [n for n in free if n not in asked]], source.row_of)
    for name, kind in asked.items():
        found[name] = asked_for(name, source.frame[name], kind, source.path, source.row_of)
    columns = [found[name] for name in free]
    check_any_used(source, columns)
    return columns


def check_any_used(source: Source, columns: Sequence[Column]) -> None:
    """Refuse a table of which nothing is learnt from."""
    if not any(column.used for column in columns):
        reasons = "; ".join(f"{quoted(column.name)}: {column.why}" for column in columns[:3])
        raise TableError(f"{source.path} has no column left to learn from ({reasons}).")


def prepare(source: Source, columns: Sequence[Column]) -> Any:
    """Return the columns that a model takes, as numbers with nan and text with ''."""
    import polars as pl

    needed = [column for column in columns if column.used]
    absent = [column.name for column in needed if column.name not in source.frame.columns]
    if absent:
        noun = "column" if len(absent) == 1 else "columns"
        raise TableError(f"{source.path} lacks the {noun} {listed(absent)}, which the model needs.")
    names = [c.name for c in needed if c.kind == "number" and c.written == PLAIN]
    values = all_numbers(source.frame[:, names])
    ready = {
        name: nameless(values[name]).fill_null(float("nan"))
        for name, before, after in zip(names, _nulls(source.frame[:, names]), _nulls(values))
        if before == after
    }
    frame = pl.DataFrame(
        {c.name: ready[c.name] if c.name in ready else _values(source, c) for c in needed}
    )
    _refuse_huge(source, frame)
    return frame


def _nulls(frame: Any) -> tuple[int, ...]:
    return frame.null_count().row(0) if frame.width else ()


def refuse_tiny(source: Source, frame: Any) -> None:
    """Refuse numbers to learn from whose squares vanish: nothing is known of their spread."""
    for series in frame.iter_columns():
        values = np.abs(series.to_numpy()) if series.dtype.is_float() else np.zeros(0)
        largest = np.fmax.reduce(values, initial=0.0)
        if 0.0 < largest < 1.0 / _LARGEST:
            where = place(source.path, source.row_of(int(np.nanargmax(values))), series.name)
            raise TableError(
                f"{where}: {largest:.3g} is the largest number of a column too small to compute "
                "with; rescale."
            )


def _refuse_huge(source: Source, frame: Any) -> None:
    """Refuse numbers whose squares are beyond the floating-point range."""
    for series in frame.iter_columns():
        if not series.dtype.is_float():
            continue
        values = np.abs(series.to_numpy())
        if np.fmax.reduce(values) > _LARGEST:
            worst = int(np.nanargmax(values))
            where = place(source.path, source.row_of(worst), series.name)
            raise TableError(f"{where}: {series[worst]:.3g} is too large to compute with; rescale.")


def _values(source: Source, column: Column) -> Any:
    series = nameless(source.frame[column.name])
    if series.dtype.is_nested():
        raise TableError(
            f"{place(source.path, None, column.name)} holds {series.dtype}, not single values."
        )
    first = column.first_odd(series)
    if first is not None:
        parsed, present = column.parsed(series), len(series) - series.null_count()
        odd = present - (len(parsed) - parsed.null_count())
        if odd > _MOST_ODD * present:
            raise TableError(
                f"{place(source.path, source.row_of(first), column.name)}: "
                f"{quoted(series[first])} is no {column.sort}, and most of the column is none."
            )
    return column.values(series)


def odd_cells(source: Source, columns: Sequence[Column]) -> list[str]:
    """Sentences about cells of new data that are not of their column's kind."""
    told = []
    for column in columns:
        if column.kind not in ("number", "date"):
            continue
        first = column.first_odd(source.frame[column.name])
        if first is not None:
            where = place(source.path, source.row_of(first), column.name)
            cell = quoted(source.frame[column.name][first])
            told.append(f"{where}: {cell} is no {column.sort} and counts as missing.")
    return told


@dataclass(frozen=True)
class Target:
    """The labels of the rows that count: they have one, and weight.

    Attributes
    ----------
    labels : ndarray
        Whole numbers or strings.
    held : ndarray of bool
        Which rows count.
    n_unlabelled, n_weightless : int
        How many rows have no label, and how many others no weight.
    """

    labels: NDArray[Any]
    held: NDArray[np.bool_]
    n_unlabelled: int
    n_weightless: int

    @property
    def counts(self) -> dict[Any, int]:
        """How many rows each class has."""
        classes, counts = np.unique(self.labels, return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist()))


def read_target(
    source: Source, name: str, fewest: int, weight: NDArray[np.float64] | None = None
) -> Target:
    """Read the labels of the rows that have one, and weight; or say why they are none."""
    series = source.column(name, "target")
    where = place(source.path, None, name)
    if series.dtype.is_nested() or series.dtype.is_temporal():
        raise TableError(f"{where} holds {series.dtype}, which is no class.")
    text = strings(series)
    values = numbers(text)
    held = text.is_not_null()
    if not held.any():
        raise TableError(f"{where} is the target, and every value is missing.")
    whole = values.drop_nulls() % 1 == 0
    numeric = values.null_count() == text.null_count()
    if numeric and whole.all() and values.abs().max() < _EXACT:
        labels = values.drop_nulls().cast(int).to_numpy()
    else:
        labels = text.drop_nulls().to_numpy().astype(str)
    labelled = held.to_numpy()
    counted = labelled if weight is None else labelled & (weight > 0)
    n_unlabelled, n_weightless = int((~labelled).sum()), int((labelled & ~counted).sum())
    if n_weightless:
        labels = _weighed(where, labels, counted[labelled])
    target = Target(labels, counted, n_unlabelled, n_weightless)
    _check_classes(where, target, numeric, fewest)
    return target


def _check_classes(where: str, target: Target, numeric: bool, fewest: int) -> None:
    counts = target.counts
    if len(counts) == 1:
        raise TableError(
            f"{where} is the target and has one value, {quoted(next(iter(counts)))}: two classes "
            f"or more are needed{_not_counted(target)}."
        )
    if _no_classes(len(counts), len(target.labels)):
        told = (
            "numbers in {rows}, an amount rather than a class: predict it by regression, or cut it "
            "into a few classes first."
            if numeric
            else "values in {rows}, names or text rather than classes: take a target of few "
            "classes, each in many rows."
        ).format(rows=count(len(target.labels), "row"))
        raise TableError(f"{where} is the target and has {len(counts):,} different {told}")
    rare = [label for label, size in counts.items() if size < fewest]
    if rare:
        raise TableError(
            f"{where} has the class {quoted(rare[0])} in {count(counts[rare[0]], 'row')} only: "
            f"leave such classes out or join them, at least {fewest} rows of each are needed."
        )


def _no_classes(n_values: int, n_rows: int) -> bool:
    """Whether values differ from row to row as an amount's or a name's do."""
    return n_values > n_rows / 2 or (n_values > _MOST_CLASSES and n_values > n_rows / 20)


def _not_counted(target: Target) -> str:
    """What to add where the rows left out may be the class that is missed."""
    if not target.n_unlabelled:
        return ""
    rows = count(target.n_unlabelled, "row has", "rows have")
    return f"; {rows} no target (NA, None and the like are none)"


def _weighed(where: str, labels: NDArray[Any], counted: NDArray[np.bool_]) -> NDArray[Any]:
    """The labels of the rows that have weight, which leave no class out."""
    lost = np.setdiff1d(labels, labels[counted])
    if len(lost):
        raise TableError(
            f"{where} is the target, and every sample of class {quoted(lost[0])} has weight zero: "
            "give it weight, or leave its rows out."
        )
    return labels[counted]


def read_weight(source: Source, name: str) -> NDArray[np.float64]:
    """Read the weights of the rows."""
    series = source.column(name, "weight")
    values = numbers(series)
    bad = values.is_null() | (values < 0).fill_null(False)
    if bad.any():
        first = int(bad.arg_max())
        raise TableError(
            f"{place(source.path, source.row_of(first), name)}: {quoted(series[first])} is no "
            "weight; weights are numbers that are not negative."
        )
    weight = values.to_numpy().astype(float)
    _check_sizes(source, name, weight)
    return weight


def _check_sizes(source: Source, name: str, weight: NDArray[np.float64]) -> None:
    """Refuse weights that cannot be summed, or of which one is more than all others together."""
    largest = int(weight.argmax())
    if weight[largest] == 0.0:
        raise TableError(f"{place(source.path, None, name)} holds no weight above zero.")
    where = f"{place(source.path, source.row_of(largest), name)}: {weight[largest]:.3g}"
    if not 1.0 / _LARGEST <= weight[largest] <= _LARGEST:
        raise TableError(
            f"{where} is the largest weight, which must lie between {1.0 / _LARGEST:g} and "
            f"{_LARGEST:g}; rescale them all."
        )
    if len(weight) > 1 and 2.0 * weight[largest] > weight.sum():
        raise TableError(
            f"{where} is more weight than all other rows have together, so nothing could be "
            "learnt but this row: no row may have more than half."
        )
