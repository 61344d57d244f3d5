"""Rows in blocks: passes, seconds and memory, against memory and against those who also stream.

    make bench-blocks               # 1e5, 1e6 and 3e6 rows, written to results-blocks.md
    .venv/bin/python benchmarks/blocks.py --rows 15e6 --limit 3      # 12 GB of rows under 3 GB

Every measurement is a process of its own. Memory is the largest that was its own (pages of mapped
files are the system's, which takes them back); `--limit` is a limit on it, in gigabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
COLUMNS, PENALTIES, FOLDS = 100, 50, 5
CHUNK = 100_000


def make_rows(folder: Path, n: int) -> None:
    """Write autocorrelated columns by rows, and labels that twenty of them explain."""
    target = folder / f"{n}.X"
    if (folder / f"{n}.done").exists():
        return
    rng = np.random.default_rng(0)
    coef = np.zeros(COLUMNS)
    coef[rng.choice(COLUMNS, 20, replace=False)] = rng.normal(0, 1, 20)
    X = np.memmap(target, np.float64, "w+", shape=(n, COLUMNS))
    y = np.memmap(folder / f"{n}.y", np.int8, "w+", shape=(n,))
    for start in range(0, n, CHUNK):
        Z = rng.standard_normal((min(CHUNK, n - start), COLUMNS))
        for j in range(1, COLUMNS):
            Z[:, j] = 0.5 * Z[:, j - 1] + np.sqrt(0.75) * Z[:, j]
        X[start : start + len(Z)] = Z
        y[start : start + len(Z)] = rng.random(len(Z)) < 1 / (1 + np.exp(-Z @ coef))
    X.flush(), y.flush()
    (folder / f"{n}.done").touch()


def rows_of(folder: Path, n: int):
    X = np.memmap(folder / f"{n}.X", np.float64, "r", shape=(n, COLUMNS))
    return X, np.fromfile(folder / f"{n}.y", np.int8)


# --- What is measured: functions of (X, y, threads) that return what they have to tell ---


def reading(X, y, threads):
    total = sum(float(X[i : i + CHUNK].sum()) for i in range(0, len(X), CHUNK))
    return {"sum": total}


def block_path(X, y, threads, folds=1):
    """A path on all rows, with cross-validation where there are folds."""
    from clearning._blocks.checkpoint import Checkpoint
    from clearning._blocks.fit import BlockFit, Options, Reading
    from clearning._blocks.sources import make_engine, make_source
    from clearning._problem import Grid, Penalty, Settings
    from clearning.losses import Logistic

    engine, n_threads = make_engine(make_source(X, y), threads)
    fit = BlockFit(engine, Reading(None, True, folds, 0), Checkpoint(None, None), n_threads)
    settings = Settings(1e-6, 50)
    found = fit.solve(
        Options(Logistic(), 1.0, Grid(None, PENALTIES), Penalty(), True, False, settings)
    )
    gaps = found.state.gap / found.null.objective[:, None]
    return {
        "passes": fit.passes,
        "gap": float(gaps.max()),
        "alphas": found.problem.alphas.tolist(),
        "objectives": found.state.objective[0].tolist(),
    }


def block_cv(X, y, threads):
    return block_path(X, y, threads, FOLDS)


def memory_path(X, y, threads):
    from clearning import clearning_path

    X = np.asfortranarray(X)
    start = time.perf_counter()
    path = clearning_path(X, y, loss="logistic", alphas=PENALTIES, l1_ratio=1.0)
    return {"seconds": time.perf_counter() - start, "objectives": path.objectives.tolist()}


def exact_path(X, y, threads):
    from clearning import clearning_path

    path = clearning_path(
        np.asfortranarray(X), y, loss="logistic", alphas=PENALTIES, l1_ratio=1.0, tol=1e-11
    )
    return {"objectives": path.objectives.tolist()}


MIDDLE = 1e-3  # one penalty for those who do one at a time


def one_objective(X, y, coef, intercept):
    loss = 0.0
    for i in range(0, len(X), CHUNK):
        z = np.where(y[i : i + CHUNK] > 0, 1, -1) * (X[i : i + CHUNK] @ coef + intercept)
        loss += np.logaddexp(0, -z).sum()
    return loss / len(X) + MIDDLE * np.abs(coef).sum()


def block_one(X, y, threads):
    from clearning import BlockwiseCLearningClassifier

    model = BlockwiseCLearningClassifier(
        loss="logistic", alpha=MIDDLE, l1_ratio=1.0, n_jobs=threads
    )
    model.fit(X, y)
    return {"passes": model.n_iter_, "objective": model.objective_, "gap": model.dual_gap_}


def stochastic_one(X, y, threads):
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", penalty="l1", alpha=MIDDLE, random_state=0, average=True)
    start = time.perf_counter()
    for _ in range(10):
        for i in range(0, len(X), CHUNK):
            model.partial_fit(X[i : i + CHUNK], y[i : i + CHUNK], classes=[0, 1])
    seconds = time.perf_counter() - start
    objective = one_objective(X, y, model.coef_[0], model.intercept_[0])
    return {"seconds": seconds, "passes": 10, "objective": objective}


def dask_ml_one(X, y, threads):
    import dask
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression

    model = LogisticRegression(
        penalty="l1", C=1 / (MIDDLE * len(X)), solver="proximal_grad", max_iter=100
    )
    lazy, labels = da.from_array(X, chunks=(CHUNK, -1)), da.from_array(y, chunks=CHUNK)
    start = time.perf_counter()
    with dask.config.set(scheduler="threads", num_workers=threads):
        model.fit(lazy, labels)
    seconds = time.perf_counter() - start
    objective = one_objective(X, y, np.ravel(model.coef_), float(model.intercept_))
    return {"seconds": seconds, "objective": objective}


MEASURES = {
    "reading": reading,
    "path of 50": block_path,
    "five folds": block_cv,
    "path of 50 in memory": memory_path,
    "exact": exact_path,
    "one penalty": block_one,
    "SGDClassifier, 10 passes": stochastic_one,
    "dask-ml, proximal gradient": dask_ml_one,
}


# --- One process a measurement ---


class Peak:
    """The largest memory that was the process's own, looked at ten times a second."""

    def __init__(self) -> None:
        self.kilobytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            status = Path("/proc/self/status").read_text()
            own = int(status.partition("RssAnon:")[2].split()[0])
            self.kilobytes = max(self.kilobytes, own)
            if self._stop.wait(0.1):
                return


