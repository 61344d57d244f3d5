"""Paths of 100 penalties, logistic loss: seconds and worst suboptimality, side by side.

    python benchmarks/linear.py --only 72x7129,200x20000 --l1-ratio 1 --peers glmnet-r,adelie

A solver is given the loosest tolerance of its ladder whose worst point on the path is within 1e-6
(relative) of the best objective known; in brackets what falls short of that.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from functools import lru_cache

import numpy as np
import runner
from objective import (
    logistic_bounds,
    logistic_objectives,
    path_penalties,
    path_scores,
    worst_suboptimality,
)
from peers import PEERS, Peer, Unavailable
from report import Table, number
from workloads import LINEAR, Missing, Workload, load

TARGET = 1e-6
OURS = "clearning"
REFERENCE_TOLERANCES = {OURS: 1e-11, "adelie": 1e-15, "glmnet-r": 1e-15}
REFERENCE_GAP = 3e-7
REFERENCE_LIMIT = 300.0
START = 45.0  # seconds a worker may need for imports, data and compiling

# ---------------------------------------------------------------- inside the worker

_load = lru_cache(maxsize=1)(load)
_adapter: dict[str, tuple[str, Peer]] = {}


def _prepared(peer: str, workload: Workload, threads: int) -> Peer:
    """The solver's adapter, holding this workload's data."""
    held = _adapter.get(peer)
    if held is None or held[0] != workload.name:
        if held is not None:
            held[1].close()
        solver = PEERS[peer](threads)
        if solver.compiles:
            _warm_up(solver)
        solver.prepare(workload)
        _adapter[peer] = (workload.name, solver)
    return _adapter[peer][1]


def _warm_up(solver: Peer) -> None:
    """Compile what the solver compiles at its first calls."""
    for name in ("40x30", "sparse200x300"):
        small = load(name)
        solver.prepare(small)
        for l1_ratio in (1.0, 0.5):
            solver.path(small.alphas(l1_ratio, n_alphas=3), l1_ratio, 1e-4)


def solve_path(
    peer: str, name: str, l1_ratio: float, tol: float, repeats: int, *, threads: int, intercept=True
) -> dict:
    """Times one solver at one tolerance and values its path."""
    workload = _load(name)
    alphas = workload.alphas(l1_ratio)
    solver = _prepared(peer, workload, threads)
    solution = solver.path(alphas, l1_ratio, tol, intercept=intercept)
    seconds = [solution.seconds]
    while len(seconds) < repeats or (repeats > 1 and sum(seconds) < 0.5 and len(seconds) < 20):
        seconds.append(solver.path(alphas, l1_ratio, tol, intercept=intercept).seconds)
    found = len(solution.intercepts)
    alphas = alphas[:found]
    scores = path_scores(workload.X, solution.coefs, solution.intercepts)
    penalties = path_penalties(solution.coefs, alphas, l1_ratio)
    objectives = logistic_objectives(scores, workload.signs, penalties)
    bounds = logistic_bounds(
        workload.X, scores, workload.signs, alphas, l1_ratio, intercept=intercept
    )
    return {
        "seconds": seconds,
        "objectives": objectives.tolist(),
        "bounds": bounds.tolist(),
        "nonzeros": int((abs(solution.coefs) > 0).sum(axis=1).max()),
    }


def first_call(peer: str, *, threads: int) -> float:
    """Seconds by which the first call on a small dense problem exceeds the second."""
    solver, small = PEERS[peer](threads), load("40x30")
    solver.prepare(small)
    alphas = small.alphas(1.0, n_alphas=3)
    first, second = (solver.path(alphas, 1.0, 1e-4).seconds for _ in range(2))
    return first - second


# ---------------------------------------------------------------- outside


class Reference:
    """Best objective per penalty that any solver reached, and the best lower bound, on disk."""

    def __init__(self, name: str, l1_ratio: float, intercept: bool):
        self.key = {"workload": name, "l1_ratio": l1_ratio, "intercept": intercept}
        stored = runner.recall("reference", **self.key)
        self.objectives = np.array(stored["objectives"]) if stored else None
        self.bounds = np.array(stored["bounds"]) if stored else None
        self.solvers = set(stored["solvers"]) if stored else set()

    def absorb(self, outcome: dict, solver: str | None = None) -> None:
        """Keep what an outcome improves; named solvers are not asked again."""
        if solver is not None:
            self.solvers.add(solver)
        if len(outcome["objectives"]) == len(outcome["bounds"]) == 100:
            objectives, bounds = np.array(outcome["objectives"]), np.array(outcome["bounds"])
            if self.objectives is not None:
                objectives = np.fmin(objectives, self.objectives)
                bounds = np.fmax(bounds, self.bounds)
            self.objectives, self.bounds = objectives, bounds
        if self.objectives is not None:
            runner.remember(
                {
                    "objectives": self.objectives.tolist(),
                    "bounds": self.bounds.tolist(),
                    "solvers": sorted(self.solvers),
                },
                "reference",
                **self.key,
            )

    @property
    def gap(self) -> float:
        """Certified: no solver can be better than the reference by more than this (relative)."""
        return float(np.max((self.objectives - self.bounds) / self.objectives))

    def suboptimality(self, outcome: dict) -> float:
        if len(outcome["objectives"]) < 100:
            return math.inf
        return worst_suboptimality(outcome["objectives"], self.objectives)


class Bench:
    """Workers and what they have measured, for one number of threads."""

    def __init__(self, threads: int, *, reuse_peers: bool, limit: float, repeats: int):
        self.threads, self.reuse_peers = threads, reuse_peers
        self.limit, self.repeats = limit, repeats
        self.versions: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.workers: dict[str, runner.Worker] = {}
        self.compile_seconds: dict[str, float] = {}

    def available(self, peer: str) -> bool:
        if peer not in self.versions and peer not in self.missing:
            try:
                self.versions[peer] = PEERS[peer].version()
            except Unavailable as error:
                self.missing[peer] = str(error)
        return peer in self.versions

    def ask(self, peer: str, *args, limit: float, **kwargs) -> dict:
        worker = self.workers.get(peer)
        if worker is None:
            worker = self.workers[peer] = runner.Worker(solve_path, threads=self.threads)
        return worker(peer, *args, limit=limit, threads=self.threads, **kwargs)

    def reference(self, name: str, l1_ratio: float, *, intercept=True) -> Reference:
        reference = Reference(name, l1_ratio, intercept)
        for peer, tol in REFERENCE_TOLERANCES.items():
            if peer in reference.solvers or not self.available(peer):
                continue
            if reference.objectives is not None and reference.gap < REFERENCE_GAP:
                break
            note(f"reference by {peer} at {tol:g}")
            try:
                outcome = self.ask(
                    peer, name, l1_ratio, tol, 1, limit=REFERENCE_LIMIT, intercept=intercept
                )
            except (runner.TimedOut, runner.Failed) as error:
                note(f"reference by {peer}: {error}")
                continue
            reference.absorb(outcome, peer)
        if reference.objectives is None:
            raise SystemExit(f"no solver for the reference of {name}: install adelie or glmnet")
        return reference

    def accepted(self, peer: str, name: str, l1_ratio: float, *, limit: float) -> dict:
        """The outcome at the loosest tolerance that reaches the target, else the best one."""
        key = {
            "peer": peer,
            "version": self.versions[peer],
            "workload": name,
            "l1_ratio": l1_ratio,
            "threads": self.threads,
        }
        if self.reuse_peers and peer != OURS:
            stored = runner.recall("linear", **key)
            if stored is not None:
                return stored
        outcome = self._climb(peer, name, l1_ratio, limit)
        if peer != OURS:
            runner.remember(outcome, "linear", **key)
        return outcome

    def _climb(self, peer: str, name: str, l1_ratio: float, limit: float) -> dict:
        solver = PEERS[peer]
        if l1_ratio != 1.0 and not solver.elastic_net:
            return {"failure": "no elastic net"}
        intercept = solver.fits_intercept
        reference = self.reference(name, l1_ratio, intercept=intercept)
        best: dict = {}
        for tol in solver.tolerances:
            note(f"{peer} at {tol:g}")
            try:
                outcome = self.ask(
                    peer, name, l1_ratio, tol, 1, limit=limit + START, intercept=intercept
                )
            except runner.TimedOut:
                return best or {"failure": f"over {limit:.0f} s"}
            except runner.Failed as error:
                return best or {"failure": str(error)}
            reference.absorb(outcome)
            found = reference.suboptimality(outcome)
            if not best or found < best["suboptimality"]:
                best = {"tol": tol, "seconds": min(outcome["seconds"]), "suboptimality": found}
                best["objectives"] = outcome["objectives"]
                best["nonzeros"] = outcome["nonzeros"]
            if found <= TARGET:
                return self._repeated(best, peer, name, l1_ratio, intercept)
            if outcome["seconds"][0] > limit:
                break
        return best

    def _repeated(self, best: dict, peer: str, name: str, l1_ratio: float, intercept) -> dict:
        repeats = self.repeats if best["seconds"] < 20 else 1
        outcome = self.ask(
            peer, name, l1_ratio, best["tol"], repeats, limit=600, intercept=intercept
        )
        return {**best, "seconds": min(best["seconds"], *outcome["seconds"])}

    def compile_time(self, peer: str) -> float | None:
        """Asked in a fresh process, as a user's first call would be."""
        if not PEERS[peer].compiles or not self.available(peer):
            return None
        if peer not in self.compile_seconds:
            worker = runner.Worker(first_call, threads=self.threads)
            self.compile_seconds[peer] = worker(peer, limit=300, threads=self.threads)
            worker.close()
        return self.compile_seconds[peer]

    def close(self):
        for worker in self.workers.values():
            worker.close()


