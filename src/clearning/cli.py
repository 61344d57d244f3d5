"""The `clearning` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from clearning import __version__, demo
from clearning.commands import explain, export, fit, predict, report
from clearning.commands._common import open_outputs, speaking, warn
from clearning.experiments import command as reproduce

# Modules that only describe their command; each imports what it needs when it runs.
_COMMANDS = (fit, predict, explain, report, export, demo, reproduce)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `clearning` command and return its exit status.

    0 is success, 1 a failure told in one sentence, 2 a wrong use of the command, 130 an interrupt.
    """
    open_outputs()
    parser = argparse.ArgumentParser(
        prog="clearning",
        description="Large-margin classification with probabilities and certificates.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(metavar="command", title="commands")
    for command in _COMMANDS:
        command.add_parser(subparsers)
    try:
        args = parser.parse_args(argv)
        if "run" not in args:
            parser.print_help()
            return 0
    finally:
        with speaking(sys.stdout):
            pass  # the parser prints help by itself
    try:
        return args.run(args)
    except KeyboardInterrupt:
        warn("interrupted")
        return 130
    except (OSError, ImportError, ValueError, MemoryError) as error:
        warn(_sentence(error))
        return 1


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error) or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
