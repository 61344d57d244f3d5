"""Kernel C-learning with penalty, width, temperature and margin chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.metrics import get_scorer_names
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import _raise_for_params

from clearning import _cv
from clearning._base import COMMON_CONSTRAINTS, Target, check_values
from clearning._expansion import Expansion, expand
from clearning._kernel_base import (
    KERNEL_CONSTRAINTS,
    WITH_GAMMA,
    BaseKernelClassifier,
    TrainingSet,
    target_rows,
)
from clearning._routing import SearchRoutingMixin
from clearning.kernels import GAMMA_RULES, Kernel, negative_distance_matrix
from clearning.losses import Loss


class KernelCLearningClassifierCV(SearchRoutingMixin, BaseKernelClassifier):
    """Kernel C-learning with penalty, width, temperature and margin chosen by cross-validation.

    One kernel matrix per width is computed on all samples; folds are slices of it. Each fold runs
    a whole path of alphas once for every (gamma, l1_ratio, ρ, u); the path of the chosen
    combination is then run on all samples. Folds are stratified and run in parallel threads.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "polynomial", "poly", "linear", "sigmoid", "precomputed"} or \
            callable, default="rbf"
        A callable takes two rows and returns a number. With ``"precomputed"``, X is the kernel
        matrix. Matrices that are not positive semidefinite are refused.
    gammas : sequence of {"median", "mean", "scale"} or float, default=("median",)
        Widths to try, numbers or rules; ignored but for the first where the kernel has no width.
        Rules look at all samples, once.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments for a callable kernel.
    n_landmarks : int, default=None
        Expand in so many well-chosen training samples instead of all. They are chosen once per
        width, without a look at the labels.
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        ``"coherence"`` is the C-loss. The hinge-like losses have no probabilities.
    alphas : int or array-like, default=100
        Number of penalties on the path, from the smallest with all coefficients zero down a
        logarithmic grid; or the penalties themselves.
    alpha_min_ratio : float or "auto", default="auto"
        Smallest penalty as a share of the largest; "auto" is 0.0001.
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
        probabilities or is calibrated, "accuracy" elsewhere.
    selection : {"best", "one_se"}, default="best"
        The alpha of the best mean score, or the largest whose mean score is within one standard
        error of it.
    calibrate : bool, default=False
        Whether probabilities come from a temperature fitted to the scores of held-out samples
        instead of the loss's link, so that they do not depend on how far the penalty has shrunk
        the scores. Each candidate is then judged, and its probabilities made, by
        ``CoherenceCalibrator(u=0, smooth=0.5)``; in each fold by one that is fitted to the other
        folds' test samples. Predictions at given hyperparameters stay the same, and every loss has
        probabilities.
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

    Attributes
    ----------
    alpha_, l1_ratio_, rho_, u_ : float
        The chosen hyperparameters.
    gamma_ : float
        The chosen width; nan for a kernel without one.
    path_ : RegularizationPath
        The path of the chosen combination on all samples; its coefficients are those of all
        training samples of non-zero weight, or of ``landmarks_``.
    cv_results_ : dict of ndarrays
        ``param_alpha``, ``param_gamma``, ``param_l1_ratio``, ``param_rho``, ``param_u``,
        ``split0_test_score`` and so on, their mean over folds weighted by the folds' weights, its
        standard deviation (``std_test_score``) and standard error (``sem_test_score``), and
        ``rank_test_score``.
    best_index_ : int
        Index of the chosen entry of ``cv_results_``.
    calibrator_ : CoherenceCalibrator or None
        With ``calibrate``, what makes probabilities of scores: fitted to all test samples' scores
        at the chosen hyperparameters.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, landmarks_ : ndarray
        As in :class:`KernelCLearningClassifier`, at the chosen penalty.
    objective_, dual_gap_ : float
        Objective at the chosen penalty, and how far it may be from the minimum.
    n_iter_ : int
        Iterations of the solver at the chosen penalty.
    loss_ : Loss
        The loss that was minimised.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON_CONSTRAINTS,
        **{name: allowed for name, allowed in KERNEL_CONSTRAINTS.items() if name != "gamma"},
        "gammas": ["array-like"],
        "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "alpha_min_ratio": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
        "l1_ratios": ["array-like"],
        "rhos": ["array-like"],
        "us": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "selection": [StrOptions({"best", "one_se"})],
        "calibrate": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        gammas=("median",),
        degree=3,
        coef0=0.0,
        kernel_params=None,
        n_landmarks=None,
        loss="coherence",
        alphas=100,
        alpha_min_ratio="auto",
        l1_ratios=(0.5,),
        rhos=(1.0,),
        us=(1.0,),
        delta=2.0,
        cv=5,
        scoring=None,
        selection="best",
        calibrate=False,
        fit_intercept=True,
        class_weight=None,
        dtype="float64",
        tol=1e-6,
        max_iter=10_000,
        random_state=0,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gammas = gammas
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
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
        self.class_weight = class_weight
        self.dtype = dtype
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
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
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples, in the fits and in the default scores; a weight of
            zero leaves a sample out.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.
        **params : dict
            Passed on to the splitter and the scorer where metadata routing is enabled.

        Returns
        -------
        self : KernelCLearningClassifierCV
            The fitted classifier.
        """
        _raise_for_params(params, self, "fit")
        gammas = self._check_gammas()
        X, y, target, sample_weight = self._check(X, y, sample_weight, offset)
        split_params, score_params = self._route(sample_weight, params)
        folds = _cv.make_folds(self.cv, X, y, target, split_params)
        training = self._training_set(X, target, sample_weight)
        kernels = [self._resolve_kernel(training, gamma) for gamma in gammas]
        self._search(
            training,
            kernels,
            [_restricted(fold, training) for fold in folds],
            {name: _safe_indexing(value, training.rows) for name, value in score_params.items()},
        )
        return self

    def _check_gammas(self) -> list[Any]:
        for gamma in self.gammas:
            rule = isinstance(gamma, str) and gamma in GAMMA_RULES
            number = isinstance(gamma, Real) and not isinstance(gamma, bool)
            if not rule and not (number and 0 < gamma < np.inf):
                raise ValueError(
                    f"gammas must hold numbers in (0, inf) or rules among {GAMMA_RULES}; "
                    f"got {gamma!r}."
                )
        if len(self.gammas) == 0:
            raise ValueError(f"gammas must hold at least one width; got {self.gammas!r}.")
        return list(self.gammas) if self.kernel in WITH_GAMMA else list(self.gammas)[:1]

    def _search(
        self,
        training: TrainingSet,
        kernels: list[Kernel],
        folds: list[_cv.Fold],
        score_params: dict[str, Any],
    ) -> None:
        """Run all widths' candidates on all folds, choose, and refit."""
        candidates: list[_cv.Candidate] = []
        calibrators: list[Any] = []
        scores, widths = [], []
        calibration = None
        if self.calibrate:
            calibration = _cv.make_calibration(folds, training.target, training.sample_weight)
        for kernel, expansion in zip(kernels, self._expansions(training, kernels)):
            of_width = self._candidates(expansion, training.target)
            metric = _cv.make_metric(
                self.scoring,
                training.X,
                training.target,
                score_params,
                has_link=of_width[0].loss.has_link or self.calibrate,
            )
            of_folds, fitted = _cv.run_folds(
                self._fold_scores(expansion, training.target),
                metric,
                of_width,
                folds,
                calibration=calibration,
                n_jobs=self.n_jobs,
                label=_label(kernel),
            )
            scores.append(of_folds)
            calibrators += fitted
            candidates += of_width
            widths += [kernel] * len(of_width)
        weight = np.asarray(score_params.get("sample_weight", np.ones(len(training.rows))))
        table = _cv.summarize(
            candidates, np.concatenate(scores), [weight[test].sum() for _, test in folds]
        )
        n_alphas = scores[0].shape[1]
        table["param_gamma"] = np.repeat([kernel.gamma for kernel in widths], n_alphas)
        self.cv_results_ = table
        self.best_index_ = _cv.select(table, n_alphas, self.selection)
        self.calibrator_ = calibrators[self.best_index_]
        number, index = divmod(self.best_index_, n_alphas)
        if widths[number] is not kernel:
            del expansion  # two matrices at once would be one too many
            kernel = widths[number]
            expansion = expand(kernel, training.X, self.n_landmarks, self.random_state)
        self._refit(training, kernel, expansion, candidates[number], index)

    def _expansions(self, training: TrainingSet, kernels: list[Kernel]) -> Iterator[Expansion]:
        """Yield the expansion of each width; Gaussian ones share a single matrix of distances."""
        if len(kernels) == 1 or self.kernel != "rbf" or self.n_landmarks is not None:
            for kernel in kernels:
                yield expand(kernel, training.X, self.n_landmarks, self.random_state)
            return
        distances = negative_distance_matrix(training.X, self.dtype)
        K = np.empty_like(distances)
        for kernel in kernels:
            np.multiply(distances, kernel.gamma, out=K)
            np.exp(K, out=K)
            yield Expansion(K, None, np.arange(len(K)))

    def _candidates(self, expansion: Expansion, target: Target) -> list[_cv.Candidate]:
        def alphas(loss: Loss, l1_ratio: float) -> NDArray[np.float64]:
            if not isinstance(self.alphas, Integral):
                return np.sort(check_values("alphas", self.alphas, 0.0, np.inf, closed=False))[::-1]
            path = self._path(expansion, target, loss, alphas=1, l1_ratio=l1_ratio)
            ratio = 1e-4 if self.alpha_min_ratio == "auto" else self.alpha_min_ratio
            return np.geomspace(path.alphas[0], path.alphas[0] * ratio, self.alphas)

        return _cv.make_candidates(
            self.loss,
            l1_ratios=self.l1_ratios,
            rhos=self.rhos,
            us=self.us,
            delta=self.delta,
            alphas=alphas,
        )

    def _fold_scores(self, expansion: Expansion, target: Target) -> _cv.FoldScores:
        def scores(candidate: _cv.Candidate, train: Any, test: Any) -> NDArray[np.float64]:
            path = self._path(
                expansion.fold(train),
                target_rows(target, train),
                candidate.loss,
                alphas=candidate.alphas,
                l1_ratio=candidate.l1_ratio,
            )
            held_out = path.decision_function(expansion.held_out(train, test))
            return held_out if target.offset is None else held_out + target.offset[test, None]

        return scores

    def _refit(
        self,
        training: TrainingSet,
        kernel: Kernel,
        expansion: Expansion,
        chosen: _cv.Candidate,
        index: int,
    ) -> None:
        path = self._path(
            expansion,
            training.target,
            chosen.loss,
            alphas=chosen.alphas,
            l1_ratio=chosen.l1_ratio,
        )
        self.path_ = replace(path, classes=training.target.classes)
        self.loss_ = chosen.loss
        self.alpha_ = float(chosen.alphas[index])
        self.l1_ratio_, self.rho_, self.u_ = chosen.l1_ratio, chosen.rho, chosen.u
        self._take(training, kernel, expansion, path, index)


def _restricted(fold: _cv.Fold, training: TrainingSet) -> _cv.Fold:
    """Return a fold in terms of the samples that carry weight."""
    if len(training.rows) == training.n_samples:
        return fold
    position = np.full(training.n_samples, -1)
    position[training.rows] = np.arange(len(training.rows))
    train, test = (position[part] for part in fold)
    return train[train >= 0], test[test >= 0]


def _label(kernel: Kernel) -> str:
    width = "" if np.isnan(kernel.gamma) else f" at gamma={kernel.gamma:.3g}"
    return f"cross-validation{width}"
