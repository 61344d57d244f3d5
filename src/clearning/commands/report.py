"""`clearning report`: the page about a model, again or on new rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clearning.commands._common import add_json, read_new_rows, tell, warn
from clearning.commands._outputs import check_output


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "report",
        help="write the page about a model",
        description="Write the report of a model again; with a table that has the target, the "
        "test is on its rows.",
    )
    parser.add_argument("model", type=Path, help="what `clearning fit` wrote, model.skops")
    parser.add_argument("table", type=Path, nargs="?", help="rows to test on, with the target")
    parser.add_argument(
        "-o", "--out", type=Path, default=Path("report.html"), metavar="FILE", help="the page"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure again where asked, and write the page."""
    from clearning.report import summary_facts, write_report
    from clearning.tables.model import load_table_model, version_note
    from clearning.tables.predictions import tested

    check_output(args.out, [path for path in (args.model, args.table) if path is not None])
    if args.table is None:
        model = load_table_model(args.model)
        warn(version_note(model, args.model))
    else:
        model, source, prepared = read_new_rows(args.model, args.table)
        model.record["test"] = tested(model, source, prepared)
        model.record["tested_on"] = args.table.name
    write_report(model, args.out)
    facts = summary_facts(model)
    tell([facts["sentence"], f"wrote {args.out}"], {**facts, "written": str(args.out)}, args.json)
    return 0
