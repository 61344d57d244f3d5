"""Regularisation paths: the compiled solver's Python face.

Linear:  P(a, b) = (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + xᵢ'b)) + α Σⱼ pⱼ [(1−ω)/2 bⱼ² + ω|bⱼ|]
Kernel:  P(a, β) = (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + kᵢ'β)) + α [(1−ω)/2 β'Kβ + ω‖β‖₁]
Those of more than two classes are in `_class_path`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from clearning._core_input import core_request, read_path
from clearning._designs import Features
from clearning._door import check_flag, check_matrix, floats, is_ready
from clearning._expansion import Expansion
from clearning._kernel_matrix import check_kernel_matrix, check_landmark_kernel
from clearning._problem import (
    Grid,
    Problem,
    Settings,
    Start,
    check_kernel_groups,
    check_labelled,
    check_options,
    check_penalty,
    check_start,
)
from clearning._regularization_path import RegularizationPath
from clearning._sklearn import get_feature_names
from clearning.losses import Loss, make_loss

__all__ = ["RegularizationPath", "clearning_path", "kernel_clearning_path"]


def solve_path(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None = None,
) -> RegularizationPath:
    """Solve a problem that is checked already along its penalties."""
    if problem.target.n_classes > 2 or problem.penalty.groups is not None:
        # Not at the top: it builds on this module.
        from clearning._class_path import solve_class_path

        path = solve_class_path(problem, loss, l1_ratio, grid, settings, start)
    else:
        path = solve_two_classes(problem, loss, l1_ratio, grid, settings, start)
    warn_unconverged(path, settings.tol)
    return path


def solve_two_classes(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None = None,
) -> RegularizationPath:
    """Solve a problem of two classes along its penalties, and warn of nothing."""
    raw = problem.design.solve(core_request(problem, loss, l1_ratio, grid, settings, start), loss)
    return RegularizationPath(**read_path(problem, raw, problem.design.n_columns, loss, l1_ratio))


def warn_unconverged(path: RegularizationPath, tol: float) -> None:
    stalled = np.flatnonzero(~path.converged)
    if stalled.size == 0:
        return
    worst = stalled[np.argmax(path.dual_gaps[stalled])]
    warnings.warn(
        f"{stalled.size} of {len(path.alphas)} penalties did not converge; the worst is alpha="
        f"{path.alphas[worst]:.6g} with a duality gap of {path.dual_gaps[worst]:.3g}, above "
        f"tol * null objective = {tol * path.null_objective:.3g}. Increase max_iter or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )


def clearning_path(
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "coherence",
    rho: float = 1.0,
    u: float = 1.0,
    delta: float = 2.0,
    alphas: Any = 100,
    alpha_min_ratio: float | str = "auto",
    l1_ratio: float = 0.5,
    groups: Any = None,
    fit_intercept: bool = True,
    standardize: bool = False,
    penalty_factor: Any = None,
    bounds: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    offset: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    coef_init: Any = None,
    intercept_init: Any = None,
) -> RegularizationPath:
    """Solve linear C-learning along a path of penalties, each with a duality gap.

    Minimises, for each α of a descending grid,

    (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + xᵢ'b)) + α Σⱼ pⱼ [(1−ω)/2 bⱼ² + ω|bⱼ|]

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples. Fortran-ordered float64 arrays, float32 ones and CSC matrices are used in place.
    y : array-like of shape (n_samples,)
        Labels of two or more classes. With m > 2 of them "coherence" and "logistic" are solved
        jointly, one row of coefficients a class (:class:`~clearning.losses.MultiCoherence`); the
        other losses one class against the rest, with gaps that are the sum of the m.
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss
        φ; "coherence" is the C-loss with temperature `rho` and margin `u`; at u = 0 the coherence
        function itself.
    rho, u, delta : float
        Parameters of the coherence and of the huberised hinge loss.
    alphas : int or array-like
        Number of penalties in an automatic grid, or the penalties.
    alpha_min_ratio : float or "auto"
        Smallest over largest penalty of an automatic grid; "auto" is 1e-2 where there are fewer
        samples than features and 1e-4 elsewhere.
    l1_ratio : float in [0, 1]
        ω.
    groups : None, "classes" or array-like of shape (n_features,)
        None penalises each coefficient alone; "classes" the row of a feature by its ℓ₂ norm, so
        that it is in for all classes or out; labels make groups of features, over all classes,
        whose factor is √(number of features) unless `penalty_factor` is given.
    fit_intercept : bool
        Whether to fit the (unpenalised) intercept a.
    standardize : bool
        Penalise as if columns had unit variance; coefficients are on the original scale.
    penalty_factor : array-like of shape (n_features,), optional
        pⱼ ≥ 0; 0 leaves a column unpenalised.
    bounds : pair of float or array-like, optional
        Lower and upper bounds on the coefficients, around zero; with m > 2 classes they broadcast
        to (m, n_features). Not to be had with groups.
    sample_weight, offset : array-like of shape (n_samples,), optional
        wᵢ ≥ 0, scaled to sum to n, and oᵢ, of shape (n_samples, m) for m > 2 classes.
    class_weight : dict, "balanced" or None
        Factors on the weights of the classes.
    tol : float
        A penalty is solved when its gap is at most `tol` times the null model's objective.
    max_iter : int
        Newton steps per penalty, or sweeps where an SVM without l1 part is solved on its dual.
    coef_init, intercept_init : array-like, optional
        Where to start.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning import clearning_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = clearning_path(X, y, standardize=True, alphas=50)
    >>> print(path.n_nonzero[0], path.coefs.shape, bool(path.converged.all()))
    0 (50, 30) True
    """
    problem = linear_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        standardize=standardize,
        penalty_factor=penalty_factor,
        bounds=bounds,
        groups=groups,
        many=True,
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
    )
    options = check_options(l1_ratio, alphas, alpha_min_ratio, tol, max_iter)
    start = check_start(
        coef_init, intercept_init, problem.design.n_columns, problem.target.n_classes
    )
    return solve_path(problem, make_loss(loss, rho=rho, u=u, delta=delta), *options, start)


def linear_problem(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool,
    standardize: bool,
    penalty_factor: Any,
    bounds: Any,
    groups: Any = None,
    many: bool = False,
    **samples: Any,
) -> Problem:
    """Check everything that makes a linear problem; `samples` are weights and offsets.

    More than two classes are let in where `many` says so.
    """
    names = None
    if not is_ready(X):
        names = get_feature_names(X)
        with floats("X"):
            X = check_array(
                check_matrix(X),
                accept_sparse=["csc", "csr"],
                dtype=[np.float64, np.float32],
                order="F",
                input_name="X",
            )
    target = check_labelled(X, y, many=many, **samples)
    return Problem(
        Features(X, check_flag("standardize", standardize)),
        target,
        check_penalty(
            penalty_factor, bounds, X.shape[1], n_classes=target.n_classes, groups=groups
        ),
        check_flag("fit_intercept", fit_intercept),
        names,
    )


def kernel_clearning_path(
    K: Any,
    y: Any,
    *,
    penalty_kernel: Any = None,
    loss: str | Loss = "coherence",
    rho: float = 1.0,
    u: float = 1.0,
    delta: float = 2.0,
    alphas: Any = 100,
    alpha_min_ratio: float | str = "auto",
    l1_ratio: float = 0.5,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    class_weight: Any = None,
    offset: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    coef_init: Any = None,
    intercept_init: Any = None,
    groups: Any = None,
) -> RegularizationPath:
    """Solve kernel C-learning along a path of penalties, each with a duality gap.

    Minimises, for each α of a descending grid,

    (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + kᵢ'β)) + α [(1−ω)/2 β'Kβ + ω‖β‖₁]

    and with m > 2 classes, B holding a column of coefficients a class and V being
    :class:`~clearning.losses.MultiCoherence`,

    (1/n) Σ wᵢ κV(oᵢ + a + B'kᵢ, cᵢ) + α [(1−ω)/2 tr(B'KB) + ω‖B‖]

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or (n_samples, n_landmarks)
        Symmetric positive semidefinite kernel matrix, or the one between samples and landmarks.
        A matrix is refused if it is asymmetric or has a negative eigenvalue beyond rounding; an
        eigenvalue that is negative by rounding is lifted to zero by adding its size to the
        diagonal, and the problem that is solved and certified is that of the lifted matrix.
    y : array-like of shape (n_samples,)
        Labels of two or more classes; of more than two as for :func:`clearning_path`.
    penalty_kernel : array-like of shape (n_landmarks, n_landmarks), optional
        Kernel matrix of the landmarks, checked and lifted likewise; needed where K is not square.
        The proof asks for its inverse: in units of its diagonal its eigenvalues are lifted to at
        least twice a double's rounding times their number.
    loss, rho, u, delta, alphas, alpha_min_ratio, l1_ratio, fit_intercept, sample_weight, \
