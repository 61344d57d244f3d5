"""The `clearning` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from clearning import __version__, demo
from clearning.commands import explain, export, fit, predict, report
from clearning.commands._common import open_closed_outputs, speaking
from clearning.experiments import command as reproduce

# Modules that only describe their command; each imports what it needs when it runs.
_COMMANDS = (fit, predict, explain, report, export, demo, reproduce)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `clearning` command and return its exit status.

    0 is success, 1 a failure told in one sentence, 2 a wrong use of the command, 130 an interrupt.
    """
    open_closed_outputs()
    parser = argparse.ArgumentParser(
        prog="clearning",
        description="Large-margin classification with probabilities and certificates.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(metavar="command", title="commands")
    for command in _COMMANDS:
        command.add_parser(subparsers)
    args = parser.parse_args(argv)
    if "run" not in args:
        parser.print_help()
        return 0
    try:
        status = args.run(args)
        with speaking():
            return status
    except KeyboardInterrupt:
        print("clearning: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python's last flush must find an open end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ImportError, ValueError, MemoryError) as error:
        print(f"clearning: {_sentence(error)}", file=sys.stderr)
        return 1


def _sentence(error: BaseException) -> str:
    """An error as one line."""
    words = " ".join(str(error).split())
    return words or type(error).__name__


if __name__ == "__main__":
    sys.exit(main())
