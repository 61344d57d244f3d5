"""`clearning reproduce`: the paper's tables and figures by one command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clearning.commands._common import say, warn
from clearning.commands._outputs import check_folder

PARTS = ("simulations", "features", "kernels", "figures")


def add_parser(subparsers: Any) -> None:
    """Add the command to `clearning`."""
    parser = subparsers.add_parser(
        "reproduce",
        help="regenerate the paper's tables and figures",
        description="Regenerate the tables and figures of Section 5 of the paper on real data. An "
        "interrupted run goes on where it stopped.",
    )
    parser.add_argument(
        "part", nargs="?", default="all", choices=("all", *PARTS), help="default: all"
    )
    parser.add_argument("--quick", action="store_true", help="a small sample, under two minutes")
    parser.add_argument("--jobs", type=_positive, default=None, metavar="N", help="processes")
    parser.add_argument("--seed", type=int, default=2012, help="seed of all random choices")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("clearning-reproduce"),
        metavar="DIR",
        help="folder for results (default: %(default)s)",
    )
    parser.set_defaults(run=_run)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def _run(args: argparse.Namespace) -> int:
    check_folder(args.out)
    # Imported on use: other commands should not wait for it.
    from clearning.experiments.reproduce import reproduce

    parts = PARTS if args.part == "all" else (args.part,)
    try:
        written = reproduce(parts, args.out, quick=args.quick, jobs=args.jobs, seed=args.seed)
    except KeyboardInterrupt:
        warn("interrupted; the same command goes on from here")
        return 130
    say(f"Wrote {', '.join(str(path) for path in written)}.")
    return 0
