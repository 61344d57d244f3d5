"""Fuzzes the package: `python fuzz --seed 1 --minutes 5`, or `--index` for one problem again.

Draws problems, judges every answer by plain NumPy objectives, makes what breaks small and prints it
as a program. Ends with status 1 if anything broke.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from judge import MEANING, Failure
from kinds import draw
from problems import Problem
from shrink import reproduction, shrink
from workers import Judged, judge_all, judge_apart

# Infinite gaps are allowed once in so many fits.
FITS_PER_INFINITE_GAP = 10_000
# Seconds after which the counts are written again.
WRITTEN_EVERY = 60.0


class Tally:
    """Counts by kind of problem and of failure, and the first examples of each failure."""

    def __init__(self) -> None:
        self.problems: Counter[str] = Counter()
        self.broken: Counter[tuple[str, str]] = Counter()
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.stalled: list[int] = []
        self.infinite: list[int] = []

    def add(self, judged: Judged) -> None:
        verdict = judged.verdict
        self.problems[judged.kind] += 1
        self.counts.update(
            fits=verdict.fits,
            unconverged=verdict.unconverged,
            stalled=verdict.stalled,
            infinite=verdict.infinite,
        )
        if verdict.stalled:
            self.stalled.append(judged.index)
        if verdict.infinite:
            self.infinite.append(judged.index)
        for failure in {f.kind: f for f in reversed(verdict.failures)}.values():
            self.broken[failure.kind, judged.kind] += 1
            self.examples[failure.kind].append((judged.index, failure.message))

    @property
    def too_many_infinite(self) -> bool:
        return self.counts["infinite"] > max(1, self.counts["fits"] / FITS_PER_INFINITE_GAP)

    @property
    def failed(self) -> bool:
        return bool(self.broken) or self.too_many_infinite

    def to_json(self) -> dict[str, Any]:
        broken = [[*kinds, count] for kinds, count in self.broken.items()]
        counted = {"problems": self.problems, "counts": self.counts, "broken": broken}
        listed = {"stalled": self.stalled, "infinite": self.infinite, "examples": self.examples}
        return {**counted, **listed}

    def write(self, file: str, asked: argparse.Namespace, seconds: float) -> None:
        """Keep the counts in a file that is whole at any time."""
        run = {"seed": asked.seed, "from": asked.start, "jobs": asked.jobs, "seconds": seconds}
        part = Path(f"{file}.part")
        part.write_text(json.dumps({"run": run, **self.to_json()}, indent=1))
        part.replace(file)


def print_table(tally: Tally, seconds: float) -> None:
    kinds = [name for name, _ in tally.problems.most_common()]
    print(f"\n{sum(tally.problems.values())} problems in {seconds / 60:.1f} minutes")
    failures = sorted({failure for failure, _ in tally.broken}, key=list(MEANING).index)
    width = max(map(len, ["problems", *failures])) + 1
    print(" " * width + "".join(f"{name:>{len(name) + 2}}" for name in kinds))
    rows = {"problems": tally.problems}
    for failure in failures:
        rows[failure] = Counter({kind: tally.broken[failure, kind] for kind in kinds})
    for name, row in rows.items():
        print(f"{name:<{width}}" + "".join(f"{row[kind]:>{len(kind) + 2}}" for kind in kinds))
    counts = tally.counts
    print(
        f"{counts['fits']} fits: {counts['unconverged']} not converged, of which "
        f"{counts['stalled']} far from it (problems {tally.stalled[:5]}); "
        f"{counts['infinite']} gaps of infinity (problems {tally.infinite[:5]})"
        + (f", more than 1 in {FITS_PER_INFINITE_GAP}" if tally.too_many_infinite else "")
    )
    for failure in failures:
        indices = [index for index, _ in tally.examples[failure]]
        print(f"{failure}: {MEANING[failure]}. Problems {indices[:10]}")


def print_small(seed: int, index: int, failure: Failure) -> None:
    """Shrink a problem and print it as a program."""

    def again(smaller: Problem) -> list[str]:
        """What is said where the same breaks; words of another error are another failure."""
        found = [f.message for f in judge_apart(smaller) if f.kind == failure.kind]
        in_words = failure.kind in ("exception", "refused", "blames another")
        start = failure.message[:25] if in_words else ""
        return [message for message in found if message.startswith(start)]

    problem = draw(seed, index)
    # What depends on chance, as a crash may, is not shrunk.
    small = shrink(problem, lambda smaller: bool(again(smaller))) if again(problem) else problem
    said = [*again(small), failure.message]
    print(f"\n# {failure.kind} (seed {seed}, problem {index}): {said[0]}")
    print(reproduction(small), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first problem")
    parser.add_argument("--count", type=int, default=10**9, help="how many problems at most")
    parser.add_argument("--minutes", type=float, default=3.0, help="for how long at most")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--shrink", type=int, default=1, help="examples to print, each")
    parser.add_argument("--index", type=int, help="judge and shrink this problem alone")
    parser.add_argument("--json", help="file for the counts, written every minute")
    asked = parser.parse_args()
    tally, started = Tally(), time.monotonic()
    if asked.index is not None:
        failures = {f.kind: f for f in judge_apart(draw(asked.seed, asked.index))}
        for failure in failures.values():
            print_small(asked.seed, asked.index, failure)
        return int(bool(failures))
    written = started
    for judged in judge_all(asked.seed, asked.count, asked.minutes, asked.jobs, asked.start):
        tally.add(judged)
        done = sum(tally.problems.values())
        if sys.stderr.isatty() and done % 100 == 0:
            broken = sum(tally.broken.values())
            print(f"\r{done} problems, {broken} broken", end="", file=sys.stderr)
        if asked.json and time.monotonic() - written > WRITTEN_EVERY:
            written = time.monotonic()
            tally.write(asked.json, asked, written - started)
    seconds = time.monotonic() - started
    if asked.json:
        tally.write(asked.json, asked, seconds)
    for failure, examples in tally.examples.items():
        for index, message in examples[: asked.shrink]:
            print_small(asked.seed, index, Failure(failure, message))
    print_table(tally, seconds)
    return int(tally.failed)


if __name__ == "__main__":
    sys.exit(main())
