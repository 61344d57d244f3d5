"""`TemperatureDisplay`: a classifier as its loss cools to the SVM's hinge."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning.display._style import COLOURS, GREY, from_hot_to_cold, new_axes, tidy
from clearning.display.path import PathDisplay

__all__ = ["TemperatureDisplay"]

_N_CURVES = 6


class TemperatureDisplay:
    """A temperature path in three pictures.

    The coefficients as ρ falls, with those of the hinge's limit as dots at the end; the
    probabilities at several temperatures, over the score or, where samples are given, over the
    samples in the order of their scores; and how far the hinge's objective at each solution is
    above its limit, under the line ρ log 2 (plus the duality gap) that it cannot cross.

    Parameters
    ----------
    path : TemperaturePath
        The path.
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        Samples, or for a kernel their kernel with the training samples, whose probabilities are
        to be drawn.
    feature_names : sequence of str, default=None
        Names of the features; by default those of the path, or their numbers.

    Attributes
    ----------
    axes_ : ndarray of three matplotlib Axes
        Coefficients, probabilities, distance.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        The figure that holds them.
    coefficient_lines_, probability_lines_ : list of matplotlib Line2D
        One line for each feature that is ever in the model, and for each temperature shown.
    distance_line_, bound_line_ : matplotlib Line2D
        The distance to the hinge's limit and its bound.

    Examples
    --------
    >>> from clearning import temperature_path
    >>> from clearning.display import TemperatureDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = temperature_path(X, y, alpha=0.02, standardize=True)
    >>> display = TemperatureDisplay.from_path(path, X)
    """

    axes_: Any
    ax_: Any
    figure_: Any
    coefficient_lines_: list[Any]
    probability_lines_: list[Any]
    distance_line_: Any
    bound_line_: Any

    def __init__(
        self, path: Any, X: Any = None, *, feature_names: Sequence[str] | None = None
    ) -> None:
        self.path = path
        self.X = X
        self.feature_names = feature_names

    @classmethod
    def from_path(
        cls,
        path: Any,
        X: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        **plot_options: Any,
    ) -> TemperatureDisplay:
        """Draw a temperature path.

        Parameters
        ----------
        path : TemperaturePath
            What ``temperature_path`` or ``kernel_temperature_path`` returned.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            Samples whose probabilities are to be drawn.
        feature_names : sequence of str, default=None
            Names of the features; by default those of the path, or their numbers.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        TemperatureDisplay
        """
        return cls(path, X, feature_names=feature_names).plot(**plot_options)

    def plot(self, *, n_labels: int = 8, axes: Any = None, **line_kw: Any) -> TemperatureDisplay:
        """Draw the three pictures.

        Parameters
        ----------
        n_labels : int, default=8
            How many features are named at most, those with the largest coefficients at the end.
        axes : sequence of three matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw
            Passed to matplotlib's ``plot`` for every curve.

        Returns
        -------
        TemperatureDisplay
        """
        if axes is None:
            axes = new_axes("TemperatureDisplay", 1, 3, (15.0, 4.2))
        axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(axes) != 3:
            raise ValueError(f"axes must hold three Axes, got {len(axes)}.")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        self._draw_coefficients(axes[0], n_labels, line_kw)
        self._draw_probabilities(axes[1], line_kw)
        self._draw_distance(axes[2], line_kw)
        return self

    def _draw_coefficients(self, ax: Any, n_labels: int, line_kw: dict[str, Any]) -> None:
        path, limit = self.path, self.path.hinge_limit
        # The same picture as that of a path of penalties, over temperatures.
        over_rhos = SimpleNamespace(
            alphas=path.rhos,
            coefs=path.coefs,
            n_nonzero=path.n_nonzero,
            feature_names=path.feature_names,
        )
        drawn = PathDisplay(over_rhos, feature_names=self.feature_names)
        drawn.plot(ax=ax, n_labels=n_labels, **line_kw)
        self.coefficient_lines_ = drawn.lines_
        shown = np.flatnonzero(path.coefs.any(axis=0))
        for line, j in zip(drawn.lines_, shown):
            ax.plot(path.rhos[-1], limit.coef[j], "o", ms=4, color=line.get_color())
        ax.set(title="Coefficients", xlabel="temperature  ρ")

    def _draw_probabilities(self, ax: Any, line_kw: dict[str, Any]) -> None:
        path = self.path
        count = min(_N_CURVES, len(path.rhos))
        shown = path.rhos[np.linspace(0, len(path.rhos) - 1, count).round().astype(int)]
        self.probability_lines_ = []
        for rho, colour in zip(shown, from_hot_to_cold(count)):
            style = {"color": colour, "linewidth": 1.8, "label": f"ρ = {rho:.2g}", **line_kw}
            self.probability_lines_ += ax.plot(*self._probability_curve(rho), **style)
        if self.X is None:
            for margin in (-path.u, path.u):
                ax.axvline(margin, color=GREY, linestyle=":", linewidth=1.0, zorder=0)
            ax.set(title="What a score means", xlabel="score  f")
        else:
            ax.set(title="Probabilities of the samples", xlabel="share of samples, by score")
        ax.set(ylabel=f"probability of {path.classes[1]}", ylim=(-0.03, 1.03))
        ax.legend(frameon=False, fontsize="small")
        tidy(ax)

    def _probability_curve(self, rho: float) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.X is None:
            score = np.linspace(-3.0, 3.0, 601) * self.path.u
            return score, self.path.loss_at(rho).inverse_link(score)
        probability = np.sort(self.path.predict_proba(self.X, rho)[:, 1])
        return (np.arange(len(probability)) + 0.5) / len(probability), probability

    def _draw_distance(self, ax: Any, line_kw: dict[str, Any]) -> None:
        path = self.path
        # A logarithmic axis has no place for what rounding or an exact solution puts at zero.
        floor = max(path.hinge_limit.dual_gap, np.finfo(float).eps)
        style = {"linewidth": 1.8, **line_kw}
        (self.bound_line_,) = ax.plot(
            path.rhos,
            path.distance_bounds,
            **{"color": GREY, "linestyle": "--", "label": "bound  ρ log 2 + gap", **style},
        )
        (self.distance_line_,) = ax.plot(
            path.rhos,
            np.maximum(path.distances, floor),
            **{"color": COLOURS[0], "marker": "o", "ms": 4, "label": "this path", **style},
        )
        ax.set(
            title="Distance to the SVM",
            xlabel="temperature  ρ",
            ylabel="hinge objective above its limit",
            xscale="log",
            yscale="log",
        )
        bottom, top = min(ax.get_ylim()[0], floor / 2.0), ax.get_ylim()[1]
        ax.axhspan(bottom, floor, color=GREY, alpha=0.12, lw=0, label="below the limit's own gap")
        ax.set_ylim(bottom, top)
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
        ax.legend(frameon=False)
        tidy(ax)
