"""What is wrong with a table, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_SHOWN = 60


class TableError(ValueError):
    """A file, a row or a column that cannot be used; the message names it and says what to do.

    Examples
    --------
    >>> from clearning.tables import TableError, read_table
    >>> try:
    ...     read_table("patients.doc")
    ... except TableError as error:
    ...     print(str(error)[:46])
    patients.doc has no ending that tells its form
    """


def place(path: Path | str, row: int | None = None, column: str | None = None) -> str:
    """Name a file, and a row and a column in it, as every sentence about one begins."""
    words = [str(path)]
    if row is not None:
        words.append(f"row {row}")
    if column is not None:
        words.append(f"column {quoted(column)}")
    return ", ".join(words)


def quoted(text: object) -> str:
    """Quote a name or a value on one line, cut where it is long; a missing one is called so."""
    if text is None:
        return "a missing value"
    shown = str(text)
    return repr(shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…")


def listed(names: Sequence[object], most: int = 5) -> str:
    """Quote some names, and say how many more there are."""
    shown = ", ".join(quoted(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
