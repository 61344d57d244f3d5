"""`plot_model`: a fitted classifier in one figure."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from clearning.display._style import COLOURS, GREY, new_axes, tidy
from clearning.display.path import PathDisplay
from clearning.display.search import CVDisplay

_MOST_BARS = 20


def plot_model(model: Any) -> Any:
    """Draw the search and the path of a cross-validated classifier, or the coefficients of one fit.

    Parameters
    ----------
    model : fitted classifier of this package
        Linear or kernel.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning import CLearningClassifier
    >>> from clearning.display import plot_model
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> figure = plot_model(CLearningClassifier(standardize=True).fit(X, y))
    """
    check_is_fitted(model)
    if hasattr(model, "path_"):
        axes = new_axes("plot", 1, 2, (13.0, 4.6))
        CVDisplay.from_estimator(model, ax=axes[0])
        return PathDisplay.from_estimator(model, ax=axes[1]).figure_
    return _bars(model)


def _bars(model: Any) -> Any:
    """The largest coefficients of each score as bars."""
    columns = {name: values[:_MOST_BARS] for name, values in model.summary().columns.items()}
    names = [str(name) for name in next(iter(columns.values()))]
    scores = [name for name in columns if name.startswith("coefficient")]
    axes = new_axes("plot", 1, len(scores), (6.5 * len(scores), 1.2 + 0.3 * max(len(names), 3)))
    for ax, score in zip(axes, scores):
        colours = [COLOURS[0] if value > 0 else COLOURS[1] for value in columns[score]]
        ax.barh(range(len(names)), columns[score], color=colours)
        ax.set_yticks(range(len(names)), labels=names)
        ax.invert_yaxis()
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.set_xlabel(score)
        tidy(ax)
    return axes[0].figure
