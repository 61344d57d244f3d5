"""Linear C-learning on rows in blocks, with penalties chosen by cross-validation."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from clearning._blocks.fit import Solved
from clearning._blocks.folds import with_folds
from clearning._blocks.sources import make_source
from clearning._blockwise_base import (
    BLOCKWISE_CONSTRAINTS,
    BaseBlockwiseClassifier,
    check_curved,
)
from clearning._designs import Array
from clearning._problem import check_grid
from clearning._search_classifier import GRID_CONSTRAINTS
from clearning._search_space import Combination, make_combinations
from clearning._search_table import rows_of, select, summarize
from clearning._search_trial import Given, Trial
from clearning._sklearn import Interval, StrOptions, fit_context
from clearning.losses import Loss

_SCORINGS = {"neg_log_loss": 0, "accuracy": 1}
_SEARCHED = ("alphas", "alpha_min_ratio", "l1_ratios", "rhos", "us", "selection")


class BlockwiseCLearningClassifierCV(BaseBlockwiseClassifier):
    """Linear C-learning on rows in blocks, with the penalty chosen by cross-validation.

    All penalties and all folds move in lock-step: each pass over the rows takes every one of them a
    Newton step further, so that a path of fifty penalties with five folds takes little more passes
    than one fit does. Curvature is shared between neighbouring penalties and between folds;
    gradients are exact, and every fit has its own certificate. Folds are drawn within each block,
    stratified by class.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge"} or Loss, \
            default="coherence"
        The loss of the margin; "coherence" is the C-loss.
    alphas : int or array-like, default=100
        Number of penalties on the path, from the smallest with all coefficients zero down a
        logarithmic grid; or the penalties themselves.
    alpha_min_ratio : float or "auto", default="auto"
        Smallest penalty as a share of the largest; "auto" is 0.01 where there are more features
        than samples and 0.0001 elsewhere.
    l1_ratios : array-like of float, default=(0.5,)
        Shares of the ℓ₁ penalty to try; each takes passes of its own.
    rhos : array-like of float, default=(1.0,)
        Temperatures to try; ignored but for the first where the loss is not "coherence".
    us : array-like of float, default=(1.0,)
        Margins to try; ignored but for the first where the loss is not "coherence".
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.
    cv : int, splitter or iterable, default=5
        Number of folds, which are drawn; or, where X is an array or a memory map, a splitter or an
        iterable of (train, test) indices that test each row once.
    scoring : {"neg_log_loss", "accuracy"}, default=None
        What the choice is made by: sums over held-out rows. By default "neg_log_loss" where the
        loss has a link to probabilities, "accuracy" elsewhere.
    selection : {"best", "one_se"}, default="best"
        The alpha of the best mean score, or the largest whose mean score is within one standard
        error of it.
    calibrate : bool, default=False
        Must be False: a calibrator is fitted to the scores of all held-out rows, which blocks do
        not keep. It is here so that asking for it gets a sentence.
    fit_intercept, standardize, penalty_factor, bounds, class_weight, tol, max_iter, random_state, \
n_jobs, checkpoint
        As for :class:`BlockwiseCLearningClassifier`; `random_state` draws the folds, too, and
        `max_iter` is for each (l1_ratio, ρ, u), whose held-out rows may take one more pass.

    Attributes
    ----------
    alpha_, l1_ratio_, rho_, u_ : float
        The chosen hyperparameters.
    path_ : RegularizationPath
        The path of the chosen (l1_ratio, ρ, u) on all rows.
    cv_results_ : dict of ndarrays
        As :class:`CLearningClassifierCV` has them.
    cv_gaps_ : ndarray of shape (n_folds, n_alphas)
        Duality gaps of the chosen combination's paths on the folds.
    best_index_ : int
        Index of the chosen entry of ``cv_results_``.
    coef_, intercept_, classes_, n_iter_, objective_, dual_gap_, loss_, n_features_in_, \
