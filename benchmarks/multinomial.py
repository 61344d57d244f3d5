"""Multinomial paths of 100 penalties, each coefficient alone or grouped over the classes.

    python benchmarks/multinomial.py --only wine,digits --forms ungrouped,grouped --reuse-peers

Every solver is given the loosest tolerance of its ladder at which its worst point is within 1e-6
(relative) of the best objective known; ours, the loosest at which it proves that itself. Seconds
are those of the processor, so that other work on the machine counts little, and so are the limits.
In parentheses is the largest excess over the best objective known, in brackets what falls short.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import runner
import scipy.sparse as sp
from report import Section, Table, Target, note, number
from scipy.special import logsumexp

R_SCRIPT = Path(__file__).with_name("multinomial_glmnet.R")
FORMS = ("ungrouped", "grouped")
TARGET = 1e-6
REFERENCE = 1e-9
N_ALPHAS = 100
TIMES_SLOWER = 4.0  # than the fastest: a peer is not waited for longer
LOADING = 10.0  # seconds more, for a process to make the workload's data
REPEATS_UNTIL = 0.5  # seconds of short paths, of which the shortest counts


@dataclass(frozen=True)
class Workload:
    """Samples of m classes."""

    X: Any
    y: np.ndarray

    @property
    def min_ratio(self) -> float:
        return 1e-2 if self.X.shape[0] < self.X.shape[1] else 1e-4


def simulated(n: int, p: int, m: int) -> Workload:
    """Correlated columns of unit variance, thirty of which tell the classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X += 0.7 * rng.standard_normal((n, 10)) @ (rng.standard_normal((10, p)) * (rng.random(p) < 0.5))
    B = np.zeros((p, m))
    B[rng.permutation(p)[:30]] = rng.standard_normal((min(p, 30), m))
    scores = X @ B
    y = (2 * scores / scores.std() + rng.gumbel(size=(n, m))).argmax(axis=1)
    return Workload(np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), y)


