"""The figures, drawn from the outcomes; matplotlib is needed only here."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from clearning.display import LossDisplay
from clearning.display._style import COLOURS, GREY, from_hot_to_cold, new_axes, tidy
from clearning.experiments.studies import STUDIED, STUDIED_RATIOS

BLUE, ORANGE, GREEN = COLOURS[:3]
WORDS = {"features": "features", "kernels": "RBF kernel"}


def all_pictures(tables: dict[str, Any], outcomes: dict[str, Any]) -> dict[str, Any]:
    """Return the figures by title, those for which there are outcomes."""
    pictures = {"Figure 1: the losses": _spaced(LossDisplay.from_paper().figure_)}
    if "simulations" in tables:
        title = "Figure 2: the fitted ρ of the SVM's link over the replications"
        pictures[title] = draw_rho(tables["simulations"])
    names = [name for name in STUDIED if outcomes.get(f"convergence/features/{name}")]
    for name in names:
        title = f"Figure 3: the objective over outer and inner iterations, {_called(name)}"
        pictures[title] = draw_convergence(outcomes, name)
    for name in names:
        title = f"Sparseness over γ and ω, {_called(name)}"
        pictures[title] = draw_sparseness(outcomes, name)
    return pictures


def draw_rho(simulations: dict[str, Any]) -> Any:
    """ρ against the replication, a panel for each simulation, with the paper's range shaded."""
    axes = _axes(1, len(simulations), (4.8 * len(simulations), 3.4))
    for ax, (number, table) in zip(axes, simulations.items(), strict=True):
        low, high = table["rho_paper"]
        ax.axhspan(low, high, color=GREY, alpha=0.18, lw=0, label="range in the paper")
        replications = np.arange(1, len(table["rho"]) + 1)
        ax.plot(replications, table["rho"], "o", ms=3.5, color=BLUE, clip_on=False)
        ax.set(title=f"Simulation {number}", xlabel="replication", ylabel="fitted ρ")
        ax.set_ylim(0, 1.2 * max(high, *table["rho"]))  # room for the legend
        _whole_numbers(ax)
        ax.legend(frameon=False, loc="upper right")
        tidy(ax)
    return axes[0].figure


def draw_convergence(outcomes: dict[str, Any], name: str) -> Any:
    """Distance to the optimum: outer iterations left, the sweeps inside them right."""
    axes = _axes(2, 2, (10.4, 6.8)).reshape(2, 2)
    for (outer, inner), setting in zip(axes, WORDS, strict=True):
        study = outcomes[f"convergence/{setting}/{name}"]
        words = f"{WORDS[setting]}, ω = {study['l1_ratio']:g}, γ = {study['alpha']:.2g}"
        _draw_outer(outer, study)
        outer.set(title=f"outer: {words}", xlabel="iteration", ylabel="objective − optimum")
        _draw_inner(inner, study)
        inner.set(title=f"inner: {words}", xlabel="sweep within its outer iteration")
        inner.set(ylabel="G − its minimum")
        for ax in (outer, inner):
            ax.set_yscale("log")
            tidy(ax)
    return axes[0, 0].figure


def _draw_outer(ax: Any, study: dict[str, Any]) -> None:
    # Below the certified gap of the reference the difference means nothing.
    floor = max(1e-14, study["gap"])
    for key, label, colour in (
        ("outer", "Algorithm 1", ORANGE),
        ("fast", "this package's solver", BLUE),
    ):
        excess = np.maximum(np.asarray(study[key]) - study["optimum"], floor)
        ax.plot(np.arange(len(excess)), excess, "o-", ms=4, color=colour, label=label)
    _whole_numbers(ax)
    ax.legend(frameon=False)


def _draw_inner(ax: Any, study: dict[str, Any]) -> None:
    values = [np.asarray(sweeps) for sweeps in study["inner"] if len(sweeps) > 2]
    for number, (sweeps, colour) in enumerate(zip(values, from_hot_to_cold(len(values)))):
        excess = np.maximum(sweeps - sweeps[-1], 1e-14)
        ax.plot(np.arange(1, len(excess)), excess[:-1], color=colour, label=f"outer {number + 1}")
    ax.set_xscale("log")
    _legend_beside(ax)


def draw_sparseness(outcomes: dict[str, Any], name: str) -> Any:
    """Number of features or support vectors against γ, a curve for each ω."""
    axes = _axes(1, 2, (10.4, 3.6))
    for ax, setting in zip(axes, WORDS, strict=True):
        study = outcomes[f"sparseness/{setting}/{name}"]
        for curve, colour in zip(study["curves"], from_hot_to_cold(len(STUDIED_RATIOS))):
            label = f"ω = {curve['l1_ratio']:g}"
            ax.plot(curve["alphas"], curve["n_nonzero"], color=colour, label=label)
        what = "features" if setting == "features" else "support vectors"
        ax.set(xscale="log", xlabel="γ", ylabel=f"{what} of {study['n_coefficients']}")
        ax.set_title(WORDS[setting])
        tidy(ax)
    _legend_beside(axes[-1])
    return axes[0].figure


def _axes(rows: int, columns: int, size: tuple[float, float]) -> Any:
    axes = new_axes("clearning reproduce", rows, columns, size)
    _spaced(axes[0].figure)
    return axes


def _spaced(figure: Any) -> Any:
    """Leave some air between the panels."""
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return figure


def _whole_numbers(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _legend_beside(ax: Any) -> None:
    """A legend outside, where no curve can pass."""
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def as_svg(figure: Any) -> str:
    """Return a figure as an SVG element without the XML header."""
    import matplotlib as mpl

    buffer = io.StringIO()
    # A fixed salt and no date: the same figure is the same text.
    with mpl.rc_context({"svg.hashsalt": "clearning"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def as_address(svg: str) -> str:
    """Return an SVG as an address that carries it, for an image in a self-contained page."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _called(name: str) -> str:
    return f"USPS {name}" if " vs " in name else name
