"""`PathDisplay`: the coefficients along a path, in a panel a class where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from clearning._directions import coefficients_by_score, strength
from clearning.display._penalties import PATH_SIZE, count_axis, falling_log_axis
from clearning.display._style import GREY, PALE, distinct_colours, new_axes, tidy

__all__ = ["PathDisplay"]

_PANEL = (4.6, 3.8)
_MOST_COLUMNS = 3


class PathDisplay:
    """Coefficients along a regularisation path, as R's ``plot(fit)`` draws them.

    The number of non-zero coefficients is at the top, and the names of the features with the
    largest coefficients, at the end or at a penalty that is marked, are at the end of their lines.
    Each of them has a colour of its own; the others are grey. Many classes have a panel each, in
    which a feature keeps its colour.

    Parameters
    ----------
    path : RegularizationPath
        The path.
    feature_names : sequence of str, default=None
        Names of the features; by default those of the path, or their numbers.
    scales : array-like of shape (n_features,), default=None
        What coefficients are multiplied by, such as standard deviations of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes, the first of them where there are many.
    axes_ : ndarray of matplotlib Axes of shape (n_panels,)
        All axes, a panel a class.
    figure_ : matplotlib Figure
        The figure that holds them.
    lines_ : list of matplotlib Line2D
        One line for each feature that is ever in the model, panel after panel.
    labels_ : list of matplotlib Text
        The names at the ends of the lines, panel after panel.

    Examples
    --------
    >>> from clearning import clearning_path
    >>> from clearning.display import PathDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = load_breast_cancer()
    >>> path = clearning_path(data.data, data.target, standardize=True)
    >>> display = PathDisplay.from_path(path, feature_names=data.feature_names)
    """

    ax_: Any
    axes_: NDArray[Any]
    figure_: Any
    lines_: list[Any]
    labels_: list[Any]

    def __init__(
        self, path: Any, *, feature_names: Sequence[str] | None = None, scales: Any = None
    ) -> None:
        self.path = path
        self.feature_names = feature_names
        self.scales = scales

    @classmethod
    def from_path(
        cls, path: Any, *, feature_names: Sequence[str] | None = None, **plot_options: Any
    ) -> PathDisplay:
        """Draw a path.

        Parameters
        ----------
        path : RegularizationPath
            What ``clearning_path`` returned.
        feature_names : sequence of str, default=None
            Names of the features; by default those of the path, or their numbers.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        PathDisplay
        """
        return cls(path, feature_names=feature_names).plot(**plot_options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[str] | None = None, **plot_options: Any
    ) -> PathDisplay:
        """Draw the path of a fitted cross-validated classifier.

        Parameters
        ----------
        estimator : estimator with ``path_``
            Such as a fitted CLearningClassifierCV.
        feature_names : sequence of str, default=None
            Names of the features; by default those seen at fitting, or their numbers.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        PathDisplay
            With the features named that are kept at the chosen penalty, and a dotted line there
            where it is drawn over the penalties. Where the classifier standardises, coefficients
            are those of features in units of their standard deviations.
        """
        check_is_fitted(estimator, "path_")
        standardised = getattr(estimator, "standardize", False)
        scales = getattr(estimator, "feature_scales_", None) if standardised else None
        display = cls(estimator.path_, feature_names=feature_names, scales=scales)
        return display.plot(**{"at": estimator.alpha_, **plot_options})

    def plot(
        self,
        *,
        x: str = "alpha",
        n_labels: int = 10,
        at: float | None = None,
        ax: Any = None,
        **line_kw: Any,
    ) -> PathDisplay:
        """Draw the path.

        Parameters
        ----------
        x : {"alpha", "norm"}, default="alpha"
            What runs to the right: the penalty, falling, or the ℓ₁ norm of the coefficients.
        n_labels : int, default=10
            How many features are named at most, those with the largest coefficients.
        at : float, default=None
            The penalty at which coefficients are compared, with a dotted line; by default the
            last.
        ax : matplotlib Axes, or n_classes of them, default=None
            Where to draw; a new figure by default. One for many classes gets a line a feature: the
            norm of its coefficients.
        **line_kw
            Passed to matplotlib's ``plot`` for every line.

        Returns
        -------
        PathDisplay
        """
        if x not in ("alpha", "norm"):
            raise ValueError(f"x must be 'alpha' or 'norm'; got {x!r}.")
        coefs = self._scaled(coefficients_by_score(self.path.coefs, len(self._names())))
        self.axes_ = self._panels(ax, coefs.shape[1])
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        largest = self._largest(coefs, at)[:n_labels].tolist()
        colours = dict(zip(largest, distinct_colours(len(largest))))
        shown, counts = coefs, np.count_nonzero(coefs, axis=2)
        if len(self.axes_) == 1:
            shown, counts = strength(coefs)[:, None], self.path.n_nonzero[:, None]
        along = self.path.alphas if x == "alpha" else np.abs(shown).sum(axis=(1, 2))
        self.lines_, self.labels_ = [], []
        for k, panel in enumerate(self.axes_):
            self._draw(panel, along, shown[:, k], colours, line_kw)
            _dress(panel, x, at)
            panel.set_ylabel("coefficient" if self.scales is None else "standardised coefficient")
        for k, panel in enumerate(self.axes_):
            count_axis(panel, along, counts[:, k], most=16 if len(self.axes_) == 1 else 9)
            self._name(panel, along[-1], shown[-1, k], colours)
        return self

    def _panels(self, ax: Any, n_scores: int) -> NDArray[Any]:
        """The axes: those given, or new ones, one a score and of one height."""
        if n_scores > 1 and (ax is None or np.ndim(ax) > 0):
            axes = _grid(n_scores) if ax is None else np.ravel(ax)
            if len(axes) != n_scores:
                raise ValueError(
                    f"ax has {len(axes)} axes, but the path has {n_scores} classes. Pass one for "
                    f"each of them, or a single one."
                )
            for panel, label in zip(axes, self.path.classes):
                panel.set_title(f"class {label}")
            return axes
        return new_axes("PathDisplay", 1, 1, PATH_SIZE) if ax is None else np.ravel(ax)

    def _draw(
        self, ax: Any, along: NDArray[Any], coefs: NDArray[Any], colours: Any, line_kw: Any
    ) -> None:
        """One line for each column that is ever in the model."""
        for j in np.flatnonzero(coefs.any(axis=0)).tolist():
            style = {"color": colours.get(j, PALE), "linewidth": 1.3, "zorder": 2 + (j in colours)}
            self.lines_ += ax.plot(along, coefs[:, j], **{**style, **line_kw})

    def _name(self, ax: Any, end: float, last: NDArray[Any], colours: Any) -> None:
        """Write the names of the features that end in this panel's model."""
        names = self._names()
        entries = [(last[j], names[j], colour) for j, colour in colours.items() if last[j] != 0]
        self.labels_ += _name_ends(ax, end, entries)

    def _scaled(self, coefs: NDArray[Any]) -> NDArray[Any]:
        return coefs if self.scales is None else coefs * np.asarray(self.scales)

    def _largest(self, coefs: NDArray[Any], at: float | None) -> NDArray[np.intp]:
        """Features that are not zero at a penalty, the largest coefficients first."""
        rows = coefs[-1]
        if at is not None:
            rows = self._scaled(np.atleast_2d(self.path.coef_at(at)[0]))
        size = np.abs(strength(rows))
        kept = np.flatnonzero(size)
        return kept[np.argsort(-size[kept], kind="stable")]

    def _names(self) -> list[str]:
        n_features = self.path.coefs.shape[-1]
        names = self.feature_names if self.feature_names is not None else self.path.feature_names
        if names is None:
            return [str(j) for j in range(n_features)]
        if len(names) != n_features:
            raise ValueError(
                f"feature_names has {len(names)} names, but the path has {n_features} features."
            )
        return [str(name) for name in names]


