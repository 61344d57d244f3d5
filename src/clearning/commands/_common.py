"""What the commands share: arguments, and how they speak."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from clearning._words import count, visible


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
    """Print a line at once; of what a table's names hold a terminal obeys nothing."""
    with speaking(sys.stdout):
        print(visible(line))


def warn(sentence: str | None) -> None:
    """Say a sentence on standard error, on one line."""
    if sentence:
        with speaking(sys.stderr):
            print(f"clearning: {visible(' '.join(sentence.split()))}", file=sys.stderr)


@contextmanager
def speaking(stream: TextIO) -> Iterator[None]:
    """Print here: a reader who has gone ends the printing, not the work."""
    try:
        yield
        stream.flush()
    except OSError as error:
        # What is printed from now on, and Python's last flush, must find an open end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            name = "output" if stream is sys.stdout else "error"
            raise OSError(f"Standard {name} cannot be written: {error.strerror}.") from error


def open_outputs() -> None:
    """Have an end to print to, whatever letters it knows and if the process was started with none.

    Letters that are unknown there are escaped: a message matters more than its look.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


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
    for name, first, rows in model.unseen(prepared):
        where = place(table_path, source.row_of(first), name)
        cell = quoted(source.frame[name][first])
        others = f", nor what {count(rows - 1, 'other row holds', 'other rows hold')}"
        warn(f"{where}: {cell} was not met in training{others if rows > 1 else ''}.")
    return model, source, prepared
