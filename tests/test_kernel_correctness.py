"""Kernel fits against a general convex solver, the KKT conditions and the dual problem."""

import numpy as np
import pytest
from kernel_oracles import KernelProblem, make_kernel, problem
from sklearn.svm import SVC

from clearning import (
    CLearningClassifier,
    KernelCLearningClassifier,
    kernel_clearning_path,
)
from clearning.kernels import Kernel
from clearning.losses import make_loss

SMOOTH = [
    ("coherence", 1.0),
    ("coherence", 0.05),
    ("logistic", 1.0),
    ("huberized_hinge", 1.0),
    ("squared_hinge", 1.0),
]
L1_RATIOS = [0.0, 0.3, 1.0]


def fit(p: KernelProblem, tol=1e-9, **options):
    """Return (β, intercept, path) of a problem at its one penalty."""
    path = kernel_clearning_path(
        p.K,
        p.y,
        penalty_kernel=p.penalty_kernel,
        loss=p.loss,
        alphas=[p.alpha],
        l1_ratio=p.l1_ratio,
        sample_weight=p.sample_weight,
        offset=p.offset,
        tol=tol,
        **options,
    )
    return path.coefs[0], path.intercepts[0], path


def variants():
    """Weights, offsets and landmarks, each with the problem's keyword arguments."""
    rng = np.random.default_rng(1)
    _, K, _ = make_kernel()
    chosen = np.arange(0, 50, 4)
    return {
        "plain": {},
        "weighted": {"sample_weight": rng.uniform(0.2, 3.0, 50), "offset": rng.normal(size=50)},
        "landmarks": {"penalty_kernel": K[np.ix_(chosen, chosen)]},
    }


def make_variant(name, loss, rho, l1_ratio) -> KernelProblem:
    options = variants()[name]
    p = problem(loss, rho, l1_ratio=l1_ratio, **options)
    if name == "landmarks":
        p = KernelProblem(p.K[:, ::4], p.y, p.loss, p.alpha, l1_ratio, **options)
    return p


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("loss", "rho"), SMOOTH)
def test_no_worse_than_a_general_solver(loss, rho, l1_ratio):
    p = problem(loss, rho, l1_ratio=l1_ratio)
    beta, intercept, path = fit(p)
    reference = p.solve()
    # Minima of one function: ours may be lower by what SLSQP leaves, never higher.
    assert p.primal(beta, intercept) <= reference + 1e-9
    assert p.primal(beta, intercept) >= reference - 1e-6
    assert path.objectives[0] == pytest.approx(p.primal(beta, intercept), rel=1e-12)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_hinge_is_no_worse_than_a_general_solver(l1_ratio):
    p = problem("hinge", n=24, alpha=1e-2, l1_ratio=l1_ratio)
    beta, intercept, path = fit(p, tol=1e-6)
    reference = p.solve()
    assert p.primal(beta, intercept) == pytest.approx(reference, abs=2e-6)
    assert path.objectives[0] - path.dual_gaps[0] <= reference + 1e-9


def test_hinge_without_l1_is_the_support_vector_machine():
    p = problem("hinge", n=100, alpha=1e-2, l1_ratio=0.0)
    beta, intercept, path = fit(p, tol=1e-6)
    svm = SVC(kernel="precomputed", C=1 / (100 * p.alpha), tol=1e-8).fit(p.K, p.y)
    reference = np.zeros(100)
    reference[svm.support_] = svm.dual_coef_[0]
    best = p.primal(reference, svm.intercept_[0])
    scores = p.K @ beta + intercept
    np.testing.assert_allclose(scores, svm.decision_function(p.K), atol=5e-3)
    assert p.primal(beta, intercept) == pytest.approx(best, abs=2e-6)
    assert path.objectives[0] - path.dual_gaps[0] <= best + 1e-9


