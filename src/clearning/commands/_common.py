"""What the commands share: arguments, and how they speak."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def add_model_and_table(parser: argparse.ArgumentParser) -> None:
    """A model, and new rows for it."""
    parser.add_argument("model", type=Path, help="what `clearning fit` wrote, model.skops")
    parser.add_argument("table", type=Path, help="CSV, TSV, Parquet or Arrow file of new rows")


def add_json(parser: argparse.ArgumentParser) -> None:
    """The switch for machines."""
    parser.add_argument("--json", action="store_true", help="say it as JSON on standard output")


def tell(lines: Iterable[str], facts: dict[str, Any], as_json: bool) -> None:
    """Print lines for a reader, or the same facts for a machine."""
    for line in [json.dumps(facts, ensure_ascii=False)] if as_json else lines:
        say(line)


def say(line: str) -> None:
    """Print a line at once."""
    with speaking():
        print(line)


@contextmanager
def speaking() -> Iterator[None]:
    """Print here: a reader who has gone ends the printing, not the work."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # What is printed from now on, and Python's last flush, must find an open end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(f"Standard output cannot be written: {error.strerror}.") from error


def open_closed_outputs() -> None:
    """Give a process that was started without standard output or error an end to print to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def warn(sentence: str | None) -> None:
    """Say on standard error what does not stop the work."""
    if sentence:
        print(f"clearning: {sentence}", file=sys.stderr)


def read_new_rows(model_path: Path, table_path: Path) -> tuple[Any, Any, Any]:
    """Return the model, the table and its columns as the model takes them."""
    from clearning.tables.errors import place, quoted
    from clearning.tables.files import read_table
    from clearning.tables.model import load_table_model, version_note
    from clearning.tables.schema import Source, odd_cells, prepare

    model = load_table_model(model_path)
    warn(version_note(model, model_path))
    source = Source(read_table(table_path), table_path)
    prepared = prepare(source, model.columns)
    for sentence in odd_cells(source, model.columns):
        warn(sentence)
    for name, first, count in model.unseen(prepared):
        where = place(table_path, source.row_of(first), name)
        cell = quoted(source.frame[name][first])
        warn(f"{where}: {cell} was not met in training, nor what {count - 1:,} other rows hold.")
    return model, source, prepared
