"""The `clearning` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from clearning import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `clearning` command and return its exit status."""
    parser = argparse.ArgumentParser(prog="clearning", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    parser.parse_args(argv)
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
