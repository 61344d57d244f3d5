"""The `clearning` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from clearning import __version__, demo
from clearning.experiments import command as reproduce


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `clearning` command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="clearning",
        description="Large-margin classification with probabilities and certificates.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(metavar="command", title="commands")
    demo.add_parser(subparsers)
    reproduce.add_parser(subparsers)
    args = parser.parse_args(argv)
    if "run" not in args:
        parser.print_help()
        return 0
    try:
        return args.run(args)
    except KeyboardInterrupt:
        print("clearning: interrupted", file=sys.stderr)
        return 130
    except (OSError, ImportError) as error:
        print(f"clearning: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
