"""`clearning fit`: from a table to a model, a report and predictions."""

from __future__ import annotations

import argparse
import shlex
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

from clearning.commands._common import add_json, say, tell
from clearning.commands._outputs import check_folder, check_output

_OUTPUTS = ("model.skops", "report.html", "predictions.parquet")
_KINDS = ("number", "category", "date", "text", "ignore")


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "fit",
        help="fit a classifier to a table and report on it",
        description="Tell the columns of a table apart, hold out a test part, cross-validate "
        "linear and kernel C-learning, and write model.skops, report.html and "
        "predictions.parquet.",
    )
    parser.add_argument("table", type=Path, help="CSV, TSV, Parquet or Arrow file")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    parser.add_argument(
        "-o", "--out", type=Path, default=Path(), metavar="DIR", help="folder for what is written"
    )
    _add_columns(parser)
    _add_search(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("columns")
    group.add_argument(
        "--as",
        dest="kinds",
        action="append",
        type=_kind,
        default=[],
        metavar="COLUMN=KIND",
        help=f"what a column is: {', '.join(_KINDS)}; may be repeated",
    )
    group.add_argument("--weight", metavar="COLUMN", help="weights of the rows")
    group.add_argument(
        "--test",
        type=float,
        default=0.25,
        metavar="SHARE",
        help="share of the rows held out to test on (default: %(default)s)",
    )
    group.add_argument("--time", metavar="COLUMN", help="hold out the latest rows")
    group.add_argument("--group", metavar="COLUMN", help="hold out whole groups of rows")


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument(
        "--kernel",
        action=argparse.BooleanOptionalAction,
        help="try a kernel; by default up to 5000 rows to learn from",
    )
    group.add_argument(
        "--selection",
        choices=("best", "one_se"),
        default="best",
        help="penalty of the best cross-validated score, or the largest within a standard error",
    )
    group.add_argument(
        "--folds",
        type=int,
        metavar="N",
        help="default: 5, or as many as the rarest class has rows",
    )
    group.add_argument("--seed", type=int, default=0, help="seed of what is held out and of folds")
    group.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads; -1 for all")


def _kind(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not equals or not name or kind not in _KINDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be COLUMN=KIND with a kind among {', '.join(_KINDS)}"
        )
    return name, kind


def run(args: argparse.Namespace) -> int:
    """Fit, test, write; nothing is written before everything is done."""
    from clearning.report import summary_facts
    from clearning.tables.files import read_table
    from clearning.tables.fit import fit_table
    from clearning.tables.options import FitOptions

    options = FitOptions(
        target=args.target,
        test=args.test,
        time=args.time,
        group=args.group,
        weight=args.weight,
        kinds=_by_name(args.kinds),
        kernel=args.kernel,
        selection=args.selection,
        folds=args.folds,
        seed=args.seed,
        jobs=args.jobs,
    )
    _check_outputs(args.out, args.table)
    model = fit_table(read_table(args.table), options, args.table, _speaker(args.json))
    model.record["command"] = command_line(args)
    written = [str(path) for path in write_all(model, args.out)]
    facts = summary_facts(model)
    lines = [facts["sentence"], f"wrote {', '.join(written)}"]
    tell(lines, {**facts, "written": written}, args.json)
    return 0


def _by_name(kinds: list[tuple[str, str]]) -> dict[str, str]:
    from clearning.tables.errors import TableError, quoted

    found = dict(kinds)
    for name, kind in kinds:
        if found[name] != kind:
            raise TableError(f"--as takes column {quoted(name)} as {kind} and as {found[name]}.")
    return found


def write_all(model: Any, folder: Path) -> list[Path]:
    """Write model, report and predictions: everything is made before the first file is touched."""
    from clearning._whole import whole_file
    from clearning.report import render_report
    from clearning.tables.model import model_bytes
    from clearning.tables.predictions import held_out_predictions

    table = BytesIO()
    held_out_predictions(model).write_parquet(table)
    contents = (model_bytes(model), render_report(model).encode("utf-8"), table.getvalue())
    paths = [folder / name for name in _OUTPUTS]
    with ExitStack() as opened:
        for path, content in zip(paths, contents):
            file = opened.enter_context(whole_file(path))
            file.write(content)
            file.flush()  # a full disk is met before the first file takes its place
        for path in paths:
            check_output(path, [])
    return paths


def _check_outputs(folder: Path, table: Path) -> None:
    """Refuse a folder that cannot take the files, before the work is done."""
    check_folder(folder)
    for name in _OUTPUTS:
        check_output(folder / name, [table])
    folder.mkdir(parents=True, exist_ok=True)


def _speaker(as_json: bool) -> Any:
    return (lambda line: None) if as_json else say


def command_line(args: argparse.Namespace) -> str:
    """The command that would do the same again."""
    words = ["clearning", "fit", str(args.table), "--target", args.target]
    for name, kind in args.kinds:
        words += ["--as", f"{name}={kind}"]
    for option in ("weight", "time", "group"):
        if getattr(args, option) is not None:
            words += [f"--{option}", getattr(args, option)]
    if args.kernel is not None:
        words.append("--kernel" if args.kernel else "--no-kernel")
    for option, default in (("test", 0.25), ("selection", "best"), ("folds", None), ("seed", 0)):
        if getattr(args, option) != default:
            words += [f"--{option}", str(getattr(args, option))]
    return shlex.join(words)
