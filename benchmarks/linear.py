"""Linear problems, logistic loss, side by side: paths of 100 penalties, or single cold fits.

    python benchmarks/linear.py --only 72x7129,200x20000 --l1-ratio 1 --peers glmnet-r,adelie

A solver is given the loosest tolerance of its ladder whose worst point is within 1e-6 (relative)
of the best objective known; ours, the loosest at which it proves that itself. In brackets what
falls short.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from statistics import median

import runner
from matched import Bench, Problem, Reference, cell, fastest_rival, ratio
from peers import ON_PATHS, OURS, PEERS, clock
from report import Section, Table, Target, note, number
from workloads import LINEAR, Missing, load


def measure(
    bench: Bench, names: list[str], l1_ratios: list[float], peers: list[str], grid: str
) -> Iterator[tuple[Problem, dict[str, dict]]]:
    for l1_ratio in l1_ratios:
        for name in names:
            try:
                load(name)
            except Missing as reason:
                print(f"skipped: {name} ({reason})")
                continue
            problem = Problem(name, l1_ratio, grid)
            yield problem, bench.outcomes(problem, peers)


def table(rows: list[tuple[Problem, dict[str, dict]]], peers: list[str]) -> Table:
    labels = [PEERS[peer].label for peer in peers]
    result = Table(
        ["workload", "l1_ratio", *labels, "fastest peer", "ours / it", "proved / true", "reference"]
    )
    for problem, outcomes in rows:
        share, rival = ratio(outcomes), fastest_rival(outcomes)
        result.add(
            problem.workload,
            f"{problem.l1_ratio:g}",
            *[cell(outcomes.get(peer)) for peer in peers],
            PEERS[rival].label if rival else "none",
            "–" if share is None else f"{share:.2f}",
            spread(outcomes.get(OURS, {}).get("looseness", [])),
            f"{Reference(problem).gap:.0e}",
        )
    return result


def targets(rows: list[tuple[Problem, dict[str, dict]]], *, most: float) -> list[Target]:
    """One line a workload: our seconds as a share of the fastest equally accurate peer's."""
    found = []
    for problem, outcomes in rows:
        what = f"{problem.grid} {problem.workload}, l1_ratio {problem.l1_ratio:g}, of fastest peer"
        found.append(Target(what, most, ratio(outcomes)))
        loose = outcomes.get(OURS, {}).get("looseness", [])
        if problem.grid == "path" and loose:
            found += tightness(problem.workload, problem.l1_ratio, loose)
    return found


def tightness(workload: str, l1_ratio: float, loose: list[float]) -> list[Target]:
    """What a proof may be above the error that it bounds."""
    pure, where = l1_ratio == 1.0, f"{workload}, l1_ratio {l1_ratio:g}"
    middle = Target(
        f"proved gap / true error, {where}, median", 10.0 if pure else 3.0, median(loose)
    )
    if pure:
        return [middle]
    return [middle, Target(f"proved gap / true error, {where}, worst", 20.0, max(loose))]


def spread(loose: list[float]) -> str:
    """Median and worst, and over how many penalties."""
    if not loose:
        return "–"
    return f"{median(loose):.1f}, {max(loose):.2g} ({len(loose)})"


def section(
    title: str,
    *,
    names: list[str],
    l1_ratios: list[float],
    peers: list[str],
    grid: str = "path",
    threads: int = 1,
    most: float = 0.5,
    **options,
) -> Section:
    """A chapter of RESULTS.md."""
    bench = Bench(threads, **options)
    rows = []
    for row in measure(bench, names, l1_ratios, peers, grid):
        rows.append(row)
        show(*row)
    result = Section(title)
    result.text(
        "Seconds (smallest of several) and, in parentheses, the largest relative suboptimality; "
        "in brackets what misses 1e-6. Ours are seconds to a gap of 1e-6 that is proved at every "
        "penalty; the peers prove nothing and are measured. Proved / true: our gap over the true "
        "error, median and worst, over the penalties (their number in parentheses) where the error "
        "is more than ten times the gap of the reference, which is the last column. " + LABELS_NOTE
    )
    installed = [peer for peer in peers if bench.available(peer)]
    result.table(table(rows, installed))
    for peer in installed:
        if PEERS[peer].compiles:
            seconds = bench.compile_seconds(peer)
            result.text(f"{PEERS[peer].label} compiles at its first call: {number(seconds)} s.")
    for peer, reason in bench.missing.items():
        result.text(f"Missing: {PEERS[peer].label} ({reason}).")
    result.targets = targets(rows, most=most) if bench.available(OURS) else []
    bench.close()
    return result


