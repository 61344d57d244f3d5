"""Tables on disk: CSV, TSV, Parquet and Arrow, compressed or not.

pyarrow reads, because it is strict about rows; polars holds the columns. Cells of text files stay
text here: what they mean is decided in `kinds`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clearning._whole import whole_file
from clearning._words import count
from clearning.tables.content import (
    check_binary,
    first_zero_byte,
    refuse_other_format,
    zero_byte,
)
from clearning.tables.errors import TableError, place, quoted

# What stands for a missing value in a text file.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "#N/A", "<NA>")
MOST_COLUMNS = 200_000

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".br")
_TEXT = {".csv": None, ".txt": None, ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_SEPARATORS = ",;\t|"
# A path that was an address has lost one of its slashes; one letter is a drive.
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")
_BLOCK = 1 << 24
_NEEDED = "Reading tables needs pyarrow and polars: pip install 'clearning[tables]'"


def read_table(path: Path | str) -> Any:
    """Read a table.

    Parameters
    ----------
    path : path-like
        A CSV, TSV, Parquet or Arrow file by its name's ending; text files may be compressed
        (``.gz``, ``.bz2``, ``.zst``, ``.lz4``, ``.br``).

    Returns
    -------
    polars.DataFrame
        Columns of text files are strings, with nulls where a value is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from clearning.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.csv")
    ...     _ = path.write_text("a,b\\n1,x\\n2,y\\n")
    ...     frame = read_table(path)
    >>> frame.shape
    (2, 2)
    """
    if _ADDRESS.match(str(path)) and not Path(path).exists():
        raise TableError(f"{path} is a URL, and only files are read: download it first.")
    path = Path(path)
    ending = _ending(path)
    if not _is_utf8(path):
        raise TableError(f"{path} has a name that is no UTF-8: rename it.")
    if not path.is_file():
        raise TableError(f"{path} is {_no_file(path)}.")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty.")
    try:
        import polars as pl
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    if ending in _TEXT:
        table = _read_text(path, _TEXT[ending])
    else:
        table = _read_binary(path, ending)
    if len(table) == 0:
        raise TableError(f"{path} has names of columns but no rows.")
    try:
        return pl.from_arrow(table)
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{path} holds what is no table: {_first_line(error)}.") from error


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _no_file(path: Path) -> str:
    """What stands where a file should."""
    if path.is_dir():
        return "a folder, not a file"
    return "a pipe or device: save it as a file first" if path.exists() else "not there"


def write_table(frame: Any, path: Path) -> None:
    """Write a polars frame in the format that the path's ending names, whole or not at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> from clearning.tables import write_table
    >>> with TemporaryDirectory() as folder:
    ...     write_table(pl.DataFrame({"a": [1, 2]}), Path(folder, "two.csv"))
    """
    ending = _ending(path)
    with whole_file(path) as file:
        if ending in _PARQUET:
            frame.write_parquet(file)
        elif ending in _ARROW:
            frame.write_ipc(file)
        else:
            _write_text(frame, path, _TEXT[ending] or ",", file)


def check_writable(path: Path) -> None:
    """Refuse an ending that no table is written with, before any work is done."""
    _ending(path)
    if path.suffix.lower() in _COMPRESSED[1:]:
        raise TableError(f"{path} cannot be written: of compressed text only .gz is written.")


def _write_text(frame: Any, path: Path, separator: str, file: Any) -> None:
    if path.suffix.lower() == ".gz":
        import gzip

        with gzip.GzipFile(fileobj=file, mode="wb", filename="") as packed:
            frame.write_csv(packed, separator=separator)
    else:
        frame.write_csv(file, separator=separator)


def _ending(path: Path) -> str:
    """The ending that tells the format, without that of the compression."""
    endings = [suffix.lower() for suffix in path.suffixes]
    packed = bool(endings) and endings[-1] in _COMPRESSED
    ending = endings[-2] if packed and len(endings) > 1 else endings[-1] if endings else ""
    known = tuple(_TEXT) if packed else (*_TEXT, *_PARQUET, *_ARROW)
    if ending not in known:
        raise TableError(
            f"{path} has no ending that tells its format: {', '.join(known)} are known"
            + (" compressed." if packed else f", text with {', '.join(_COMPRESSED)} too.")
        )
    return ending


def _read_binary(path: Path, ending: str) -> Any:
    import pyarrow as pa
    from pyarrow import ipc, parquet

    format_name = "Parquet" if ending in _PARQUET else "Arrow"
    check_binary(path, format_name)
    try:
        if ending in _PARQUET:
            file = parquet.ParquetFile(path)
            _check_names(path, file.schema_arrow.names)
            return _sound(file.read())
        with pa.memory_map(str(path)) as source:
            file = _open_ipc(ipc, source)
            _check_names(path, file.schema.names)
            return _sound(file.read_all())
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(
            f"{path} is no whole {format_name} file, it may be cut off or damaged: "
            f"{_first_line(error)}."
        ) from error


def _sound(table: Any) -> Any:
    """A table whose offsets and letters are right: wrong ones would be met much later, or never."""
    table.validate(full=True)
    return table


def _open_ipc(ipc: Any, source: Any) -> Any:
    """Open a file of Arrow's file format or of its stream format."""
    import pyarrow as pa

    try:
        return ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return ipc.open_stream(source)


