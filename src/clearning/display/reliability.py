"""`ReliabilityDisplay`: what was predicted against what came true, with honest error bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from clearning.display._style import COLOURS, GREY, new_axes, tidy
from clearning.metrics import (
    ReliabilityCurve,
    cross_entropy,
    expected_calibration_error,
    reliability_curve,
)

__all__ = ["ReliabilityDisplay", "clopper_pearson"]

Array = NDArray[np.float64]


def clopper_pearson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Array:
    """Exact confidence interval of a binomial proportion.

    Parameters
    ----------
    successes, trials : array-like of shape (n,)
        Counts; weighted ones need not be whole.
    level : float, default=0.95
        At least this share of intervals holds the true proportion.

    Returns
    -------
    ndarray of shape (2, n)
        Lower and upper ends.
    """
    k, n = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level!r}.")
    tail = (1.0 - level) / 2.0
    none, all_ = k <= 0, k >= n
    lower = beta.ppf(tail, np.where(none, 1.0, k), n - k + 1.0)
    upper = beta.ppf(1.0 - tail, k + 1.0, np.where(all_, 1.0, n - k))
    return np.array([np.where(none, 0.0, lower), np.where(all_, 1.0, upper)])


@dataclass(frozen=True)
class _Curve:
    """One classifier's probabilities and its bins."""

    name: str
    p: Array
    weight: Array
    bins: ReliabilityCurve
    band: Array
    log_loss: float
    error: float