def text(n: int, p: int, m: int) -> Workload:
    """Documents of some eighty words, an eighth of them from their topic's two hundred."""
    rng = np.random.default_rng(0)
    popularity = 1 / np.arange(1, p + 1) ** 0.8
    popularity /= popularity.sum()
    y = rng.integers(0, m, n)
    topics = [rng.permutation(p)[:200] for _ in range(m)]
    rows, columns = [], []
    for i in range(n):
        length = rng.poisson(80) + 5
        words = rng.choice(p, length, p=popularity)
        words = np.unique(np.r_[words, rng.choice(topics[y[i]], length // 8)])
        rows.append(np.full(len(words), i))
        columns.append(words)
    places = np.concatenate(rows), np.concatenate(columns)
    return Workload(sp.csc_matrix((np.ones(len(places[0])), places), (n, p)), y)


def embedded(name: str) -> Workload:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    scale = 16.0 if name == "digits" else X.std(axis=0)
    centre = 0.0 if name == "digits" else X.mean(axis=0)
    return Workload(np.asfortranarray((X - centre) / scale), y)


def usps() -> Workload:
    from clearning.datasets import load_usps

    X, y = load_usps()[:2]
    return Workload(np.asfortranarray(X, dtype=float), y)


WORKLOADS = {
    "100x5000 m=4": lambda: simulated(100, 5000, 4),
    "1000x1000 m=3": lambda: simulated(1000, 1000, 3),
    "20000x100 m=10": lambda: simulated(20_000, 100, 10),
    "text 5000x20000 m=20": lambda: text(5000, 20_000, 20),
    "digits": lambda: embedded("digits"),
    "usps": usps,
    "wine": lambda: embedded("wine"),
    "200x20000 m=5": lambda: simulated(200, 20_000, 5),
}


def objectives(work: Workload, alphas: np.ndarray, coefs: Any, intercepts: Any, form: str) -> Any:
    """The lasso's objective at each penalty; coefs are (penalties, classes, features)."""
    codes = np.unique(work.y, return_inverse=True)[1]
    found = []
    for alpha, coef, intercept in zip(alphas, coefs, intercepts):
        scores = np.asarray(work.X @ coef.T) + intercept
        loss = (logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes]).mean()
        norms = np.abs(coef) if form == "ungrouped" else np.linalg.norm(coef, axis=0)
        found.append(loss + alpha * norms.sum())
    return np.array(found)


def shortest(solve: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the fewest seconds of the processor that it took."""
    taken: list[float] = []
    while not taken or (sum(taken) < REPEATS_UNTIL and len(taken) < 20):
        start = time.process_time()
        found = solve()
        taken.append(time.process_time() - start)
    return found, min(taken)


def ours(name: str, form: str, alphas: np.ndarray | None, tol: float) -> dict[str, Any]:
    """Our path with its penalties, and the largest relative gap that it proves."""
    from clearning import clearning_path

    work = WORKLOADS[name]()
    groups = "classes" if form == "grouped" else None
    options = {"loss": "logistic", "l1_ratio": 1.0, "groups": groups}
    grid = {"alpha_min_ratio": work.min_ratio} if alphas is None else {"alphas": alphas}
    path, seconds = shortest(lambda: clearning_path(work.X, work.y, tol=tol, **grid, **options))
    return {
        "seconds": seconds,
        "alphas": path.alphas.tolist(),
        "objectives": path.objectives.tolist(),
        "proved": float((path.dual_gaps / path.objectives).max()),
    }


def glmnet(name: str, form: str, alphas: np.ndarray, tol: float) -> dict[str, Any]:
    """R's glmnet."""
    work = WORKLOADS[name]()
    p = work.X.shape[1]
    m = len(np.unique(work.y))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        np.array(work.X.shape, dtype=np.int32).tofile(path / "shape.bin")
        work.y.astype(float).tofile(path / "y.bin")
        alphas.tofile(path / "alphas.bin")
        if sp.issparse(work.X):
            work.X.data.tofile(path / "data.bin")
            work.X.indices.astype(np.int32).tofile(path / "indices.bin")
            work.X.indptr.astype(np.int32).tofile(path / "indptr.bin")
        else:
            work.X.ravel(order="F").tofile(path / "X.bin")
        command = ["Rscript", str(R_SCRIPT), folder, form, str(tol), str(REPEATS_UNTIL)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        values = np.fromfile(path / "out.bin").reshape(m, len(alphas), 1 + p)
    values = values.swapaxes(0, 1)
    found = objectives(work, alphas, values[:, :, 1:], values[:, :, 0], form)
    return {"seconds": float(answer[0]), "objectives": found.tolist()}


def adelie(name: str, form: str, alphas: np.ndarray, tol: float) -> dict[str, Any]:
    """adelie's grouped multinomial."""
    import adelie as ad

    if form != "grouped":
        raise RuntimeError("grouped only")
    work = WORKLOADS[name]()
    m = len(np.unique(work.y))
    codes = np.unique(work.y, return_inverse=True)[1]
    X = work.X
    if sp.issparse(X):
        X = ad.matrix.sparse(sp.csc_matrix(X), method="naive", n_threads=1)
    options = {"tol": tol, "irls_tol": tol, "early_exit": False, "progress_bar": False}
    # Its loss is a mean over classes too, and a group's factor the root of its size.
    options |= {"lmda_path": alphas / m**1.5, "n_threads": 1}
    loss = ad.glm.multinomial(np.eye(m)[codes], dtype=np.float64)
    state, seconds = shortest(lambda: ad.grpnet(X, loss, **options))
    coefs = state.betas.toarray().reshape(len(state.lmdas), -1, m).swapaxes(1, 2)
    found = objectives(work, alphas[: len(coefs)], coefs, np.asarray(state.intercepts), form)
    return {"seconds": seconds, "objectives": found.tolist()}


def pycasso(name: str, form: str, alphas: np.ndarray, tol: float) -> dict[str, Any]:
    """PICASSO's multinomial, dense and each coefficient alone."""
    from pycasso import Solver

    work = WORKLOADS[name]()
    if form != "ungrouped" or sp.issparse(work.X):
        raise RuntimeError("dense, ungrouped only")
    options = {"family": "multinomial", "standardize": False, "prec": tol}

    def solve() -> Any:
        solver = Solver(np.ascontiguousarray(work.X), work.y, lambdas=alphas, **options)
        solver.train()
        return solver.coef()

    found, seconds = shortest(solve)
    # It may stop before the end of the path.
    coefs, intercepts = np.asarray(found["beta"]), np.asarray(found["intercept"])
    done = objectives(work, alphas[: len(coefs)], coefs, intercepts, form)
    return {"seconds": seconds, "objectives": done.tolist()}


SOLVERS: dict[str, Callable[..., dict[str, Any]]] = {
    "clearning": ours,
    "glmnet": glmnet,
    "adelie": adelie,
    "pycasso": pycasso,
}
# From loose to tight; the peers' own defaults are 1e-7.
OUR_TOLERANCES = (1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9)
TOLERANCES = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)


class Race:
    """All solvers on one workload, and the best objectives that any of them has found."""

    def __init__(self, name: str, form: str, limit: float, *, reuse_peers: bool = False):
        self.name, self.form, self.limit = name, form, limit
        self.outcomes: dict[str, dict[str, Any]] = {}
        kept = runner.recall("multinomial", name=name, form=form) if reuse_peers else None
        self.peers = kept["peers"] if kept else {}
        reference = kept or self._reference()
        self.alphas = np.array(reference["alphas"])
        self.best = np.array(reference["objectives"])

    def run(self) -> None:
        """Ours first: what the others are waited for is counted in its seconds."""
        for solver in SOLVERS:
            ladder = self._our_ladder() if solver == "clearning" else TOLERANCES
            self.outcomes[solver] = self.peers.get(solver) or self._climb(solver, ladder)
        self._keep()

    def _our_ladder(self) -> tuple[float, ...]:
        """Without the rungs that cannot be enough: `tol` is in units of the null objective."""
        loosest = 10.0 * TARGET * self.best.min() / self.best.max()
        return tuple(tol for tol in OUR_TOLERANCES if tol <= loosest)

    def _keep(self) -> None:
        peers = {solver: o for solver, o in self.outcomes.items() if solver != "clearning"}
        kept = {"alphas": list(self.alphas), "objectives": list(self.best), "peers": peers}
        runner.remember(kept, "multinomial", name=self.name, form=self.form)

    def _reference(self) -> dict[str, Any]:
        """Our own path, as tight as there is time for."""
        for tol in (REFERENCE, *reversed(OUR_TOLERANCES)):
            found = self._ask("clearning", None, tol)
            if "failure" not in found:
                return found
        raise RuntimeError(f"no reference for {self.name}, {self.form}: {found['failure']}")

    @property
    def patience(self) -> float:
        """For how many seconds of the processor a solver is waited for."""
        accurate = [o["seconds"] for o in self.outcomes.values() if self.reached(o) <= TARGET]
        fastest = min(accurate, default=math.inf)
        return LOADING + min(self.limit, TIMES_SLOWER * fastest)

    def _ask(self, solver: str, alphas: np.ndarray | None, tol: float) -> dict[str, Any]:
        note(f"{self.name}, {self.form}: {solver} at {tol:g}")
        worker = runner.Worker(SOLVERS[solver], threads=1, clock=runner.processor_seconds)
        try:
            return worker(self.name, self.form, alphas, tol, limit=self.patience)
        except (runner.Failed, runner.TimedOut) as error:
            return {"failure": str(error).removeprefix("RuntimeError: ").splitlines()[-1][:60]}
        finally:
            worker.close()

    def _climb(self, solver: str, ladder: tuple[float, ...]) -> dict[str, Any]:
        """The outcome at the first tolerance that is enough, else the best one."""
        best: dict[str, Any] = {}
        for tol in ladder:
            found = self._ask(solver, self.alphas, tol)
            if "failure" in found:
                return best or found
            if len(found["objectives"]) == N_ALPHAS:
                self.best = np.minimum(self.best, found["objectives"])
            if not best or self.reached(found) < self.reached(best):
                best = found
            if self.reached(best) <= TARGET:
                break
        return best

    def excess(self, outcome: dict[str, Any]) -> float:
        """The largest relative excess over the best objectives known."""
        found = np.array(outcome["objectives"])
        return float((found / self.best[: len(found)] - 1.0).max())

    def reached(self, outcome: dict[str, Any]) -> float:
        """What is proved, where something is; else what is measured."""
        if "failure" in outcome or len(outcome["objectives"]) < N_ALPHAS:
            return math.inf
        return outcome.get("proved", self.excess(outcome))

    def cell(self, solver: str) -> str:
        outcome = self.outcomes[solver]
        if "failure" in outcome:
            return outcome["failure"]
        proved = f", proved {outcome['proved']:.0e}" if "proved" in outcome else ""
        text = f"{number(outcome['seconds'])} ({self.excess(outcome):.0e}{proved})"
        return text if self.reached(outcome) <= TARGET else f"[{text}]"

    def rivals(self) -> list[float]:
        """Seconds of the peers that are accurate."""
        peers = [outcome for solver, outcome in self.outcomes.items() if solver != "clearning"]
        return [peer["seconds"] for peer in peers if self.reached(peer) <= TARGET]

    @property
    def share(self) -> float | None:
        """Our seconds over those of the fastest accurate peer; where none is, a bound of it."""
        own = self.outcomes["clearning"]
        if self.reached(own) > TARGET:
            return None
        return own["seconds"] / min(self.rivals(), default=TIMES_SLOWER * own["seconds"])

    @property
    def verdict(self) -> str:
        if self.share is None:
            return "–"
        return f"{self.share:.2f}" if self.rivals() else f"< {self.share:.2f}"


def section(
    names: list[str],
    forms: tuple[str, ...] = FORMS,
    *,
    limit: float = 300.0,
    reuse_peers: bool = False,
) -> Section:
    """A chapter of RESULTS.md."""
    result = Section("Multinomial paths of 100 penalties, one thread")
    result.text(
        "Lasso, each coefficient alone (ungrouped) or a feature's row together (grouped). Seconds "
        "of the processor and, in parentheses, the largest relative excess over the best objective "
        "known; in brackets what misses 1e-6. Ours are seconds to a gap of 1e-6 that is proved at "
        "every penalty; the peers prove nothing and are measured. A peer is ended at four times "
        f"the fastest's seconds (and {LOADING:.0f} more), ours never before {limit:.0f} s. Where "
        "no peer gets to 1e-6 in that time, or at all, the ratio is known to be below a quarter "
        "only, and that is written."
    )
    table = Table(["workload", "form", *SOLVERS, "ours / fastest"])
    for name in names:
        for form in forms:
            race = Race(name, form, limit, reuse_peers=reuse_peers)
            race.run()
            table.add(name, form, *[race.cell(solver) for solver in SOLVERS], race.verdict)
            print(table.rows[-1], flush=True)
            result.targets.append(
                Target(f"multinomial {name}, {form}, of fastest peer", 0.5, race.share)
            )
    result.table(table)
    return result


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(WORKLOADS), help="workloads, comma-separated")
    parser.add_argument("--forms", default=",".join(FORMS), help="comma-separated")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one path")
    parser.add_argument("--reuse-peers", action="store_true", help="peers' seconds from the cache")
    arguments = parser.parse_args(argv)
    names, forms = arguments.only.split(","), tuple(arguments.forms.split(","))
    reuse = arguments.reuse_peers
    print(section(names, forms, limit=arguments.limit, reuse_peers=reuse))


if __name__ == "__main__":
    main()
