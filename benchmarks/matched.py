"""Seconds at matched accuracy: every solver gets the same problem and the loosest tolerance of its
ladder whose worst point is within 1e-6 (relative) of the best objective known. A solver that proves
something is held to what it proves."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
import runner
import scipy.sparse as sp
from objective import (
    logistic_bounds,
    logistic_objectives,
    path_penalties,
    path_scores,
    worst_suboptimality,
)
from peers import CLOCK, OURS, PEERS, Peer, Unavailable
from report import note, number
from workloads import Workload, load

TARGET = 1e-6
REFERENCE_TOLERANCES = {OURS: 1e-13, "adelie": 1e-15, "glmnet-r": 1e-15}
REFERENCE_GAP = 1e-9
MEASURABLE = 10.0  # an error is known where it is so many times what the reference may be off
ROUNDING = 1e-14
HALF_RUNG = 10.0**0.5
REFERENCE_LIMIT = 200.0

_load = lru_cache(maxsize=1)(load)


@dataclass(frozen=True)
class Problem:
    """A workload, its penalty, and a grid.

    "path" is 100 penalties, "single" a tenth of the largest, "C=…" scikit-learn's C.
    """

    workload: str
    l1_ratio: float
    grid: str = "path"
    intercept: bool = True

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(_load(self.workload).X)

    def alphas(self, workload: Workload) -> np.ndarray:
        if self.grid.startswith("C="):
            return np.array([1.0 / (workload.shape[0] * float(self.grid[2:]))])
        path = workload.alphas(self.l1_ratio)
        return path if self.grid == "path" else path[:1] / 10.0


# ---------------------------------------------------------------- inside the worker

_held: dict[str, tuple[str, Peer]] = {}


def prepared(peer: str, name: str, threads: int) -> tuple[Peer, Workload]:
    """The solver's adapter, holding this workload's data."""
    workload = _load(name)
    if peer not in _held or _held[peer][0] != name:
        if peer in _held:
            _held.pop(peer)[1].close()
        solver = PEERS[peer](threads)
        solver.prepare(workload)
        _held[peer] = (name, solver)
    return _held[peer][1], workload


def solve(
    peer: str, problem: Problem, tol: float, repeats: int, threads: int, patience: float = math.inf
) -> dict:
    """Times one solver at one tolerance and values what it found; without repeats, only loads."""
    solver, workload = prepared(peer, problem.workload, threads)
    if repeats == 0:
        return {}
    solver.deadline = time.perf_counter() + patience
    alphas, l1_ratio = problem.alphas(workload), problem.l1_ratio
    solution = solver.path(alphas, l1_ratio, tol, intercept=problem.intercept)
    seconds = [solution.seconds]
    while len(seconds) < repeats or (repeats > 1 and sum(seconds) < 0.5 and len(seconds) < 20):
        seconds.append(solver.path(alphas, l1_ratio, tol, intercept=problem.intercept).seconds)
    complete = len(solution.intercepts) == len(alphas)
    alphas = alphas[: len(solution.intercepts)]
    scores = path_scores(workload.X, solution.coefs, solution.intercepts)
    penalties = path_penalties(solution.coefs, alphas, l1_ratio)
    bounds = logistic_bounds(
        workload.X, scores, workload.signs, alphas, l1_ratio, intercept=problem.intercept
    )
    objectives = logistic_objectives(scores, workload.signs, penalties)
    if solution.gaps is not None:
        bounds = np.maximum(bounds, objectives - solution.gaps)
    return {
        "seconds": seconds,
        "complete": complete,
        "gaps": None if solution.gaps is None else solution.gaps.tolist(),
        "objectives": objectives.tolist(),
        "bounds": bounds.tolist(),
        "nonzeros": int((abs(solution.coefs) > 0).sum(axis=1).max()),
    }


def first_call(peer: str, threads: int) -> float:
    """Seconds by which the first call on a small dense problem exceeds the second."""
    solver, small = PEERS[peer](threads), load("40x30")
    solver.prepare(small)
    alphas = small.alphas(1.0, n_alphas=3)
    first, second = (solver.path(alphas, 1.0, 1e-4).seconds for _ in range(2))
    return first - second


# ---------------------------------------------------------------- outside


class Reference:
    """Best objective per penalty that any solver reached, and the best lower bound, on disk."""

    def __init__(self, problem: Problem):
        self.key = {"tolerances": REFERENCE_TOLERANCES, **asdict(problem)}
        stored = runner.recall("reference", **self.key)
        self.objectives = np.array(stored["objectives"]) if stored else None
        self.bounds = np.array(stored["bounds"]) if stored else None
        self.solvers = set(stored["solvers"]) if stored else set()

    def failed(self, solver: str) -> None:
        """Do not ask this solver again."""
        self.solvers.add(solver)
        self._keep()

    def absorb(self, outcome: dict, solver: str | None = None) -> None:
        """Keep what an outcome improves; named solvers are not asked again."""
        if solver is not None:
            self.solvers.add(solver)
        if outcome["complete"]:
            objectives, bounds = np.array(outcome["objectives"]), np.array(outcome["bounds"])
            if self.objectives is not None:
                objectives = np.fmin(objectives, self.objectives)
                bounds = np.fmax(bounds, self.bounds)
            self.objectives, self.bounds = objectives, bounds
        self._keep()

    def _keep(self) -> None:
        if self.objectives is not None:
            stored = {
                "objectives": self.objectives.tolist(),
                "bounds": self.bounds.tolist(),
                "solvers": sorted(self.solvers),
            }
            runner.remember(stored, "reference", **self.key)

    @property
    def gap(self) -> float:
        """No solution is better than the reference by more than this (relative)."""
        if self.objectives is None:
            return math.inf
        return float(np.max((self.objectives - self.bounds) / self.objectives))

    def suboptimality(self, outcome: dict) -> float:
        if not outcome["complete"]:
            return math.inf
        return worst_suboptimality(outcome["objectives"], self.objectives)

    def looseness(self, outcome: dict) -> list[float]:
        """Proved gap over true error, wherever that error is known."""
        if outcome["gaps"] is None or not outcome["complete"]:
            return []
        return looseness(outcome["objectives"], outcome["gaps"], self.objectives, self.bounds)


def looseness(objectives, gaps, best: np.ndarray, bounds: np.ndarray) -> list[float]:
    """Proved gap over true error, wherever the best objectives known tell that error."""
    error = np.array(objectives) - best
    known = error > MEASURABLE * np.maximum(best - bounds, ROUNDING * best)
    return (np.array(gaps)[known] / error[known]).tolist()


class Bench:
    """Solvers in workers of their own and what they measured, for one number of threads."""

    def __init__(self, threads: int = 1, *, reuse_peers=False, limit=120.0, repeats=3):
        self.threads, self.reuse_peers = threads, reuse_peers
        self.limit, self.repeats = limit, repeats
        self.versions: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.workers: dict[str, runner.Worker] = {}

    def available(self, peer: str) -> bool:
        if peer not in self.versions and peer not in self.missing:
            try:
                self.versions[peer] = PEERS[peer].version()
            except Unavailable as error:
                self.missing[peer] = str(error)
        return peer in self.versions

    def ask(self, peer: str, problem: Problem, tol: float, repeats: int, *, limit: float) -> dict:
        worker = self.workers.get(peer)
        if worker is None:
            worker = self.workers[peer] = runner.Worker(solve, threads=self.threads)
        if worker.process is None and PEERS[peer].compiles:
            self._compile(worker, peer)
        note(f"{problem.workload} ({problem.grid}, {problem.l1_ratio:g}): {peer} at {tol:g}")
        worker(peer, problem, tol, 0, self.threads, limit=REFERENCE_LIMIT)
        # Solvers that can stop by themselves are given the chance: a new process compiles again.
        return worker(peer, problem, tol, repeats, self.threads, limit, limit=1.5 * limit + 5.0)

    def _compile(self, worker: runner.Worker, peer: str) -> None:
        """Small problems of every kind, so that nothing is left to compile under the clock."""
        note(f"{peer} compiles")
        for name in ("40x30", "sparse200x300"):
            for l1_ratio in (1.0, 0.5):
                small = Problem(name, l1_ratio, "single")
                worker(peer, small, 1e-4, 1, self.threads, limit=REFERENCE_LIMIT)

    def reference(self, problem: Problem) -> Reference:
        reference = Reference(problem)
        for peer, tol in REFERENCE_TOLERANCES.items():
            if reference.gap < REFERENCE_GAP:
                break
            if peer in reference.solvers or not self.available(peer):
                continue
            try:
                outcome = self.ask(peer, problem, tol, 1, limit=REFERENCE_LIMIT)
            except (runner.TimedOut, runner.Failed) as error:
                note(f"no reference by {peer}: {error}")
                reference.failed(peer)
                continue
            reference.absorb(outcome, peer)
        return reference

    def outcomes(self, problem: Problem, peers: list[str]) -> dict[str, dict]:
        """One outcome a peer that is installed; slow ones are cut off at 3 times the fastest."""
        found: dict[str, dict] = {}
        for peer in peers:
            if self.available(peer):
                fastest = min((o["seconds"] for o in found.values() if accurate(o)), default=1e9)
                limit = self.limit if peer == OURS else min(self.limit, max(2.0, 3.0 * fastest))
                found[peer] = self.accepted(peer, problem, limit)
        note("")
        return found

    def accepted(self, peer: str, problem: Problem, limit: float) -> dict:
        """The outcome at the loosest tolerance that reaches the target, else the best one."""
        key = {"peer": peer, "version": self.versions[peer], "threads": self.threads}
        key |= {"clock": CLOCK, **asdict(problem)}
        if self.reuse_peers and peer != OURS:
            stored = runner.recall("matched", **key)
            if stored is not None:
                return stored
        if problem.l1_ratio != 1.0 and not PEERS[peer].elastic_net:
            return {"failure": "no elastic net"}
        if problem.is_sparse and not PEERS[peer].takes_sparse:
            return {"failure": "dense only"}
        problem = replace(problem, intercept=PEERS[peer].fits_intercept)
        outcome = self._climb(peer, problem, limit)
        runner.remember(outcome, "matched", **key)
        return outcome

    def _climb(self, peer: str, problem: Problem, limit: float) -> dict:
        """Down the ladder to the first rung that is enough, then half a rung back."""
        reference = self.reference(problem)
        best: dict = {}
        for tol in self._ladder(peer, problem):
            try:
                found = self._try(peer, problem, tol, limit, reference)
            except runner.TimedOut:
                return best or {"failure": f"over {limit:.0f} s"}
            except runner.Failed as error:
                late = str(error).startswith("OutOfTime")
                return best or {"failure": f"over {limit:.0f} s" if late else str(error)}
            if not best or reached(found) < reached(best):
                best = found
            if accurate(best):
                self._remember_rung(peer, problem, tol)
                half = self._try(peer, problem, tol * HALF_RUNG, REFERENCE_LIMIT, reference)
                return self._repeated(half if accurate(half) else best, peer, problem)
        return best

    def _try(self, peer: str, problem: Problem, tol: float, limit: float, reference) -> dict:
        outcome = self.ask(peer, problem, tol, 1, limit=limit)
        reference.absorb(outcome)
        return {
            "tol": tol,
            "seconds": outcome["seconds"][0],
            "suboptimality": reference.suboptimality(outcome),
            "nonzeros": outcome["nonzeros"],
            "proved": worst_proved(outcome),
            "looseness": reference.looseness(outcome),
        }

    def _ladder(self, peer: str, problem: Problem) -> tuple[float, ...]:
        """Tolerances to try; a peer's begins one rung above the one that was right last time."""
        ladder = PEERS[peer].tolerances
        tol = runner.recall("rung", **self._rung(peer, problem)) if peer != OURS else None
        return ladder[max(0, ladder.index(tol) - 1) :] if tol in ladder else ladder

    def _remember_rung(self, peer: str, problem: Problem, tol: float) -> None:
        runner.remember(tol, "rung", **self._rung(peer, problem))

    def _rung(self, peer: str, problem: Problem) -> dict:
        return {"peer": peer, "version": self.versions[peer], **asdict(problem)}

    def _repeated(self, best: dict, peer: str, problem: Problem) -> dict:
        if best["seconds"] > 20.0:
            return best
        outcome = self.ask(peer, problem, best["tol"], self.repeats, limit=REFERENCE_LIMIT)
        return {**best, "seconds": min(best["seconds"], *outcome["seconds"])}

    def compile_seconds(self, peer: str) -> float:
        """In a fresh process, as a user's first call is."""
        worker = runner.Worker(first_call, threads=self.threads)
        seconds = worker(peer, self.threads, limit=300.0)
        worker.close()
        return seconds

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def worst_proved(outcome: dict) -> float | None:
    """The largest relative gap that the solver proves."""
    if outcome["gaps"] is None:
        return None
    return float(np.max(np.array(outcome["gaps"]) / np.array(outcome["objectives"])))


