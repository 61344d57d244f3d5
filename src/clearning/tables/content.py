"""What a file holds, against what its name tells: marks of formats, and bytes that no text has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clearning.tables.errors import TableError

# What files of a format begin with, which format that is, and what to do about it.
_MARKS = {
    b"PAR1": ("Parquet", "name it .parquet"),
    b"ARROW1": ("Arrow", "name it .arrow"),
    b"\x1f\x8b": ("gzip", "name it .csv.gz"),
    b"BZh": ("bzip2", "name it .csv.bz2"),
    b"\x28\xb5\x2f\xfd": ("zstd", "name it .csv.zst"),
    b"\x04\x22\x4d\x18": ("lz4", "name it .csv.lz4"),
    b"PK\x03\x04": ("a spreadsheet or a zip archive", "save the table as CSV"),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet of the old kind", "save the table as CSV"),
    b"SQLite format 3": ("an SQLite database", "save the table as CSV"),
    b"%PDF": ("a PDF document", "save the table as CSV"),
    b"\xff\xfe": ("UTF-16", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16", "save it as UTF-8"),
}
_LONGEST_MARK = max(map(len, _MARKS))
# The second is that of an Arrow stream.
_BEGINS = {"Parquet": (b"PAR1",), "Arrow": (b"ARROW1", b"\xff\xff\xff\xff")}


def check_binary(path: Path, wanted: str) -> None:
    """Refuse a file that is named Parquet or Arrow and begins as something else known."""
    with path.open("rb") as file:
        head = file.read(_LONGEST_MARK)
    if head.startswith(_BEGINS[wanted]):
        return
    if all(byte >= 0x20 or byte in b"\t\r\n" for byte in head):
        raise _other_format(path, "text", wanted, "name it .csv or .tsv")
    refuse_other_format(path, head, wanted)


def refuse_other_format(path: Path, head: bytes, wanted: str) -> None:
    """Refuse a file whose first bytes are the mark of another format."""
    for mark, (found, advice) in _MARKS.items():
        if head.startswith(mark):
            raise _other_format(path, found, wanted, advice)


def _other_format(path: Path, found: str, wanted: str, advice: str) -> TableError:
    return TableError(f"{path} holds {found}, not {wanted} as its name tells: {advice}.")


def first_zero_byte(column: Any) -> int | None:
    """The first cell of an Arrow column of text that holds a zero byte, or none."""
    from pyarrow import compute

    if not any(_holds_zero(chunk.buffers()[2]) for chunk in column.chunks):
        return None
    held = compute.fill_null(compute.match_substring(column, "\0"), False).to_numpy()
    return int(held.argmax()) if held.any() else None


def _holds_zero(letters: Any) -> bool:
    return letters is not None and not np.frombuffer(letters, dtype=np.uint8).all()


def zero_byte(where: str) -> TableError:
    """The sentence about a zero byte."""
    return TableError(
        f"{where} holds a zero byte, which no text does: the file is damaged, of another format, "
        "or UTF-16; save it as UTF-8."
    )
