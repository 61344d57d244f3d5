"""`WeightedMarginClassifier`: probabilities from the signs of many weighted large-margin fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d, indexable

from clearning._door import check_labels, check_matrix, check_weight
from clearning._expansion import Expansion, expand
from clearning._problem import Grid, Penalty, Problem, Start, encode_labels
from clearning._progress import progress
from clearning._sklearn import (
    HasMethods,
    Interval,
    fit_context,
    num_samples,
    validate_params,
)
from clearning.calibration._scores import weight_name
from clearning.kernel import KernelCLearningClassifier
from clearning.kernels import row_blocks
from clearning.linear import CLearningClassifier
from clearning.losses import make_loss
from clearning.path import solve_path

Array = NDArray[np.float64]


class WeightedMarginClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Wang, Shen and Liu's probabilities: at what weights of the classes the prediction turns.

    For π₁ = 0 < … < π_{m+1} = 1 the score f_π minimises

    .. math:: \frac1n \Big\{ (1-\pi) \sum_{y_i=1} \varphi(f(x_i))
              + \pi \sum_{y_i=-1} \varphi(-f(x_i)) \Big\} + \gamma J(f),

    whose sign tells whether the probability of the positive class exceeds π. The estimate is the
    middle of π^* = max{π_j : f_{π_j}(x) > 0} and π_* = min{π_j : f_{π_j}(x) < 0}.

    Parameters
    ----------
    estimator : estimator, default=None
        A binary classifier, or a pipeline that ends in one, that takes `sample_weight`. None is
        ``CLearningClassifier(rho=0.1, l1_ratio=0.0)``, a linear SVM but for a loss that is smooth.
        This and a :class:`KernelCLearningClassifier` are solved for all weights in turn over one
        design, each fit starting from its neighbour's solution, which saves most of the work where
        the loss is smooth.
    n_weights : int, default=50
        m, the number of intervals; m − 1 fits are made, as π = 0 and π = 1 need none.
    n_jobs : int, default=None
        Number of fits at once, for an estimator that is not this package's own.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    weights_ : ndarray of shape (n_weights + 1,)
        π₁, …, π_{m+1}.
    fits_ : object
        The m − 1 fitted scores.
    n_features_in_ : int
        Number of features, if the estimator has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the estimator has them.

    Notes
    -----
    The weights are doubled, 2(1 − π) and 2π, which is a change of γ alone, so that the fit of
    π = 1/2 is the estimator as it stands. Nothing makes the fits' regions nested: where decisions
    cross, π_* lies below π^*, and their middle is taken all the same, as the definition says. A
    score of exactly zero counts for neither side. The estimate has at most 2m + 1 values, and
    `predict` is the likelier class, which need not be the sign of any one score.

    References
    ----------
    J. Wang, X. Shen and Y. Liu (2008), Probability estimation for large-margin classifiers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from clearning import KernelCLearningClassifier, WeightedMarginClassifier
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> estimator = KernelCLearningClassifier(rho=0.1, l1_ratio=0.0)
    >>> model = WeightedMarginClassifier(estimator, n_weights=10).fit(X, y)
    >>> model.predict_proba(X).shape
    (200, 2)
    """

    classes_: NDArray[Any]
    weights_: Array
    fits_: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [
            HasMethods(["fit", "decision_function"]),
            HasMethods(["fit", "predict"]),
            None,
        ],
        "n_weights": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(self, estimator: Any = None, *, n_weights: int = 50, n_jobs: int | None = None):
        self.estimator = estimator
        self.n_weights = n_weights
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> WeightedMarginClassifier:
        """Fit the estimator for every π.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, which multiply those of the classes.

        Returns
        -------
        WeightedMarginClassifier
            Itself.
        """
        X, y = indexable(check_matrix(X), check_labels(y))
        if num_samples(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        self.classes_, codes = encode_labels(column_or_1d(y))
        self.weights_ = np.arange(self.n_weights + 1) / self.n_weights
        inner = self.weights_[1:-1]
        estimator = clone(self._estimator())
        if isinstance(estimator, CLearningClassifier):
            self.fits_ = _fit_linear(estimator, X, y, sample_weight, inner)
        elif isinstance(estimator, KernelCLearningClassifier):
            self.fits_ = _fit_kernel(estimator, X, y, sample_weight, inner)
        else:
            given = check_weight(sample_weight, X)
            weight = np.ones(len(codes)) if given is None else given
            self.fits_ = _fit_any(estimator, X, y, codes, weight, inner, self.n_jobs)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.fits_.estimator, name):
                setattr(self, name, getattr(self.fits_.estimator, name))
        return self

    def predict_interval(self, X: Any) -> Array:
        """The two ends π^* and π_* of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The largest π whose fit decides for the positive class, and the smallest whose fit
            decides against it; the second is the smaller where decisions cross.
        """
        check_is_fitted(self)
        scores, inner = self.fits_.scores(check_matrix(X)), self.weights_[1:-1]
        last_for = np.where(scores > 0, inner, 0.0).max(axis=1)
        first_against = np.where(scores < 0, inner, 1.0).min(axis=1)
        return np.column_stack([last_for, first_against])

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes: the middle of the interval, and what is left.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        positive = self.predict_interval(X).mean(axis=1)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _estimator(self) -> Any:
        if self.estimator is None:
            return CLearningClassifier(rho=0.1, l1_ratio=0.0)
        return self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._estimator())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.classifier_tags.multi_class = False
        return tags


