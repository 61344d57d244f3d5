"""Threads that never hurt: a path with no thread variables set, beside two busy processes.

    python benchmarks/threads.py

Everybody's wall time is of the same minute; what counts is the ratio to the same path with one
thread asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

from report import Section, Table, Target, number, targets_table
from runner import THREAD_VARIABLES
from workloads import Missing, load

WORKLOADS = {"leukemia": 0.1, "62x2000": 1.0, "1000x1000": 0.5, "5000x500": 0.5}
ROUNDS = 5
MOST = 1.5
_PROGRAM = """
import sys, time
from clearning import clearning_path
from workloads import load

workload, l1_ratio = load(sys.argv[1]), float(sys.argv[2])
for _ in range(3):
    start = time.perf_counter()
    clearning_path(workload.X, workload.y, loss="logistic", l1_ratio=l1_ratio)
    print(time.perf_counter() - start)
"""


@contextmanager
def busy_neighbours(count: int = 2):
    """So many processes that do nothing but turn."""
    turning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in turning:
            process.kill()
            process.wait()


def wall_seconds(name: str, l1_ratio: float, threads: int | None) -> float:
    """The median of three paths in a process of its own; None sets no variable."""
    environment = {key: v for key, v in os.environ.items() if key not in THREAD_VARIABLES}
    if threads is not None:
        environment.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM, name, str(l1_ratio)],
        env=environment,
        cwd=os.path.dirname(os.path.abspath(__file__)),
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(map(float, answer.stdout.split()))[1]


def section() -> Section:
    result = Section("Threads: no variables set, two busy processes beside it")
    result.text(f"Wall seconds of a path of 100 penalties, medians over {ROUNDS} rounds in turn.")
    table = Table(["workload", "l1_ratio", "variables unset", "one thread", "ratio"])
    for name, l1_ratio in WORKLOADS.items():
        try:
            load(name)
        except Missing as reason:
            result.text(f"Skipped: {name} ({reason}).")
            continue
        free, single = [], []
        with busy_neighbours():
            for _ in range(ROUNDS):
                free.append(wall_seconds(name, l1_ratio, None))
                single.append(wall_seconds(name, l1_ratio, 1))
        unset, one = sorted(free)[ROUNDS // 2], sorted(single)[ROUNDS // 2]
        table.add(name, f"{l1_ratio:g}", number(unset), number(one), f"{unset / one:.2f}")
        what = f"threads unset {name}, l1_ratio {l1_ratio:g}, of one thread's wall time"
        result.targets.append(Target(what, MOST, unset / one))
    result.table(table)
    return result


if __name__ == "__main__":
    found = section()
    print(found)
    print(targets_table(found.targets))
