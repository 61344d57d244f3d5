"""`CVDisplay`: the cross-validated score along a path."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from clearning._curve import combination_rows, marked_penalties
from clearning.display._penalties import PATH_SIZE, count_axis, falling_log_axis
from clearning.display._style import COLOURS, GREY, new_axes, tidy

__all__ = ["CVDisplay"]


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
        self.ax_ = new_axes("CVDisplay", 1, 1, PATH_SIZE)[0] if ax is None else ax
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
        falling_log_axis(self.ax_)
        self.ax_.set(xlabel="alpha", ylabel=name)
        tidy(self.ax_)
        if self.n_nonzero is not None:
            count_axis(self.ax_, alphas[chosen], self.n_nonzero)
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


def _as_loss(scoring: str, mean: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return the name and the values to draw, a loss where the score is a negated one."""
    if scoring.startswith("neg_"):
        return scoring.removeprefix("neg_").replace("_", " "), -mean
    if scoring == "accuracy":
        return "misclassification", 1.0 - mean
    return scoring.replace("_", " "), mean