class ReliabilityDisplay:
    """Reliability diagrams of one or several classifiers, with a histogram of their probabilities.

    Make one with `from_predictions`, `from_estimators` or, for many classes, `from_classes`.

    Parameters
    ----------
    curves : list
        One for each classifier; made by the class methods.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2, n_columns)
        Diagrams above, histograms below.
    figure_ : matplotlib Figure
        The figure that holds them.
    lines_ : list of matplotlib Line2D
        The curves.
    bands_ : list of matplotlib collections
        Their Clopper–Pearson bands.

    Notes
    -----
    A bin's band is the exact confidence interval of the share of the positive class in it. Where
    samples have weights, Kish's effective number of samples stands for the count.

    Examples
    --------
    >>> import numpy as np
    >>> from clearning.display import ReliabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=500)
    >>> y = rng.uniform(size=500) < p
    >>> display = ReliabilityDisplay.from_predictions(y, {"true": p, "timid": 0.5 * p + 0.25})
    """

    axes_: np.ndarray
    figure_: Any
    lines_: list[Any]
    bands_: list[Any]

    def __init__(self, curves: list[_Curve]) -> None:
        self.curves = curves

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        p: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        level: float = 0.95,
        pos_label: Any = None,
        name: str = "classifier",
        **plot_options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of two classes.
        p : array-like of shape (n_samples,), or dict of them
            Probabilities of the positive class; a dict names those of several classifiers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.
        n_bins : int, default=10
            Number of bins.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins of equal weight, or of equal width.
        level : float, default=0.95
            Confidence level of the bands.
        pos_label : label, default=None
            The positive class; None means 1.
        name : str, default="classifier"
            Name of a single classifier.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        ReliabilityDisplay
        """
        weighted = {"sample_weight": sample_weight, "pos_label": pos_label}
        binned = {**weighted, "n_bins": n_bins, "strategy": strategy}
        named = p if isinstance(p, Mapping) else {name: p}
        curves = [_curve_of(str(label), y, each, level, binned) for label, each in named.items()]
        return cls(curves).plot(**plot_options)

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: ArrayLike, **options: Any
    ) -> ReliabilityDisplay:
        """Draw the reliability of fitted binary classifiers on data they have not seen.

        Parameters
        ----------
        estimators : estimator, or dict of estimators
            Fitted classifiers with `predict_proba`; a dict names several.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels.
        **options
            Passed to `from_predictions`; `pos_label` defaults to the larger label.

        Returns
        -------
        ReliabilityDisplay
        """
        if not isinstance(estimators, Mapping):
            estimators = {type(estimators).__name__: estimators}
        classes = next(iter(estimators.values())).classes_
        positive = options.setdefault("pos_label", classes[-1])
        column = int(np.flatnonzero(classes == positive)[0])
        named = {name: e.predict_proba(X)[:, column] for name, e in estimators.items()}
        return cls.from_predictions(y, named, **options)

    @classmethod
    def from_classes(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        n_bins: int = 10,
        strategy: str = "quantile",
        level: float = 0.95,
        **plot_options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of each class's probability, a curve a class.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of any number of classes, with `predict_proba`.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels; a class is held against all others together.
        sample_weight, n_bins, strategy, level
            As in `from_predictions`.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        ReliabilityDisplay
        """
        binned = {"sample_weight": sample_weight, "n_bins": n_bins, "strategy": strategy}
        labels, columns = np.asarray(y), estimator.predict_proba(X).T
        curves = [
            _curve_of(f"class {label}", (labels == label).astype(int), column, level, binned)
            for label, column in zip(estimator.classes_, columns)
        ]
        display = cls(curves).plot(**plot_options)
        display.axes_[0, 0].set_ylabel("share of the class")
        return display

    def plot(self, *, side_by_side: bool = False, axes: Any = None, **line_kw: Any) -> Any:
        """Draw the diagrams.

        Parameters
        ----------
        side_by_side : bool, default=False
            Give each classifier a diagram of its own; otherwise all share one.
        axes : array-like of matplotlib Axes of shape (2, n_columns), default=None
            Where to draw, diagrams above and histograms below; a new figure by default.
        **line_kw
            Passed to matplotlib's ``plot`` for every curve.

        Returns
        -------
        ReliabilityDisplay
        """
        columns = len(self.curves) if side_by_side else 1
        if axes is None:
            axes = self._new_axes(columns)
        self.axes_ = np.asarray(axes, dtype=object).reshape(2, columns)
        self.figure_ = self.axes_[0, 0].figure
        self.lines_, self.bands_ = [], []
        for diagram, histogram in self.axes_.T:
            _prepare(diagram, histogram)
        for rank, curve in enumerate(self.curves):
            diagram, histogram = self.axes_[:, rank if side_by_side else 0]
            self._draw(curve, COLOURS[rank % len(COLOURS)], diagram, histogram, line_kw)
        highest = max(histogram.get_ylim()[1] for histogram in self.axes_[1])
        for diagram, histogram in self.axes_.T:
            # Above the axes, where no curve can be.
            diagram.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize="small")
            histogram.set_ylim(0, highest)
        self.axes_[0, 0].set_ylabel("share of the positive class")
        self.axes_[1, 0].set_ylabel("share of samples")
        return self

    def _new_axes(self, columns: int) -> np.ndarray:
        size = (4.4 * columns + 0.8, 5.8)
        axes = new_axes("ReliabilityDisplay", 2, columns, size).reshape(2, columns)
        axes[0, 0].get_gridspec().set_height_ratios([3.2, 1.0])
        return axes

    def _draw(self, curve: _Curve, colour: str, diagram: Any, histogram: Any, line_kw: Any) -> None:
        bins, (low, high) = curve.bins, curve.band
        label = f"{curve.name}: log-loss {curve.log_loss:.3f}, ECE {curve.error:.3f}"
        band = diagram.fill_between(
            bins.prob_pred, low, high, color=colour, alpha=0.15, linewidth=0
        )
        style = {"color": colour, "marker": "o", "markersize": 4, "linewidth": 1.5, **line_kw}
        self.lines_ += diagram.plot(bins.prob_pred, bins.prob_true, label=label, **style)
        self.bands_.append(band)
        histogram.hist(
            curve.p,
            bins=np.linspace(0, 1, 21),
            weights=curve.weight / curve.weight.sum(),
            histtype="step",
            color=colour,
            linewidth=1.5,
        )


def _curve_of(
    name: str, y: ArrayLike, p: ArrayLike, level: float, options: dict[str, Any]
) -> _Curve:
    """Bins, band and measures of one column of probabilities; options are the bins'."""
    values, sample_weight = _floats(p), options["sample_weight"]
    bins = reliability_curve(y, values, **options)
    scored = {key: options[key] for key in ("sample_weight", "pos_label") if key in options}
    return _Curve(
        name=name,
        p=values,
        weight=np.ones(len(values)) if sample_weight is None else _floats(sample_weight),
        bins=bins,
        band=clopper_pearson(bins.prob_true * bins.effective_size, bins.effective_size, level),
        log_loss=cross_entropy(y, values, **scored),
        error=expected_calibration_error(y, values, **options),
    )


def _prepare(diagram: Any, histogram: Any) -> None:
    """Axes, the diagonal and the labels, before any curve."""
    diagram.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2)
    diagram.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    diagram.tick_params(labelbottom=False)
    histogram.set(xlim=(-0.02, 1.02), xlabel="predicted probability")
    tidy(diagram)
    tidy(histogram)


def _floats(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=float)
