"""From outcomes of tasks to tables: means, deviations, paired differences and verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearning.experiments.paper import (
    CER,
    ERRORS,
    GKL,
    LINK,
    METHODS,
    OUR_METHODS,
    RHO_RANGE,
)
from clearning.experiments.protocol import Protocol
from clearning.experiments.simulations import VARIANTS

OURS = "C-learning"
Table = dict[str, Any]


def summarise(protocol: Protocol, outcomes: dict[str, Any]) -> dict[str, Any]:
    """Return every table for which there are outcomes."""
    tables: dict[str, Any] = {}
    for setting in ("features", "kernels"):
        rows = _error_table(protocol, setting, protocol.sets, outcomes)
        if rows:
            others = _error_table(protocol, setting, protocol.supplement, outcomes)
            tables[setting] = {"rows": rows, "counts": _count(rows), "supplement": others}
    simulated = _simulation_tables(protocol, outcomes)
    if simulated:
        tables["simulations"] = simulated
        tables["variants"] = _variants(outcomes)
    return tables


def statistics(values: list[float]) -> Table:
    """Return mean, standard deviation over the repetitions, and the mean's standard error."""
    array = np.asarray(values, dtype=float)
    deviation = float(array.std(ddof=1)) if len(array) > 1 else 0.0
    return {
        "mean": float(array.mean()),
        "sd": deviation,
        "se": deviation / float(np.sqrt(len(array))),
        "n": len(array),
    }


def tied(difference: Table) -> bool:
    """Whether a paired difference is within two of its standard errors."""
    return abs(difference["mean"]) <= 2 * difference["se"]


def _error_table(
    protocol: Protocol, setting: str, names: tuple[str, ...], outcomes: dict[str, Any]
) -> dict[str, Table]:
    rows = {}
    for name in names:
        keys = [f"{setting}/{name}/{k:02d}" for k in range(protocol.n_partitions)]
        if not all(outcomes.get(key) for key in keys):
            continue
        errors = {
            method: [100 * outcomes[key][method]["error"] for key in keys] for method in METHODS
        }
        rows[name] = _row(errors, ERRORS[setting][name]) | {
            "n_nonzero": {
                method: float(np.median([outcomes[key][method]["n_nonzero"] for key in keys]))
                for method in METHODS
            },
            "converged": all(outcomes[key][m]["converged"] for key in keys for m in METHODS),
        }
    return rows


def _row(values: dict[str, list[float]], printed: dict[str, tuple[float, float]]) -> Table:
    """One set: each method's statistics, the paper's, C-learning's differences and its verdict."""
    ours = {method: statistics(numbers) for method, numbers in values.items()}
    differences = {
        method: statistics([a - b for a, b in zip(values[OURS], numbers, strict=True)])
        for method, numbers in values.items()
        if method != OURS
    }
    best = min(ours, key=lambda method: ours[method]["mean"])
    if ours[OURS]["mean"] <= ours[best]["mean"]:
        verdict = "best"
    else:
        verdict = "tied" if tied(differences[best]) else "beaten"
    return {
        "ours": ours,
        "paper": {method: list(numbers) for method, numbers in printed.items()},
        "difference": differences,
        "lowest": best,
        "verdict": verdict,
    }


def _count(rows: dict[str, Table]) -> Table:
    """How often C-learning is best, and how often it meets the paper's numbers."""
    excess = [row["ours"][OURS]["mean"] - row["paper"][OURS][0] for row in rows.values()]
    deviations = [row["paper"][OURS][1] for row in rows.values()]
    verdicts = [row["verdict"] for row in rows.values()]
    return {
        "sets": len(rows),
        "best": verdicts.count("best"),
        "best_or_tied": verdicts.count("best") + verdicts.count("tied"),
        "at_or_below_paper": sum(e <= 0 for e in excess),
        "within_one_deviation": sum(abs(e) <= d for e, d in zip(excess, deviations, strict=True)),
        "not_above_one_deviation": sum(e <= d for e, d in zip(excess, deviations, strict=True)),
        "paper_best": sum(
            min(row["paper"], key=lambda m: row["paper"][m][0]) == OURS for row in rows.values()
        ),
    }


def _simulation_tables(protocol: Protocol, outcomes: dict[str, Any]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for number in (1, 2):
        keys = [f"simulation/{number}/{k:03d}" for k in range(protocol.n_replications)]
        if not all(outcomes.get(key) for key in keys):
            continue
        runs = [outcomes[key] for key in keys]
        tables[str(number)] = {
            "gkl": _measure_table(runs, "gkl", GKL[number]),
            "cer": _measure_table(runs, "cer", CER[number]),
            "divergence": {
                method: statistics([run[method]["divergence"] for run in runs])
                for method in OUR_METHODS
            },
            "hindsight": {
                method: {
                    measure: statistics([run[method]["hindsight"][measure] for run in runs])
                    for measure in ("gkl", "cer")
                }
                for method in ("PLR", OURS)
            },
            "rho": [run[LINK]["rho"] for run in runs],
            "rho_paper": list(RHO_RANGE[number]),
        }
    return tables


def _variants(outcomes: dict[str, Any]) -> dict[str, Table]:
    """Cross-entropy and error of the first simulation's variants, as selected and in hindsight."""
    runs = [run for key, run in outcomes.items() if key.startswith("variants/") and run]
    return {
        name: {
            "gkl": statistics([run[name]["gkl"] for run in runs]),
            "cer": statistics([run[name]["cer"] for run in runs]),
            "best_gkl": statistics([run[name]["hindsight"]["gkl"] for run in runs]),
            "best_cer": statistics([run[name]["hindsight"]["cer"] for run in runs]),
        }
        for name in (VARIANTS if runs else ())
    }


def _measure_table(
    runs: list[dict[str, Any]], measure: str, printed: dict[str, tuple[float, float]]
) -> Table:
    values = {m: [run[m][measure] for run in runs] for m in OUR_METHODS}
    truth = statistics([run["truth"][measure] for run in runs])
    return _row(values, printed) | {"truth": truth}
