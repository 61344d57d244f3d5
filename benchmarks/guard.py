"""Instruction counts of three small fixed workloads, compared with those kept in guard.json.

    python benchmarks/guard.py            fails where a count rose by more than 2%
    python benchmarks/guard.py --update   keeps the counts of this build

Counts repeat to a fraction of a percent where seconds do not, so that a slower core is seen. They
depend on the compiler; guard.json says which one they are from.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
KEPT = HERE / "guard.json"
ALLOWED = 1.02


def wide():
    """A path where features outnumber samples: residual updates and screening."""
    from workloads import gaussian_design

    from clearning import clearning_path

    X, y = gaussian_design(50, 1000)
    return lambda: clearning_path(X, y, loss="logistic", l1_ratio=1.0, alphas=50)


def tall():
    """A path where samples outnumber features: Gram updates."""
    from workloads import gaussian_design

    from clearning import clearning_path

    X, y = gaussian_design(2000, 40)
    return lambda: clearning_path(X, y, loss="coherence", l1_ratio=0.5, alphas=50)


def kernel():
    """A kernel path: second-order steps on the active block."""
    from workloads import kernel_data, rbf

    from clearning import kernel_clearning_path

    X, y = kernel_data(150)
    K = rbf(X, X, 0.05)
    K = (K + K.T) / 2.0
    return lambda: kernel_clearning_path(K, y, loss="coherence", l1_ratio=0.5, alphas=20)


WORKLOADS = {"wide": wide, "tall": tall, "kernel": kernel}


def count_here(switch: str) -> None:
    """Runs under valgrind: every workload once to warm up, once under the counter."""
    counter = ctypes.CDLL(switch)
    calls = {name: prepare() for name, prepare in WORKLOADS.items()}
    for name, call in calls.items():
        call()
        gc.collect()
        gc.disable()
        counter.start_counting()
        call()
        counter.stop_counting(name.encode())
        gc.enable()


def count() -> dict[str, int]:
    """Instructions by workload, counted in a process of its own under valgrind."""
    for tool in ("valgrind", "cc"):
        if shutil.which(tool) is None:
            raise SystemExit(f"guard: {tool} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        switch = Path(folder) / "switch.so"
        source = HERE / "callgrind_switch.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", switch, source], check=True)
        output = Path(folder) / "out"
        command = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            "--dump-line=no",
            f"--callgrind-out-file={output}",
            sys.executable,
            __file__,
            "--count-here",
            str(switch),
        ]
        answer = subprocess.run(command, env=_environment(), capture_output=True, text=True)
        if answer.returncode:
            raise SystemExit(answer.stderr[-2000:])
        return _read(output)


def _environment() -> dict[str, str]:
    fixed = {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc"}
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **fixed, **dict.fromkeys(threads, "1")}


def _read(output: Path) -> dict[str, int]:
    counts = {}
    for path in output.parent.glob(output.name + ".*"):
        text = path.read_text()
        trigger = re.search(r"^desc: Trigger: Client Request: (\w+)", text, re.M)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
        if trigger and total:
            counts[trigger[1]] = int(total[1])
    if set(counts) != set(WORKLOADS):
        raise SystemExit(f"guard: counted {sorted(counts)}, expected {sorted(WORKLOADS)}")
    return {name: counts[name] for name in WORKLOADS}


def compiler() -> str:
    answer = subprocess.run(["c++", "--version"], capture_output=True, text=True)
    return answer.stdout.splitlines()[0] if answer.returncode == 0 else "unknown"


def compare(kept: dict[str, int], found: dict[str, int]) -> bool:
    """Prints the counts; true when none rose by more than is allowed."""
    good = True
    for name, now in found.items():
        before = kept.get(name)
        if before is None:
            print(f"{name:8s} {now:15,d}  new")
            continue
        slower = now > ALLOWED * before
        good &= not slower
        print(f"{name:8s} {now:15,d}  {now / before:6.3f} of {before:,d}{'  SLOWER' * slower}")
    return good


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="keep the counts of this build")
    parser.add_argument("--count-here", metavar="LIBRARY", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.count_here:
        count_here(arguments.count_here)
        return
    found = count()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"compiler": "none", "counts": {}}
    if kept["compiler"] != compiler() and not arguments.update:
        print(f"kept counts are from {kept['compiler']}; this is {compiler()}")
    good = compare(kept["counts"], found)
    if arguments.update:
        KEPT.write_text(json.dumps({"compiler": compiler(), "counts": found}, indent=2) + "\n")
    elif not good:
        raise SystemExit(f"guard: more than {ALLOWED - 1:.0%} more instructions than kept")


if __name__ == "__main__":
    main()
