"""`ConfusionDisplay`: which classes are taken for which."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import confusion_matrix
from sklearn.utils.validation import check_is_fitted

from clearning.display._style import COLOURS, new_axes

__all__ = ["ConfusionDisplay"]

_CELL = 0.55


class ConfusionDisplay:
    """A confusion matrix: a row a true class, a column a predicted one.

    Each cell has its count (its weight, where samples have weights) and is coloured by its share
    of the row, blue where the prediction is right and orange where it is wrong. Empty cells stay
    empty.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        Counts or weights.
    classes : array-like of shape (n_classes,)
        The classes' labels, in the matrix's order.

    Attributes
    ----------
    shares_ : ndarray of shape (n_classes, n_classes)
        The matrix with rows that sum to one; rows without samples are zero.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure that holds them.
    texts_ : list of matplotlib Text
        The numbers in the cells, row after row.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from clearning import CLearningClassifier
    >>> from clearning.display import ConfusionDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = CLearningClassifier(standardize=True).fit(X[::2], y[::2])
    >>> display = ConfusionDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> display.matrix.sum(axis=1)
    array([29, 36, 24])
    """

    shares_: NDArray[np.float64]
    ax_: Any
    figure_: Any
    texts_: list[Any]

    def __init__(self, matrix: ArrayLike, classes: ArrayLike) -> None:
        self.matrix = np.asarray(matrix)
        self.classes = np.asarray(classes)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        predicted: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **plot_options: Any,
    ) -> ConfusionDisplay:
        """Draw what was predicted against what is true.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        predicted : array-like of shape (n_samples,)
            Predicted labels.
        classes : array-like of shape (n_classes,), default=None
            The labels to show, in their order; by default all that occur, sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        ConfusionDisplay
        """
        if classes is None:
            classes = np.union1d(np.asarray(y), np.asarray(predicted))
        matrix = confusion_matrix(y, predicted, labels=classes, sample_weight=sample_weight)
        return cls(matrix, classes).plot(**plot_options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, **options: Any
    ) -> ConfusionDisplay:
        """Draw the confusions of a fitted classifier on data it has not seen.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of any number of classes.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        **options
            Passed to `from_predictions`; `classes` defaults to the classifier's and whatever else
            occurs in y.

        Returns
        -------
        ConfusionDisplay
        """
        check_is_fitted(estimator)
        options.setdefault("classes", np.union1d(estimator.classes_, np.asarray(y)))
        return cls.from_predictions(y, estimator.predict(X), **options)

    def plot(self, *, numbers: str = "count", ax: Any = None) -> ConfusionDisplay:
        """Draw the matrix.

        Parameters
        ----------
        numbers : {"count", "share"}, default="count"
            What is written in the cells: counts, or percentages of the row.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        ConfusionDisplay
        """
        if numbers not in ("count", "share"):
            raise ValueError(f"numbers must be 'count' or 'share'; got {numbers!r}.")
        side = 1.6 + _CELL * max(len(self.classes), 3)
        self.ax_ = new_axes("ConfusionDisplay", 1, 1, (side, side))[0] if ax is None else ax
        self.figure_ = self.ax_.figure
        rows = self.matrix.sum(axis=1, keepdims=True)
        self.shares_ = np.divide(self.matrix, rows, out=np.zeros(self.matrix.shape), where=rows > 0)
        self.ax_.imshow(_coloured(self.shares_))
        self._write(numbers)
        self._name_classes()
        return self

    def _write(self, numbers: str) -> None:
        """The number of each cell that is not empty, white on dark colours."""
        self.texts_ = []
        for i, k in zip(*np.nonzero(self.matrix)):
            share = self.shares_[i, k]
            text = _number(self.matrix[i, k]) if numbers == "count" else f"{share:.0%}"
            colour = "white" if share > 0.6 else "black"
            written = self.ax_.text(
                k, i, text, ha="center", va="center", color=colour, fontsize="small"
            )
            self.texts_.append(written)

    def _name_classes(self) -> None:
        places, names = range(len(self.classes)), [str(label) for label in self.classes]
        slant = 45 if max(map(len, names), default=0) > 4 else 0
        self.ax_.set_xticks(places, names, rotation=slant, ha="right" if slant else "center")
        self.ax_.set_yticks(places, names)
        wrong = 1.0 - np.trace(self.matrix) / max(self.matrix.sum(), np.finfo(float).tiny)
        self.ax_.set(xlabel="predicted class", ylabel="true class", title=f"error {wrong:.1%}")
        self.ax_.spines[:].set_visible(False)
        self.ax_.tick_params(length=0)


def _number(value: Any) -> str:
    return str(value) if isinstance(value, np.integer) else f"{value:.3g}"


def _coloured(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """White to blue on the diagonal, white to orange off it, by the root of the share.

    The root lets single errors be seen beside rows that are nearly all right.
    """
    from matplotlib.colors import to_rgb

    right, wrong = np.array(to_rgb(COLOURS[0])), np.array(to_rgb(COLOURS[1]))
    full = np.where(np.eye(len(shares), dtype=bool)[..., None], right, wrong)
    return 1.0 - np.sqrt(shares)[..., None] * (1.0 - full)