def here(name: str, folder: Path, n: int, threads: int, limit: float) -> None:
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit * 2**30),) * 2)
    X, y = rows_of(folder, n)
    with Peak() as peak:
        start, work = time.perf_counter(), time.process_time()
        told = MEASURES[name](X, y, threads)
        told["work"] = time.process_time() - work
        told.setdefault("seconds", time.perf_counter() - start)
    print(json.dumps({**told, "gigabytes": peak.kilobytes / 2**20}))


def measure(name: str, folder: Path, n: int, threads: int = 2, limit: float = 0.0) -> dict:
    """Run one measurement; what failed tells its last line."""
    command = [sys.executable, __file__, "--one", name, "--folder", str(folder)]
    command += ["--rows", str(n), "--threads", str(threads), "--limit", str(limit)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        return {"error": (run.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(run.stdout.strip().splitlines()[-1])


# --- The tables ---


def row(name: str, n: int, threads: int, told: dict) -> str:
    if "error" in told:
        return f"| {n:.0e} | {threads} | {name} | – | – | – | – | {told['error'][:80]} |"
    extra = ""
    if "gap" in told:
        extra = f"gap {told['gap']:.1e}"
    if "above" in told:
        extra += f"{', ' if extra else ''}{told['above']:+.1e} above the best known"
    passes = told.get("passes", "–")
    return (
        f"| {n:.0e} | {threads} | {name} | {passes} | {told['seconds']:.1f} | {told['work']:.1f} "
        f"| {told['gigabytes']:.2f} | {extra} |"
    )


HEAD = [
    "| rows | threads | what | passes | seconds | processor seconds | GB | |",
    "|---|---|---|---|---|---|---|---|",
]


def table(folder: Path, n: int, limit: float, peers: bool) -> list[str]:
    """Measure everything at so many rows."""
    make_rows(folder, n)
    lines = []
    path = None
    for name, threads in (("reading", 1), ("path of 50", 1), ("path of 50", 2), ("five folds", 2)):
        told = measure(name, folder, n, threads, limit)
        path = told if name == "path of 50" else path
        lines.append(row(name, n, threads, told))
        print(lines[-1], flush=True)
    if n <= 1_000_000:
        told = measure("path of 50 in memory", folder, n)
        lines.append(row("path of 50 in memory", n, 1, told))
        print(lines[-1], flush=True)
    if peers:
        lines += peer_rows(folder, n, path)
    return lines


def peer_rows(folder: Path, n: int, path: dict | None) -> list[str]:
    lines = []
    best = None
    for name in ("one penalty", "SGDClassifier, 10 passes", "dask-ml, proximal gradient"):
        told = measure(name, folder, n)
        best = told.get("objective") if name == "one penalty" else best
        if best is not None and "objective" in told and name != "one penalty":
            told["above"] = told["objective"] - best
        lines.append(row(name, n, 2, told))
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", choices=MEASURES)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "bench-blocks")
    parser.add_argument("--rows", nargs="+", type=float, default=[1e5, 1e6, 3e6])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=0.0)
    parser.add_argument("--peers-up-to", type=float, default=1e6)
    parser.add_argument("--out", type=Path)
    told = parser.parse_args()
    if told.one:
        here(told.one, told.folder, int(told.rows[0]), told.threads, told.limit)
        return
    told.folder.mkdir(parents=True, exist_ok=True)
    lines = list(HEAD)
    for n in map(int, told.rows):
        lines += table(told.folder, n, told.limit, n <= told.peers_up_to)
    if told.out:
        told.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