def _read_text(path: Path, separator: str | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator, names = _header(path, separator)
    try:
        with _open_text(path) as stream:
            table = arrow_csv.read_csv(
                stream,
                read_options=arrow_csv.ReadOptions(block_size=_BLOCK),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=separator, newlines_in_values=True, ignore_empty_lines=True
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=list(MISSING),
                    strings_can_be_null=True,
                ),
            )
    except (pa.ArrowException, OSError) as error:
        raise _explained(path, separator, names, error) from error
    table = table.rename_columns(_named(names))
    for name, column in zip(table.column_names, table.columns):
        first = first_zero_byte(column)
        if first is not None:
            raise zero_byte(place(path, first + first_row(path), name))
    return table


def _open_text(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="detect", buffer_size=1 << 20)


def _header(path: Path, separator: str | None) -> tuple[str, list[str]]:
    """Return what parts the cells, and the names of the columns as they are written."""
    head = _head(path)
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse_other_format(path, head, "text")
        raise _bad_letters(path, head[: error.start].count(b"\n") + 1) from error
    if "\0" in text:
        refuse_other_format(path, head, "text")
        raise zero_byte(place(path, text[: text.index("\0")].count("\n") + 1))
    first = text.splitlines()[0] if text.strip() else ""
    if not first.strip():
        raise TableError(f"{place(path, 1)} must hold the names of the columns, and is blank.")
    if separator is None:
        separator = max(_SEPARATORS, key=first.count)
    names = next(csv.reader(io.StringIO(text, newline=None), delimiter=separator))
    if len(names) == 1:
        raise TableError(
            f"{path} has one column, {quoted(names[0])}: a target and something to predict it from "
            "are needed, parted by commas, semicolons, tabs or bars."
        )
    _check_names(path, _named(names))
    if all(_is_number(name) for name in names):
        raise TableError(
            f"{place(path, 1)} holds numbers only: the first row must name the columns."
        )
    return separator, names


def _head(path: Path) -> bytes:
    """Return the first row, whatever its length, as far as the most columns could reach."""
    head = b""
    try:
        with _open_text(path) as stream:
            while len(head) < 1 << 28:
                more = stream.read(1 << 20)
                head += more
                if not more or b"\n" in more or b"\r" in more:
                    break
    except OSError as error:
        raise TableError(f"{path} cannot be unpacked: {_first_line(error)}.") from error
    # A name may hold a line break, so rows beyond the first are kept where they are there; what is
    # cut off at the end is not looked at.
    end = max(head.rfind(b"\n"), head.rfind(b"\r"))
    return head if end < 0 else head[:end]


def _named(names: list[str]) -> list[str]:
    """Name columns that have no name by their place."""
    return [name if name.strip() else f"column {i}" for i, name in enumerate(names, start=1)]


def _check_names(path: Path, names: list[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise TableError(
            f"{path} has {len(names):,} columns, and at most {MOST_COLUMNS:,} are read: as a "
            "sparse matrix CLearningClassifierCV takes them."
        )
    if len(names) < 2:
        raise TableError(
            f"{path} has {count(len(names), 'column')}: a target and something to predict it from "
            "are needed."
        )
    places = defaultdict(list)
    for i, name in enumerate(names, start=1):
        places[name].append(str(i))
    for name, found in places.items():
        if len(found) > 1:
            raise TableError(
                f"{place(path, 1)}: columns {' and '.join(found[:2])} are both named "
                f"{quoted(name)}; rename one."
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _explained(path: Path, separator: str, names: list[str], error: Exception) -> TableError:
    """Find the row at fault; the reader that failed was in a hurry and does not say."""
    try:
        for row, cells in enumerate(_rows(path, separator), start=1):
            if cells and len(cells) != len(names):
                return TableError(
                    f"{place(path, row)} has {count(len(cells), 'cell')}, but row 1 names "
                    f"{len(names)} columns."
                )
            for name, cell in zip(_named(names), cells):
                if "\0" in cell:
                    return zero_byte(place(path, row, name))
    except UnicodeDecodeError:
        return _bad_letters(path, _bad_line(path))
    except (csv.Error, OSError) as problem:
        return TableError(f"{path} cannot be read to its end: {_first_line(problem)}.")
    return TableError(f"{path} cannot be read: {_first_line(error)}.")


def _rows(path: Path, separator: str) -> Iterator[list[str]]:
    with _open_text(path) as stream:
        yield from csv.reader(
            io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=separator
        )


def _bad_line(path: Path) -> int:
    with _open_text(path) as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def _bad_letters(path: Path, row: int) -> TableError:
    return TableError(f"{place(path, row)} holds bytes that are no UTF-8: save the file as UTF-8.")


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")


def first_row(path: Path) -> int:
    """The number of the first row of values: in text files the names are row 1."""
    return 2 if any(suffix.lower() in _TEXT for suffix in path.suffixes[-2:]) else 1
