"""What reproduces and what does not, in sentences made from the tables."""

from __future__ import annotations

from math import sqrt
from typing import Any

from clearning.experiments.document import Document, Heading, Items, Paragraph
from clearning.experiments.paper import (
    BENCHMARKS,
    GENERATED,
    LINK,
    LINK_BOTH,
    METHODS,
    SWAPPED,
)
from clearning.experiments.protocol import FULL, Protocol
from clearning.experiments.summary import OURS, tied

N_TEST = 900  # test samples of a simulation
CITED = (
    "In the simulations the paper runs Platt's and Sollich's methods, its own link and C-learning; "
    "it takes PLR, tuned Platt and WSL from Wang, Shen and Liu (2008), and PLR over 66 of their "
    "100 replications. Here all methods see the same draws and all of them count. Run like "
    "that, PLR is about as good as C-learning."
)
SLOPE = (
    "Platt's sigmoid has an advantage that may explain its lead in simulation 1: its slope is "
    "fitted after γ is chosen, and C-learning's scores take their scale from γ itself."
)


def add_findings(
    document: Document, protocol: Protocol, tables: dict[str, Any], missing: dict[str, str]
) -> None:
    """Add the section to a report."""
    document.add(Heading("What reproduces and what does not"))
    if protocol != FULL:
        document.add(
            Paragraph(
                "**Not the paper's protocol**: other repetitions, sets, grids or another seed. The "
                "numbers show that everything works, not how the methods compare."
            )
        )
    items = [f"{name} was left out: {reason}" for name, reason in missing.items()]
    for setting in ("features", "kernels"):
        if setting in tables:
            items += _errors(setting, tables[setting])
    if {"features", "kernels"} <= set(tables):
        items.append(_both(tables["features"]["counts"], tables["kernels"]["counts"]))
    for number, table in tables.get("simulations", {}).items():
        items += _simulation(number, table)
    if tables.get("variants"):
        items.append(_variants(tables["variants"]))
    if "simulations" in tables:
        items += [SLOPE, CITED]
    document.add(Items(items))


def _errors(setting: str, table: dict[str, Any]) -> list[str]:
    counts, rows = table["counts"], table["rows"]
    n = counts["sets"]
    losers = [name for name, row in rows.items() if row["verdict"] == "beaten"]
    beaten = f"; it is beaten on {', '.join(losers)}" if losers else ""
    items = [
        f"**{setting.capitalize()}**: C-learning has the lowest mean error on {counts['best']} of "
        f"{n} sets, and is best or tied (within two standard errors of the paired difference) on "
        f"{counts['best_or_tied']}{beaten}. The paper prints it as the best on "
        f"{counts['paper_best']}. Its mean error is at or below the paper's on "
        f"{counts['at_or_below_paper']}, and within one of the paper's deviations on "
        f"{counts['within_one_deviation']} ({counts['not_above_one_deviation']} if being better "
        "than that counts as well).",
        _closeness(rows),
    ]
    above = [
        f"{name} by {_excess(row):.2f} points (our own deviation is {row['ours'][OURS]['sd']:.2f})"
        for name, row in rows.items()
        if _excess(row) > row["paper"][OURS][1]
    ]
    if above:
        items.append(f"More than a printed deviation above the paper: {', '.join(above)}.")
    others = table["supplement"]
    for name, swapped in SWAPPED.items():
        if name in rows and swapped in others:
            items.append(_swapped(name, rows[name], others[swapped]))
    if "g241c" in rows and GENERATED in others:
        items.append(_generated(rows["g241c"], others[GENERATED]))
    return items


def _excess(row: dict[str, Any]) -> float:
    return row["ours"][OURS]["mean"] - row["paper"][OURS][0]


def _closeness(rows: dict[str, Any]) -> str:
    parts = []
    for method in METHODS:
        if method != OURS:
            differences = [row["difference"][method] for row in rows.values()]
            clear = sum(abs(d["mean"]) > 2 * d["se"] for d in differences)
            mean = sum(d["mean"] for d in differences) / len(differences)
            text = f"{mean:+.2f}".replace("-", "−")
            parts.append(f"{text} against {method} (clear on {clear} sets)")
    return (
        f"Averaged over the sets, C-learning's error differs by {' and '.join(parts)} percentage "
        "points: the three methods are closer to each other than the paper's tables suggest."
    )


