"""Kernel C-learning with penalty, width, temperature and margin chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from clearning._designs import Indices
from clearning._expansion import Expansion
from clearning._kernel_base import (
    KERNEL_CONSTRAINTS,
    WITH_GAMMA,
    BaseKernelClassifier,
    TrainingSet,
)
from clearning._kernel_problems import KernelProblems, Samples
from clearning._margin import COMMON_CONSTRAINTS
from clearning._ranges import POSITIVE
from clearning._search_classifier import SEARCH_CONSTRAINTS, SearchMixin
from clearning._search_folds import Fold, folds_on, make_folds, some_samples
from clearning._search_space import AUTO, KERNEL, KERNEL_OF_MANY, Auto
from clearning._sklearn import StrOptions, fit_context, raise_for_params, safe_indexing
from clearning.kernels import GAMMA_RULES
from clearning.losses import Loss


class KernelCLearningClassifierCV(SearchMixin, BaseKernelClassifier):
    """Kernel C-learning with penalty, width, temperature and margin chosen by cross-validation.

    One kernel matrix per width is computed on all samples; folds are slices of it. Each fold walks
    down a path of alphas for every (gamma, l1_ratio, ρ, u) that is tried; the path of the chosen
    combination is then run on all samples. Folds are stratified and run in parallel threads.
    What is given is tried as it is, all with all. What is "auto" is looked for one hyperparameter
    after the other, from the best so far, and a value gives way to another only if that is better
    by a standard error of the difference, fold for fold. Widths and losses are compared on 200
    landmarks and 2000 samples (of m classes 2000 / (m − 1), but no fewer than 500): some nine paths
    of ten penalties a fold. The best of them is then cross-validated on all samples and the
    expansion asked for. A best value at the edge of what was tried is warned of.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "chi2", "polynomial", "poly", "linear", "cosine", "sigmoid", \
            "precomputed"} or callable, default="rbf"
        A callable takes two matrices and returns that of its values, as ``lambda A, B: A @ B.T``
        does; sparse samples come to it as they are. ``"chi2"`` needs samples ≥ 0. With
        ``"precomputed"``, X is the kernel matrix. Matrices that are not positive semidefinite are
        refused.
    gammas : sequence of {"median", "mean", "scale"} or float, or "auto", default="auto"
        Widths to try, numbers or rules; ignored but for the first where the kernel has no width.
        Rules look at all samples, once. "auto" begins at "median", tries a third, three and nine
        times as much, goes on where the last is best, and ends with finer steps around the best.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments for a callable kernel.
    n_landmarks : int, "auto" or None, default="auto"
        Expand in so many well-chosen training samples instead of all, which None stands for. They
        are chosen once per width, without a look at the labels. ``"auto"`` takes all up to 500
        samples and 400 landmarks beyond; the last fit, at the chosen hyperparameters, then gets
        more, as :class:`KernelCLearningClassifier` does.
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        ``"coherence"`` is the C-loss. The hinge-like losses have no probabilities. Of more than
        two classes as for :class:`KernelCLearningClassifier`.
    search : {"auto", "paper"}, default="auto"
        What "auto" stands for below: a search from coarse to fine, or the paper's setting, ρ = 1,
        u = 1 and l1_ratio = 0.5 on a fixed grid of 100 penalties,
        and gamma = "median".
    alphas : int, array-like or "auto", default="auto"
        Number of penalties on the path, from the smallest with all coefficients zero down a
        logarithmic grid; or the penalties themselves. "auto" walks down from there, two penalties
        a decade, until the mean score of the folds has clearly turned, and then tries finer ones
        around the best.
    alpha_min_ratio : float or "auto", default="auto"
        Smallest penalty as a share of the largest; "auto" is 0.001, and a hundred times further
        where ``alphas`` is "auto".
    l1_ratios : array-like of float or "auto", default="auto"
        Shares of the ℓ₁ penalty to try. "auto" is 0.1 alone, of more than two classes 0.5, which
        leaves a fifth fewer support vectors, and of two classes a little more error.
    rhos : array-like of float or "auto", default="auto"
        Temperatures to try; ignored but for the first where the loss is not "coherence". Where
        both are "auto", (ρ, u) begins at (3, 1), and (1, 1) and (0.3, 1), of more than two classes
        (1, 0), too, take its place if clearly better; one alone is 1.
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
        ``CoherenceCalibrator(u=0, smooth=0.5)`` and an offset b of the logit, held to zero by the
        term b²/2 beside the sum of cross-entropies; both are fitted to the test samples of all
        folds. ``intercept_`` is moved by the offset, so that scores, predictions and probabilities
        stay on one side. With ``class_weight`` it is free, to give the classes their rates back;
        without intercept, or in the paper's search, there is none otherwise. True gives every loss
        probabilities; "auto" calibrates where the loss has a link and there are two classes,
        neither weighted, but not in the paper's search.
    fit_intercept : bool, default=True
        Whether to fit the intercept, which is never penalised.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the samples'.
    dtype : {"float64", "float32"}, default="float64"
        Precision in which kernel matrices are kept for the fits.
    tol : float, default=1e-6
        The duality gap to reach, relative to the objective of the intercept alone.
    max_iter : int, default=10000
        Most iterations of the solver at each penalty.
    random_state : int, RandomState instance or None, default=0
        Seed of the choice of landmarks.
    n_jobs : int, default=None
        Number of threads over folds and combinations; -1 for all processors.
    verbose : bool or "auto", default="auto"
        Whether to show how far the search is and what is left; "auto" does on a terminal and in a
        notebook, True in a log too. A search that will take minutes says so once, unless False.
    groups : {None, "classes"}, default=None
        With more than two classes, whether a sample's coefficients are penalised each alone, so
        that it supports some classes, or together, so that it supports all or none.

    Attributes
    ----------
    alpha_, l1_ratio_, rho_, u_ : float
        The chosen hyperparameters.
    gamma_ : float
        The chosen width; nan for a kernel without one.
    path_ : RegularizationPath
        The path of the chosen combination on all samples; its coefficients are those of all
        training samples of non-zero weight, or of ``landmarks_``. Landmarks that were added after
        the search have one at the chosen penalty alone.
    cv_results_ : dict of ndarrays
        ``param_alpha``, ``param_gamma``, ``param_l1_ratio``, ``param_rho``, ``param_u``,
        ``param_n_landmarks`` and ``param_n_samples`` (the numbers of kernel functions and of
        samples: few where widths were looked for),
        ``split0_test_score`` and so on, their mean over folds weighted by the folds' weights, its
        standard deviation (``std_test_score``) and standard error (``sem_test_score``), and
        ``rank_test_score``.
    best_index_ : int
        Index of the chosen entry of ``cv_results_``.
    calibrator_ : CoherenceCalibrator or None
        With ``calibrate``, what makes probabilities of scores: fitted to all test samples' scores
        at the chosen hyperparameters.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, landmarks_ : ndarray
        As in :class:`KernelCLearningClassifier`, at the chosen penalty; with ``calibrate``,
        ``intercept_`` is that of the path plus the offset.
    objective_, dual_gap_, full_gap_ : float
        Objective at the chosen penalty, before calibration, and how far it may be from the minimum:
        that on the landmarks, and that over expansions in all samples.
    n_iter_ : int
        Iterations of the solver at the chosen penalty.
    loss_ : Loss
        The loss that was minimised.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    See Also
    --------
    KernelCLearningClassifier : One fit at one penalty.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from clearning import KernelCLearningClassifierCV
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelCLearningClassifierCV(gammas=(0.5, 2.0), alphas=20).fit(X, y)
    >>> model.path_.coefs.shape
    (20, 200)
    """

    _auto: ClassVar[Auto] = KERNEL
    _auto_of_many: ClassVar[Auto] = KERNEL_OF_MANY
    _cheaper: ClassVar[str] = (
        "Landmarks (n_landmarks=500) take a fraction of it; threads (n_jobs=-1) help, too."
    )
    # More samples than `_looks_on` tell no more of widths: see benchmarks/results-search.md.
    # All of 1000 samples take 1.6 times as long as a grid of 24 SVMs. No full problem corrects what
    # a search chooses: of 800 samples (USPS, odd or even) 250 landmarks cost it .013 in log-loss,
    # 500 .001.
    _all_samples_up_to: ClassVar[int] = 500
    _landmarks_at_first: ClassVar[int] = 400
    _looks_on: ClassVar[int] = 2000
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON_CONSTRAINTS,
        **{name: allowed for name, allowed in KERNEL_CONSTRAINTS.items() if name != "gamma"},
        "gammas": [StrOptions({AUTO}), "array-like"],
        **SEARCH_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gammas: str | Sequence[float | str] = "auto",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        loss: str | Loss = "coherence",
        search: str = "auto",
        alphas: int | str | ArrayLike = "auto",
        alpha_min_ratio: float | str = "auto",
        l1_ratios: str | ArrayLike = "auto",
        rhos: str | ArrayLike = "auto",
        us: str | ArrayLike = "auto",
        delta: float = 2.0,
        cv: Any = 5,
        scoring: Any = None,
        selection: str = "best",
        calibrate: bool | str = "auto",
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        dtype: str = "float64",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | str = "auto",
        groups: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.gammas = gammas
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.loss = loss
        self.search = search
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
        self.class_weight = class_weight
        self.dtype = dtype
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.groups = groups

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        **params: Any,
    ) -> KernelCLearningClassifierCV:
        """Choose the hyperparameters by cross-validation and fit on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples, in the fits and in the default scores; a weight of
            zero leaves a sample out.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            Added to the scores; with a column a class for more than two.
        **params : dict
            Passed on to the splitter and the scorer where metadata routing is enabled.

        Returns
        -------
        self : KernelCLearningClassifierCV
            The fitted classifier.
        """
        raise_for_params(params, self, "fit")
        gammas = self._check_gammas()
        X, y, target, weight = self._check(X, y, sample_weight, offset)
        split_params, score_params = self._route(weight, params)
        folds = make_folds(self.cv, X, y, target, split_params)
        training = self._training_set(X, target, weight)
        folds = folds_on(folds, training.rows, training.n_samples)
        plan = self._plan(
            training.X,
            training.target,
            folds,
            training.sample_weight,
            {name: safe_indexing(value, training.rows) for name, value in score_params.items()},
        )
        problems = KernelProblems(
            [self._resolve_kernel(training, gamma) for gamma in gammas],
            self._samples(training, None),
            self._samples(training, self._to_look_on(training, folds)),
            self._first_landmarks(training),
            self.random_state,
            auto=self._looks_for_widths(),
        )
        found = plan.over(problems)
        self._adopt(found)
        kernel, expansion = problems.kernel(found.trial.of), cast(Expansion, found.problem.design)
        fit = self._finish(training, kernel, expansion, found.path, found.alpha_index)
        self.path_ = fit.path
        self._take(training, kernel, fit, found.alpha_index)
        self.intercept_ = self.intercept_ + found.shift
        return self

    def _to_look_on(self, training: TrainingSet, folds: list[Fold]) -> Indices | None:
        """Return the samples that widths and losses are compared on; None for all."""
        if not self._looks_for_widths():
            return None
        seed = check_random_state(self.random_state).randint(2**31)
        most = max(self._looks_on // (training.target.n_classes - 1), self._looks_on // 4)
        return some_samples(folds, training.target, most, seed)

    def _samples(self, training: TrainingSet, rows: Indices | None) -> Samples:
        X = training.X if rows is None else training.X[rows]
        target = training.target if rows is None else training.target.rows(rows)
        return Samples(X, lambda expansion: self._problem(expansion, target), rows)

    def _looks_for_widths(self) -> bool:
        return self.kernel in WITH_GAMMA and isinstance(self._asked("gammas"), str)

    def _searched(self) -> dict[str, str]:
        return {**super()._searched(), "gamma": "other gammas"}

    def _check_gammas(self) -> list[Any]:
        gammas = self._asked("gammas")
        if isinstance(gammas, str):
            return ["median"]
        for gamma in gammas:
            if gamma not in POSITIVE and not (isinstance(gamma, str) and gamma in GAMMA_RULES):
                raise ValueError(
                    f"gammas must hold numbers in {POSITIVE} or rules among {GAMMA_RULES}; "
                    f"got {gamma!r}."
                )
        if len(gammas) == 0:
            raise ValueError(f"gammas must hold at least one width; got {gammas!r}.")
        return list(gammas) if self.kernel in WITH_GAMMA else list(gammas)[:1]
