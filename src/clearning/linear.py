"""Linear C-learning, f(x) = a + x'b under the elastic net, as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from clearning import _cv
from clearning._base import (
    COMMON_CONSTRAINTS,
    SINGLE_FIT_CONSTRAINTS,
    MarginClassifierMixin,
    Target,
    check_offset,
    check_target,
    check_values,
)
from clearning.losses import Loss, make_loss
from clearning.path import RegularizationPath, clearning_path

_LINEAR_CONSTRAINTS: dict[str, list[Any]] = {
    **COMMON_CONSTRAINTS,
    "standardize": ["boolean"],
    "penalty_factor": ["array-like", None],
    "bounds": [tuple, list, None],
}


class _LinearMarginClassifier(MarginClassifierMixin, BaseEstimator):
    """What the two linear classifiers share: input, scores and the options of a path."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def decision_function(self, X: Any, offset: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the scores f(x) = a + x'b.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Positive on the side of ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._validate_design(X, reset=False)
        scores = safe_sparse_dot(X, self.coef_[0]) + self.intercept_[0]
        return scores if offset is None else scores + check_offset(X, offset)

    def _validate_design(self, X: Any, *args: Any, reset: bool = True) -> Any:
        return validate_data(
            self,
            X,
            *args,
            reset=reset,
            accept_sparse=("csc", "csr"),
            dtype=(np.float64, np.float32),
        )

    def _path(self, X: Any, target: Target, loss: Loss, index: Any = None, **options: Any) -> Any:
        """Run the path solver on all samples, or on those of an index."""
        signs, weight, offset = target.signs, target.weight, target.offset
        if index is not None:
            X = _safe_indexing(X, index)
            signs = signs[index]
            weight = None if weight is None else weight[index]
            offset = None if offset is None else offset[index]
        return clearning_path(
            X,
            signs,
            loss=loss,
            sample_weight=weight,
            offset=offset,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            penalty_factor=self.penalty_factor,
            bounds=self.bounds,
            tol=self.tol,
            max_iter=self.max_iter,
            **options,
        )

    def _take(self, path: RegularizationPath, index: int) -> None:
        """Set the fitted attributes from one point of a path."""
        self.coef_ = path.coefs[index : index + 1].copy()
        self.intercept_ = path.intercepts[index : index + 1].copy()
        self.n_iter_ = int(path.n_iters[index])
        self.objective_ = float(path.objectives[index])
        self.dual_gap_ = float(path.dual_gaps[index])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CLearningClassifier(_LinearMarginClassifier):
    r"""Linear large-margin classifier with probabilities and a certificate.

    Minimises over the intercept a and the coefficients b

    .. math::
        P(a, b) = \frac1n \sum_i w_i \, \phi(y_i (o_i + a + x_i'b))
        + \alpha \sum_j p_j \left[ \tfrac{1-\omega}{2} b_j^2 + \omega |b_j| \right]

    where φ is the loss, ω is ``l1_ratio``, w are the sample weights scaled to sum to n, o the
    offsets and p the penalty factors. The intercept is not penalised. The fit ends when its
    duality gap, an upper bound on P(a, b) − min P, is at most ``tol`` times the objective of the
    best constant score.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        The loss of the margin; "coherence" is the C-loss.
    rho : float, default=1.0
        Temperature ρ > 0 of the C-loss: small is near the hinge loss.
    u : float, default=1.0
        Margin u > 0 of the C-loss.
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.
    alpha : float, default=0.01
        Weight of the penalty, positive.
    l1_ratio : float, default=0.5
        Share of the ℓ₁ penalty, in [0, 1].
    fit_intercept : bool, default=True
        Whether there is an intercept.
    standardize : bool, default=False
        Whether to penalise the coefficients of columns scaled to unit variance. Coefficients are
        reported on the original scale.
    penalty_factor : array-like of shape (n_features,), default=None
        Non-negative factors p of each coefficient's penalty; 0 leaves it unpenalised.
    bounds : tuple (lower, upper), default=None
        Bounds of the coefficients, numbers or arrays of shape (n_features,), with
        lower ≤ 0 ≤ upper.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    tol : float, default=1e-6
        Duality gap to reach, relative to the objective of the best constant score.
    max_iter : int, default=10000
        Most iterations of the solver.
    warm_start : bool, default=False
        Whether to start from the solution of the fit before.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Coefficients b; those that the penalty puts at zero are exactly zero.
    intercept_ : ndarray of shape (1,)
        Intercept a.
    classes_ : ndarray of shape (2,)
        The two class labels; the second has positive scores.
    n_iter_ : int
        Iterations of the solver.
    objective_ : float
        P at the solution.
    dual_gap_ : float
        Upper bound on how far ``objective_`` is from the minimum.
    loss_ : Loss
        The loss that was minimised.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    See Also
    --------
    CLearningClassifierCV : The same with cross-validated penalties.
    clearning_path : All penalties at once.

    References
    ----------
    Z. Zhang, G. Dai and M. I. Jordan, "Coherence functions with applications in large-margin
    classification methods", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> from clearning import CLearningClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CLearningClassifier(standardize=True).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_LINEAR_CONSTRAINTS,
        **SINGLE_FIT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        loss: str | Loss = "coherence",
        rho: float = 1.0,
        u: float = 1.0,
        delta: float = 2.0,
        alpha: float = 0.01,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factor: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.rho = rho
        self.u = u
        self.delta = delta
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.penalty_factor = penalty_factor
        self.bounds = bounds
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> CLearningClassifier:
        """Fit the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples. Fortran-ordered float64 arrays and CSC matrices are used without a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.

        Returns
        -------
        self : CLearningClassifier
            The fitted classifier.
        """
        X, y = self._validate_design(X, y)
        target = check_target(
            X, y, sample_weight=sample_weight, class_weight=self.class_weight, offset=offset
        )
        loss = make_loss(self.loss, rho=self.rho, u=self.u, delta=self.delta)
        path = self._path(
            X,
            target,
            loss,
            alphas=[self.alpha],
            l1_ratio=self.l1_ratio,
            **self._start(X.shape[1]),
        )
        self.classes_, self.loss_ = target.classes, loss
        self._take(path, 0)
        return self

    def _start(self, n_features: int) -> dict[str, Any]:
        if not (self.warm_start and hasattr(self, "coef_") and self.coef_.shape[1] == n_features):
            return {}
        return {"coef_init": self.coef_[0], "intercept_init": float(self.intercept_[0])}


class CLearningClassifierCV(_LinearMarginClassifier):
    """Linear C-learning with penalty, temperature and margin chosen by cross-validation.

    Each fold runs a whole path of alphas once for every (l1_ratio, ρ, u); the path of the chosen
    combination is then run on all samples. Folds are stratified and run in parallel threads.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        The loss of the margin; "coherence" is the C-loss.
    alphas : int or array-like, default=100
        Number of penalties on the path, from the smallest with all coefficients zero down a
        logarithmic grid; or the penalties themselves.
    alpha_min_ratio : float or "auto", default="auto"
        Smallest penalty as a share of the largest; "auto" is 0.01 where there are more features
        than samples and 0.0001 elsewhere.
    l1_ratios : array-like of float, default=(0.5,)
        Shares of the ℓ₁ penalty to try.
    rhos : array-like of float, default=(1.0,)
        Temperatures to try; ignored but for the first where the loss is not "coherence".
    us : array-like of float, default=(1.0,)
        Margins to try; ignored but for the first where the loss is not "coherence".
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or the folds.
    scoring : str or callable, default=None
        A scorer of scikit-learn. By default "neg_log_loss" where the loss has a link to
        probabilities, "accuracy" elsewhere.
    selection : {"best", "one_se"}, default="best"
        The alpha of the best mean score, or the largest whose mean score is within one standard
        error of it.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    standardize : bool, default=False
        Whether to penalise the coefficients of columns scaled to unit variance. Coefficients are
        reported on the original scale.
    penalty_factor : array-like of shape (n_features,), default=None
        Non-negative factors of each coefficient's penalty; 0 leaves it unpenalised.
    bounds : tuple (lower, upper), default=None
        Bounds of the coefficients, numbers or arrays of shape (n_features,), with
        lower ≤ 0 ≤ upper.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    tol : float, default=1e-6
        Duality gap to reach, relative to the objective of the best constant score.
    max_iter : int, default=10000
        Most iterations of the solver at each penalty.
    n_jobs : int, default=None
        Number of threads over folds and combinations; -1 for all processors.

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
    coef_ : ndarray of shape (1, n_features)
        Coefficients at the chosen penalty.
    intercept_ : ndarray of shape (1,)
        Intercept at the chosen penalty.
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
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_LINEAR_CONSTRAINTS,
        "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "alpha_min_ratio": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
        "l1_ratios": ["array-like"],
        "rhos": ["array-like"],
        "us": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "selection": [StrOptions({"best", "one_se"})],
        "n_jobs": [Integral, None],
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
        scoring: Any = None,
        selection: str = "best",
        fit_intercept: bool = True,
        standardize: bool = False,
        penalty_factor: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        n_jobs: int | None = None,
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
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.penalty_factor = penalty_factor
        self.bounds = bounds
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
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
            Labels of two classes.
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
        _raise_for_params(params, self, "fit")
        X, y = self._validate_design(X, y)
        target = check_target(
            X, y, sample_weight=sample_weight, class_weight=self.class_weight, offset=offset
        )
        split_params, score_params = self._route(sample_weight, params)
        folds = _cv.make_folds(self.cv, X, y, target, split_params)
        candidates = _cv.make_candidates(
            self.loss,
            l1_ratios=self.l1_ratios,
            rhos=self.rhos,
            us=self.us,
            delta=self.delta,
            alphas=lambda loss, l1_ratio: self._alphas(X, target, loss, l1_ratio),
        )
        result = _cv.search(
            lambda candidate, train, test: self._fold_scores(X, target, candidate, train, test),
            candidates,
            folds,
            X=X,
            target=target,
            scoring=self.scoring,
            score_params=score_params,
            selection=self.selection,
            n_jobs=self.n_jobs,
        )
        self.classes_ = target.classes
        self.cv_results_, self.best_index_ = result.table, result.index
        self._refit(X, target, result.candidate, result.alpha_index)
        return self

    def _refit(self, X: Any, target: Target, chosen: _cv.Candidate, index: int) -> None:
        path = self._path(X, target, chosen.loss, alphas=chosen.alphas, l1_ratio=chosen.l1_ratio)
        names = getattr(self, "feature_names_in_", None)
        self.path_ = replace(
            path, classes=target.classes, feature_names=None if names is None else tuple(names)
        )
        self.loss_ = chosen.loss
        self.alpha_ = float(chosen.alphas[index])
        self.l1_ratio_, self.rho_, self.u_ = chosen.l1_ratio, chosen.rho, chosen.u
        self._take(path, index)

    def _alphas(self, X: Any, target: Target, loss: Loss, l1_ratio: float) -> Any:
        """Return the penalties of all folds: those of the path on all samples."""
        if not isinstance(self.alphas, Integral):
            return np.sort(check_values("alphas", self.alphas, 0.0, np.inf, closed=False))[::-1]
        largest = self._path(X, target, loss, alphas=1, l1_ratio=l1_ratio).alphas[0]
        ratio = self.alpha_min_ratio
        if ratio == "auto":
            ratio = 1e-2 if X.shape[0] < X.shape[1] else 1e-4
        return np.geomspace(largest, largest * ratio, self.alphas)

    def _fold_scores(
        self, X: Any, target: Target, candidate: _cv.Candidate, train: Any, test: Any
    ) -> NDArray[np.float64]:
        path = self._path(
            X,
            target,
            candidate.loss,
            train,
            alphas=candidate.alphas,
            l1_ratio=candidate.l1_ratio,
        )
        scores = safe_sparse_dot(_safe_indexing(X, test), path.coefs.T) + path.intercepts
        return scores if target.offset is None else scores + target.offset[test, None]

    def _route(
        self, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the splitter and what goes to the scorer."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not _routing_enabled():
            return {}, weights
        routed = process_routing(self, "fit", **weights, **params)
        score_params = weights if self.scoring is None else routed.get("scorer", Bunch()).score
        return routed.splitter.split, score_params

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata is routed: to this estimator, the splitter and the scorer.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        router = (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv, classifier=True),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )
        if self.scoring is not None:
            router.add(
                scorer=get_scorer(self.scoring),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        return router
