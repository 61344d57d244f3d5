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
    from clearning._whole import whole_file
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
    page, facts = _told(model, args.model)
    with whole_file(args.out) as file:
        file.write(page.encode("utf-8"))
    tell([facts["sentence"], f"wrote {args.out}"], {**facts, "written": str(args.out)}, args.json)
    return 0


def _told(model: Any, path: Path) -> tuple[str, dict[str, Any]]:
    """The page and the few numbers; a record from a stranger may fail in any way."""
    from clearning.report import render_report, summary_facts
    from clearning.tables.errors import TableError

    try:
        return render_report(model), summary_facts(model)
    except Exception as error:
        raise TableError(
            f"{path} holds a record that no page can be made of: it was altered or is damaged "
            f"({type(error).__name__})."
        ) from error