class_weight, offset, tol, max_iter, coef_init, intercept_init
        As for :func:`clearning_path`; `alpha_min_ratio="auto"` is 1e-3.
    groups : None or "classes"
        With m > 2 classes, whether ‖B‖ is the ℓ₁ norm of all or the sum of its rows' ℓ₂ norms,
        which lets a sample support all classes or none.

    Returns
    -------
    RegularizationPath
        Its `coefs` are the β, of shape (n_alphas, m, n_functions) with m > 2 classes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from clearning import kernel_clearning_path
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> path = kernel_clearning_path(rbf_kernel(X, gamma=2.0), y, alphas=20)
    >>> print(path.coefs.shape, bool(path.converged.all()))
    (20, 100) True
    """
    problem = kernel_problem(
        K,
        y,
        penalty_kernel=penalty_kernel,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
        groups=groups,
        many=True,
    )
    options = check_options(l1_ratio, alphas, alpha_min_ratio, tol, max_iter)
    start = check_start(
        coef_init, intercept_init, problem.design.n_columns, problem.target.n_classes
    )
    return solve_path(problem, make_loss(loss, rho=rho, u=u, delta=delta), *options, start)


def kernel_problem(
    K: Any,
    y: Any,
    *,
    penalty_kernel: Any,
    fit_intercept: bool,
    groups: Any = None,
    many: bool = False,
    **samples: Any,
) -> Problem:
    """Check everything that makes a kernel problem; `samples` are weights and offsets.

    More than two classes are let in where `many` says so.
    """
    with floats("K"):
        K = check_array(check_matrix(K, "K"), dtype=[np.float64, np.float32], input_name="K")
    target = check_labelled(K, y, many=many, **samples)
    n, m = K.shape
    if penalty_kernel is None:
        if n != m:
            raise ValueError(f"K has shape {K.shape}; without penalty_kernel it must be square.")
        K = check_kernel_matrix(K)
    else:
        K = np.asfortranarray(K)
        with floats("penalty_kernel"):
            penalty_kernel = check_array(
                check_matrix(penalty_kernel, "penalty_kernel"),
                dtype=K.dtype,
                order="F",
                input_name="penalty_kernel",
            )
        if penalty_kernel.shape != (m, m):
            raise ValueError(
                f"penalty_kernel has shape {penalty_kernel.shape}; K's {m} columns need ({m}, {m})."
            )
        penalty_kernel = check_landmark_kernel(penalty_kernel, "penalty_kernel")
    design = Expansion(K, penalty_kernel, np.arange(m))
    penalty = check_kernel_groups(groups, m, target.n_classes)
    return Problem(design, target, penalty, check_flag("fit_intercept", fit_intercept))