def reached(outcome: dict) -> float:
    """What is proved, where something is; else what is measured."""
    proved = outcome.get("proved")
    return outcome.get("suboptimality", math.inf) if proved is None else proved


def accurate(outcome: dict) -> bool:
    return reached(outcome) <= TARGET


def cell(outcome: dict | None) -> str:
    """Seconds and the suboptimality reached; in brackets what misses the target."""
    if outcome is None:
        return "missing"
    if "failure" in outcome:
        return outcome["failure"]
    if math.isinf(outcome["suboptimality"]):
        return f"[{number(outcome['seconds'])}, stopped early]"
    proved = outcome.get("proved")
    gap = "" if proved is None else f", proved {proved:.0e}"
    text = f"{number(outcome['seconds'])} ({outcome['suboptimality']:.1e}{gap})"
    return text if accurate(outcome) else f"[{text}]"


def fastest_rival(outcomes: dict[str, dict]) -> str | None:
    """The fastest accurate peer that solves the same problem (with an intercept)."""
    rivals = {
        peer: outcome["seconds"]
        for peer, outcome in outcomes.items()
        if peer != OURS and accurate(outcome) and PEERS[peer].fits_intercept
    }
    return min(rivals, key=rivals.__getitem__) if rivals else None


def ratio(outcomes: dict[str, dict]) -> float | None:
    """Our seconds over the fastest rival's, where both are accurate."""
    rival, ours = fastest_rival(outcomes), outcomes.get(OURS)
    if rival is None or ours is None or not accurate(ours):
        return None
    return ours["seconds"] / outcomes[rival]["seconds"]
