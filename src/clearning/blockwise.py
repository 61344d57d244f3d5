"""Linear classifiers for rows that outgrow memory: passes over blocks, here or on a cluster."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from clearning._blocks.sources import make_source
from clearning._blockwise_base import (
    BLOCKWISE_CONSTRAINTS,
    BaseBlockwiseClassifier,
    check_curved,
)
from clearning._blockwise_cv import BlockwiseCLearningClassifierCV
from clearning._margin import SINGLE_FIT_CONSTRAINTS
from clearning._problem import Grid, Start
from clearning._sklearn import fit_context
from clearning.losses import Loss, make_loss

__all__ = ["BlockwiseCLearningClassifier", "BlockwiseCLearningClassifierCV"]


class BlockwiseCLearningClassifier(BaseBlockwiseClassifier):
    r"""Linear large-margin classifier for rows in blocks, with a certificate.

    Minimises what :class:`CLearningClassifier` minimises,

    .. math::
        P(a, b) = \frac1n \sum_i w_i \, \phi(y_i (o_i + a + x_i'b))
        + \alpha \sum_j p_j \left[ \tfrac{1-\omega}{2} b_j^2 + \omega |b_j| \right],

    by passes over blocks of rows; with more than two classes φ is the joint loss of a score a
    class, as there. The first pass checks and measures the rows and draws at most 5%
    of them, whose solution the others start from; each further pass takes a Newton step. Nothing as
    long as the rows is kept. The fit ends when its duality gap, computed from sums over all rows,
    is at most ``tol`` times the objective of the best constant score. The same blocks give the
    same bits, whatever the number of threads or workers.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge"} or Loss, \
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
        Bounds of the coefficients, numbers or arrays of shape (n_features,) or, with more than two
        classes, (n_classes, n_features), with lower ≤ 0 ≤ upper.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights.
    tol : float, default=1e-6
        Duality gap to reach, relative to the objective of the best constant score.
    max_iter : int, default=100
        Most Newton passes over the rows. The first pass is not counted, nor are those of the null
        model, which has as many of its own.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit instead of those of a sample.
    random_state : int, RandomState instance or None, default=0
        What the rows of the start are drawn by.
    n_jobs : int, default=None
        Number of threads where no Dask client is at work; None for all processors.
    checkpoint : path, default=None
        A file that keeps the state after each pass, and from which a fit that was ended goes on. It
        is removed when the fit ends. It is a pickle: read none that others wrote.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients b, a row a class where there are more than two; those that the penalty puts at
        zero are exactly zero.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept a.
    classes_ : ndarray of shape (n_classes,)
        The class labels; of two the second has positive scores.
    n_iter_ : int
        All passes over the rows, the first one and those of the null model included.
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
    BlockwiseCLearningClassifierCV : The same with cross-validated penalties.
    CLearningClassifier : The same for rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from clearning import BlockwiseCLearningClassifier
    >>> def blocks():
    ...     for seed in range(5):
    ...         rng = np.random.default_rng(seed)
    ...         X = rng.normal(size=(1000, 3))
    ...         yield X, X[:, 0] + rng.normal(size=1000) > 0
    >>> model = BlockwiseCLearningClassifier().fit(blocks)
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BLOCKWISE_CONSTRAINTS,
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
        max_iter: int = 100,
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, offset: Any = None
    ) -> BlockwiseCLearningClassifier:
        """Fit the coefficients.

        Parameters
        ----------
        X : matrix, Dask collection, dataset, files or function
            An array, a memory map (by rows or by columns) or a sparse matrix; a Dask array or data
            frame; a pyarrow dataset or a folder of Parquet files; a folder or a list of sparse
            matrices that ``scipy.sparse.save_npz`` wrote; or a function that returns an iterable of
            blocks (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset), and is called
            once a pass.
        y : array-like, Dask collection or str
            Labels of two or more classes: of X's kind, or the name of a column of X; None where
            the blocks bring them.
        sample_weight, offset : array-like, Dask collection or str, default=None
            Non-negative weights of the samples, and what is added to their scores, likewise. With
            more than two classes an offset has a column a class; of a table, a list of names.

        Returns
        -------
        self : BlockwiseCLearningClassifier
            The fitted classifier.
        """
        loss = check_curved(make_loss(self.loss, rho=self.rho, u=self.u, delta=self.delta))
        start = None
        if self.warm_start and hasattr(self, "coef_"):
            start = Start(self.coef_, self.intercept_)
        fit = self._begin(make_source(X, y, sample_weight, offset), 1, start)
        options = self._options(loss, float(self.l1_ratio), Grid.of([self.alpha]))
        solved = fit.solve(options, start=start)
        self._warn_unconverged(solved)
        self.loss_ = options.loss
        self._take(self._path(solved), 0)
        self.n_iter_ = fit.passes
        fit.checkpoint.remove()
        return self