def _grid(n_panels: int) -> NDArray[Any]:
    """Panels in rows of three at most, all of one height in the picture's units."""
    columns = min(n_panels, _MOST_COLUMNS)
    rows = -(-n_panels // columns)
    axes = new_axes("PathDisplay", rows, columns, (columns * _PANEL[0], rows * _PANEL[1]))
    for spare in axes[n_panels:]:
        spare.remove()
    for panel in axes[1:n_panels]:
        panel.sharey(axes[0])
    return axes[:n_panels]


def _dress(ax: Any, x: str, at: float | None) -> None:
    """The axis along which the path runs, the penalty that is marked, and the line of zeros."""
    if at is not None and x == "alpha":
        ax.axvline(at, color=GREY, linestyle=":")
    if x == "alpha":
        falling_log_axis(ax)
    ax.set_xlabel("alpha" if x == "alpha" else "ℓ₁ norm")
    ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
    tidy(ax)


def _name_ends(ax: Any, end: float, entries: list[tuple[float, str, str]]) -> list[Any]:
    """Write each name beside the end of its line, pushed apart where they would overlap."""
    if not entries:
        return []
    entries = sorted(entries, key=lambda entry: entry[0])
    bottom, top = ax.get_ylim()
    heights = _spread(
        np.array([entry[0] for entry in entries]), 0.045 * (top - bottom), bottom, top
    )
    labels = []
    for (value, name, colour), height in zip(entries, heights):
        labels.append(
            ax.annotate(
                name,
                xy=(end, value),
                xytext=(1.02, (height - bottom) / (top - bottom)),
                textcoords="axes fraction",
                color=colour,
                fontsize="small",
                va="center",
                arrowprops={
                    "arrowstyle": "-",
                    "color": colour,
                    "alpha": 0.4,
                    "linewidth": 0.7,
                    "relpos": (0.0, 0.5),
                },
            )
        )
    ax.set_ylim(bottom, top)
    return labels


def _spread(values: NDArray[Any], gap: float, bottom: float, top: float) -> NDArray[Any]:
    """Move sorted values the least that leaves a gap between neighbours, within the limits."""
    gap = min(gap, (top - bottom) / len(values))
    steps = gap * np.arange(len(values))
    # Less their steps they must not fall: the nearest such sequence is an isotonic regression.
    spread = np.clip(isotonic_regression(values - steps), bottom, top - steps[-1])
    return spread + steps
