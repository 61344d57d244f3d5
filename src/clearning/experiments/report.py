"""The report: our numbers beside the paper's, and what follows from them."""

from __future__ import annotations

from typing import Any

from clearning.experiments.document import Document, Grid, Heading, Items, Paragraph, Picture
from clearning.experiments.findings import add_findings
from clearning.experiments.paper import METHODS, OUR_METHODS
from clearning.experiments.protocol import FULL, Protocol
from clearning.experiments.summary import OURS, tied

SETTING_TITLES = {
    "features": "Error rates in the features",
    "kernels": "Error rates with the RBF kernel",
}


def write_report(
    protocol: Protocol, tables: dict[str, Any], missing: dict[str, str], pictures: list[Picture]
) -> Document:
    """Return the whole report."""
    document = Document("Coherence functions, reproduced")
    document.add(
        Paragraph(
            "Section 5 of Zhang, Liu, Dai and Jordan, “Coherence functions with applications in "
            "large-margin classification methods” (2012), run anew on real data by "
            "`clearning reproduce`. Every number here is ours unless it stands under “paper”."
        )
    )
    add_findings(document, protocol, tables, missing)
    if "simulations" in tables:
        _add_simulations(document, tables["simulations"])
        _add_variants(document, tables["variants"])
    for setting, title in SETTING_TITLES.items():
        if setting in tables:
            _add_errors(document, title, tables[setting])
    if pictures:
        document.add(Heading("Figures"), *pictures)
    _add_protocol(document, protocol)
    return document


def _add_errors(document: Document, title: str, table: dict[str, Any]) -> None:
    document.add(
        Heading(title),
        Paragraph(
            "Test error in per cent, mean ± deviation over the partitions; lowest mean in bold. "
            "The columns “− HHSVM” and “− RLRM” are C-learning's error minus theirs on the same "
            "partitions, mean ± standard error; `*` marks those beyond two standard errors. Sets "
            "that are not in the paper stand last, beside the numbers they help to explain."
        ),
    )
    header = ["set"]
    for method in METHODS:
        header += [method, "paper"]
    header += [f"− {method}" for method in METHODS if method != OURS] + ["verdict"]
    grid = []
    for name, row in (table["rows"] | table["supplement"]).items():
        cells = [name]
        for method in METHODS:
            ours, (mean, deviation) = row["ours"][method], row["paper"][method]
            text = f"{ours['mean']:.2f} ± {ours['sd']:.2f}"
            lowest = ours["mean"] <= row["ours"][row["lowest"]]["mean"]
            cells += [
                f"**{text}**" if lowest else text,
                f"{mean:.2f} ± {deviation:.2f}",
            ]
        cells += [_difference(row["difference"][m], 2) for m in METHODS if m != OURS]
        grid.append([*cells, row["verdict"]])
    document.add(Grid(header, grid))


def _difference(difference: dict[str, float], digits: int) -> str:
    text = f"{difference['mean']:+.{digits}f} ± {difference['se']:.{digits}f}"
    text = text.replace("-", "−")
    return text if tied(difference) else text + " *"


def _add_simulations(document: Document, simulations: dict[str, Any]) -> None:
    document.add(
        Heading("Class probabilities in the simulations"),
        Paragraph(
            "What the paper calls GKL is the cross-entropy on the test labels (its divergence from "
            "the true probabilities is the difference to the last row). Mean ± standard error over "
            "the replications; the paper's deviations are of the size of standard errors, too."
        ),
    )
    for measure, title in (("gkl", "Cross-entropy (GKL)"), ("cer", "Classification error (CER)")):
        document.add(Heading(title, 3))
        header = ["method"]
        for number in simulations:
            header += [f"data {number}", "paper", f"{OURS} − it"]
        rows = [_simulation_row(method, simulations, measure) for method in OUR_METHODS]
        truth = ["the true probability"]
        for table in simulations.values():
            truth += [f"{table[measure]['truth']['mean']:.4f}", "", ""]
        document.add(Grid(header, [*rows, truth]))


def _add_variants(document: Document, variants: dict[str, Any]) -> None:
    if not variants:
        return
    count = next(iter(variants.values()))["gkl"]["n"]
    document.add(
        Heading("Simulation 1 under other assumptions", 3),
        Paragraph(
            f"C-learning on the first {count} replications, with one draw of the folds and one ω. "
            "“In hindsight” is the least over γ on the test labels: no choice of γ can beat it. "
            "Mean ± standard error; the paper prints 0.549 and 0.214."
        ),
    )
    columns = {
        "gkl": "cross-entropy",
        "best_gkl": "in hindsight",
        "cer": "error",
        "best_cer": "in hindsight",
    }
    rows = [
        [name, *(f"{row[key]['mean']:.4f} ± {row[key]['se']:.4f}" for key in columns)]
        for name, row in variants.items()
    ]
    document.add(Grid(["C-learning", *columns.values()], rows))


def _simulation_row(method: str, simulations: dict[str, Any], measure: str) -> list[str]:
    cells = [method]
    for simulation in simulations.values():
        table = simulation[measure]
        ours, printed = table["ours"][method], table["paper"].get(method)
        text = f"{ours['mean']:.4f} ± {ours['se']:.4f}"
        cells.append(f"**{text}**" if method == table["lowest"] else text)
        cells.append(f"{printed[0]:.3f} ± {printed[1]:.4f}" if printed else "")
        cells.append("" if method == OURS else _difference(table["difference"][method], 4))
    return cells


def _add_protocol(document: Document, protocol: Protocol) -> None:
    ratios = ", ".join(f"{ratio:g}" for ratio in protocol.l1_ratios)
    document.add(
        Heading("Protocol"),
        Items(
            [
                f"Fixed by the paper: {FULL.n_replications} replications with 100 training and 900 "
                f"test samples; {FULL.n_partitions} partitions at the printed fractions; ρ = 1, "
                "u = 1; σ the median distance between the classes in the simulations and the mean "
                "distance among the training samples elsewhere.",
                "Partitions and folds are stratified by class and the same for every method and "
                "both settings.",
                f"γ and ω by {protocol.n_folds}-fold cross-validation, the mean over "
                f"{protocol.n_repeats} draws of the folds. Criterion: the held-out loss of the "
                "method itself (in the simulations the held-out cross-entropy of its "
                "probabilities); models without a coefficient are left out.",
                f"ω in {{{ratios}}}; {protocol.n_alphas} values of γ for each ω, log-spaced from "
                "the smallest that leaves no coefficient down to "
                f"{protocol.alpha_min_ratio:g} of the one at ω = 1 "
                f"({protocol.simulation_alpha_min_ratio:g} in the simulations).",
                "The criterion, the draws and the grid were chosen on pairs of USPS digits that "
                "are not among the paper's, images 201 to 400 of each, by the mean error of all "
                "three methods; the floor of γ in the simulations on draws of their own.",
                "Inputs as loaded: USPS in [−1, 1], the g241 sets standardised by column, log10 "
                "intensities of colon and leukemia standardised by sample.",
                "The SVM's links and Platt's sigmoid are fitted to training scores, as in the "
                "paper, but to Platt's smoothed targets: with plain labels separable scores send "
                "ρ to zero.",
                f"Seed {protocol.seed}; {_repetitions(protocol)}.",
            ]
        ),
    )


def _repetitions(protocol: Protocol) -> str:
    return (
        f"{protocol.n_replications} replications and {protocol.n_partitions} partitions in this run"
    )
