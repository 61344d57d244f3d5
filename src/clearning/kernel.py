"""The kernel classifiers: one penalty given, or the best of many by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from clearning._directions import scored_classes
from clearning._expansion import Expansion, expand
from clearning._kernel_base import KERNEL_CONSTRAINTS, BaseKernelClassifier, TrainingSet
from clearning._kernel_cv import KernelCLearningClassifierCV
from clearning._margin import COMMON_CONSTRAINTS, SINGLE_FIT_CONSTRAINTS
from clearning._problem import Grid, Start
from clearning._sklearn import fit_context
from clearning.losses import Loss, make_loss
from clearning.path import solve_path

__all__ = ["KernelCLearningClassifier", "KernelCLearningClassifierCV"]


class KernelCLearningClassifier(BaseKernelClassifier):
    r"""Sparse kernel classifier with class probabilities and a certificate.

    The score f(x) = α + Σ_j β_j k(x_j, x) minimises

    .. math:: \frac1n \sum_i w_i\,\varphi(y_i f(x_i))
              + \gamma\Big[\frac{1-\omega}{2}\,\beta^\top K\beta + \omega\|\beta\|_1\Big],

    with γ = ``alpha`` and ω = ``l1_ratio``: the kernel expansion of Zhang, Liu, Dai and Jordan
    (2012, Section 4). The ℓ₁ part leaves few support vectors; the quadratic part is the norm of f
    in the kernel's space. Probabilities are the loss's own inverse link of the score.

    With m > 2 classes there is a score a class, g(x) = a + Σ_j B_j k(x_j, x), and

    .. math:: \frac1n \sum_i w_i\,\kappa V(g(x_i), c_i)
              + \gamma\Big[\frac{1-\omega}{2}\,\mathrm{tr}(B^\top KB) + \omega\|B\|\Big]

    is minimised, V being :class:`~clearning.losses.MultiCoherence` and ‖B‖ the sum of all
    coefficients' sizes or, with ``groups="classes"``, of the rows' ℓ₂ norms. Hinge-like losses
    have no joint form: they are fitted one class against the rest, and ``dual_gap_`` and
    ``full_gap_`` are the sums of the m gaps.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "chi2", "polynomial", "poly", "linear", "cosine", "sigmoid", \
            "precomputed"} or callable, default="rbf"
        A callable takes two matrices and returns that of its values, as ``lambda A, B: A @ B.T``
        does; sparse samples come to it as they are. ``"chi2"`` needs samples ≥ 0. With
        ``"precomputed"``, X is the kernel matrix. Matrices that are not positive semidefinite are
        refused; where rounding made one indefinite, as it does in single precision, that much is
        added to the diagonal.
    gamma : {"median", "mean", "scale"} or float, default="median"
        Width of the kernel, as in exp(−gamma‖x−x'‖²). ``"median"`` is 1/σ² with σ the median
        distance between the classes, ``"mean"`` the same with the mean distance among the
        samples, ``"scale"`` 1/(n_features·Var X). Distances of ``"chi2"`` are its own.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments for a callable kernel.
    n_landmarks : int, "auto" or None, default="auto"
        Expand in so many well-chosen training samples instead of all, which None stands for;
        memory is then O(n_samples·n_landmarks). ``"auto"`` takes all up to 2000 samples and
        landmarks beyond, first 250; more are drawn, where the fit falls short, until
        ``full_gap_`` is at most 0.003 of the objective of the intercept alone or there are 2000
        (of m classes, 2000 / (m − 1)).
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        ``"coherence"`` is the C-loss. The hinge-like losses have no probabilities.
    rho, u : float, default=1.0
        Temperature and margin of the C-loss.
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.
    alpha : float, default=0.01
        Strength of the penalty.
    l1_ratio : float, default=0.5
        Share of the ℓ₁ norm in the penalty, from 0 (all samples support) to 1.
    fit_intercept : bool, default=True
        Whether to fit α, which is never penalised.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the samples'.
    dtype : {"float64", "float32"}, default="float64"
        Precision in which the kernel matrix is kept for the fit.
    tol : float, default=1e-6
        The duality gap to reach, relative to the objective of the intercept alone.
    max_iter : int, default=10000
        Largest number of iterations.
    random_state : int, RandomState instance or None, default=0
        Seed of the choice of landmarks.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if it had as many samples and scores.
    groups : {None, "classes"}, default=None
        With more than two classes, whether a sample's coefficients are penalised each alone, so
        that it supports some classes, or together, so that it supports all or none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors among the training samples, those of the first class first.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors among the samples of each class.
    dual_coef_ : ndarray of shape (1, n_SV), or (n_classes, n_SV) of more than two
        Coefficients β of the support vectors; of either sign in either class.
    intercept_ : ndarray of shape (1,), or (n_classes,) of more than two
        α.
    gamma_ : float
        The width used; nan for a kernel without one.
    landmarks_ : ndarray of shape (at most n_landmarks,) or None
        Indices of the landmarks; None where all samples are used.
    objective_ : float
        Value of the minimised objective.
    dual_gap_ : float
        Duality gap: ``objective_`` is at most so much above the minimum, on the landmarks where
        there are some.
    full_gap_ : float
        What the landmarks cost at most: ``objective_`` is at most so much above the minimum over
        expansions in all samples. It takes a pass over their kernel values, which are not kept; nan
        beyond 20,000 samples (100,000 with ``"auto"``), inf for ``"sigmoid"``. A callable is
        trusted to be positive semidefinite.
    n_iter_ : int
        Number of iterations.
    loss_ : Loss
        The loss.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, where X had some.

    See Also
    --------
    KernelCLearningClassifierCV : Chooses the penalty, the width and the loss's parameters.
    CLearningClassifier : The same in the features themselves.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from clearning import KernelCLearningClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> classifier = KernelCLearningClassifier(gamma=2.0, alpha=1e-3).fit(X, y)
    >>> classifier.score(X, y) > 0.95
    True
    """

    # A fit on all samples takes at most three seconds there, and twelve at twice as many.
    _all_samples_up_to: ClassVar[int] = 2000
    _landmarks_at_first: ClassVar[int] = 250
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COMMON_CONSTRAINTS,
        **SINGLE_FIT_CONSTRAINTS,
        **KERNEL_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        gamma: float | str = "median",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: dict[str, Any] | None = None,
        n_landmarks: int | str | None = "auto",
        loss: str | Loss = "coherence",
        rho: float = 1.0,
        u: float = 1.0,
        delta: float = 2.0,
        alpha: float = 0.01,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        dtype: str = "float64",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: Any = 0,
        warm_start: bool = False,
        groups: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_landmarks = n_landmarks
        self.loss = loss
        self.rho = rho
        self.u = u
        self.delta = delta
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.dtype = dtype
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.warm_start = warm_start
        self.groups = groups

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> KernelCLearningClassifier:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or their kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' losses; a weight of zero leaves a sample out.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            Added to the scores in training; with a column a class for more than two.

        Returns
        -------
        self : KernelCLearningClassifier
        """
        loss = make_loss(self.loss, rho=self.rho, u=self.u, delta=self.delta)
        settings = self._settings()
        X, y, target, weight = self._check(X, y, sample_weight, offset)
        training = self._training_set(X, target, weight)
        kernel = self._resolve_kernel(training, self.gamma)
        n_landmarks = self._first_landmarks(training)
        expansion = expand(kernel, training.X, n_landmarks, self.random_state)
        problem = self._problem(expansion, training.target)
        grid, start = Grid.of([self.alpha]), self._start(training, expansion)
        path = solve_path(problem, loss, float(self.l1_ratio), grid, settings, start)
        self.loss_ = path.loss
        self._take(training, kernel, self._finish(training, kernel, expansion, path, 0), 0)
        return self

    def _start(self, training: TrainingSet, expansion: Expansion) -> Start | None:
        """Return the last fit's coefficients, where they fit the samples at hand."""
        if not (self.warm_start and hasattr(self, "dual_coef_")):
            return None
        if self.shape_fit_[0] != training.n_samples:
            return None
        coef = self._full_coef()[:, training.rows[expansion.centres]]
        if len(coef) != len(scored_classes(training.target.classes)):
            return None
        if len(coef) == 1:
            return Start(coef[0], float(self.intercept_[0]))
        return Start(coef, self.intercept_)
