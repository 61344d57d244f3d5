"""Where a command writes: looked at before the work, so that none is done in vain."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from clearning.tables.errors import TableError


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse a file that cannot be written, or that the command reads."""
    for given in inputs:
        if _same(path, given):
            raise TableError(f"{path} is read by this command: write to another file.")
    if path.is_dir():
        raise TableError(f"{path} is a folder, and a file is to be written there.")
    if path.exists() and not path.is_file():
        raise TableError(f"{path} is no regular file, and is not written over.")
    check_folder(path.parent)


def check_folder(folder: Path) -> None:
    """Refuse a folder that is none, or cannot be made."""
    there = folder
    while not os.path.lexists(there):
        there = there.parent
    if not there.is_dir():
        raise TableError(f"{there} is no folder, so nothing can be written into it.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise TableError(f"{there} is a folder that may not be written to.")


def _same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other)
