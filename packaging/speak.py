"""Run a quiet command and say what it is at: `speak.py "what it does" -m pip install …`.

Lines of pip and of the compiler that tell of progress are shown short; everything else only where
the command fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

COMPILING = re.compile(r"\[(\d+)/(\d+)\] Building")
FETCHING = re.compile(r"^\s*(?:Collecting|Building wheel for|Installing collected packages)")
SECONDS = 5.0  # between two lines


def main(what: str, arguments: list[str]) -> int:
    print(f"{what} …", flush=True)
    begun = told = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    kept = []
    for line in process.stdout:
        kept.append(line)
        if (news := progress(line)) and time.monotonic() - told > SECONDS:
            told = time.monotonic()
            print(f"  {told - begun:3.0f} s  {news}", flush=True)
    if status := process.wait():
        print("".join(kept[-80:]), file=sys.stderr)
    return status


def progress(line: str) -> str:
    """What a line of the command's output tells, in a few words; nothing where it tells nothing."""
    if found := COMPILING.search(line):
        return f"compiling the core: {found[1]} of {found[2]} files"
    return " ".join(line.split()[:3]) if FETCHING.match(line) else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
