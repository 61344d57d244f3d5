"""Peak memory beyond the design while a path of 100 penalties is computed.

    python benchmarks/memory.py

Read from the kernel's high-water mark, which is reset just before the call.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import runner
import scipy.sparse as sp
from report import Section, Table, Target, note
from workloads import load

LAYOUTS = {
    "column-major": np.asfortranarray,
    "row-major": np.ascontiguousarray,
    "float32": lambda X: np.asfortranarray(X, dtype=np.float32),
    "CSC": sp.csc_array,
    "CSR": sp.csr_array,
}
CONVERTED = ("row-major", "CSR")
CASES = [
    *[(name, layout) for name in ("200x20000", "100000x100") for layout in list(LAYOUTS)[:3]],
    *[("sparse20000x50000", layout) for layout in list(LAYOUTS)[3:]],
]


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def peak(name: str, layout: str) -> dict:
    """Bytes of the design, of what is returned, and of the peak above the state before."""
    from clearning import clearning_path

    small = load("40x30")
    clearning_path(LAYOUTS["column-major"](small.X), small.y, loss="logistic", alphas=3)
    workload = load(name)
    X, y = LAYOUTS[layout](workload.X), workload.y
    workload = None
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    before = _status("VmRSS")
    path = clearning_path(X, y, loss="logistic", l1_ratio=1.0, tol=1e-6)
    beyond = _status("VmHWM") - before
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return {
        "design": sum(part.nbytes for part in parts),
        "coefs": path.coefs.nbytes
        if isinstance(path.coefs, np.ndarray)
        else path.coefs.data.nbytes,
        "beyond": beyond,
    }


def section(cases=tuple(CASES)) -> Section:
    result = Section("Peak memory beyond the design")
    result.text(
        "Megabytes, logistic path of 100, l1_ratio 1; `coefs` is the table of coefficients that is "
        "returned and part of `beyond`."
    )
    table = Table(["workload", "layout", "design", "coefs", "beyond", "beyond / design"])
    for name, layout in cases:
        note(f"memory of {name}, {layout}")
        worker = runner.Worker(peak, threads=1)
        try:
            found = worker(name, layout, limit=600.0)
        except (runner.Failed, runner.TimedOut) as error:
            table.add(name, layout, str(error), "", "", "")
            continue
        finally:
            worker.close()
        ratio = found["beyond"] / found["design"]
        megabytes = [f"{found[key] / 1e6:.1f}" for key in ("design", "coefs", "beyond")]
        table.add(name, layout, *megabytes, f"{ratio:.2f}")
        if layout in CONVERTED:
            what = f"memory beyond the design, {name}, {layout}, in designs"
            result.targets.append(Target(what, 1.2, ratio))
    result.table(table)
    return result


def main(argv: list[str] | None = None) -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(argv)
    print(section())


if __name__ == "__main__":
    main()
