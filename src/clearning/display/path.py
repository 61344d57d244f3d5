"""`PathDisplay` and `CVDisplay`: the coefficients along a path, and its cross-validated score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from clearning._curve import combination_rows, marked_penalties
from clearning._directions import coefficients_by_score, strength
from clearning.display._style import COLOURS, GREY, PALE, distinct_colours, new_axes, tidy

__all__ = ["CVDisplay", "PathDisplay"]

_SIZE = (7.0, 4.6)


class PathDisplay:
    """Coefficients along a regularisation path, as R's ``plot(fit)`` draws them.

    The number of non-zero coefficients is at the top, and the names of the features with the
    largest coefficients, at the end or at a penalty that is marked, are at the end of their lines.
    Each of them has a colour of its own; the others are grey.

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
        The axes.
    figure_ : matplotlib Figure
        The figure that holds them.
    lines_ : list of matplotlib Line2D
        One line for each feature that is ever in the model.
    labels_ : list of matplotlib Text
        The names at the ends of the lines.

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
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw
            Passed to matplotlib's ``plot`` for every line.

        Returns
        -------
        PathDisplay
        """
        if x not in ("alpha", "norm"):
            raise ValueError(f"x must be 'alpha' or 'norm'; got {x!r}.")
        names = self._names()
        self.ax_ = new_axes("PathDisplay", 1, 1, _SIZE)[0] if ax is None else ax
        self.figure_ = self.ax_.figure
        coefs = self._scaled(_by_feature(self.path.coefs))
        along = self.path.alphas if x == "alpha" else np.abs(coefs).sum(axis=1)
        self.lines_ = []
        largest = self._largest(coefs, at)[:n_labels]
        colours = dict(zip(largest.tolist(), distinct_colours(len(largest))))
        for j in np.flatnonzero(coefs.any(axis=0)).tolist():
            style = {"color": colours.get(j, PALE), "linewidth": 1.3, "zorder": 2 + (j in colours)}
            self.lines_ += self.ax_.plot(along, coefs[:, j], **{**style, **line_kw})
        if at is not None and x == "alpha":
            self.ax_.axvline(at, color=GREY, linestyle=":")
        if x == "alpha":
            _falling_log_axis(self.ax_)
        name = "coefficient" if self.scales is None else "standardised coefficient"
        self.ax_.set(xlabel="alpha" if x == "alpha" else "ℓ₁ norm", ylabel=name)
        self.ax_.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        tidy(self.ax_)
        _count_axis(self.ax_, along, self.path.n_nonzero)
        self.labels_ = _name_ends(
            self.ax_, along[-1], [(coefs[-1, j], names[j], colours[j]) for j in largest.tolist()]
        )
        return self

    def _scaled(self, coefs: NDArray[Any]) -> NDArray[Any]:
        return coefs if self.scales is None else coefs * np.asarray(self.scales)

    def _largest(self, coefs: NDArray[Any], at: float | None) -> NDArray[np.intp]:
        """Features that are not zero at a penalty, the largest coefficients first."""
        row = coefs[-1]
        if at is not None:
            row = self._scaled(strength(np.atleast_2d(self.path.coef_at(at)[0])))
        kept = np.flatnonzero(row)
        return kept[np.argsort(-np.abs(row[kept]), kind="stable")]

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


class CVDisplay:
    """Cross-validated score along the path, as R's ``plot(cvfit)`` draws it.

    Means over the folds with bars of one standard error, for the chosen combination of
    hyperparameters; those of the others are faint lines. Dotted lines are at the best penalty
    and at the largest within one standard error of it; the number of non-zero coefficients is at
    the top. Scores that are negated losses are drawn as losses.

    Parameters
    ----------
    cv_results : dict of ndarrays
        ``cv_results_`` of a cross-validated classifier.
    best_index : int
        The chosen entry.
    n_nonzero : ndarray of shape (n_alphas,), default=None
        Number of non-zero coefficients of the chosen combination at each penalty.
    scoring : str, default="score"
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure that holds them.
    errorbar_ : matplotlib ErrorbarContainer
        Means and bars of the chosen combination.
    lines_ : list of matplotlib Line2D
        The means of the other combinations.

    Examples
    --------
    >>> from clearning import CLearningClassifierCV
    >>> from clearning.display import CVDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = CVDisplay.from_estimator(CLearningClassifierCV(standardize=True).fit(X, y))
    """

    ax_: Any
    figure_: Any
    errorbar_: Any
    lines_: list[Any]

    def __init__(
        self,
        cv_results: dict[str, Any],
        best_index: int,
        *,
        n_nonzero: NDArray[Any] | None = None,
        scoring: str = "score",
    ) -> None:
        self.cv_results = cv_results
        self.best_index = best_index
        self.n_nonzero = n_nonzero
        self.scoring = scoring

    @classmethod
    def from_estimator(cls, estimator: Any, **plot_options: Any) -> CVDisplay:
        """Draw the cross-validation of a fitted classifier.

        Parameters
        ----------
        estimator : estimator with ``cv_results_``, ``best_index_`` and ``path_``
            Such as a fitted CLearningClassifierCV.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        CVDisplay
        """
        check_is_fitted(estimator, ["cv_results_", "best_index_", "path_"])
        scoring = estimator.scoring
        if scoring is None:
            scoring = "neg_log_loss" if estimator.loss_.has_link else "accuracy"
        display = cls(
            estimator.cv_results_,
            estimator.best_index_,
            n_nonzero=estimator.path_.n_nonzero,
            scoring=scoring if isinstance(scoring, str) else "score",
        )
        return display.plot(**plot_options)

    def plot(self, *, ax: Any = None, **errorbar_kw: Any) -> CVDisplay:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **errorbar_kw
            Passed to matplotlib's ``errorbar``.

        Returns
        -------
        CVDisplay
        """
        self.ax_ = new_axes("CVDisplay", 1, 1, _SIZE)[0] if ax is None else ax
        self.figure_ = self.ax_.figure
        alphas, mean = self.cv_results["param_alpha"], self.cv_results["mean_test_score"]
        sem = self.cv_results["sem_test_score"]
        name, turned = _as_loss(self.scoring, mean)
        chosen, *others = combination_rows(self.cv_results, self.best_index)
        self.lines_ = []
        for rows in others:
            self.lines_ += self.ax_.plot(alphas[rows], turned[rows], color=GREY, alpha=0.4, lw=1.0)
        style = {"fmt": "o", "ms": 4, "color": COLOURS[1], "ecolor": GREY, "elinewidth": 1.0}
        self.errorbar_ = self.ax_.errorbar(
            alphas[chosen], turned[chosen], yerr=sem[chosen], **{**style, **errorbar_kw}
        )
        best, one_se = marked_penalties(self.cv_results, chosen)
        for alpha, words, side in ((best, "best", "left"), (one_se, "one s.e.", "right")):
            self.ax_.axvline(alpha, color=GREY, linestyle=":")
            self._name_line(alpha, words, side)
        _falling_log_axis(self.ax_)
        self.ax_.set(xlabel="alpha", ylabel=name)
        tidy(self.ax_)
        if self.n_nonzero is not None:
            _count_axis(self.ax_, alphas[chosen], self.n_nonzero)
        return self

    def _name_line(self, alpha: float, words: str, side: str) -> None:
        """Write what a dotted line stands for along it, beside the line of the other."""
        self.ax_.annotate(
            words,
            xy=(alpha, 0.98),
            xycoords=("data", "axes fraction"),
            xytext=(3 if side == "left" else -3, 0),
            textcoords="offset points",
            ha=side,
            va="top",
            rotation=90,
            fontsize="small",
            color=GREY,
        )


