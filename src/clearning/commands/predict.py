"""`clearning predict`: classes and probabilities of new rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clearning._words import count
from clearning.commands._common import add_json, add_model_and_table, read_new_rows, tell
from clearning.commands._outputs import check_output


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "predict",
        help="classes and probabilities of new rows",
        description="Write the predicted class and every class's probability for each row.",
    )
    add_model_and_table(parser)
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="FILE", help="CSV, TSV, Parquet or Arrow"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Predict and write."""
    from clearning.tables.files import check_writable, write_table
    from clearning.tables.predictions import predictions

    check_writable(args.out)
    check_output(args.out, [args.model, args.table])
    model, source, prepared = read_new_rows(args.model, args.table)
    table = predictions(model, source, prepared)
    write_table(table, args.out)
    counts = dict(table["predicted"].cast(str).value_counts(sort=True).iter_rows())
    facts = {"rows": len(table), "predicted": counts, "written": str(args.out)}
    shares = ", ".join(f"{label} {count:,}" for label, count in counts.items())
    tell([f"{count(len(table), 'row')}: {shares}", f"wrote {args.out}"], facts, args.json)
    return 0
