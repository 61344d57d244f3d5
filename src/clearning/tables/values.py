"""Cells as numbers: decimals, dates, and what is neither.

Columns are worked on without their names: polars reads some names as patterns of names.
"""

from __future__ import annotations

from typing import Any

# Dates by these formats, tried in this order; each also with a time of day.
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%b %d, %Y",
)
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", "T%H:%M", "T%H:%M:%S", "T%H:%M:%S%.f%#z")
# How numbers are written, and what a cell must look like to be one.
PLAIN, THOUSANDS, COMMA, TRUTH = "1.5", "1,000.5", "1.000,5", "true or false"
WAYS = {
    PLAIN: "",
    THOUSANDS: r"^[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$",
    COMMA: r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$",
    TRUTH: r"^(?i:true|false|[01](\.0+)?)$",
}
_TRUE_FALSE = {"true": "1", "false": "0"}
_MICROSECONDS_A_DAY = 86_400_000_000


def nameless(series: Any) -> Any:
    """A column without its name."""
    return series.alias("")


def strings(series: Any) -> Any:
    """A column as text without blanks around it, null where it is missing."""
    import polars as pl

    series = nameless(series)
    if series.dtype.is_float() and _whole(series):
        # The same codes as whole numbers and as 1.0 are the same words.
        series = series.cast(pl.Int64, strict=False)
    if series.dtype != pl.String:
        series = series.cast(pl.String, strict=False)
    stripped = series.str.strip_chars()
    return stripped.set(stripped == "", None) if (stripped == "").any() else stripped


def _whole(series: Any) -> bool:
    """Whether all numbers of a column are whole and exact."""
    held = series.drop_nulls().drop_nans()
    return bool(((held % 1 == 0) & (held.abs() < 2**53)).all())


def numbers(series: Any, written: str = PLAIN) -> Any:
    """A column as finite numbers, written in one of the `WAYS`; null where there is none."""
    import polars as pl

    series = nameless(series)
    if series.dtype in (pl.String, pl.Categorical) or isinstance(series.dtype, pl.Enum):
        series = strings(series)
    elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        return pl.Series([None] * len(series), dtype=pl.Float64)
    if written != PLAIN and (series.dtype == pl.String or written == TRUTH):
        series = _plainly(strings(series), written)
    values = series.cast(pl.Float64, strict=False)
    return values.set(~values.is_finite(), None)


def _plainly(text: Any, written: str) -> Any:
    """Text that is written in one of the `WAYS` as plain numbers, null where it is not."""
    text = text.set(~text.str.contains(WAYS[written]), None)
    if written == TRUTH:
        return text.str.to_lowercase().replace(_TRUE_FALSE)
    grouping = "," if written == THOUSANDS else "."
    text = text.str.replace_all(grouping, "", literal=True)
    return text.str.replace(",", ".", literal=True)


def by_place(frame: Any) -> Any:
    """A frame whose columns are named by their places."""
    numbered = frame.clone()
    numbered.columns = [str(place) for place in range(frame.width)]
    return numbered


def all_numbers(frame: Any) -> Any:
    """Every column as `numbers` makes it, all at once; null where it is of another type."""
    import polars as pl

    numbered = by_place(frame)
    made = []
    for name, dtype in zip(numbered.columns, frame.dtypes):
        value = pl.col(name)
        if dtype == pl.String:
            value = value.str.strip_chars()
        elif not dtype.is_numeric():
            value = pl.lit(None)
        value = value.cast(pl.Float64, strict=False)
        made.append(pl.when(value.is_finite()).then(value).alias(name))
    found = numbered.select(made)
    found.columns = frame.columns
    return found


def days(series: Any, date_format: str | None) -> Any:
    """A column of dates as days since 1970, null where there is none."""
    import polars as pl

    series = nameless(series)
    if series.dtype.is_temporal():
        moments = series.cast(pl.Datetime("us"), strict=False)
    elif date_format is None or not any(mark in date_format for mark in ("%H", "%z", "%#z")):
        moments = strings(series).str.to_date(date_format, strict=False).cast(pl.Datetime("us"))
    else:
        moments = strings(series).str.to_datetime(
            date_format, strict=False, time_unit="us", time_zone=_zone(date_format)
        )
    return moments.cast(pl.Int64).cast(pl.Float64) / _MICROSECONDS_A_DAY


def _zone(date_format: str) -> str | None:
    return "UTC" if "%#z" in date_format else None


def date_format_of(text: Any, share: float) -> tuple[str, float] | None:
    """The format by which the most cells are dates, and their share, if it is at least `share`."""
    sample = text.head(200)
    best = None
    for date in DATE_FORMATS:
        for time in TIMES:
            if _parsed(sample, date + time) < share:
                continue
            found = _parsed(text, date + time)
            if found >= share and (best is None or found > best[1]):
                best = date + time, found
    return best


def readable(date_format: str) -> str:
    """A format of dates without the marks that only polars knows."""
    return date_format.replace("%.f", "").replace("%#z", "")


def _parsed(text: Any, date_format: str) -> float:
    found = days(text, date_format)
    return 1.0 - found.null_count() / len(found)
