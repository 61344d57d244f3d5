"""What a column is: a number, a category, a date, free text, or nothing to learn from.

Every decision comes with its reason, and can be overruled by name.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from clearning._words import count
from clearning.tables.errors import TableError, place, quoted
from clearning.tables.values import (
    DATE_FORMATS,
    PLAIN,
    TRUTH,
    WAYS,
    all_numbers,
    by_place,
    date_format_of,
    days,
    nameless,
    numbers,
    readable,
    strings,
)

FEATURE_KINDS = ("number", "category", "date", "text")
ASKED_KINDS = (*FEATURE_KINDS, "ignore")
AS_ASKED = "as asked"

# A column is what so much of it is; the rest counts as missing, and is told.
_MOSTLY = 0.95
# Below so many rows nothing is told from the number of distinct values.
_FEW_ROWS = 20
_WORDS_OF_TEXT = 4.0
_DISTINCT_OF_TEXT = 0.5
_DISTINCT_OF_NAMES = 0.9
_NO_SINGLE_VALUES = ("Binary", "Object", "Time", "Duration")
_WHY = {PLAIN: "numbers", TRUTH: "truth values, as 1 and 0"}
_CALLED_IDENTIFIER = re.compile(r"(^|[\W_])(id|idx|index|key|uuid|guid|rownum|column 1)$", re.I)
_CALLED_IDENTIFIER_CAMEL = re.compile(r"[a-z](ID|Id)$")


@dataclass(frozen=True)
class Column:
    """A column of a table and what was decided about it.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        One of `FEATURE_KINDS`, or ``"ignore"``.
    why : str
        The reason, for a reader.
    date_format : str or None
        How its dates are written, where it has some as text.
    written : str
        How its numbers are written, one of `values.WAYS`.
    odd : str or None
        What was met that is not of the kind, for a reader.

    Examples
    --------
    >>> from clearning.tables import Column
    >>> Column("age", "number", "numbers").kind
    'number'
    """

    name: str
    kind: str
    why: str
    date_format: str | None = None
    written: str = PLAIN
    odd: str | None = None

    @property
    def used(self) -> bool:
        """Whether the model may see it."""
        return self.kind in FEATURE_KINDS

    @property
    def sort(self) -> str:
        """What a cell must be, for a reader."""
        if self.kind == "date" and self.date_format is not None:
            return f"date written {readable(self.date_format)}"
        if self.written == TRUTH:
            return "truth value"
        return self.kind if self.written == PLAIN else f"{self.kind} written as {self.written}"

    def values(self, series: Any) -> Any:
        """The cells as the model takes them: numbers with nan, or text with ''."""
        if self.kind in ("number", "date"):
            return self.parsed(series).fill_null(float("nan"))
        return strings(series).fill_null("")

    def parsed(self, series: Any) -> Any:
        """The cells as numbers or text, null where they are none."""
        if self.kind == "number":
            return numbers(series, self.written)
        if self.kind == "date":
            return days(series, self.date_format)
        return strings(series)

    def first_odd(self, series: Any) -> int | None:
        """The first row that holds something else than the kind, or none."""
        series = nameless(series)
        odd = self.parsed(series).is_null() & _present(series)
        return int(odd.arg_max()) if odd.any() else None

    def record(self) -> dict[str, Any]:
        """The column as plain values."""
        return asdict(self)


def _present(series: Any) -> Any:
    """Which cells hold anything at all; no number is a missing value, no end to it is not."""
    present = series.is_not_null()
    return present & series.is_not_nan().fill_null(False) if series.dtype.is_float() else present


def decide_all(frame: Any, row_of: Any) -> dict[str, Column]:
    """Tell what every column of a frame is; those that are plain numbers all at once."""
    import polars as pl

    numbered, values = by_place(frame), by_place(all_numbers(frame))
    if not frame.width:
        return {}
    before, after = numbered.null_count().row(0), values.null_count().row(0)
    distinct = values.select(pl.all().n_unique()).row(0)
    found = {}
    for k, name in enumerate(frame.columns):
        # A missing value is one of the distinct ones; a column of one number and gaps is no number.
        plain = before[k] == after[k] and distinct[k] > 1 + (after[k] > 0)
        if plain:
            found[name] = _numeric(name, values.to_series(k), distinct[k])
        else:
            found[name] = decide(name, frame.to_series(k), row_of)
    return found


def decide(name: str, series: Any, row_of: Any) -> Column:
    """Tell what a column is; `row_of` names the file's row of an index."""
    series = nameless(series)
    present = series.drop_nulls()
    if series.dtype.is_nested() or str(series.dtype).startswith(_NO_SINGLE_VALUES):
        return Column(name, "ignore", f"cells of type {series.dtype} are not learnt from")
    if len(present) == 0:
        return Column(name, "ignore", "every value is missing")
    distinct = present.n_unique()
    if distinct == 1 and len(present) == len(series):
        return Column(name, "ignore", f"every value is {quoted(present[0])}")
    if series.dtype.is_temporal():
        return Column(name, "date", "dates")
    if series.dtype.is_numeric():
        found = _with_odd(Column(name, "number", "numbers"), series, row_of)
        return _numeric(name, series, distinct, found)
    column = _as_number(name, series, row_of) or _as_date(name, series, row_of)
    if column is None:
        return _worded(name, strings(series).drop_nulls())
    if column.kind == "number":
        return _numeric(name, column.parsed(series), distinct, column)
    return column