@pytest.mark.parametrize("variant", ["plain", "weighted", "landmarks"])
@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("loss", "rho"), SMOOTH)
def test_both_sides_of_the_certificate(loss, rho, l1_ratio, variant):
    p = make_variant(variant, loss, rho, l1_ratio)
    null = p.null_objective()
    lowest = min(p.primal(*fit(p, tol=tol)[:2]) for tol in (1e-9, 1e-12))
    for tol in (1e-3, 1e-11):  # rounding, which is part of every gap, costs up to 1e-12
        beta, intercept, path = fit(p, tol=tol)
        primal, dual = p.primal(beta, intercept), p.dual(beta, intercept)
        assert path.null_objective == pytest.approx(null, rel=1e-9)
        assert path.objectives[0] == pytest.approx(primal, rel=1e-12)
        assert path.converged[0]
        assert path.dual_gaps[0] <= tol * null
        # Weak duality: neither the dual value made here nor the certified one exceeds a minimum
        # that was found in other fits.
        assert dual <= lowest + 1e-12
        assert path.objectives[0] - path.dual_gaps[0] <= lowest + 1e-12
    # At the optimum both dual values are the minimum.
    assert primal - dual <= 1e-5 * null
    assert path.objectives[0] - path.dual_gaps[0] == pytest.approx(dual, abs=1e-5 * null)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("loss", "rho"), SMOOTH)
def test_the_gap_bounds_what_is_missing(loss, rho, l1_ratio):
    p = problem(loss, rho, l1_ratio=l1_ratio)
    best = fit(p, tol=1e-10)[2].objectives[0]
    for tol in (1e-1, 1e-2, 1e-4):
        loose = fit(p, tol=tol)[2]
        assert loose.objectives[0] - best <= loose.dual_gaps[0] + 1e-12


@pytest.mark.parametrize("variant", ["plain", "weighted", "landmarks"])
@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("loss", "rho"), SMOOTH)
def test_kkt(loss, rho, l1_ratio, variant):
    p = make_variant(variant, loss, rho, l1_ratio)
    beta, intercept, _ = fit(p, tol=1e-12)
    s = p.slopes(beta, intercept)
    gradient = p.residual(s, beta)
    assert p.weight @ (p.y * s) == pytest.approx(0.0, abs=1e-6)
    assert np.abs(gradient).max() <= p.lasso + 1e-6
    active = beta != 0
    np.testing.assert_allclose(gradient[active], -p.lasso * np.sign(beta[active]), atol=1e-6)
    if l1_ratio > 0:
        assert 0 < active.sum() < len(beta)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_path_starts_at_zero_and_every_point_is_certified(l1_ratio):
    p = problem(l1_ratio=l1_ratio)
    path = kernel_clearning_path(p.K, p.y, alphas=30, l1_ratio=l1_ratio, tol=1e-7)
    assert path.coefs.shape == (30, 50)
    assert path.n_nonzero[0] == 0
    assert path.alphas[-1] == pytest.approx(1e-3 * path.alphas[0])
    below = kernel_clearning_path(p.K, p.y, alphas=[0.99 * path.alphas[0]], l1_ratio=l1_ratio)
    assert below.n_nonzero[0] > 0
    assert path.converged.all()
    assert (path.dual_gaps <= 1e-7 * path.null_objective).all()
    for k in (5, 15, 29):
        point = KernelProblem(p.K, p.y, p.loss, path.alphas[k], l1_ratio)
        alone = fit(point, tol=1e-9)[2]
        assert path.objectives[k] == pytest.approx(alone.objectives[0], abs=2e-7)


@pytest.mark.parametrize("loss", ["coherence", "logistic", "huberized_hinge", "squared_hinge"])
def test_linear_kernel_without_l1_is_the_linear_ridge(loss):
    X, _, y = make_kernel(80)
    X = np.hstack([X, X**2])
    options = {"loss": loss, "alpha": 0.02, "l1_ratio": 0.0, "tol": 1e-12}
    kernel = KernelCLearningClassifier(kernel="linear", **options).fit(X, y)
    linear = CLearningClassifier(**options).fit(X, y)
    coef = kernel.dual_coef_ @ kernel.support_vectors_
    np.testing.assert_allclose(coef, linear.coef_, atol=2e-5)
    np.testing.assert_allclose(kernel.intercept_, linear.intercept_, atol=2e-5)
    assert kernel.objective_ == pytest.approx(linear.objective_, abs=1e-9)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("loss", "rho"), SMOOTH)
