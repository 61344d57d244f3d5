"""`clearning demo`: what the package is for, on data that come with scikit-learn or are drawn."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clearning.commands._common import say
from clearning.commands._outputs import check_folder


def add_parser(subparsers: Any) -> None:
    """Add the `demo` command to the `clearning` parser."""
    parser = subparsers.add_parser(
        "demo",
        help="fit, compare and draw on embedded data, and write one HTML page",
        description="A wide problem, a curved one, three classes and a proof, beside logistic "
        "regression and calibrated SVMs: tables, pictures, and one HTML page that shows them all.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("clearning-demo"),
        metavar="DIR",
        help="folder for the page and its pictures (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="small data and coarse grids")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the demo and return the exit status."""
    check_folder(args.out)
    args.out.mkdir(parents=True, exist_ok=True)
    _tell("Loading the libraries …")
    import matplotlib as mpl
    from threadpoolctl import threadpool_limits

    from clearning.demo import contest, page, pictures, problems, proof

    mpl.use("Agg")
    parts: list[tuple[Any, pictures.Draw]] = [
        (problems.wide, pictures.draw_wide),
        (problems.curved, pictures.draw_curved),
        (problems.three_classes, pictures.draw_three_classes),
    ]
    _tell(
        "Three contests and a proof, a minute or two. Every method is tuned by five-fold\n"
        "cross-validation; its row appears once it is fitted."
    )
    sections = []
    # The data are small: threads inside BLAS would only get in each other's way.
    with threadpool_limits(limits=1, user_api="blas"):
        for prepare, draw in parts:
            problem = prepare(quick=args.quick)
            _show(problem.title, problem.note, contest.HEADINGS, _cells(problem.run()))
            for words in problem.warned:
                _tell(textwrap.fill(words, 88))
            sections.append((problem, draw(problem, args.out)))
        shown = proof.Proof()
        _show(proof.TITLE, proof.NOTE, proof.HEADINGS, shown.run())
    _tell(f"\nAll of it on one page: {page.write_page(sections, shown, args.out)}")
    return _report(args.out)


def _cells(rows: Iterable[Any]) -> Iterator[tuple[str, ...]]:
    return (row.cells() for row in rows)


def _show(title: str, note: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a part: what it is, then each row as soon as it is there."""
    _tell(f"\n{title}\n{textwrap.fill(note, 88)}\n{_line(headings)}")
    for row in rows:
        _tell(_line(row))


def _report(folder: Path) -> int:
    """Write the table as a file and do with it what `clearning fit` does."""
    if find_spec("polars") is None or find_spec("pyarrow") is None or find_spec("skops") is None:
        _tell("For the report of a table: pip install 'clearning[tables]'")
        return 0
    import polars as pl
    from sklearn.datasets import load_breast_cancer

    from clearning.cli import main

    data = load_breast_cancer()
    table = pl.DataFrame(data.data, schema=[str(name) for name in data.feature_names])
    diagnosis = pl.Series("diagnosis", data.target_names[data.target])
    path = folder / "breast-cancer.csv"
    table.with_columns(diagnosis).write_csv(path)
    _tell(
        f"\n5. From a file to a decision\n$ clearning fit {path} --target diagnosis --out {folder}"
    )
    status = main(["fit", str(path), "--target", "diagnosis", "--out", str(folder)])
    if status == 0:
        _tell(f"\nThe page to act on: {folder / 'report.html'}")
    return status


def _tell(lines: str) -> None:
    for line in lines.split("\n"):
        say(line)


def _line(cells: Sequence[str]) -> str:
    first, *others = cells
    widths = (12, 10, 22, 13, 9) if len(others) == 5 else (12, 12, 28, 24)
    return f"  {first:<32}" + "".join(f"{cell:>{width}}" for cell, width in zip(others, widths))
