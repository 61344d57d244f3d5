"""Temperatures: the hinge against LIBLINEAR, ReHLine and LIBSVM, and the cost of cooling.

    python benchmarks/temperature.py --part linear

Without intercept on both sides of the linear comparison, as LIBLINEAR penalises its own. Each side
runs at the loosest tolerance whose worst fit is within 1e-4 (relative) of the best one known.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import runner
import scipy.sparse as sp
from peers import CLOCK, OURS, clock
from report import Section, Table, Target, number, targets_table
from workloads import Missing, kernel_data, load, rbf

TARGET = 1e-4
LIMIT = 120.0  # seconds
LINEAR_PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)  # C of LIBLINEAR; alpha is 1 / (n C)
KERNEL_PENALTIES = (0.1, 1.0, 10.0)
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02)  # of the largest penalty, where there is an l1 norm
RHOS = {1.0: 1.0, 0.1: 1.5, 0.01: 3.0, 0.001: 8.0}  # temperature: seconds allowed over rho = 1

# ---------------------------------------------------------------- inside the worker


def hinge(margins: np.ndarray) -> float:
    return float(np.maximum(0.0, 1.0 - margins).mean())


def timed(fit: Callable, repeats: int):
    """What the fit returns, and the smallest of several times."""
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(seconds) < repeats or (repeats > 1 and sum(seconds) < 1.0 and len(seconds) < 20):
            start = clock()
            value = fit()
            seconds.append(clock() - start)
    return value, min(seconds)


def linear_hinge(side: str, name: str, tol: float, repeats: int) -> dict:
    """Single cold fits at five penalties, ω = 0: seconds and objectives."""
    workload = load(name)
    n = workload.shape[0]
    X = AS_IT_LIKES.get(side, lambda X: X)(workload.X)
    seconds, objectives = 0.0, []
    for C in LINEAR_PENALTIES:
        alpha = 1.0 / (n * C)
        coef, spent = timed(lambda C=C: _linear_fit(side, X, workload.y, C, tol), repeats)
        seconds += spent
        loss = hinge(workload.signs * (X @ coef))
        objectives.append(loss + alpha / 2.0 * float(coef @ coef))
    return {"seconds": seconds, "objectives": objectives}


def as_array(X) -> np.ndarray:
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X)


# What a solver is given is made before its time begins.
AS_IT_LIKES: dict[str, Callable] = {"LIBLINEAR": sp.csr_array, "ReHLine": as_array}


def _linear_fit(side: str, X, y, C: float, tol: float) -> np.ndarray:
    return {"LIBLINEAR": _liblinear_fit, "ReHLine": _rehline_fit, OURS: _our_fit}[side](
        X, y, C, tol
    )


def _liblinear_fit(X, y, C: float, tol: float) -> np.ndarray:
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        loss="hinge",
        dual=True,
        C=C,
        tol=tol,
        fit_intercept=False,
        max_iter=1_000_000,
        random_state=0,
    )
    return model.fit(X, y).coef_[0]


def _rehline_fit(X, y, C: float, tol: float) -> np.ndarray:
    from rehline import plqERM_Ridge

    model = plqERM_Ridge(loss={"name": "svm"}, C=C, tol=tol, max_iter=1_000_000)
    return model.fit(X=X, y=2.0 * y - 1.0).coef_


def _our_fit(X, y, C: float, tol: float) -> np.ndarray:
    from clearning import clearning_path

    path = clearning_path(
        X,
        y,
        loss="hinge",
        alphas=[1.0 / (X.shape[0] * C)],
        l1_ratio=0.0,
        fit_intercept=False,
        tol=tol,
    )
    return path.coefs[0]


def kernel_hinge(side: str, n: int, tol: float, repeats: int) -> dict:
    """Fits of the kernel SVM with its intercept, ω = 0: seconds and objectives."""
    X, y = kernel_data(n)
    signs = 2.0 * y - 1.0
    gamma = 1.0 / X.shape[1]
    K = rbf(X, X, gamma)
    seconds, objectives = 0.0, []
    for C in KERNEL_PENALTIES:
        (beta, intercept), spent = timed(
            lambda C=C: _kernel_fit(side, X, y, gamma, C, tol), repeats
        )
        seconds += spent
        score = K @ beta
        penalty = float(beta @ score) / (2.0 * n * C)
        objectives.append(hinge(signs * (score + intercept)) + penalty)
    return {"seconds": seconds, "objectives": objectives}


def _kernel_fit(side: str, X, y, gamma: float, C: float, tol: float):
    if side == "LIBSVM":
        from sklearn.svm import SVC

        model = SVC(C=C, gamma=gamma, tol=tol, cache_size=1000)
    else:
        from clearning import KernelCLearningClassifier

        alpha = 1.0 / (len(y) * C)
        model = KernelCLearningClassifier(
            loss="hinge", gamma=gamma, alpha=alpha, l1_ratio=0.0, tol=tol
        )
    model.fit(X, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    return beta, float(model.intercept_[0])


def sparse_fits(loss: str, name: str, repeats: int) -> dict:
    """Our single fits with ω = 1, certified to 1e-4."""
    from clearning import clearning_path

    workload = load(name)
    largest = workload.alphas(1.0)[0]
    seconds, gap = 0.0, 0.0
    for share in SHARES:
        path, spent = timed(
            lambda share=share: clearning_path(
                workload.X,
                workload.y,
                loss=loss,
                alphas=[share * largest],
                l1_ratio=1.0,
                tol=TARGET,
            ),
            repeats,
        )
        seconds += spent
        gap = max(gap, float(path.dual_gaps[0] / path.null_objective))
    return {"seconds": seconds, "gap": gap}


def cooled_path(name: str, rho: float, l1_ratio: float, repeats: int) -> dict:
    """Our path of 100 penalties at a temperature, certified to 1e-4."""
    from clearning import clearning_path

    workload = load(name)
    path, seconds = timed(
        lambda: clearning_path(
            workload.X, workload.y, loss="coherence", rho=rho, u=1.0, l1_ratio=l1_ratio, tol=TARGET
        ),
        repeats,
    )
    return {"seconds": seconds, "gap": float(np.max(path.dual_gaps) / path.null_objective)}


# ---------------------------------------------------------------- outside


LADDERS = {
    "LIBLINEAR": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "ReHLine": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "LIBSVM": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5),
    OURS: (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6),
}
TIGHT = {"LIBLINEAR": 1e-6, "ReHLine": 1e-5, "LIBSVM": 1e-6, OURS: 1e-5}


def matched(
    function: Callable, peers: tuple[str, ...], workload, *, repeats: int, reuse: bool
) -> dict:
    """Outcomes of the peers and of ours at 1e-4 of the best objective that any of them reached."""
    best: np.ndarray | None = None
    for side in (*peers, OURS):
        tight = _kept(function, side, workload, TIGHT[side], 1, reuse)
        if "objectives" in tight:
            found = np.array(tight["objectives"])
            best = found if best is None else np.minimum(best, found)
    return {side: _climb(function, side, workload, best, repeats, reuse) for side in (*peers, OURS)}


def _climb(function, side: str, workload, best: np.ndarray | None, repeats: int, reuse: bool):
    outcome: dict = {"failure": "no reference"}
    if best is None:
        return outcome
    for tol in LADDERS[side]:
        outcome = _kept(function, side, workload, tol, repeats, reuse)
        if "failure" in outcome:
            return outcome
        worst = float(np.max((np.array(outcome["objectives"]) - best) / best))
        outcome = {**outcome, "suboptimality": worst, "tol": tol}
        if worst <= TARGET:
            return outcome
    return outcome


def _kept(function, side: str, workload, tol: float, repeats: int, reuse: bool) -> dict:
    """A peer's outcome may come from the cache; ours is always measured."""
    key = {"what": function.__name__, "side": side, "workload": workload, "tol": tol}
    key["clock"] = CLOCK
    stored = runner.recall("temperature", **key) if reuse and side != OURS else None
    if stored is None:
        stored = runner.ask(function, side, workload, tol, repeats, limit=LIMIT)
        runner.remember(stored, "temperature", **key)
    return stored


