"""Rows in blocks: passes, seconds and memory, against memory and against those who also stream.

    make bench-blocks                             # 1e5, 1e6 and 1e7 rows
    make bench-blocks ROWS="15e6" LIMIT=3         # 12 GB of rows under 3 GB

Every measurement is a process of its own, and what was measured before is kept in the folder of the
rows. `--limit` is in gigabytes: it limits the process's own memory, and the system is told once a
second to forget the rows' file, so that no more of it is kept than a machine of that size would.
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

from block_measures import MEASURES, RowsOnDisk

HERE = Path(__file__).parent
PEERS = (
    "one penalty",
    "one penalty, SGDClassifier",
    "one penalty, dask-ml",
    "one penalty, Spark",
    "path of 50, pybiglasso",
)


# --- One process a measurement ---


class Watch(threading.Thread):
    """Looks ten times a second at the process's memory: its own, and with mapped pages."""

    def __init__(self, rows: RowsOnDisk, limited: bool) -> None:
        super().__init__(daemon=True)
        self.own = self.all = 0
        self._rows, self._limited = rows, limited
        self._stop_asked = threading.Event()

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop_asked.set()
        self.join()

    def run(self) -> None:
        for tick in range(sys.maxsize):
            status = Path("/proc/self/status").read_text()
            self.own = max(self.own, int(status.partition("RssAnon:")[2].split()[0]))
            self.all = max(self.all, int(status.partition("VmRSS:")[2].split()[0]))
            if self._limited and tick % 10 == 0:
                self._rows.forget()
            if self._stop_asked.wait(0.1):
                return


def here(name: str, rows: RowsOnDisk, threads: int, limit: float) -> None:
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit * 2**30),) * 2)
    if name.endswith("from the disk"):
        rows.forget()
    with Watch(rows, limit > 0) as watch:
        start, work = time.perf_counter(), time.process_time()
        told = MEASURES[name](rows, threads)
        told.setdefault("work", time.process_time() - work)
        told.setdefault("seconds", time.perf_counter() - start)
    print(json.dumps({**told, "own": watch.own / 2**20, "all": watch.all / 2**20}))


def measure(name: str, rows: RowsOnDisk, threads: int, limit: float) -> dict:
    """Return what one measurement told, now or before; what failed tells its last line."""
    kept = rows.folder / f"{rows.n}, {name}, {threads} threads, limit {limit:g}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    command = [sys.executable, __file__, "--one", name, "--folder", str(rows.folder)]
    command += ["--rows", str(rows.n), "--threads", str(threads), "--limit", str(limit)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        return {"error": (run.stderr.strip().splitlines() or ["killed"])[-1]}
    told = json.loads(run.stdout.strip().splitlines()[-1])
    kept.write_text(json.dumps(told))
    return told


# --- The tables ---

HEAD = [
    "| rows | threads | what | passes | seconds | processor seconds | µs a row | own GB "
    "| with mapped pages | |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def line(name: str, n: int, threads: int, told: dict) -> str:
    start = f"| {n:.3g} | {threads} | {name} |".replace("e+0", "e")
    if "error" in told:
        return f"{start} – | – | – | – | – | – | {told['error'][:80]} |"
    work = told["work"] + told.get("workers_work", 0.0)
    extra = [f"gap {told['gap']:.1e}"] if "gap" in told else []
    extra += [f"workers {told['workers']:.2f} GB"] if "workers" in told else []
    extra += [f"{told['above']:+.1e} above ours"] if "above" in told else []
    return (
        f"{start} {told.get('passes', '–')} | {told['seconds']:.1f} | {work:.1f} "
        f"| {1e6 * work / n:.1f} | {told['own']:.2f} | {told['all']:.2f} | {', '.join(extra)} |"
    )


def plans(n: int, limit: float, peers: bool) -> list[tuple[str, int, float]]:
    """Return what is measured at so many rows: names, threads and limits."""
    ours = [("reading, from the disk", 1, limit), ("reading, from memory", 1, 0.0)]
    ours += [("path of 50", 2, limit), ("five folds", 2, limit)]
    if limit:
        return ours
    ours += [("path of 50", 1, 0.0)]
    if n <= 1_000_000:
        ours += [("path of 50 in memory", 1, 0.0)]
        ours += [("path of 50, four classes", 2, 0.0), ("five folds, four classes", 2, 0.0)]
        ours += [("five folds on Dask", workers, 0.0) for workers in (1, 2)]
    return ours + [(name, 2, 0.0) for name in PEERS if peers]


def table(rows: RowsOnDisk, limit: float, peers: bool) -> list[str]:
    """Measure everything at so many rows."""
    rows.make()
    lines, best = [], None
    for name, threads, limited in plans(rows.n, limit, peers):
        told = measure(name, rows, threads, limited)
        if name == "one penalty":
            best = told.get("objective")
        elif best is not None and "objective" in told:
            told["above"] = told["objective"] - best
        lines.append(line(name, rows.n, threads, told))
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", choices=MEASURES)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "bench-blocks")
    parser.add_argument("--rows", nargs="+", type=float, default=[1e5, 1e6, 1e7])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=0.0)
    parser.add_argument("--peers-up-to", type=float, default=1e6)
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    if told.one:
        here(told.one, RowsOnDisk(told.folder, int(told.rows[0])), told.threads, told.limit)
        return
    print("\n".join(HEAD))
    for n in map(int, told.rows):
        table(RowsOnDisk(told.folder, n), told.limit, n <= told.peers_up_to)


if __name__ == "__main__":
    main()