def _numeric(name: str, series: Any, distinct: int, found: Column | None = None) -> Column:
    values = series.drop_nulls()
    column = found or Column(name, "number", "numbers")
    if distinct < len(series) or len(series) < _FEW_ROWS or (values % 1 != 0).any():
        return column
    if int(values.max() - values.min()) == len(values) - 1:
        return Column(name, "ignore", "an identifier: it counts the rows")
    if _CALLED_IDENTIFIER.search(name) or _CALLED_IDENTIFIER_CAMEL.search(name):
        return Column(name, "ignore", "an identifier: whole numbers, each once")
    return column


def _as_number(name: str, series: Any, row_of: Any) -> Column | None:
    present = strings(series).drop_nulls()
    for written in WAYS:
        share = 1.0 - numbers(present, written).null_count() / len(present)
        if share >= _MOSTLY:
            why = _WHY.get(written, f"numbers written as {written}")
            column = Column(name, "number", why, written=written)
            return _with_odd(column, series, row_of)
    return None


def _as_date(name: str, series: Any, row_of: Any) -> Column | None:
    present = strings(series).drop_nulls()
    found = date_format_of(present, _MOSTLY)
    if found is None:
        return None
    column = Column(name, "date", f"dates written {readable(found[0])}", date_format=found[0])
    return _with_odd(column, series, row_of)


def _with_odd(column: Column, series: Any, row_of: Any) -> Column:
    odd = column.parsed(series).is_null() & _present(series) & strings(series).is_not_null()
    if not odd.any():
        return column
    first = int(odd.arg_max())
    told = (
        count(
            int(odd.sum()),
            f"cell is no {column.sort} and counts",
            f"cells are no {column.sort} and count",
        )
        + f" as missing, the first in row {row_of(first)}: {quoted(series[first])}"
    )
    return replace(column, odd=told)


def _worded(name: str, present: Any) -> Column:
    """A column of words: text, identifiers or categories."""
    distinct = present.n_unique()
    words = float(present.str.count_matches(r"\w\w+").mean())
    many = len(present) >= _FEW_ROWS
    if many and words >= _WORDS_OF_TEXT and distinct >= _DISTINCT_OF_TEXT * len(present):
        return Column(name, "text", f"free text, {words:.0f} words on average")
    if many and distinct >= _DISTINCT_OF_NAMES * len(present):
        return Column(name, "ignore", f"an identifier: {distinct:,} of {len(present):,} differ")
    return Column(name, "category", count(distinct, "category", "categories"))


def asked_for(name: str, series: Any, kind: str, path: Any, row_of: Any) -> Column:
    """A column of the kind that was asked for, or the sentence that says why it is none."""
    series, why = nameless(series), AS_ASKED
    if kind not in ("number", "date"):
        return Column(name, kind, why)
    found = None
    if series.dtype == _text() and len(strings(series).drop_nulls()):
        found = (_as_number if kind == "number" else _as_date)(name, series, row_of)
    column = Column(name, kind, why, date_format=DATE_FORMATS[0])
    if found is not None:
        column = replace(found, why=why, odd=None)
    first = column.first_odd(series)
    if first is not None:
        sort = "a number" if kind == "number" else "a date such as 2024-12-31"
        raise TableError(
            f"{place(path, row_of(first), name)}: {quoted(series[first])} is not {sort}."
        )
    return column


def _text() -> Any:
    import polars as pl

    return pl.String