def note(text: str) -> None:
    """Progress on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K  {text}", end="", file=sys.stderr, flush=True)


def measure(bench: Bench, names: list[str], l1_ratios: list[float], peers: list[str]):
    """Yields (workload, l1_ratio, {peer: outcome}, certified gap of the reference)."""
    for l1_ratio in l1_ratios:
        for name in names:
            try:
                load(name)
            except Missing as reason:
                print(f"skipped {name}: {reason}")
                continue
            outcomes: dict[str, dict] = {}
            for peer in peers:
                if not bench.available(peer):
                    continue
                fastest = min((o["seconds"] for o in outcomes.values() if accurate(o)), default=1e9)
                limit = min(bench.limit, max(10.0, 20.0 * fastest))
                outcomes[peer] = bench.accepted(peer, name, l1_ratio, limit=limit)
            note("")
            yield name, l1_ratio, outcomes, Reference(name, l1_ratio, True)


def accurate(outcome: dict) -> bool:
    return outcome.get("suboptimality", math.inf) <= TARGET


def cell(outcome: dict | None) -> str:
    if outcome is None:
        return "missing"
    if "failure" in outcome:
        return outcome["failure"]
    text = f"{number(outcome['seconds'])} ({outcome['suboptimality']:.0e}, tol {outcome['tol']:g})"
    return text if accurate(outcome) else f"[{text}]"


def verdict(outcomes: dict[str, dict]) -> tuple[str, str]:
    """The fastest accurate peer that solves the same problem, and our time over its time."""
    rivals = {
        peer: outcome["seconds"]
        for peer, outcome in outcomes.items()
        if peer != OURS and accurate(outcome) and PEERS[peer].fits_intercept
    }
    if not rivals:
        return "none", "–"
    fastest = min(rivals, key=rivals.__getitem__)
    ours = outcomes.get(OURS)
    if ours is None or not accurate(ours):
        return fastest, "–"
    return fastest, f"{ours['seconds'] / rivals[fastest]:.2f}"


def table(bench: Bench, rows, peers: list[str]) -> Table:
    result = Table(
        [
            "workload",
            "l1_ratio",
            *[PEERS[peer].label for peer in peers],
            "fastest peer",
            "ours / it",
        ]
    )
    for name, l1_ratio, outcomes, _ in rows:
        cells = [cell(outcomes.get(peer)) for peer in peers]
        result.add(name, f"{l1_ratio:g}", *cells, *verdict(outcomes))
    return result


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(LINEAR), help="workloads, comma-separated")
    parser.add_argument("--l1-ratio", default="1,0.5", help="comma-separated")
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one path")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--reuse-peers", action="store_true", help="peers' seconds from the cache")
    arguments = parser.parse_args(argv)
    peers = arguments.peers.split(",")
    bench = Bench(
        arguments.threads,
        reuse_peers=arguments.reuse_peers,
        limit=arguments.limit,
        repeats=arguments.repeats,
    )
    start = time.perf_counter()
    ratios = [float(text) for text in arguments.l1_ratio.split(",")]
    rows = []
    for row in measure(bench, arguments.only.split(","), ratios, peers):
        rows.append(row)
        name, l1_ratio, outcomes, reference = row
        print(f"{name}, l1_ratio {l1_ratio:g} (reference certified to {reference.gap:.0e})")
        for peer, outcome in outcomes.items():
            print(f"    {PEERS[peer].label:22s} {cell(outcome)}")
        fastest, ratio = verdict(outcomes)
        print(f"    ours / {fastest}: {ratio}", flush=True)
    for peer, reason in bench.missing.items():
        print(f"missing: {peer} ({reason})")
    print()
    print(table(bench, rows, [peer for peer in peers if peer in bench.versions]))
    print(f"{time.perf_counter() - start:.0f} s")
    bench.close()


if __name__ == "__main__":
    main()
