"""`clearning explain`: each row's probability and what its columns contributed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clearning._words import count, visible
from clearning.commands._common import add_json, add_model_and_table, read_new_rows, tell
from clearning.commands._outputs import check_output

_ROWS_SHOWN = 5
_COLUMNS_SHOWN = 6
# Widths in letters.
_NAME, _VALUE, _BAR = 30, 16, 20


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "explain",
        help="what each column contributed to each row's score",
        description="Take the score of each row apart: the score of the average training row, and "
        "what each column adds to it. The first rows are shown; -o writes all of them.",
    )
    add_model_and_table(parser)
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="table of all rows, classes and columns"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain, show some, write all."""
    from clearning.tables.explain import explain
    from clearning.tables.files import check_writable, write_table
    from clearning.tables.predictions import explanations

    if args.out is not None:
        check_writable(args.out)
        check_output(args.out, [args.model, args.table])
    model, source, prepared = read_new_rows(args.model, args.table)
    every = args.out is not None or args.json
    found = explain(model, prepared if every else prepared[:_ROWS_SHOWN])
    facts: dict[str, Any] = {"written": str(args.out)}
    if every:
        table = explanations(source, prepared, found)
        if args.out is not None:
            write_table(table, args.out)
        else:
            facts = {"rows": table.to_dicts()}
    lines = [
        line for i in range(min(_ROWS_SHOWN, len(prepared))) for line in _row(source, found, i)
    ]
    if len(prepared) > _ROWS_SHOWN:
        lines.append(f"… and {count(len(prepared) - _ROWS_SHOWN, 'more row')}")
    if args.out is not None:
        lines.append(f"wrote {args.out}")
    tell(lines, facts, args.json)
    return 0


def _row(source: Any, found: Any, i: int) -> list[str]:
    """A few lines about one row: the contributions to each score, the largest first."""
    import numpy as np

    lines = []
    for k, label in enumerate(found.classes):
        parts = found.contributions[k, i]
        widest = max(float(np.abs(found.contributions[k, :_ROWS_SHOWN]).max()), 1e-300)
        lines.append(
            f"row {source.row_of(i)}: {label} with probability {found.probabilities[i, k]:.4f} "
            f"(score {found.scores[i, k]:+.3f}, average row {found.base[k]:+.3f})"
        )
        order = np.argsort(-np.abs(parts), kind="stable")
        for j in [j for j in order[:_COLUMNS_SHOWN] if parts[j] != 0]:
            bar = "█" * max(1, round(_BAR * abs(parts[j]) / widest))
            name = _cell(found.columns[j], _NAME)
            value = _cell(source.frame[found.columns[j]][i], _VALUE)
            lines.append(f"  {name:<{_NAME}} {value:>{_VALUE}}  {parts[j]:+8.3f}  {bar}")
        rest = found.scores[i, k] - found.base[k] - parts[order[:_COLUMNS_SHOWN]].sum()
        if abs(rest) > 5e-4:
            lines.append(f"  {'everything else':<{_NAME}} {'':>{_VALUE}}  {rest:+8.3f}")
    return lines


def _cell(text: object, width: int) -> str:
    """A name or a value that takes no more than its place in the line."""
    shown = visible(text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"