feature_names_in_
        As for :class:`BlockwiseCLearningClassifier`, at the chosen penalty.

    See Also
    --------
    BlockwiseCLearningClassifier : One fit at one penalty.
    CLearningClassifierCV : The same for rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from clearning import BlockwiseCLearningClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = X[:, 0] + rng.logistic(size=2000) > 0
    >>> model = BlockwiseCLearningClassifierCV(alphas=10).fit(X, y)
    >>> model.path_.coefs.shape
    (10, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BLOCKWISE_CONSTRAINTS,
        **{name: GRID_CONSTRAINTS[name] for name in _SEARCHED},
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "calibrate": ["boolean", StrOptions({"auto"})],
        "scoring": [StrOptions(set(_SCORINGS)), None],
    }

    def __init__(
        self,
        *,
        loss: str | Loss = "coherence",
        alphas: int | ArrayLike = 100,
        alpha_min_ratio: float | str = "auto",
        l1_ratios: ArrayLike = (0.5,),
        rhos: ArrayLike = (1.0,),
        us: ArrayLike = (1.0,),
        delta: float = 2.0,
        cv: Any = 5,
        scoring: str | None = None,
        selection: str = "best",
        calibrate: bool = False,
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factor: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        random_state: Any = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.loss = loss
        self.alphas = alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.l1_ratios = l1_ratios
        self.rhos = rhos
        self.us = us
        self.delta = delta
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.calibrate = calibrate
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.penalty_factor = penalty_factor
        self.bounds = bounds
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None
    ) -> BlockwiseCLearningClassifierCV:
        """Choose the hyperparameters by cross-validation and fit on all rows, all at once.

        Parameters
        ----------
        X, y, sample_weight, offset
            As for :meth:`BlockwiseCLearningClassifier.fit`.

        Returns
        -------
        self : BlockwiseCLearningClassifierCV
            The fitted classifier.
        """
        combinations = make_combinations(
            self.loss, l1_ratios=self.l1_ratios, rhos=self.rhos, us=self.us, delta=self.delta
        )
        scoring = self._scoring(check_curved(combinations[0].loss))
        grid = check_grid(self.alphas, self.alpha_min_ratio)
        if self.calibrate:
            raise ValueError(
                f"calibrate={self.calibrate!r} must be False: a calibrator is fitted to the scores "
                "of all held-out rows, which blocks do not keep. Fit a CoherenceCalibrator to the "
                "scores of some rows that were held back."
            )
        source, n_folds = with_folds(make_source(X, y, sample_weight, offset), self.cv)
        fit = self._begin(source, n_folds)
        solved = []
        for number, each in enumerate(combinations):
            options = self._options(each.loss, each.l1_ratio, grid)
            solved.append(fit.solve(options, f"fit {number}"))
            self._warn_unconverged(solved[-1])
        self._choose(combinations, solved, scoring)
        self.n_iter_ = fit.passes
        fit.checkpoint.remove()
        return self

    def _scoring(self, loss: Loss) -> int:
        scoring = self.scoring or ("neg_log_loss" if loss.has_link else "accuracy")
        if scoring == "neg_log_loss" and not loss.has_link:
            raise ValueError(
                f"scoring={scoring!r} needs probabilities, to which loss={loss.name!r} has no "
                "link; use scoring='accuracy'."
            )
        return _SCORINGS[scoring]

    def _choose(self, combinations: list[Combination], solved: list[Solved], scoring: int) -> None:
        """Set what was found, from sums over the rows that each fold left out."""
        tests = np.array([found.state.test[1:] for found in solved])
        scores: Array = (tests[..., scoring] / tests[..., 2]).swapaxes(1, 2)
        fold_weight = tests[0, :, 0, 2]
        trials = []
        for each, found, judged in zip(combinations, solved, scores):
            alphas = found.problem.alphas
            trials.append(Trial(each, {}, Given(alphas), fold_weight / fold_weight.sum()))
            trials[-1].add(alphas, judged, [], [])
        best = max(trials, key=lambda each: each.means[each.best])
        table, rows = summarize(trials, fold_weight), rows_of(trials, best)
        index = select(table, rows, self.selection)
        number, place = trials.index(best), index - rows.start
        chosen = best.combination
        self.cv_results_, self.best_index_ = table, index
        self.loss_ = solved[number].problem.loss
        self.alpha_ = float(best.alphas[place])
        self.l1_ratio_, self.rho_, self.u_ = chosen.l1_ratio, chosen.rho, chosen.u
        self.cv_gaps_ = solved[number].state.gap[1:].copy()
        self.path_ = self._path(solved[number])
        self._take(self.path_, place)
