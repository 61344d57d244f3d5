"""Linear C-learning with penalty, temperature and margin chosen by cross-validation."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from clearning._door import check_weight
from clearning._linear_base import LINEAR_CONSTRAINTS, BaseLinearClassifier
from clearning._problem import Grid, Problem, Settings
from clearning._search import OneProblem
from clearning._search_classifier import SEARCH_CONSTRAINTS, SearchMixin
from clearning._search_folds import make_folds
from clearning._search_space import LINEAR, Auto
from clearning._sklearn import fit_context, raise_for_params
from clearning.losses import Loss
from clearning.path import RegularizationPath, solve_path


class CLearningClassifierCV(SearchMixin, BaseLinearClassifier):
    """Linear C-learning with penalty, temperature and margin chosen by cross-validation.

    Each fold walks down a path of alphas for every (l1_ratio, ρ, u) that is tried; the path of the
    chosen combination is then run on all samples. Folds are stratified and run in parallel threads.
    What is given is tried as it is, all with all. What is "auto" is looked for one hyperparameter
    after the other, from the best so far, and a value gives way to another only if that is better
    by two standard errors of the difference, fold for fold: six paths of ten to twenty penalties a
    fold, all in all. A best value at the edge of what was tried is warned of.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        The loss of the margin; "coherence" is the C-loss. For more than two classes as for
        :class:`CLearningClassifier`.
    search : {"auto", "paper"}, default="auto"
        What "auto" stands for below: a search from coarse to fine, or the paper's setting, ρ = 1,
        u = 1 and l1_ratio = 0.5 on a fixed grid of 100 penalties.
    alphas : int, array-like or "auto", default="auto"
        Number of penalties on the path, from the smallest with all coefficients zero down a
        logarithmic grid; or the penalties themselves. "auto" walks down from there, two penalties
        a decade, until the mean score of the folds has clearly turned, and then tries finer ones
        around the best.
    alpha_min_ratio : float or "auto", default="auto"
        Smallest penalty as a share of the largest; "auto" is 0.01 where there are more features
        than samples and 0.0001 elsewhere, and a hundred times further where ``alphas`` is "auto".
    l1_ratios : array-like of float or "auto", default="auto"
        Shares of the ℓ₁ penalty to try. "auto" begins at 0.5; 0.1, 0 and 1 take its place if
        clearly better.
    groups : None, "classes" or array-like of shape (n_features,), default=None
        As for :class:`CLearningClassifier`.
    rhos : array-like of float or "auto", default="auto"
        Temperatures to try; ignored but for the first where the loss is not "coherence". Where
        both are "auto", (ρ, u) begins at (3, 1), and (1, 1) and (1, 0) take its place if clearly
        better; one alone is 1.
    us : array-like of float or "auto", default="auto"
        Margins to try; ignored but for the first where the loss is not "coherence".
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or the folds.
    scoring : str or callable, default=None
        A scorer of scikit-learn. By default "neg_log_loss" where the loss has a link to
        probabilities or is calibrated, "accuracy" elsewhere.
    selection : {"best", "one_se"}, default="best"
        The alpha of the best mean score, or the largest whose mean score is within one standard
        error of it.
    calibrate : bool or "auto", default="auto"
        Whether probabilities come from a temperature fitted to the scores of held-out samples
        instead of the loss's link, so that they do not depend on how far the penalty has shrunk
        the scores. Each candidate is then judged, and its probabilities made, by
        ``CoherenceCalibrator(u=0, smooth=0.5)``, fitted to the test samples of all folds. With
        ``class_weight`` it has an offset too, which gives the classes their rates back:
        ``intercept_`` is moved by it, so that scores, predictions and probabilities stay on one
        side. True gives every loss probabilities; "auto" calibrates where the loss has a link and
        there are two classes, neither weighted, but not in the paper's search.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    standardize : bool, default=False
        Whether to penalise the coefficients of columns scaled to unit variance. Coefficients are
        reported on the original scale.
    penalty_factor : array-like of shape (n_features,), default=None
        Non-negative factors of each coefficient's penalty; 0 leaves it unpenalised.
    bounds : tuple (lower, upper), default=None
        Bounds of the coefficients, numbers or arrays of shape (n_features,), with
        lower ≤ 0 ≤ upper; for m > 2 classes whatever broadcasts to (m, n_features). Not to be had
        with groups.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    tol : float, default=1e-6
        Duality gap to reach along the paths, relative to the objective of the best constant score.
        The model at the chosen penalty is solved to rounding.
    max_iter : int, default=10000
        Most iterations of the solver at each penalty.
    n_jobs : int, default=None
        Number of threads over folds and combinations; -1 for all processors.
    verbose : bool or "auto", default="auto"
        Whether to show how far the search is and what is left; "auto" does on a terminal and in a
        notebook, True in a log too. A search that will take minutes says so once, unless False.

    Attributes
    ----------
    alpha_, l1_ratio_, rho_, u_ : float
        The chosen hyperparameters.
    path_ : RegularizationPath
        The path of the chosen (l1_ratio, ρ, u) on all samples.
    cv_results_ : dict of ndarrays
        ``param_alpha``, ``param_l1_ratio``, ``param_rho``, ``param_u``, ``split0_test_score`` and
        so on, their mean over folds weighted by the folds' weights, its standard deviation
        (``std_test_score``) and standard error (``sem_test_score``), and ``rank_test_score``.
    best_index_ : int
        Index of the chosen entry of ``cv_results_``.
    calibrator_ : CoherenceCalibrator or None
        With ``calibrate``, what makes probabilities of scores: fitted to all test samples' scores
        at the chosen hyperparameters.
    coef_ : ndarray of shape (1, n_features)
        Coefficients at the chosen penalty.
    intercept_ : ndarray of shape (1,)
        Intercept at the chosen penalty, moved by the calibrator's offset where it has one.
    classes_ : ndarray of shape (2,)
        The two class labels; the second has positive scores.
    n_iter_ : int
        Iterations of the solver at the chosen penalty.
    objective_ : float
        Objective at the chosen penalty.
    dual_gap_ : float
        Upper bound on how far ``objective_`` is from the minimum.
    loss_ : Loss
        The loss that was minimised.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    See Also
    --------
    CLearningClassifier : One fit at one penalty.

    Examples
    --------
    >>> from clearning import CLearningClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CLearningClassifierCV(standardize=True, alphas=20, selection="one_se").fit(X, y)
    >>> model.path_.coefs.shape
    (20, 30)
    """

    _auto: ClassVar[Auto] = LINEAR
    _auto_of_many: ClassVar[Auto] = LINEAR
    _cheaper: ClassVar[str] = (
        "Threads (n_jobs=-1), fewer folds (cv=3) or a given l1_ratios take less."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LINEAR_CONSTRAINTS,
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        loss: str | Loss = "coherence",
        search: str = "auto",
        alphas: int | str | ArrayLike = "auto",
        alpha_min_ratio: float | str = "auto",
        l1_ratios: str | ArrayLike = "auto",
        groups: ArrayLike | str | None = None,
        rhos: str | ArrayLike = "auto",
        us: str | ArrayLike = "auto",
        delta: float = 2.0,
        cv: Any = 5,
        scoring: Any = None,
        selection: str = "best",
        calibrate: bool | str = "auto",
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factor: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
        verbose: bool | str = "auto",
    ) -> None:
        self.loss = loss
        self.search = search
        self.alphas = alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.l1_ratios = l1_ratios
        self.groups = groups
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        **params: Any,
    ) -> CLearningClassifierCV:
        """Choose the hyperparameters by cross-validation and fit on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples, in the fits and in the default scores.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.
        **params : dict
            Passed on to the splitter and the scorer where metadata routing is enabled.

        Returns
        -------
        self : CLearningClassifierCV
            The fitted classifier.
        """
        raise_for_params(params, self, "fit")
        X, y = self._validate_design(X, y)
        problem = self._problem(X, y, sample_weight, offset)
        weight = check_weight(sample_weight, X)
        split_params, score_params = self._route(weight, params)
        folds = make_folds(self.cv, X, y, problem.target, split_params)
        plan = self._plan(X, problem.target, folds, weight, score_params)
        found = plan.over(OneProblem(problem))
        self._adopt(found)
        self.classes_ = problem.target.classes
        self._take(self.path_, found.alpha_index)
        polished = self._polish(problem, found.alpha_index)
        if polished.dual_gaps[0] < self.dual_gap_:
            self._take(polished, 0)
            self.n_iter_ += int(self.path_.n_iters[found.alpha_index])
        self.intercept_ = self.intercept_ + found.shift
        return self

    def _polish(self, problem: Problem, index: int) -> RegularizationPath:
        """Solve the chosen penalty to rounding, from where the path left it.

        Far down a path the objective is flat, and a tolerance on it says little about coefficients;
        this last fit makes them those of the optimum, however the samples are weighted or repeated.
        A few of its steps double the digits each; where they do not, as with repeated columns, more
        of them would only turn in rounding.
        """
        path = self.path_
        settings = Settings(tol=min(self.tol, 1e-16), max_iter=min(self.max_iter, 30))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the path has met `tol`, or warned
            grid = Grid.of(path.alphas[[index]])
            return solve_path(problem, path.loss, path.l1_ratio, grid, settings, path.start(index))