def _by_feature(coefs: NDArray[Any]) -> NDArray[np.float64]:
    """One line a feature: its coefficient, or the norm of those of many classes."""
    return strength(coefficients_by_score(coefs, coefs.shape[-1]))


def _as_loss(scoring: str, mean: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return the name and the values to draw, a loss where the score is a negated one."""
    if scoring.startswith("neg_"):
        return scoring.removeprefix("neg_").replace("_", " "), -mean
    if scoring == "accuracy":
        return "misclassification", 1.0 - mean
    return scoring.replace("_", " "), mean


def _falling_log_axis(ax: Any) -> None:
    ax.set_xscale("log")
    if not ax.xaxis_inverted():
        ax.invert_xaxis()


def _count_axis(ax: Any, along: NDArray[Any], counts: NDArray[Any]) -> None:
    """Show the number of non-zero coefficients at some points of the path, at the top."""
    points = np.unique(np.linspace(0, len(along) - 1, 9).round().astype(int))
    # Where the path hardly moves its points fall together, and so would their numbers.
    place = np.log(along[points]) if ax.get_xscale() == "log" else along[points]
    room = np.ptp(place) / 16
    kept = [0]
    for k in range(1, len(points)):
        if abs(place[k] - place[kept[-1]]) > room:
            kept.append(k)
    top = ax.secondary_xaxis("top")
    top.set_xticks(along[points[kept]], labels=[str(c) for c in counts[points[kept]]])
    top.set_xticks([], minor=True)
    top.set_xlabel("non-zero coefficients")
    top.spines["top"].set_visible(False)
    top.tick_params(length=0)


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