def test_duplicates_are_weights(loss, rho, l1_ratio):
    _, K, y = make_kernel()
    repeats = np.random.default_rng(2).integers(1, 4, len(y))
    index = np.repeat(np.arange(len(y)), repeats)
    made = make_loss(loss, rho=rho)
    single = KernelProblem(K, y, made, 3e-3, l1_ratio, sample_weight=repeats.astype(float))
    double = KernelProblem(K[np.ix_(index, index)], y[index], made, 3e-3, l1_ratio)
    beta, a, path = fit(single)
    beta2, a2, path2 = fit(double)
    assert path2.converged[0]
    assert path2.objectives[0] == pytest.approx(path.objectives[0], abs=1e-8)
    np.testing.assert_allclose(a2 + double.K @ beta2, (a + K @ beta)[index], atol=2e-3)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_singular_kernels(l1_ratio):
    X, _, y = make_kernel(60)
    for K in (X @ X.T, np.ones((60, 60)), np.zeros((60, 60))):
        p = KernelProblem(K, y, make_loss("coherence"), 1e-2, l1_ratio)
        beta, intercept, path = fit(p, tol=1e-8)
        assert path.converged[0]
        assert np.isfinite(beta).all()
        assert p.primal(beta, intercept) <= p.null_objective() + 1e-12


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
def test_landmarks_at_all_samples_are_the_full_problem(l1_ratio):
    p = problem(l1_ratio=l1_ratio)
    full = fit(p)[2]
    reduced = KernelProblem(p.K, p.y, p.loss, p.alpha, l1_ratio, penalty_kernel=p.K)
    assert fit(reduced)[2].objectives[0] == pytest.approx(full.objectives[0], abs=1e-8)


def test_estimator_with_landmarks_solves_the_reduced_problem():
    X, _, y = make_kernel(150, seed=3)
    model = KernelCLearningClassifier(gamma=1.0, alpha=1e-3, n_landmarks=30, tol=1e-12).fit(X, y)
    kernel = Kernel("rbf", 1.0)
    chosen = model.landmarks_
    assert len(chosen) == 30
    p = KernelProblem(
        kernel.cross(X, X[chosen]),
        y,
        model.loss_,
        1e-3,
        0.5,
        penalty_kernel=kernel.gram(X[chosen]),
    )
    beta = np.zeros(30)
    beta[np.searchsorted(chosen, model.support_)] = model.dual_coef_[0]
    assert model.objective_ == pytest.approx(p.primal(beta, model.intercept_[0]), rel=1e-10)
    assert model.objective_ <= p.solve() + 1e-9
    assert p.primal(beta, model.intercept_[0]) - p.dual(beta, model.intercept_[0]) <= 1e-5


def test_float32_matrices_give_nearly_the_same_solution():
    p = problem("coherence", n=150, alpha=1e-3)
    beta, intercept, _ = fit(p, tol=1e-6)
    single = kernel_clearning_path(
        p.K.astype(np.float32), p.y, alphas=[p.alpha], l1_ratio=p.l1_ratio, tol=1e-6
    )
    assert p.primal(single.coefs[0], single.intercepts[0]) == pytest.approx(
        p.primal(beta, intercept), abs=3e-6
    )


def test_either_memory_order_gives_the_same():
    p = problem()
    for K in (np.asfortranarray(p.K), p.K[::1], np.repeat(p.K, 2, axis=1)[:, ::2]):
        again = kernel_clearning_path(K, p.y, alphas=[p.alpha], l1_ratio=p.l1_ratio, tol=1e-9)
        np.testing.assert_allclose(again.coefs[0], fit(p)[0], atol=1e-12)


def test_the_kernel_matrix_is_left_alone():
    p = problem()
    before = p.K.copy()
    fit(p)
    np.testing.assert_array_equal(p.K, before)
