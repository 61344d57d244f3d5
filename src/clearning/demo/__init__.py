"""`clearning demo`: the main job on data that come with scikit-learn and on one of the paper's."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the `demo` command to the `clearning` parser."""
    parser = subparsers.add_parser(
        "demo",
        help="fit, compare and draw on embedded data, and write one HTML page",
        description="Linear and kernel C-learning beside logistic regression and a calibrated SVM: "
        "a table, pictures, and one HTML page that shows them all.",
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
    import matplotlib as mpl
    from threadpoolctl import threadpool_limits

    from clearning.demo.contest import HEADINGS, contests
    from clearning.demo.page import write_page
    from clearning.demo.pictures import draw

    mpl.use("Agg")
    args.out.mkdir(parents=True, exist_ok=True)
    sections = []
    # The data are small: threads inside BLAS would only get in each other's way.
    with threadpool_limits(limits=1, user_api="blas"):
        for contest in contests(quick=args.quick):
            print(f"\n{contest.title}\n{_line(HEADINGS)}")
            for row in contest.run():
                print(_line(row.cells()), flush=True)
            sections.append((contest, draw(contest, args.out)))
    print(f"\nAll of it on one page: {write_page(sections, args.out)}")
    _report(args.out)
    return 0


def _report(folder: Path) -> None:
    """Write the table as a file and do with it what `clearning fit` does."""
    if find_spec("polars") is None or find_spec("pyarrow") is None or find_spec("skops") is None:
        print("For the report of a table: pip install 'clearning[tables]'")
        return
    import polars as pl
    from sklearn.datasets import load_breast_cancer

    from clearning.cli import main

    data = load_breast_cancer()
    table = pl.DataFrame(data.data, schema=[str(name) for name in data.feature_names])
    diagnosis = pl.Series("diagnosis", data.target_names[data.target])
    path = folder / "breast-cancer.csv"
    table.with_columns(diagnosis).write_csv(path)
    print(f"\n$ clearning fit {path} --target diagnosis --out {folder}")
    main(["fit", str(path), "--target", "diagnosis", "--out", str(folder)])
    print(f"\nThe page to act on: {folder / 'report.html'}")


def _line(cells: tuple[str, ...]) -> str:
    first, *others = cells
    return f"  {first:<34}" + "".join(f"{cell:>{width}}" for cell, width in zip(others, _WIDTHS))


_WIDTHS = (12, 10, 13, 20, 13, 9)