@dataclass(frozen=True)
class _AnyFits:
    """Fitted estimators, one for each π."""

    estimators: list[Any]

    @property
    def estimator(self) -> Any:
        return self.estimators[0]

    def scores(self, X: Any) -> Array:
        return np.column_stack([_signed(estimator, X) for estimator in self.estimators])


@dataclass(frozen=True)
class _LinearFits:
    """One row of coefficients for each π."""

    estimator: CLearningClassifier
    coefs: Array
    intercepts: Array

    def scores(self, X: Any) -> Array:
        X = self.estimator._validate_design(X, reset=False)
        return np.asarray(safe_sparse_dot(X, self.coefs.T)) + self.intercepts


@dataclass(frozen=True)
class _KernelFits:
    """One row of coefficients for each π, of the samples that any of them needs."""

    estimator: KernelCLearningClassifier
    kernel: Any
    support: NDArray[np.intp]
    support_vectors: Any
    coefs: Array
    intercepts: Array

    def scores(self, X: Any) -> Array:
        X = self.estimator._validate(X, reset=False)
        if self.kernel.precomputed:
            return X[:, self.support] @ self.coefs.T + self.intercepts
        scores = np.empty((X.shape[0], len(self.coefs)))
        for rows in row_blocks(X.shape[0], len(self.support)):
            scores[rows] = self.kernel.cross(X[rows], self.support_vectors) @ self.coefs.T
        return scores + self.intercepts


def _fit_any(
    estimator: Any,
    X: Any,
    y: Any,
    codes: NDArray[np.intp],
    weight: Array,
    inner: Array,
    n_jobs: int | None,
) -> _AnyFits:
    name = weight_name(estimator)
    if name is None:
        raise ValueError(
            f"estimator must take sample_weight in fit; {type(estimator).__name__} does not."
        )
    tasks = (
        delayed(_fit_one)(clone(estimator), X, y, {name: weight * _doubled(pi, codes == 1)})
        for pi in inner
    )
    return _AnyFits(Parallel(n_jobs=n_jobs)(progress(tasks, len(inner), "weights")))


