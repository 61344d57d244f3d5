"""`clearning reproduce`: the paper's tables and figures by one command."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from clearning import __version__
from clearning.datasets import DatasetError
from clearning.experiments.document import to_html, to_markdown
from clearning.experiments.protocol import FULL, QUICK, Protocol
from clearning.experiments.report import write_report
from clearning.experiments.results import ResultStore, Task, run, write_text
from clearning.experiments.sets import SETTINGS, load, set_tasks
from clearning.experiments.simulations import simulation_tasks
from clearning.experiments.studies import STUDIED, study_tasks
from clearning.experiments.summary import summarise

PARTS = ("simulations", *SETTINGS, "figures")


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "reproduce",
        help="regenerate the paper's tables and figures",
        description="Regenerate the tables and figures of Section 5 of the paper on real data. An "
        "interrupted run goes on where it stopped.",
    )
    parser.add_argument("part", nargs="?", default="all", choices=("all", *PARTS))
    parser.add_argument("--quick", action="store_true", help="a small sample, under two minutes")
    parser.add_argument("--jobs", type=_positive, default=None, metavar="N", help="processes")
    parser.add_argument("--seed", type=int, default=FULL.seed, help="seed of all random choices")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("clearning-reproduce"),
        metavar="DIR",
        help="folder for results (default: %(default)s)",
    )
    parser.set_defaults(run=main)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def main(args: argparse.Namespace) -> int:
    """Run the experiments asked for and write the report; return the exit status."""
    import joblib

    _require_matplotlib()
    protocol = replace(QUICK if args.quick else FULL, seed=args.seed)
    parts = PARTS if args.part == "all" else (args.part,)
    jobs = args.jobs or joblib.cpu_count()
    missing = _find_missing(protocol, parts)
    present = tuple(name for name in protocol.sets if name not in missing)
    tasks = _plan(protocol, parts, present)
    if not tasks:
        raise OSError(f"no data set could be found: {next(iter(missing.values()))}")
    store = ResultStore(args.out / f"tasks-{protocol.fingerprint()}")
    outcomes = run(tasks, store, jobs, label="Reproducing the paper")
    written = _write(args.out, protocol, outcomes, missing)
    print(f"Wrote {', '.join(str(path) for path in written)}.")
    return 0


def _require_matplotlib() -> None:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(
            "`clearning reproduce` draws figures with matplotlib: pip install 'clearning[plots]'"
        ) from error
    mpl.use("Agg")


def _find_missing(protocol: Protocol, parts: tuple[str, ...]) -> dict[str, str]:
    """Load every set once, before any work, and return why some are not to be had."""
    missing = {}
    wanted = protocol.sets if set(parts) & set(SETTINGS) else STUDIED if "figures" in parts else ()
    for name in wanted:
        try:
            load(name)
        except DatasetError as error:
            missing[name] = str(error)
            print(f"clearning: {name} is left out: {error}", file=sys.stderr)
    return missing


def _plan(protocol: Protocol, parts: tuple[str, ...], present: tuple[str, ...]) -> list[Task]:
    tasks = []
    if "simulations" in parts:
        tasks += simulation_tasks(protocol)
    for setting in SETTINGS:
        if setting in parts:
            tasks += set_tasks(protocol, setting, present)
    if "figures" in parts:
        tasks += study_tasks(protocol, present)
    # The longest first, so that no process is left with one at the end.
    return sorted(tasks, key=lambda task: not task.key.startswith("convergence"))


def _write(
    out: Path, protocol: Protocol, outcomes: dict[str, Any], missing: dict[str, str]
) -> list[Path]:
    from matplotlib import pyplot as plt

    from clearning.experiments.pictures import all_pictures, as_image, as_svg

    tables = summarise(protocol, outcomes)
    figures = all_pictures(tables, outcomes)
    images = {title: as_image(figure) for title, figure in figures.items()}
    for number, figure in enumerate(figures.values(), start=1):
        write_text(out / "figures" / f"{number}.svg", as_svg(figure) + "\n")
        plt.close(figure)
    document = write_report(protocol, tables, missing, images)
    results = {
        "version": __version__,
        "protocol": asdict(protocol),
        "missing": missing,
        "tables": tables,
        "tasks": outcomes,
    }
    files = {
        "results.json": json.dumps(results, indent=1, sort_keys=True) + "\n",
        "report.html": to_html(document),
        "report.md": to_markdown(document),
    }
    for name, text in files.items():
        write_text(out / name, text)
    return [out / name for name in files]
