"""The demo's pictures: columns found, surfaces beside the truth, reliability, pixels of digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from clearning.demo.contest import Contest, classifier, n_vectors
from clearning.demo.problems import GROUPED, LOGISTIC, MIXTURE, N_REAL, OURS, SVM
from clearning.display import ConfusionDisplay, CVDisplay, ReliabilityDisplay
from clearning.display._style import COLOURS, GREY, tidy

# Orange to blue, halfway to white, so that the samples stand out.
_PALE = LinearSegmentedColormap.from_list("pale", ["#efb48c", "#ffffff", "#8cbedc"])
_LEVELS, _WIDTHS = (0.1, 0.5, 0.9), (0.8, 1.6, 0.8)


@dataclass(frozen=True)
class Picture:
    """A picture on disk and what it shows; a wide one wants a row of its own."""

    path: Path
    caption: str
    wide: bool


def save(figure: Figure, path: Path, caption: str) -> Picture:
    """Write a figure and close it."""
    figure.savefig(path, dpi=140, facecolor="white")
    plt.close(figure)
    return Picture(path, caption, wide=figure.get_figwidth() > 8)


def draw_wide(contest: Contest, folder: Path) -> list[Picture]:
    """The coefficients of all columns, and the curve that chose ours."""
    figure, axes = plt.subplots(2, 1, figsize=(7.0, 4.6), sharex=True, layout="constrained")
    for ax, name in zip(axes, (OURS, LOGISTIC)):
        size = np.abs(classifier(contest.methods[name]).coef_[0])
        real = np.arange(len(size)) < N_REAL
        ax.vlines(np.flatnonzero(~real), 0, size[~real], color=GREY, lw=0.8)
        ax.vlines(np.flatnonzero(real), 0, size[real], color=COLOURS[0], lw=1.2)
        ax.set(title=name, ylabel="|coefficient|", ylim=(0, None))
        tidy(ax)
    axes[1].set_xlabel(f"column: the first {N_REAL} are real")
    curve = CVDisplay.from_estimator(classifier(contest.methods[OURS])).figure_
    return [
        save(figure, folder / "columns.png", _COLUMNS),
        save(curve, folder / "cross-validation.png", _CURVE),
    ]


def draw_curved(contest: Contest, folder: Path) -> list[Picture]:
    """The truth beside two estimates of it, and whether their probabilities can be believed."""
    return [
        save(_surfaces(contest), folder / "surfaces.png", _SURFACES),
        save(_reliability(contest), folder / "reliability.png", _RELIABILITY),
    ]


def _surfaces(contest: Contest) -> Figure:
    low, high = contest.X.min(axis=0) - 0.3, contest.X.max(axis=0) + 0.3
    x1, x2 = np.meshgrid(*(np.linspace(a, b, 201) for a, b in zip(low, high)))
    grid = np.column_stack([x1.ravel(), x2.ravel()])
    ours, svm = contest.methods[OURS], contest.methods[SVM]
    shown = {
        "the truth": MIXTURE.probability(grid),
        f"{OURS}: {n_vectors(classifier(ours))} vectors": ours.predict_proba(grid)[:, 1],
        f"{SVM}: {n_vectors(classifier(svm))} vectors": svm.predict_proba(grid)[:, 1],
    }
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.2), sharey=True, layout="constrained")
    extent = (low[0], high[0], low[1], high[1])
    for ax, (title, eta) in zip(axes, shown.items()):
        eta = eta.reshape(x1.shape)
        shading = ax.imshow(
            eta, extent=extent, origin="lower", aspect="auto", cmap=_PALE, vmin=0, vmax=1
        )
        lines = ax.contour(
            x1, x2, eta, levels=_LEVELS, colors="#333333", linewidths=(0.8, 1.6, 0.8)
        )
        ax.clabel(lines, fmt="%g", fontsize=8)
        for label, colour in ((1, COLOURS[0]), (0, COLOURS[1])):
            ax.scatter(*contest.X[contest.y == label].T, s=6, color=colour, linewidths=0)
        ax.set(title=title, xticks=(), yticks=())
    for ax, model in zip(axes[1:], (ours, svm)):
        vectors = model[0].inverse_transform(classifier(model).support_vectors_)
        ax.scatter(*vectors.T, s=40, facecolors="none", edgecolors="black", linewidths=0.8)
    figure.colorbar(shading, ax=axes, label="probability of the blue class", pad=0.01)
    return figure


def _reliability(contest: Contest) -> Figure:
    shown = {
        name: contest.methods[name].predict_proba(contest.X_test)[:, 1]
        for name in (OURS, SVM, LOGISTIC)
    }
    figure, axes = plt.subplots(
        2, 3, figsize=(11.4, 4.8), height_ratios=(3.2, 1.0), layout="constrained"
    )
    ReliabilityDisplay.from_predictions(
        contest.y_test, shown, n_bins=10, strategy="quantile", side_by_side=True, axes=axes
    )
    return figure


def draw_three_classes(contest: Contest, folder: Path) -> list[Picture]:
    """The coefficients as pictures, for the features are pixels, and what is taken for what."""
    figure, axes = plt.subplots(2, 3, figsize=(7.0, 5.0), layout="constrained")
    for row, name in zip(axes, (OURS, GROUPED)):
        model = classifier(contest.methods[name])
        largest = np.abs(model.coef_).max()
        for ax, digit, coefs in zip(row, model.classes_, model.coef_):
            ax.imshow(coefs.reshape(8, 8), cmap="RdBu", vmin=-largest, vmax=largest)
            ax.set(title=f"{digit}: {np.count_nonzero(coefs)} pixels", xticks=(), yticks=())
        row[0].set_ylabel(name.removeprefix("C-learning, "))
    confusions = ConfusionDisplay.from_estimator(
        contest.methods[OURS], contest.X_test, contest.y_test
    )
    return [
        save(figure, folder / "pixels.png", _PIXELS),
        save(confusions.figure_, folder / "confusions.png", _CONFUSIONS),
    ]


Draw = Callable[[Contest, Path], list[Picture]]

_COLUMNS = (
    "What each model makes of every column. The ℓ₁ penalty leaves most of the shuffled columns "
    "out; the ridge spreads itself over all of them."
)
_CURVE = (
    "How the penalty was chosen: log-loss in cross-validation along the path, with standard "
    "errors. The lines mark the best penalty and the largest within one standard error of it."
)
_SURFACES = (
    "Probability contours: the truth, kernel C-learning with its own probabilities, and an SVM "
    "with Platt's sigmoid fitted afterwards. Circles are support vectors."
)
_RELIABILITY = (
    "Reliability on the test samples: how often the class occurred where a method gave it that "
    "probability, in ten bins of equal size, with 95 % confidence bands. A method that says what "
    "it knows lies on the diagonal. Below, how its probabilities spread."
)
_PIXELS = (
    "Blue pixels speak for a digit, red ones against it, white ones do not matter. Below, pixels "
    "come in groups: one that matters to a class may matter to all."
)
_CONFUSIONS = (
    "Test pictures by their digit and by what C-learning takes them for: blue where it is right, "
    "orange where it is wrong."
)
