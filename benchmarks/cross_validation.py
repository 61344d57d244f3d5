"""Ten-fold cross-validation of a path of 100 penalties against cv.glmnet, same folds.

    python benchmarks/cross_validation.py --only 72x7129,5000x500

Both run at the tolerance that their path needs for 1e-6 on all rows. The largest difference of the
two cross-validated deviances shows that they computed the same thing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import runner
from matched import Bench, Problem, accurate
from peers import OURS, GlmnetR
from report import Section, Table, Target, number, targets_table
from workloads import Missing, load

WORKLOADS = ["72x7129", "200x20000", "1000x1000", "5000x500", "leukemia", "a9a", "basehock"]
N_FOLDS = 10
LIMIT = 1200.0  # seconds


def fold_numbers(y: np.ndarray) -> np.ndarray:
    """Stratified and shuffled, the same for both sides."""
    rng = np.random.default_rng(0)
    folds = np.empty(len(y), dtype=int)
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == label))
        folds[rows] = np.arange(len(rows)) % N_FOLDS
    return folds


def cv_glmnet(name: str, l1_ratio: float, tol: float, cores: int, repeats: int) -> dict:
    workload = load(name)
    solver = GlmnetR(cores)
    solver.prepare(workload)
    folds, alphas = fold_numbers(workload.y), workload.alphas(l1_ratio)
    seconds = []
    for _ in range(repeats):
        deviance, spent = solver.cross_validate(alphas, l1_ratio, tol, folds)
        seconds.append(spent)
        if spent > 10.0:
            break
    solver.close()
    return {"seconds": min(seconds), "deviance": deviance.tolist()}


def cv_ours(name: str, l1_ratio: float, tol: float, cores: int, repeats: int) -> dict:
    from clearning import CLearningClassifierCV

    workload = load(name)
    folds = fold_numbers(workload.y)
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(N_FOLDS)]
    seconds = []
    for _ in range(repeats):
        model = CLearningClassifierCV(
            loss="logistic",
            alphas=workload.alphas(l1_ratio),
            l1_ratios=(l1_ratio,),
            cv=splits,
            tol=tol,
            calibrate=False,
            n_jobs=cores,
        )
        start = time.perf_counter()
        model.fit(workload.X, workload.y)
        seconds.append(time.perf_counter() - start)
        if seconds[0] > 10.0:
            break
    sizes = np.bincount(folds)
    by_fold = [model.cv_results_[f"split{k}_test_score"] for k in range(N_FOLDS)]
    return {"seconds": min(seconds), "deviance": (-2.0 * np.average(by_fold, 0, sizes)).tolist()}


def section(
    names: list[str], l1_ratios: list[float], *, cores=(1, 2), repeats=3, reuse_peers=False
) -> Section:
    result = Section("Ten-fold cross-validation of a path of 100 penalties")
    result.text(
        "Seconds, with the fit on all rows included; the last column is the largest difference "
        "between the two cross-validated deviances."
    )
    table = Table(["workload", "l1_ratio", "cores", "cv.glmnet", OURS, "ours / it", "difference"])
    bench = Bench(1, reuse_peers=True)
    for name in names:
        try:
            load(name)
        except Missing as reason:
            result.text(f"Skipped: {name} ({reason}).")
            continue
        for l1_ratio in l1_ratios:
            tolerances = _tolerances(bench, Problem(name, l1_ratio))
            for count in cores:
                both = _both(name, l1_ratio, tolerances, count, repeats, reuse_peers)
                ratio, cells = _compare(both)
                table.add(name, f"{l1_ratio:g}", str(count), *cells)
                if count == 2:
                    what = f"cross-validation {name}, l1_ratio {l1_ratio:g}, of cv.glmnet"
                    result.targets.append(Target(what, 0.6, ratio))
    result.table(table)
    bench.close()
    return result


def _tolerances(bench: Bench, problem: Problem) -> dict[str, float]:
    """What each side's path needs; the tightest of the ladder where none is enough."""
    outcomes = bench.outcomes(problem, ["glmnet-r", OURS])
    found = {peer: o["tol"] for peer, o in outcomes.items() if accurate(o)}
    return {"glmnet-r": 1e-10, OURS: 1e-6} | found


def _both(name, l1_ratio, tolerances, cores: int, repeats: int, reuse_peers: bool) -> list[dict]:
    arguments = (name, l1_ratio, tolerances["glmnet-r"], cores, repeats)
    key = {"arguments": arguments[:4], "version": GlmnetR.version()}
    theirs = runner.recall("cv-glmnet", **key) if reuse_peers else None
    if theirs is None:
        theirs = runner.ask(cv_glmnet, *arguments, limit=LIMIT)
        runner.remember(theirs, "cv-glmnet", **key)
    arguments = (name, l1_ratio, tolerances[OURS], cores, repeats)
    return [theirs, runner.ask(cv_ours, *arguments, limit=LIMIT)]


def _compare(both: list[dict]) -> tuple[float | None, list[str]]:
    cells = [o["failure"] if "failure" in o else number(o["seconds"]) for o in both]
    theirs, ours = both
    if "failure" in theirs or "failure" in ours:
        return None, [*cells, "–", "–"]
    ratio = ours["seconds"] / theirs["seconds"]
    count = min(len(theirs["deviance"]), len(ours["deviance"]))
    apart = np.subtract(theirs["deviance"][:count], ours["deviance"][:count])
    return ratio, [*cells, f"{ratio:.2f}", f"{np.abs(apart).max():.0e}"]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(WORKLOADS), help="comma-separated")
    parser.add_argument("--l1-ratio", default="1,0.5", help="comma-separated")
    parser.add_argument("--cores", default="1,2", help="comma-separated")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--reuse-peers", action="store_true", help="peers' seconds from the cache")
    arguments = parser.parse_args(argv)
    result = section(
        arguments.only.split(","),
        [float(text) for text in arguments.l1_ratio.split(",")],
        cores=[int(text) for text in arguments.cores.split(",")],
        repeats=arguments.repeats,
        reuse_peers=arguments.reuse_peers,
    )
    print(result)
    print(targets_table(result.targets))


if __name__ == "__main__":
    main()
