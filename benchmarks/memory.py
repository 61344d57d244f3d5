"""Peak memory: of a path of 100 penalties beyond its design, and of kernel fits.

    python benchmarks/memory.py

Read from the kernel's high-water mark, which is reset just before the call.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import runner
import scipy.sparse as sp
from report import Section, Table, Target
from workloads import kernel_data, load

LAYOUTS = {
    "column-major": np.asfortranarray,
    "row-major": np.ascontiguousarray,
    "float32": lambda X: np.asfortranarray(X, dtype=np.float32),
    "CSC": sp.csc_array,
    "CSR": sp.csr_array,
}
CONVERTED = ("row-major", "CSR")
LIMIT = 600.0  # seconds
CASES = [
    *[(name, layout) for name in ("200x20000", "100000x100") for layout in list(LAYOUTS)[:3]],
    *[("sparse20000x50000", layout) for layout in list(LAYOUTS)[3:]],
]
# l1_ratio and alpha of fits at n = 2000: those that have to stay small, and one with most samples
# as support vectors, for the record.
N_KERNEL = 2000
KERNEL_FITS = [(0.0, 1e-4), (0.5, 1e-4), (1.0, 1e-4)]
KERNEL_EXTREME = (0.1, 1e-5)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def high_water(call):
    """What the call returns, and the bytes of its peak above the state before."""
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    before = _status("VmRSS")
    answer = call()
    return answer, _status("VmHWM") - before


def kernel_peak(l1_ratio: float, alpha: float) -> dict:
    """Peak of a kernel fit, its kernel matrix included, in kernel matrices."""
    from clearning import KernelCLearningClassifier

    X, y = kernel_data(N_KERNEL)
    KernelCLearningClassifier().fit(X[:50], y[:50])
    model = KernelCLearningClassifier(n_landmarks=None, l1_ratio=l1_ratio, alpha=alpha)
    model, peak = high_water(lambda: model.fit(X, y))
    return {"matrices": peak / (8 * N_KERNEL**2), "support": len(model.support_)}


def peak(name: str, layout: str) -> dict:
    """Bytes of the design, of what is returned, and of the peak above the state before."""
    from clearning import clearning_path

    small = load("40x30")
    clearning_path(LAYOUTS["column-major"](small.X), small.y, loss="logistic", alphas=3)
    workload = load(name)
    X, y = LAYOUTS[layout](workload.X), workload.y
    workload = None
    path, beyond = high_water(lambda: clearning_path(X, y, loss="logistic", l1_ratio=1.0, tol=1e-6))
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return {
        "design": sum(part.nbytes for part in parts),
        "coefs": path.coefs.nbytes
        if isinstance(path.coefs, np.ndarray)
        else path.coefs.data.nbytes,
        "beyond": beyond,
    }


def section(cases=tuple(CASES)) -> Section:
    result = Section("Peak memory")
    result.text(
        "Megabytes, logistic path of 100, l1_ratio 1; `coefs` is the table of coefficients, which "
        "is made when it is asked for: `beyond` has its non-zeros only."
    )
    table = Table(["workload", "layout", "design", "coefs", "beyond", "beyond / design"])
    for name, layout in cases:
        found = runner.ask(peak, name, layout, limit=LIMIT)
        if "failure" in found:
            table.add(name, layout, found["failure"], "", "", "")
            continue
        ratio = found["beyond"] / found["design"]
        megabytes = [f"{found[key] / 1e6:.1f}" for key in ("design", "coefs", "beyond")]
        table.add(name, layout, *megabytes, f"{ratio:.2f}")
        if layout in CONVERTED:
            what = f"memory beyond the design, {name}, {layout}, in designs"
            result.targets.append(Target(what, 1.2, ratio))
    result.table(table)
    result.text(
        f"A kernel fit's peak at n = {N_KERNEL}, its kernel matrix included, in kernel matrices:"
    )
    table = Table(["l1_ratio", "alpha", "support", "peak"])
    for l1_ratio, alpha in [*KERNEL_FITS, KERNEL_EXTREME]:
        found = runner.ask(kernel_peak, l1_ratio, alpha, limit=LIMIT)
        if "failure" in found:
            table.add(f"{l1_ratio:g}", f"{alpha:g}", "", found["failure"])
            continue
        matrices = found["matrices"]
        table.add(f"{l1_ratio:g}", f"{alpha:g}", str(found["support"]), f"{matrices:.2f}")
        if (l1_ratio, alpha) in KERNEL_FITS:
            what = (
                f"peak of a kernel fit, n = {N_KERNEL}, l1_ratio {l1_ratio:g}, in kernel matrices"
            )
            result.targets.append(Target(what, 1.5, matrices))
    result.table(table)
    return result


def main(argv: list[str] | None = None) -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(argv)
    print(section())


if __name__ == "__main__":
    main()
