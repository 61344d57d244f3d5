"""How time grows with n and p: tables and log–log plots, with the slopes.

python benchmarks/growth.py --part p --largest 100000
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import runner
from peers import OURS, PEERS, Unavailable, clock
from report import Section, Table, Target, note, number
from workloads import kernel_data, load, rbf

PLOTS = Path(__file__).with_name("plots")
SIZES = {
    "n": [1000, 10_000, 100_000, 1_000_000],
    "p": [1000, 10_000, 100_000, 1_000_000],
    "kernel": [250, 500, 1000, 2000, 4000, 8000],
    "kernel-path": [400, 800, 1600, 3200],
    "landmarks": [5000, 20_000, 50_000, 200_000],
}
TITLES = {
    "n": "Path of 100 penalties, p = 100",
    "p": "Path of 100 penalties, n = 100",
    "kernel": "Kernel fit, all samples as support",
    "kernel-path": "Kernel path of 50 penalties to 1e-4, all samples as support",
    "landmarks": "Kernel fit, 500 landmarks",
}
STEEPEST = {"n": 1.1, "p": 1.1, "kernel-path": 2.2}
PEER = "adelie"
PEER_TOLERANCE = 1e-9

# ---------------------------------------------------------------- inside the worker


def linear_seconds(solver: str, part: str, size: int, repeats: int) -> float:
    name = f"{size}x100" if part == "n" else f"100x{size}"
    workload = load(name)
    adapter = PEERS[solver](1)
    adapter.prepare(workload)
    # The same stretch of the path everywhere, so that only the size differs.
    alphas = workload.alphas(1.0)[0] * np.logspace(0, -2, 100)
    tol = 1e-6 if solver == OURS else PEER_TOLERANCE
    return min(adapter.path(alphas, 1.0, tol).seconds for _ in range(repeats))


def kernel_path_seconds(solver: str, part: str, size: int, repeats: int) -> float:
    """The path alone, with the matrix given; prints its Newton steps and support vectors."""
    from clearning import kernel_clearning_path

    X, y = kernel_data(size)
    K = rbf(X, X, 1.0 / 40.0)
    K = (K + K.T) / 2.0
    seconds = []
    for _ in range(repeats):
        start = clock()
        path = kernel_clearning_path(K, y, l1_ratio=0.5, alphas=50, alpha_min_ratio=1e-4)
        seconds.append(clock() - start)
    assert path.converged.all()
    print(f"{part} {size}: {path.n_iters.sum()} steps, {path.n_nonzero[-1]} support vectors")
    return min(seconds)


def kernel_seconds(solver: str, part: str, size: int, repeats: int) -> float:
    from clearning import KernelCLearningClassifier

    X, y = kernel_data(size)
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            model = KernelCLearningClassifier(
                gamma=1.0 / 40.0,
                alpha=1.0 / size,
                l1_ratio=0.1,
                n_landmarks=500 if part == "landmarks" else None,
                tol=1e-4,
            )
            start = clock()
            model.fit(X, y)
            seconds.append(clock() - start)
    return min(seconds)


# ---------------------------------------------------------------- outside


def curve(solver: str, part: str, sizes: list[int], *, limit: float, repeats: int) -> dict:
    """Seconds by size, as far as the limit allows."""
    functions = {"n": linear_seconds, "p": linear_seconds, "kernel-path": kernel_path_seconds}
    function = functions.get(part, kernel_seconds)
    found: dict[int, float] = {}
    for size in sizes:
        note(f"growth in {part}: {solver}, {size}")
        worker = runner.Worker(function, threads=1)
        try:
            found[size] = worker(solver, part, size, repeats, limit=limit)
        except (runner.Failed, runner.TimedOut) as error:
            print(f"growth in {part}: {solver} at {size}: {error}")
            break
        finally:
            worker.close()
    return found


def slope(seconds: dict[int, float]) -> float | None:
    """Exponent between the smallest size that takes a hundredth of a second and the largest."""
    sizes = [size for size, spent in seconds.items() if spent > 0.01]
    if len(sizes) < 2:
        return None
    first, last = sizes[0], sizes[-1]
    return float(np.log(seconds[last] / seconds[first]) / np.log(last / first))


def plot(part: str, curves: dict[str, dict[int, float]]) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for solver, seconds in curves.items():
        axes.loglog(list(seconds), list(seconds.values()), marker="o", label=solver)
    ours = curves[OURS]
    if ours:
        sizes = np.array([min(ours), max(ours)], dtype=float)
        anchor = max(ours)
        axes.loglog(sizes, ours[anchor] * sizes / anchor, "k:", linewidth=1, label="linear")
    axes.set_xticks(SIZES[part], [f"{size:,}" for size in SIZES[part]])
    axes.tick_params(which="minor", labelbottom=False, labelleft=False)
    axes.set_xlabel("p" if part == "p" else "n")
    axes.set_ylabel("seconds")
    axes.set_title(TITLES[part], fontsize="medium")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    PLOTS.mkdir(exist_ok=True)
    path = PLOTS / f"growth-{part}.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


def section(parts: dict[str, list[int]], *, limit: float = 600.0, repeats: int = 2) -> Section:
    result = Section("Growth, one thread")
    for part, sizes in parts.items():
        curves = {OURS: curve(OURS, part, sizes, limit=limit, repeats=repeats)}
        if part in ("n", "p") and _installed(PEER):
            curves[PEER] = curve(PEER, part, sizes, limit=limit, repeats=repeats)
        result.text(f"**{TITLES[part]}**, seconds:")
        table = Table(["", *[f"{size:,}" for size in sizes], "slope"])
        for solver, seconds in curves.items():
            cells = [number(seconds[size]) if size in seconds else "–" for size in sizes]
            exponent = slope(seconds)
            table.add(solver, *cells, "–" if exponent is None else f"{exponent:.2f}")
        result.table(table)
        if part in STEEPEST:
            what = f"growth in {part}, exponent"
            result.targets.append(Target(what, STEEPEST[part], slope(curves[OURS])))
        path = plot(part, curves)
        result.text(f"![{TITLES[part]}]({path.parent.name}/{path.name})")
    return result


def _installed(peer: str) -> bool:
    try:
        PEERS[peer].version()
    except Unavailable:
        return False
    return True


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=tuple(SIZES), default=None)
    parser.add_argument("--largest", type=int, default=10**9)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one point")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args(argv)
    parts = {
        part: [size for size in sizes if size <= arguments.largest]
        for part, sizes in SIZES.items()
        if arguments.part in (None, part)
    }
    print(section(parts, limit=arguments.limit, repeats=arguments.repeats))


if __name__ == "__main__":
    main()
