"""The demo's pictures: path, cross-validation curve, reliability, and the decision surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from clearning.datasets import simulation_probability
from clearning.demo.contest import BINS, KERNEL, LINEAR, SVM, Contest, n_vectors
from clearning.display import CVDisplay, PathDisplay, ReliabilityDisplay
from clearning.display._style import COLOURS

_LEVELS = (0.1, 0.5, 0.9)
# Orange to blue, halfway to white, so that the samples stand out.
_PALE = LinearSegmentedColormap.from_list("pale", ["#efb48c", "#ffffff", "#8cbedc"])


@dataclass(frozen=True)
class Picture:
    """A picture on disk and what it shows; a wide one wants a row of its own."""

    path: Path
    caption: str
    wide: bool


def draw(contest: Contest, folder: Path) -> list[Picture]:
    """Draw what there is to see of a contest that has been run."""
    if contest.simulation is None:
        drawings = {
            "path": (_path(contest, LINEAR, contest.feature_names), _PATH),
            "cross-validation": (_curve(contest, LINEAR), _CURVE),
            "reliability": (_reliability(contest), _RELIABILITY),
        }
    else:
        drawings = {
            "surface": (_surface(contest), _SURFACE),
            "kernel-path": (_path(contest, KERNEL), _KERNEL_PATH),
            "kernel-cross-validation": (_curve(contest, KERNEL), _CURVE),
            "simulation-reliability": (_reliability(contest), _RELIABILITY),
        }
    return [
        _save(figure, folder / f"{name}.png", caption)
        for name, (figure, caption) in drawings.items()
    ]


def _save(figure: Figure, path: Path, caption: str) -> Picture:
    figure.savefig(path, dpi=140, facecolor="white")
    plt.close(figure)
    return Picture(path, caption, wide=figure.get_figwidth() > 8)


def _path(contest: Contest, method: str, names: Sequence[str] | None = None) -> Figure:
    return PathDisplay.from_estimator(contest.methods[method][-1], feature_names=names).figure_


def _curve(contest: Contest, method: str) -> Figure:
    return CVDisplay.from_estimator(contest.methods[method][-1]).figure_


def _reliability(contest: Contest) -> Figure:
    shown = {name: contest.probabilities[name] for name in (LINEAR, KERNEL, SVM)}
    figure, axes = plt.subplots(
        2, 3, figsize=(11.4, 4.8), height_ratios=(3.2, 1.0), layout="constrained"
    )
    ReliabilityDisplay.from_predictions(contest.y_test, shown, **BINS, side_by_side=True, axes=axes)
    return figure


def _surface(contest: Contest) -> Figure:
    """The truth beside what kernel C-learning and the calibrated SVM make of it."""
    kernel, svm = contest.methods[KERNEL], contest.methods[SVM]
    x1, x2 = np.meshgrid(np.linspace(0, 2 * np.pi, 301), np.linspace(-2.4, 2.4, 301))
    grid = np.column_stack([x1.ravel(), x2.ravel()])
    vectors = kernel[0].inverse_transform(kernel[-1].support_vectors_)
    probabilities = {
        "The truth": simulation_probability(contest.simulation or 2, grid),
        f"{KERNEL}: {len(vectors)} support vectors": kernel.predict_proba(grid)[:, 1],
        f"{SVM}: {n_vectors(svm)} support vectors": svm.predict_proba(grid)[:, 1],
    }
    figure, axes = plt.subplots(
        1, 3, figsize=(12.6, 4.1), sharex=True, sharey=True, layout="constrained"
    )
    for ax, (title, eta) in zip(axes, probabilities.items()):
        # The true contours run into one another: labels there would only hide them.
        shading = _contours(ax, x1, x2, eta.reshape(x1.shape), labels=ax is not axes[0])
        for sign, colour in ((1, COLOURS[0]), (-1, COLOURS[1])):
            points = contest.X[contest.y == sign]
            ax.scatter(*points.T, s=6, color=colour, linewidths=0)
        ax.set(title=title, xlabel="$x_1$")
    axes[1].scatter(*vectors.T, s=46, facecolors="none", edgecolors="black", linewidths=1.0)
    axes[0].set_ylabel("$x_2$")
    figure.colorbar(shading, ax=axes, label="probability of the positive class", pad=0.01)
    return figure


def _contours(ax: Any, x1: NDArray, x2: NDArray, eta: NDArray, *, labels: bool) -> Any:
    extent = (x1.min(), x1.max(), x2.min(), x2.max())
    shading = ax.imshow(
        eta, extent=extent, origin="lower", aspect="auto", cmap=_PALE, vmin=0, vmax=1
    )
    lines = ax.contour(x1, x2, eta, levels=_LEVELS, colors="#333333", linewidths=(0.8, 1.6, 0.8))
    if labels:
        ax.clabel(lines, fmt="%g", fontsize=8)
    return shading


_PATH = (
    "The regularisation path of linear C-learning: from a strong penalty, where every coefficient "
    "is exactly zero, to a weak one. The line marks the penalty that cross-validation chose."
)
_KERNEL_PATH = (
    "The path of kernel C-learning: one line for each training sample that ever became a support "
    "vector. The line marks the penalty that cross-validation chose."
)
_CURVE = (
    "Log-loss in cross-validation along the path, with standard errors. The lines mark the best "
    "penalty and the largest within one standard error of it."
)
_RELIABILITY = (
    "Reliability on the test samples: how often the positive class occurred where a method gave it "
    "that probability, in ten bins of equal size, with 95 % confidence bands. A method that says "
    "what it knows lies on the diagonal. Below, how its probabilities spread."
)
_SURFACE = (
    "Probability contours: the truth, kernel C-learning with its own probabilities, and an SVM "
    "with Platt's sigmoid fitted afterwards. The waves touch near x₁ = 3π/2, and only there is the "
    "truth uncertain."
)
