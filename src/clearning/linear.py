"""The linear classifiers: one penalty given, or the best of many by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from clearning._linear_base import LINEAR_CONSTRAINTS, BaseLinearClassifier
from clearning._linear_cv import CLearningClassifierCV
from clearning._margin import SINGLE_FIT_CONSTRAINTS
from clearning._problem import Grid, Problem, Start
from clearning._sklearn import fit_context
from clearning.losses import Loss, make_loss
from clearning.path import solve_path

__all__ = ["CLearningClassifier", "CLearningClassifierCV"]


class CLearningClassifier(BaseLinearClassifier):
    r"""Linear large-margin classifier with probabilities and a certificate.

    Minimises over the intercept a and the coefficients b

    .. math::
        P(a, b) = \frac1n \sum_i w_i \, \phi(y_i (o_i + a + x_i'b))
        + \alpha \sum_j p_j \left[ \tfrac{1-\omega}{2} b_j^2 + \omega |b_j| \right]

    where φ is the loss, ω is ``l1_ratio``, w are the sample weights scaled to sum to n, o the
    offsets and p the penalty factors. The intercept is not penalised. The fit ends when its
    duality gap, an upper bound on P(a, b) − min P, is at most ``tol`` times the objective of the
    best constant score.

    With m > 2 classes there is a score for each, g = a + B'x, with a row of coefficients a class.
    "coherence" and "logistic" minimise the joint loss of all scores
    (:class:`~clearning.losses.MultiCoherence`); the other losses, which have none, are fitted one
    class against the rest, and ``objective_`` and ``dual_gap_`` are the sums over the m fits.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss, \
            default="coherence"
        The loss of the margin; "coherence" is the C-loss.
    rho : float, default=1.0
        Temperature ρ > 0 of the C-loss: small is near the hinge loss.
    u : float, default=1.0
        Margin u >= 0 of the C-loss; at u = 0 the loss is the coherence function itself, a logistic
        loss at temperature ρ.
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.
    alpha : float, default=0.01
        Weight of the penalty, positive.
    l1_ratio : float, default=0.5
        Share of the ℓ₁ penalty, in [0, 1].
    groups : None, "classes" or array-like of shape (n_features,), default=None
        None penalises each coefficient alone. "classes" penalises the ℓ₂ norm of each feature's
        coefficients in place of their ℓ₁ norm: a feature is in for all classes or out. Labels
        make groups of features, each over all classes, with a factor of √(number of features)
        unless ``penalty_factor`` is given.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    standardize : bool, default=False
        Whether to penalise the coefficients of columns scaled to unit variance. Coefficients are
        reported on the original scale.
    penalty_factor : array-like of shape (n_features,), default=None
        Non-negative factors p of each coefficient's penalty; 0 leaves it unpenalised.
    bounds : tuple (lower, upper), default=None
        Bounds of the coefficients, numbers or arrays of shape (n_features,), with
        lower ≤ 0 ≤ upper; for m > 2 classes whatever broadcasts to (m, n_features). Not to be had
        with groups.
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
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients b; those that the penalty puts at zero are exactly zero. A row a class for
        more than two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept a.
    classes_ : ndarray of shape (n_classes,)
        The class labels; of two the second has positive scores.
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
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    See Also
    --------
    CLearningClassifierCV : The same with cross-validated penalties.
    clearning_path : All penalties at once.

    References
    ----------
    Z. Zhang, D. Liu, G. Dai and M. I. Jordan, "Coherence functions with applications in
    large-margin classification methods", Journal of Machine Learning Research 13, 2012.

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
        **LINEAR_CONSTRAINTS,
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
        groups: ArrayLike | str | None = None,
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
        self.groups = groups
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.penalty_factor = penalty_factor
        self.bounds = bounds
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    @fit_context(prefer_skip_nested_validation=True)
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
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            Added to the scores; with a column a class for more than two.

        Returns
        -------
        self : CLearningClassifier
            The fitted classifier.
        """
        X, y = self._validate_design(X, y)
        problem = self._problem(X, y, sample_weight, offset)
        loss = make_loss(self.loss, rho=self.rho, u=self.u, delta=self.delta)
        grid, start = Grid.of([self.alpha]), self._start(problem)
        path = solve_path(problem, loss, float(self.l1_ratio), grid, self._settings(), start)
        self.classes_, self.loss_ = path.classes, path.loss
        self._take(path, 0)
        return self

    def _start(self, problem: Problem) -> Start | None:
        m = problem.target.n_classes
        shape = (1 if m == 2 else m, problem.design.n_columns)
        if not (self.warm_start and hasattr(self, "coef_") and self.coef_.shape == shape):
            return None
        if m == 2:
            return Start(self.coef_[0], float(self.intercept_[0]))
        return Start(self.coef_, self.intercept_)