def seconds_cell(outcome: dict) -> str:
    if "failure" in outcome:
        return outcome["failure"]
    text = number(outcome["seconds"])
    if "suboptimality" in outcome:
        text += f" ({outcome['suboptimality']:.0e})"
        if outcome["suboptimality"] > TARGET:
            text = f"[{text}]"
    if "gap" in outcome:
        text += f" ({outcome['gap']:.0e})"
    return text


def share(ours: dict, theirs: dict) -> float | None:
    """Our seconds over theirs, when both are there and ours is as accurate as it must be."""
    if "failure" in ours or "failure" in theirs:
        return None
    if max(ours.get("suboptimality", 0.0), ours.get("gap", 0.0)) > TARGET * (1 + 1e-9):
        return None
    return ours["seconds"] / theirs["seconds"]


def linear_section(names: list[str], *, repeats=3, reuse_peers=False) -> Section:
    section = Section("Hinge, linear: five single cold fits, one thread")
    section.text(
        "ω = 0 without intercept: seconds (and worst relative suboptimality) for C = "
        + ", ".join(f"{C:g}" for C in LINEAR_PENALTIES)
        + ". ω = 1 with intercept: our hinge against our squared hinge at shares "
        + ", ".join(f"{s:g}" for s in SHARES)
        + " of the largest penalty (and the certified gap relative to the null objective)."
    )
    peers = ("LIBLINEAR", "ReHLine")
    ridge = Table(["workload", *peers, OURS, "ours / LIBLINEAR"])
    lasso = Table(["workload", "squared hinge", "hinge", "ratio"])
    for name in names:
        try:
            load(name)
        except Missing as reason:
            section.text(f"Skipped: {name} ({reason}).")
            continue
        sides = matched(linear_hinge, peers, name, repeats=repeats, reuse=reuse_peers)
        ratio = share(sides[OURS], sides["LIBLINEAR"])
        cells = [seconds_cell(sides[side]) for side in (*peers, OURS)]
        ridge.add(name, *cells, _ratio(ratio))
        section.targets.append(Target(f"hinge, ω = 0, {name}, of LIBLINEAR", 2.0, ratio))
        squared = runner.ask(sparse_fits, "squared_hinge", name, repeats, limit=LIMIT)
        plain = runner.ask(sparse_fits, "hinge", name, repeats, limit=LIMIT)
        ratio = share(plain, squared)
        lasso.add(name, seconds_cell(squared), seconds_cell(plain), _ratio(ratio))
        section.targets.append(Target(f"hinge, ω = 1, {name}, of our squared hinge", 3.0, ratio))
    section.table(ridge)
    section.table(lasso)
    return section