def both_losses(name: str, l1_ratio: float, tol: float, repeats: int) -> dict[str, float]:
    """Smallest seconds of our path by loss, each on its own grid, taken in turns."""
    from clearning import clearning_path

    workload = load(name)
    seconds: dict[str, list[float]] = {"logistic": [], "coherence": []}
    while len(seconds["coherence"]) < repeats or _cheap(seconds["coherence"]):
        for loss, taken in seconds.items():
            start = clock()
            clearning_path(workload.X, workload.y, loss=loss, l1_ratio=l1_ratio, tol=tol)
            taken.append(clock() - start)
    return {loss: min(taken) for loss, taken in seconds.items()}


def _cheap(taken: list[float]) -> bool:
    return sum(taken) < 1.0 and len(taken) < 20


def loss_section(names: list[str], l1_ratios: list[float], *, repeats: int = 5) -> Section:
    """The C-loss against our own logistic loss."""
    result = Section("C-loss (ρ = 1, u = 1) against our logistic loss, one thread")
    result.text("Paths of 100 penalties, each on its own grid, certified to 1e-6.")
    header = ["workload", "l1_ratio", "logistic", "C-loss", "ratio"]
    seconds = Table(header)
    worker = runner.Worker(both_losses, threads=1)
    for name in names:
        for l1_ratio in l1_ratios:
            what = f"C-loss {name}, l1_ratio {l1_ratio:g}, of logistic"
            note(what)
            try:
                found = worker(name, l1_ratio, 1e-6, repeats, limit=600.0)
            except (runner.Failed, runner.TimedOut) as error:
                seconds.add(name, f"{l1_ratio:g}", str(error), "", "")
                result.targets.append(Target(what, 1.2, None))
                continue
            share = found["coherence"] / found["logistic"]
            cells = [number(spent) for spent in found.values()]
            seconds.add(name, f"{l1_ratio:g}", *cells, f"{share:.2f}")
            result.targets.append(Target(what, 1.2, share))
    worker.close()
    result.table(seconds)
    return result


LABELS_NOTE = (
    "celer and Snap ML have no intercept and are measured against the optimum without one; "
    "pybiglasso and PICASSO take dense data only; LIBLINEAR penalises "
    "the intercept, which a scaling of 1e4 makes small, and starts cold at every penalty."
)


def show(problem: Problem, outcomes: dict[str, dict]) -> None:
    gap = Reference(problem).gap
    print(f"{problem.workload}, l1_ratio {problem.l1_ratio:g} (reference certified to {gap:.0e})")
    for peer, outcome in outcomes.items():
        tol = f"tol {outcome['tol']:.0e}" if "tol" in outcome else ""
        print(f"    {PEERS[peer].label:22s} {cell(outcome):38s} {tol}")
    share, rival = ratio(outcomes), fastest_rival(outcomes)
    print(f"    ours / {rival}: {'–' if share is None else f'{share:.2f}'}", flush=True)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(LINEAR), help="workloads, comma-separated")
    parser.add_argument("--l1-ratio", default="1,0.5", help="comma-separated")
    parser.add_argument("--peers", default=",".join(ON_PATHS), help="comma-separated")
    parser.add_argument("--grid", choices=("path", "single"), default="path")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one path")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--reuse-peers", action="store_true", help="peers' seconds from the cache")
    arguments = parser.parse_args(argv)
    bench = Bench(
        arguments.threads,
        reuse_peers=arguments.reuse_peers,
        limit=arguments.limit,
        repeats=arguments.repeats,
    )
    start = time.perf_counter()
    names, peers = arguments.only.split(","), arguments.peers.split(",")
    l1_ratios = [float(text) for text in arguments.l1_ratio.split(",")]
    rows = []
    for row in measure(bench, names, l1_ratios, peers, arguments.grid):
        rows.append(row)
        show(*row)
    for peer, reason in bench.missing.items():
        print(f"missing: {peer} ({reason})")
    print()
    print(table(rows, [peer for peer in peers if bench.available(peer)]))
    print(f"{time.perf_counter() - start:.0f} s")
    bench.close()


if __name__ == "__main__":
    main()
