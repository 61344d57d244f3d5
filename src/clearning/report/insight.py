"""What the model looks at, how it was chosen, and what is proved of it."""

from __future__ import annotations

from typing import Any

from clearning._words import count
from clearning.report.findings import (
    Feature,
    certificate,
    kept_features,
    score_labels,
    search_curve,
)
from clearning.report.pictures import N_COLOURS, path_chart, search_chart, support_chart
from clearning.report.words import figure, named, plain, section
from clearning.tables.model import TableModel

_MOST_FEATURES = 40


def features_section(model: TableModel) -> str:
    """The features that are kept, or what a kernel's columns did."""
    if not hasattr(model.classifier, "coef_"):
        return section(
            "features",
            "What it looks at",
            f"A kernel model compares rows with {count(_n_supports(model), 'row')}"
            " it was trained on. For each column: how far the scores of test rows move on average "
            "when it takes its mean.",
            _influence(model),
        )
    features = kept_features(model)
    total = model.classifier.n_features_in_
    kept = len(features)
    lead = (
        f"It keeps <strong>{kept:,} of {count(total, 'feature')}</strong>; the others weigh "
        "nothing. Coefficients are for one unit of the table; bars and order are for one standard "
        "deviation of a number, or for a category being there. “Entered” is the place at which a "
        "feature came in as the penalty fell: the first tell the most by themselves."
    )
    if kept == 0:
        lead = (
            "It keeps no feature: nothing in the table helps to predict the target, and every row "
            "gets the same answer."
        )
        return section("features", "What it looks at", lead, "")
    return section("features", "What it looks at", lead, _feature_table(model, features))


def _n_supports(model: TableModel) -> int:
    return int(model.classifier.n_support_.sum())


def _feature_table(model: TableModel, features: list[Feature]) -> str:
    labels = score_labels(model)
    widest = max(abs(value) for feature in features for value in feature.standardised)
    several = len(labels) > 1
    head = "".join(
        f'<th scope="col">{"coefficient, " if not several else ""}towards {named(label)}</th>'
        for label in labels
    )
    rows = ""
    for rank, feature in enumerate(features[:_MOST_FEATURES]):
        cells = "".join(
            f'<td class="weighed">{_bar(size / widest)}{_signed(value)}</td>'
            for value, size in zip(feature.coefficients, feature.standardised)
        )
        colour = f'<i class="swatch c{rank}"></i>' if rank < N_COLOURS else ""
        entered = f"{feature.order:,}." if feature.order else "–"
        alpha = f"<span class=soft>at {feature.entered:.3g}</span>" if feature.entered else ""
        rows += (
            f'<tr><th scope="row">{colour}{named(feature.label)}</th>'
            f'<td class="entered">{entered} {alpha}</td>{cells}</tr>'
        )
    more = len(features) - _MOST_FEATURES
    rest = (
        f'<p class="soft">{count(more, "more feature")} with smaller weight.</p>'
        if more > 0
        else ""
    )
    return (
        f'<div class="scroll"><table class="features{" several" if several else ""}"><thead><tr>'
        f'<th scope="col">feature</th><th scope="col">entered</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{rest}"
    )


def _signed(value: float) -> str:
    return f"<span>{value:+.4g}</span>".replace("-", "−", 1)


def _bar(share: float) -> str:
    side = "up" if share > 0 else "down"
    return f'<span class="bar {side}" style="--size:{min(abs(share), 1.0):.3f}"></span>'


def _influence(model: TableModel) -> str:
    shown = model.record.get("influence", {})
    if not shown:
        return '<p class="soft">There are too many columns to try each by itself.</p>'
    ranked = sorted(shown.items(), key=lambda item: -item[1])[:_MOST_FEATURES]
    widest = max(ranked[0][1], 1e-300)
    rows = "".join(
        f'<tr><th scope="row">{named(name)}</th><td class="weighed">{_bar(value / widest)}'
        f"<span>{value:.3g}</span></td></tr>"
        for name, value in ranked
    )
    return (
        '<div class="scroll"><table class="features"><thead><tr><th scope="col">column</th>'
        f'<th scope="col">mean change of the score</th></tr></thead><tbody>{rows}</tbody></table>'
        "</div>"
    )


def search_section(model: TableModel) -> str:
    """What was compared, and the curve and path of what was chosen."""
    record, curve = model.record, search_curve(model.classifier)
    linear = hasattr(model.classifier, "coef_")
    table = _candidates(record["candidates"], "linear" if linear else "kernel")
    picture = (
        figure(
            path_chart(model, kept_features(model)),
            "<strong>The path.</strong> From a strong penalty, where everything is zero, to a weak "
            "one. Colours are those of the weightiest features kept.",
        )
        if linear
        else figure(
            support_chart(model),
            "<strong>The path.</strong> How many training rows the model leans on at each penalty.",
        )
    )
    figures = (
        figure(
            search_chart(model),
            f"<strong>Cross-validation.</strong> Mean log-loss with standard errors. The best "
            f"penalty is {curve.best:.3g}; {curve.one_se:.3g} is the largest within one standard "
            f"error of it, a simpler model that is as good as far as can be told.",
        )
        + picture
    )
    return section(
        "search",
        "How it was chosen",
        plain(record["reason"]),
        f'{table}<div class="figures">{figures}</div>',
    )


def _candidates(candidates: list[dict[str, Any]], chosen: str) -> str:
    rows = "".join(
        f'<tr{" class=chosen" if one["name"] == chosen else ""}><th scope="row">{one["name"]}</th>'
        f"<td>{one['log_loss']:.4f} ± {one['standard_error']:.4f}</td>"
        f"<td>{one['seconds']:.1f} s</td></tr>"
        for one in candidates
    )
    return (
        '<div class="scroll"><table><thead><tr><th scope="col">candidate</th><th scope="col">'
        'cross-validated log-loss</th><th scope="col">time</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def certificate_section(model: TableModel) -> str:
    """What is proved about the fit."""
    classifier = model.classifier
    detail = (
        f"Objective {classifier.objective_:.6g}, duality gap {classifier.dual_gap_:.2g}, "
        f"penalty {classifier.alpha_:.4g}, ℓ₁ share {classifier.l1_ratio_:g}."
    )
    return (
        f'<section id="certificate" class="seal"><h2>Certificate</h2>'
        f'<p class="lead">{plain(certificate(classifier))}</p><p class="soft">{plain(detail)} '
        "It says that the fit is as good as its kind can be on the training rows; how good that is "
        "on new ones, only the test above says.</p></section>"
    )