def kernel_section(sizes: list[int], *, repeats=3, reuse_peers=False) -> Section:
    section = Section("Hinge, kernel, one thread")
    penalties = ", ".join(f"{C:g}" for C in KERNEL_PENALTIES)
    section.text(f"RBF kernel of n×20 data, ω = 0, with intercept; C = {penalties} together.")
    table = Table(["n", "LIBSVM", OURS, "ours / it"])
    for n in sizes:
        both = matched(kernel_hinge, ("LIBSVM",), n, repeats=repeats, reuse=reuse_peers)
        ratio = share(both[OURS], both["LIBSVM"])
        cells = [seconds_cell(both[side]) for side in ("LIBSVM", OURS)]
        table.add(str(n), *cells, _ratio(ratio))
        section.targets.append(Target(f"kernel hinge, n = {n}, of LIBSVM", 1.0, ratio))
    section.table(table)
    return section


def cooling_section(name: str = "72x7129", *, l1_ratios=(1.0, 0.5), repeats=3) -> Section:
    section = Section("Cooling: paths of 100 penalties at a temperature, one thread")
    section.text(f"C-loss, u = 1, {name}, certified gap 1e-4 of the null objective.")
    table = Table(["l1_ratio", *[f"ρ = {rho:g}" for rho in RHOS]])
    for l1_ratio in l1_ratios:
        outcomes = {
            rho: runner.ask(cooled_path, name, rho, l1_ratio, repeats, limit=LIMIT) for rho in RHOS
        }
        table.add(f"{l1_ratio:g}", *[seconds_cell(outcome) for outcome in outcomes.values()])
        for rho, most in list(RHOS.items())[1:]:
            what = f"path {name}, l1_ratio {l1_ratio:g}, ρ = {rho:g}, of ρ = 1"
            section.targets.append(Target(what, most, share(outcomes[rho], outcomes[1.0])))
    section.table(table)
    return section


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("linear", "kernel", "cooling"), default=None)
    parser.add_argument("--only", default="a9a,rt_polarity", help="workloads of the linear part")
    parser.add_argument("--sizes", default="5000", help="sizes of the kernel part")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--reuse-peers", action="store_true", help="peers' seconds from the cache")
    arguments = parser.parse_args(argv)
    options = {"repeats": arguments.repeats}
    peers = {**options, "reuse_peers": arguments.reuse_peers}
    sizes = [int(size) for size in arguments.sizes.split(",")]
    parts = {
        "linear": lambda: linear_section(arguments.only.split(","), **peers),
        "kernel": lambda: kernel_section(sizes, **peers),
        "cooling": lambda: cooling_section(**options),
    }
    for name, build in parts.items():
        if arguments.part in (None, name):
            section = build()
            print(section)
            print(targets_table(section.targets))


if __name__ == "__main__":
    main()