def _fit_one(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> Any:
    return estimator.fit(X, y, **fit_params)


def _fit_linear(
    estimator: CLearningClassifier, X: Any, y: Any, sample_weight: Any, inner: Array
) -> _LinearFits:
    validate_params(estimator)
    X, y = estimator._validate_design(X, y)
    problem = estimator._problem(X, y, sample_weight, None)
    if not _is_wide_ridge(estimator, X):
        return _LinearFits(estimator, *_solve_in_turn(estimator, problem, inner))
    # The kernel problem that a wide ridge is: one matrix for all weights. An intercept takes up any
    # shift of the columns, and what all samples share would only drown the rest in rounding.
    mean = np.zeros(X.shape[1])
    if estimator.fit_intercept and not sparse.issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        X = X - mean
    gram = safe_sparse_dot(X, X.T, dense_output=True)
    by_rows = Expansion(gram, None, np.arange(len(gram)))
    problem = Problem(by_rows, problem.target, Penalty(), estimator.fit_intercept)
    coefs, intercepts = _solve_in_turn(estimator, problem, inner)
    coefs = safe_sparse_dot(coefs, X, dense_output=True)
    return _LinearFits(estimator, coefs, intercepts - coefs @ mean)


def _is_wide_ridge(estimator: CLearningClassifier, X: Any) -> bool:
    plain = estimator.penalty_factor is None and estimator.bounds is None
    # Standardised columns depend on the weights, and so would the matrix.
    plain = plain and not estimator.standardize
    return plain and estimator.l1_ratio == 0.0 and X.shape[0] < X.shape[1]


def _fit_kernel(
    estimator: KernelCLearningClassifier, X: Any, y: Any, sample_weight: Any, inner: Array
) -> _KernelFits:
    validate_params(estimator)
    X, y, target, weight = estimator._check(X, y, sample_weight, None)
    training = estimator._training_set(X, target, weight)
    kernel = estimator._resolve_kernel(training, estimator.gamma)
    n_landmarks = estimator._first_landmarks(training)
    expansion = expand(kernel, training.X, n_landmarks, estimator.random_state)
    problem = estimator._problem(expansion, training.target)
    coefs, intercepts = _solve_in_turn(estimator, problem, inner)
    needed = np.flatnonzero(coefs.any(axis=0))
    centres = expansion.centres[needed]
    return _KernelFits(
        estimator,
        replace(kernel, dtype="float64"),
        training.rows[centres],
        None if kernel.precomputed else training.X[centres],
        coefs[:, needed],
        intercepts,
    )


def _solve_in_turn(estimator: Any, problem: Problem, inner: Array) -> tuple[Array, Array]:
    """Solve for every π, from the middle outwards, each from its neighbour's solution."""
    loss = make_loss(estimator.loss, rho=estimator.rho, u=estimator.u, delta=estimator.delta)
    target, settings = problem.target, estimator._settings()
    weight = np.ones(len(target.signs)) if target.weight is None else target.weight
    solved: dict[int, Start] = {}
    for index, neighbour in progress(_outwards(len(inner)), len(inner), "weights"):
        both = weight * _doubled(inner[index], target.signs > 0)
        # The solver scales weights to mean one; the penalty follows, so the problem stays the same.
        path = solve_path(
            replace(problem, target=replace(target, weight=both)),
            loss,
            float(estimator.l1_ratio),
            Grid.of([estimator.alpha * weight.sum() / both.sum()]),
            settings,
            start=solved.get(neighbour),
        )
        solved[index] = Start(path.coefs[0], float(path.intercepts[0]))
    in_order = [solved[index] for index in range(len(inner))]
    return (
        np.array([fit.coef for fit in in_order]),
        np.array([fit.intercept for fit in in_order]),
    )


def _outwards(count: int) -> Iterator[tuple[int, int]]:
    """Indices from the middle to both ends, each with the neighbour that came before it."""
    middle = count // 2
    yield middle, -1
    for index in range(middle + 1, count):
        yield index, index - 1
    for index in range(middle - 1, -1, -1):
        yield index, index + 1


def _doubled(pi: float, positive: NDArray[np.bool_]) -> Array:
    return np.where(positive, 2.0 * (1.0 - pi), 2.0 * pi)


def _signed(estimator: Any, X: Any) -> Array:
    """A number whose sign is the decision."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=float).reshape(-1)
    return np.where(estimator.predict(X) == estimator.classes_[1], 1.0, -1.0)