def _swapped(name: str, row: dict[str, Any], swapped: dict[str, Any]) -> str:
    benchmark = BENCHMARKS[name]
    few, many = benchmark.n_train, benchmark.n_samples - benchmark.n_train
    return (
        f"{name.capitalize()}: with {few} training samples C-learning errs "
        f"{row['ours'][OURS]['mean']:.2f} %, with {many}, the shares of training and test "
        f"exchanged, {swapped['ours'][OURS]['mean']:.2f} %; the paper prints "
        f"{row['paper'][OURS][0]:.2f} %."
    )


def _generated(row: dict[str, Any], generated: dict[str, Any]) -> str:
    there, here = row["difference"]["RLRM"], generated["difference"]["RLRM"]
    return (
        "g241c: C-learning's error minus RLRM's is "
        f"{there['mean']:+.2f} ± {there['se']:.2f} points, and {here['mean']:+.2f} ± "
        f"{here['se']:.2f} on a set generated in its manner. There the log-odds are linear in the "
        "inputs by construction, so that RLRM is the maximum-likelihood method."
    )


def _both(features: dict[str, int], kernels: dict[str, int]) -> str:
    def total(key: str) -> int:
        return features[key] + kernels[key]

    n = total("sets")
    return (
        f"**Both settings**: at or below the paper's C-learning in {total('at_or_below_paper')} of "
        f"{n} cells, within one deviation or better in {total('not_above_one_deviation')}."
    )


def _behind(gkl: dict[str, Any]) -> str:
    """By how much another method is better, and which ones are not."""
    lowest = gkl["lowest"]
    difference = gkl["difference"][lowest]
    worse = [method for method, d in gkl["difference"].items() if d["mean"] < -2 * d["se"]]
    return (
        f"the lowest is {lowest}'s, by {difference['mean']:.4f} ± {difference['se']:.4f}"
        f"{', a tie' if tied(difference) else ''}; clearly behind C-learning: "
        f"{', '.join(worse) or 'none'}"
    )


def _variants(variants: dict[str, Any]) -> str:
    """Whether another width or more training samples explain the paper's simulation 1."""
    plain, larger = variants["as described"], variants["200 training samples"]
    widths = [row["best_cer"]["mean"] for name, row in variants.items() if name.startswith("σ")]
    return (
        "Why simulation 1 is better in the paper was tried out. Not the choice of γ: on "
        f"{plain['gkl']['n']} replications even in hindsight the error is "
        f"{plain['best_cer']['mean']:.3f}, and 0.214 is printed. Not the kernel's width: with half "
        f"or twice σ it is {' or '.join(f'{w:.3f}' for w in widths)}. More samples come "
        f"closest: with 200 to train it is {larger['best_cer']['mean']:.3f}, the cross-entropy "
        f"{larger['gkl']['mean']:.3f}, {larger['best_gkl']['mean']:.3f} in hindsight."
    )


def _simulation(number: str, table: dict[str, Any]) -> list[str]:
    gkl, cer, hindsight = table["gkl"], table["cer"], table["hindsight"][OURS]
    ours, printed = gkl["ours"][OURS]["mean"], gkl["paper"][OURS][0]
    rank = "the lowest of all methods" if gkl["lowest"] == OURS else _behind(gkl)
    error = cer["ours"][OURS]["mean"]
    binomial = sqrt(error * (1 - error) / N_TEST)
    link, both = gkl["ours"][LINK]["mean"], gkl["ours"][LINK_BOTH]["mean"]
    return [
        f"**Simulation {number}**: C-learning's cross-entropy is {ours:.4f} against the paper's "
        f"{printed:.3f}; {rank}. With γ and ω chosen in hindsight, on the test labels, it would be "
        f"{hindsight['gkl']['mean']:.4f}, and the true probabilities have "
        f"{gkl['truth']['mean']:.4f}. Its error is {error:.4f} against "
        f"{cer['paper'][OURS][0]:.3f}, "
        f"{hindsight['cer']['mean']:.4f} in hindsight.",
        f"The SVM's own link with u = 1 has {link:.4f} (paper {gkl['paper'][LINK][0]:.3f}): it "
        f"cannot be confident inside the margin. Fitting u as well gives {both:.4f}. The fitted ρ "
        f"ranges from {min(table['rho']):.3f} to {max(table['rho']):.3f}, the paper's from "
        f"{table['rho_paper'][0]:.3f} to {table['rho_paper'][1]:.3f}.",
        f"The deviations printed for simulation {number} cannot be those of single replications: "
        f"an error of {error:.3f} on {N_TEST} samples has a binomial deviation of {binomial:.4f} "
        f"already, and {cer['paper'][OURS][1]:.4f} is printed. They are standard errors.",
    ]
