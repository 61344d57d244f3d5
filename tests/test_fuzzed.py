"""What the fuzzer has broken, made small and mended."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from clearning import (
    BlockwiseCLearningClassifier,
    CLearningClassifier,
    KernelCLearningClassifier,
    clearning_path,
    kernel_clearning_path,
)
from clearning._problem import Grid
from clearning.losses import HuberizedHinge, MultiCoherence


@pytest.fixture(autouse=True)
def quiet():
    """What is warned about is tested elsewhere; here it only has to be true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def test_penalties_beyond_the_range_of_a_double_leave_numbers():
    """The only sample with weight makes every column constant: its variance is nearly nothing."""
    path = clearning_path(
        sp.csr_array(np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])),
        [1, 0],
        loss="hinge",
        l1_ratio=0.0,
        alphas=[0.024],
        standardize=True,
        sample_weight=[3.6e267, 1.4e-44],
    )
    assert np.isfinite([*path.objectives, *path.intercepts, *path.coefs.ravel()]).all()


def test_kernels_of_many_orders_leave_numbers():
    X = [0.9, -0.7, -0.09, 0.8, 1, -2, -0.1, -2, -0.7, 2, 0.8, 2, -4, 0.9, -200, 0.6, 10]
    y = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    model = KernelCLearningClassifier(
        loss="squared_hinge",
        kernel="poly",
        degree=4,
        coef0=0.0,
        l1_ratio=1.0,
        alpha=4.333310806741437,
        n_landmarks=17,
    ).fit(np.array(X)[:, None], y)
    assert np.isfinite([model.objective_, *model.intercept_, *model.dual_coef_.ravel()]).all()
    # No model is worse than none.
    assert 0 <= model.objective_ <= 1 + 1e-9


def test_steps_beyond_the_range_of_a_double_are_not_taken():
    """Two equal samples, hardly a penalty, and a start: the model has no minimum to step to."""
    start = [-10.250781242502816, -0.12790367309443548, 9.541446959419481, 0.001884645894919896]
    path = clearning_path(
        np.tile([0.1, 0.0, 0.1, 600.0, 10.0, 0.0, 0.0], (2, 1)),
        [1, 0],
        loss="squared_hinge",
        alphas=[1e-150],
        coef_init=np.array([*start, 0.11813746351539832, -1.0142163887719469, 0.19439740061560348]),
    )
    assert np.isfinite([*path.objectives, *path.intercepts, *path.coefs.ravel()]).all()
    assert path.objectives[0] == pytest.approx(1.0)


def far_from_zero(seed, shape, centre, unit):
    rng = np.random.default_rng(seed)
    return centre + unit * rng.integers(-2, 3, shape), rng


def test_crawls_of_the_hinge_end():
    X, rng = far_from_zero(1, (38, 67), 1e6, 1.0)
    y = np.r_[0, 1, rng.integers(0, 2, 38)[2:]]
    how = {"loss": "hinge", "l1_ratio": 1.0, "standardize": True, "fit_intercept": False}
    path = clearning_path(X.astype(np.float32), y, alphas=[3e-5], tol=1e-9, **how)
    assert path.n_iters[0] < 1500


def test_crawls_between_penalties_end():
    rng = np.random.default_rng(0)
    X = 1e4 + 30 * rng.standard_normal((17, 5))
    y = np.r_[0, 1, rng.integers(0, 2, 15)]
    how = {"kernel": "poly", "gamma": "scale", "degree": 3, "coef0": 0.0, "rho": 700.0, "u": 0.5}
    model = KernelCLearningClassifier(**how, l1_ratio=1 - 1e-9, alpha=2.5, fit_intercept=False)
    assert model.fit(X, y).n_iter_ < 3000


def test_crawls_of_many_classes_end():
    X, rng = far_from_zero(1, (17, 6), 1e4, 1e-4)
    factor = 10 ** rng.uniform(-1, 1, 6)
    y = np.arange(17) % 7
    path = clearning_path(X, y, l1_ratio=1.0, alphas=[8e-8], rho=4.0, penalty_factor=factor)
    assert path.n_iters[0] < 2000


@pytest.mark.parametrize(
    ("rho", "u", "weight"),
    [
        (0.14, 1.0, [0.42, 0.456, 14.17, 0.0307, 0.345, 0.0349]),
        (0.13, 1.0, [0.0191, 5.09, 0.514, 81.7, 1.786, 0.108]),
        (0.2925658460864235, 3.355691940597069, [1.0] * 5),
        (0.5, 9.3, [0.02, 3.0, 70.0]),
        (2.0, 25.0, [0.02, 90.0, 0.3, 5.0, 0.01, 1.0]),
    ],
)
def test_null_objective_of_many_classes_is_the_best_constant_s(rho, u, weight):
    """Newton's steps go astray where classes are cold and uneven, or where they are even."""
    m = len(weight)
    path = clearning_path(
        np.arange(m)[:, None], np.arange(m), rho=rho, u=u, sample_weight=weight, alphas=[1.0]
    )
    share = np.array(weight) / np.sum(weight)
    kappa = u / (rho * np.logaddexp(0.0, np.log(m - 1) + u / rho))

    def value(a):
        losses = MultiCoherence(rho=rho, u=u).value(np.tile(a, (m, 1)), np.arange(m))
        return float(kappa * share @ losses)

    # The best intercepts, through warmer losses that are easier to descend.
    starts = [np.zeros(m), rho * np.log(share), u * (share == share.max())]
    best = min(minimize(value, start, method="BFGS").fun for start in starts)
    assert path.null_objective <= best + 1e-6


def huberized_objective(X, y, path, factor, weight, alpha, l1_ratio):
    b, margin = path.coefs[0], np.where(np.array(y) == 1, 1, -1)
    z = margin * (X @ b + path.intercepts[0])
    penalty = factor @ (l1_ratio * np.abs(b) + (1 - l1_ratio) / 2 * b**2)
    return weight @ HuberizedHinge().value(z) / np.sum(weight) + alpha * penalty


def test_objective_is_that_of_the_coefficients_whatever_the_steps_have_lost():
    row = [-59883250.38896063, -42.840103022359905, 19728971.592056666, 105977853807.05684]
    row += [-0.0008682697084584734, 715.3622178004052, -604192233.7171777, 159650179282136.56]
    X = np.tile([*row, -1.876357756088986e17, -9.906251891439868e17], (3, 1))
    y, alpha = [0, 0, 1], 0.027145029146342814
    weight = np.array([0.08853750348411427, 0.9051495344913585, 1.5535273548460746])
    factor = np.array([0.08789575674074301, 0.11368267979693902, 0.0, 0.6889215441873389])
    factor = np.r_[factor, 0.7605282820954846, 0.0, 1.4246672779190843, 1.531101009941265, 0.0]
    factor = np.r_[factor, 1.39529220726466]
    start = [-1.8446790614863806e-08, -0.03352019206776958, 3.0804218544845856e-08]
    start += [-8.767427587960147e-13, -207.85880727641214, 0.001207803289185109]
    start += [2.3748053858778793e-09, -5.641087969977163e-15, -5.523145053070699e-18]
    path = clearning_path(
        X,
        y,
        loss="huberized_hinge",
        l1_ratio=0.5,
        alphas=[alpha],
        penalty_factor=factor,
        sample_weight=weight,
        coef_init=np.array([*start, -1.259361368958822e-18]),
    )
    exact = huberized_objective(X, y, path, factor, weight, alpha, 0.5)
    assert path.objectives[0] == pytest.approx(exact, abs=1e-9)


def test_objective_of_the_hinge_on_a_kernel_is_that_of_the_coefficients():
    """Residuals that were scaled from penalty to penalty lost a digit with each power of ten."""
    K, offset = np.eye(2), np.array([0.030445279208907845, 0.009814301784323846])
    alphas = [1.5343219254679916, 0.04056902642305196, 2.337720587208821e-06]
    path = kernel_clearning_path(
        K, [0, 1], loss="hinge", l1_ratio=0.0, alphas=alphas, offset=offset
    )
    for k, alpha in enumerate(path.alphas):
        b = path.coefs[k]
        margin = np.array([-1, 1]) * (offset + path.intercepts[k] + b)
        exact = np.maximum(1 - margin, 0).mean() + alpha / 2 * b @ b
        assert path.objectives[k] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("seed", [2, 6])
def test_kernels_of_low_rank_have_a_minimum(seed):
    """Rounding makes some eigenvalues that are zero negative: there the objective fell for ever."""
    rng = np.random.default_rng(seed)
    Z = 100 * rng.standard_normal((9, 5))
    K = (Z @ Z.T + (Z @ Z.T).T) / 2
    y = np.r_[0, 1, rng.integers(0, 2, 9)[2:]]
    path = kernel_clearning_path(
        K,
        y,
        loss="squared_hinge",
        l1_ratio=1e-12,
        tol=5e-10,
        alphas=3,
        coef_init=rng.standard_normal(9),
        intercept_init=-0.2,
    )
    assert path.converged.all()
    assert (path.objectives <= path.null_objective).all()
    assert (path.objectives > 0.5).all()


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_blocks_name_weights_whose_sum_is_no_number(weight):
    X, y = np.array([[-2.5], [-0.6], [1.0]]), [1, 0, 1]
    with pytest.raises(ValueError, match=r"sample_weight must sum .* Divide the weights"):
        BlockwiseCLearningClassifier().fit(X, y, sample_weight=np.full(3, weight))


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_columns_without_a_finite_variance_are_not_taken_for_constant_ones(form, unit):
    """They were, and what was proved was proved of another penalty."""
    X = np.array([[1.0, unit], [2.0, 0.0], [0.0, -unit], [1.0, 0.1 * unit]])
    with pytest.raises(ValueError, match=r"standardize=True .* column 1 of X"):
        clearning_path(form(X), [0, 1, 0, 1], standardize=True)


def test_blocks_do_not_take_them_for_constant_ones_either():
    X = np.random.default_rng(0).standard_normal((60, 2)) * [1.0, 1e-200]
    with pytest.raises(ValueError, match=r"standardize=True .* column 1 of X"):
        BlockwiseCLearningClassifier(standardize=True).fit(X, np.arange(60) % 2)


def test_blocks_keep_coefficients_within_their_bounds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((14, 5))
    y = np.arange(14) % 2
    for scale in rng.uniform(0.01, 0.2, 40):
        upper = np.full(5, scale)
        model = BlockwiseCLearningClassifier(alpha=1e-4, bounds=(-upper, upper), standardize=True)
        assert (np.abs(model.fit(X, y).coef_) <= scale).all()


@pytest.mark.parametrize("model", [CLearningClassifier(), BlockwiseCLearningClassifier()])
def test_offsets_that_are_no_scores_are_named(model):
    X, y = np.array([[-2.5], [-0.6], [1.0]]), [1, 0, 1]
    with pytest.raises(ValueError, match=r"offset holds 1e\+300 in size"):
        model.fit(X, y, offset=np.array([1e300, 0.0, -1.0]))


def test_what_ends_early_is_proved_over_all_columns():
    """Columns far from zero, at a low temperature: the second penalty ends before its optimum."""
    rows = [
        [-2.439, 0.823, -1.092, 135.905, 0.892, -0.061, -0.666, 0.522, -0.354],
        [-0.399, -6.763, 0.247, 0.792, 0.755, -17.856, 2.298, 1.813, 1.123],
        [0.087, 0.057, 1.478, 10.981, 0.2, 0.29, -3.475, -0.941, -0.909],
        [0.345, 0.152, -0.151, 1.164, -4.442, 0.251, -1.043, 1.306, 0.013],
        [0.516, -0.703, 9.357, -0.997, -0.851, 1.759, 0.573, -1.962, 4.732],
        [1.799, 0.033, 0.304, 0.007, 0.409, 0.572, -2.491, -0.167, -39.292],
        [22.175, 1.894, -1.438, 8.998, 0.031, 0.586, 0.009, 0.019, 0.001],
    ]
    X = 1e4 + np.array(rows)[[5, 2, 2, 2, 6, 0, 4, 0, 0, 6, 1, 1, 5, 6, 2, 0, 5, 3]]
    y = [1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    how = {"rho": 4.0912105561759885e-06, "u": 6.797154819183236, "l1_ratio": 0.999999999}
    path = clearning_path(sp.csr_array(X), y, alphas=4, **how)
    near_zero = clearning_path(X - X.mean(axis=0), y, alphas=path.alphas, **how)
    least = near_zero.objectives + 1e-9
    assert (path.objectives - path.dual_gaps <= least).all()


def test_a_start_beyond_the_range_of_a_double_is_left_out():
    X = np.array([[1e200, -3e199], [-2e200, 1e200], [5e199, 1e200], [1e200, 1e199]])
    for y in ([0, 1, 1, 0], [0, 1, 2, 1]):
        shape = (2,) if max(y) == 1 else (3, 2)
        loss = "squared_hinge" if max(y) == 1 else "logistic"
        start = np.full(shape, 1e200)
        path = clearning_path(X, y, loss=loss, alphas=[0.1], coef_init=start)
        assert np.isfinite(path.objectives).all()
        assert path.objectives[0] <= path.null_objective * (1 + 1e-9)


@pytest.mark.parametrize("unit", [1e-16, 1e-200, 1e200])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_cosine_of_small_samples_is_that_of_large_ones(form, unit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    X[4] = 0.0
    y = np.arange(12) % 2
    model = KernelCLearningClassifier(kernel="cosine", alpha=0.01)
    expected = model.fit(X, y).decision_function(X)
    small = form(X * unit)
    assert model.fit(small, y).decision_function(small) == pytest.approx(expected, abs=1e-6)


def test_gaussian_kernels_of_sparse_samples_far_from_zero_are_those_of_dense_ones():
    """Norms of 1e22 left nothing of a distance, and what was lost was put on the diagonal."""
    X = np.zeros((25, 6))
    X[3, 2], X[10, 1], X[13, 2], X[18, 5] = 3.2e11, 1.1e11, 1.6e11, 2.8e11
    X[7, 0] = 2.0
    y = np.arange(25) % 4 == 0
    model = KernelCLearningClassifier(kernel="rbf", gamma=1.0, alpha=1e-3)
    dense = model.fit(X, y).objective_
    assert model.fit(sp.csr_array(X), y).objective_ == pytest.approx(dense, rel=1e-6)


def test_what_costs_nothing_is_proved_at_once():
    """Free columns separate the classes, and no optimum is below zero."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((42, 65)) * 10.0 ** rng.uniform(-2, 3, 65)
    y = rng.integers(0, 2, 42)
    factor = np.where(np.arange(65) < 40, 0.0, 1.0)
    how = {"fit_intercept": False, "alphas": 4, "tol": 1e-3, "penalty_factor": factor}
    path = clearning_path(X, y, loss="huberized_hinge", **how)
    assert path.converged.all()
    assert path.n_iters.sum() < 60


def test_null_objective_of_many_classes_with_offsets_is_the_best_constant_s():
    """A step that led nowhere ended the null model's fit at eleven times its minimum."""
    weight = np.array([0.50314314, 0.15754895, 0.22927785, 63.61198325])
    offset = np.array(
        [
            [-0.02923143, 2.82029274, 1.15947396, 0.83903726],
            [0.52814219, 1.07025531, 0.02845064, 2.10715561],
            [0.78259503, 1.92075094, -0.08546039, 0.01904355],
            [1.33041294, 0.21675176, 1.73531051, -0.76977088],
        ]
    )
    how = {"rho": 0.10837936236251114, "sample_weight": weight, "offset": offset}
    path = clearning_path(np.eye(4)[:, :1], np.arange(4), alphas=[1e3], **how)
    # Nothing but intercepts is worth this penalty.
    assert not path.coefs.any()
    assert path.null_objective == pytest.approx(path.objectives[0])


@pytest.mark.parametrize("l1_ratio", [1.0, 0.999999999])
def test_rows_of_three_classes_lie_at_their_medians(l1_ratio):
    """Where they do not, a row can move as one, and its penalty falls while no score changes."""
    rng = np.random.default_rng(1)
    X = rng.integers(-2, 3, (60, 30)).astype(float)
    y = rng.integers(0, 3, 60)
    path = clearning_path(X, y, l1_ratio=l1_ratio, alphas=[0.02, 0.002], tol=1e-8)
    assert path.coefs.any()
    assert np.abs(np.median(path.coefs, axis=1)).max() <= 1e-6


def test_a_grid_that_ends_below_the_smallest_number_is_one_of_small_numbers():
    grid = Grid(None, 3, 1e-3).below(1e-322, None)
    assert (grid > 0).all()
    assert (np.diff(grid) <= 0).all()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_free_columns_of_a_hinge_leave_the_constant_behind(l1_ratio):
    X = np.array([[0.0, -1.0], [0.0, 2.0], [-2.0, 0.0]])
    path = clearning_path(
        X, [0, 0, 1], loss="hinge", l1_ratio=l1_ratio, alphas=[0.1], penalty_factor=np.zeros(2)
    )
    assert path.null_objective < 1e-9
    assert path.objectives[0] < 1e-9


def test_a_hinge_sees_weights_that_vanish_beside_others():
    weight = np.array([2.997e-06, 3.617e07, 42.4])
    offset = np.array([31.49, 22.87, -44.33])
    path = clearning_path(
        [[200.0], [80.0], [-2.0]],
        [0, 1, 0],
        loss="hinge",
        alphas=1,
        sample_weight=weight,
        offset=offset,
    )
    # The positive sample has nearly all of the weight and its margin is one.
    a, share = 1.0 - offset[1], weight / weight.sum()
    best = share @ np.maximum(0.0, 1.0 - np.array([-1.0, 1.0, -1.0]) * (offset + a))
    assert path.null_objective == pytest.approx(best, rel=1e-2)


def test_an_objective_is_as_exact_as_its_gap_says_after_a_long_way():
    X = 1e6 + np.random.default_rng(0).standard_normal((18, 1))
    y, offset = X[:, 0] > 1e6, np.random.default_rng(1).standard_normal(18)
    path = clearning_path(X, y, loss="hinge", alphas=1, offset=offset)
    assert path.coefs[0, 0] == 0.0
    exact = np.mean(np.maximum(0.0, 1.0 - np.where(y, 1, -1) * (offset + path.intercepts[0])))
    assert abs(path.objectives[0] - exact) <= path.dual_gaps[0]


def test_nearly_collinear_free_columns_do_not_fake_a_proof():
    """Their coefficients are of 1e9, times what the projection leaves of a dual point on them."""
    column = np.array([0.3107626736164093, 0.2825096845626831, 1.0265684127807617])
    column = np.r_[column, 0.1655348539352417, 0.6672191619873047]
    other = np.array([0.00144196639303118, 0.0013108700513839722, 0.004763368517160416])
    other = np.r_[other, 0.0007680964190512896, 0.0030959562864154577]
    X, y = np.c_[other, column], np.array([1, 1, 0, 0, 0])
    for start in (None, np.array([-117.3, -1.3])):
        path = clearning_path(
            X, y, loss="logistic", alphas=[1e-4], penalty_factor=np.zeros(2), coef_init=start
        )
        assert path.objectives[0] - path.dual_gaps[0] <= 0.518729531720


@pytest.mark.parametrize("rho", [1e-6, 0.0025, 0.5])
def test_free_columns_leave_the_constant_behind_at_any_temperature(rho):
    X = np.array([[0.0, 1.0], [0.0, 0.0], [-1.0, 0.0]])
    path = clearning_path(X, [1, 1, 0], rho=rho, alphas=[0.1], penalty_factor=np.zeros(2))
    assert path.null_objective < 1e-6


def test_lassos_of_many_classes_with_more_columns_than_rank_take_few_steps():
    """Sweeps and conjugate gradients brought back in turn what the other had put out: 38 steps."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 40)) @ rng.standard_normal((40, 100)) / np.sqrt(40)
    y, weight = rng.integers(0, 6, 120), 10 ** rng.uniform(-2, 2, 120)
    options = {"loss": "logistic", "l1_ratio": 1.0, "alphas": 4, "fit_intercept": False}
    path = clearning_path(X, y, sample_weight=weight, **options)
    assert path.converged.all()
    assert path.n_iters.max() <= 25


def test_a_step_whose_dual_weights_are_put_back_proves_no_more_than_they_do():
    """34/5952: what putting them back did to the pull on a coefficient was not in its own share."""
    X, y = np.array([[-1.0266783928411598], [-7.996048893329398], [7.476022564348694]]), [1, 0, 1]
    options = {"loss": "huberized_hinge", "delta": 0.002403484079411475, "l1_ratio": 1.0}
    loose, tight = (
        clearning_path(X, y, alphas=[0.0835629994087299], tol=tol, **options)
        for tol in (0.00994447462703287, 1e-9)
    )
    assert loose.objectives[0] - loose.dual_gaps[0] <= tight.objectives[0]


def test_cold_losses_of_many_classes_are_reached_from_warmer_ones():
    """Kinks held the steps up: twenty in a row took less than a twentieth of the gap."""
    X, y = load_digits(return_X_y=True)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    path = clearning_path(X[:600], y[:600], rho=0.01, alphas=10, l1_ratio=0.8)
    assert path.converged.all()


def test_gaussian_kernels_of_sparse_samples_keep_their_digits():
    """36/84016: norms of 5e4 left exponents with twelve digits, and large coefficients fewer."""
    rng = np.random.default_rng(0)
    X = 200 * rng.standard_normal((34, 4)) * (rng.random((34, 4)) < 0.15)
    X[1] = X[0] = [200.0, 0.0, 0.0, 0.0]
    X[1, 0] += 1e-3
    y, offset = np.arange(34) % 2, 100 * rng.standard_normal(34)
    options = {"loss": "squared_hinge", "l1_ratio": 0.0, "gamma": 1.0, "alpha": 1e-4}
    dense, thin = (
        KernelCLearningClassifier(**options).fit(S, y, offset=offset) for S in (X, sp.csr_array(X))
    )
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-11)


@pytest.mark.parametrize("seed", [32, 44, 51])
def test_scores_that_have_come_from_afar_are_computed_anew_where_the_loss_is_zero(seed):
    """36/156118: an intercept of 1e134 was left; the slope of a loss of zero said that it could."""
    rng = np.random.default_rng(seed)
    X, y = 1e150 * rng.standard_normal((4, 3)), np.array([-1, 1, 1, -1])
    start = {"coef_init": 100 * rng.standard_normal(3), "intercept_init": 0.8}
    options = {"loss": "squared_hinge", "alphas": [0.0146], "standardize": True}
    path = clearning_path(X, y, **options, **start)
    scores = X @ path.coefs[0] + path.intercepts[0]
    loss = np.mean(np.maximum(1 - y * scores, 0) ** 2)
    assert loss <= path.objectives[0] * (1 + 1e-9)


def test_a_dual_value_found_at_large_scores_is_known_no_better_than_they_are():
    """52/3641: scores of 1e8 on the way put one 1e-8 too high, and the end of the way had 1e3."""
    rng = np.random.default_rng(52)
    for _ in range(60):
        X = -1e4 + 10 ** rng.uniform(-8, -6) * rng.integers(-3, 4, (3, 1))
        options = {"l1_ratio": rng.choice([1.0, 0.999999999]), "tol": 1e-9}
        alpha = 10 ** rng.uniform(-9, -6)
        path = clearning_path(X, [0, 1, 1], loss="hinge", alphas=[alpha], **options)
        assert path.objectives[0] - path.dual_gaps[0] <= path.null_objective


def test_balanced_weights_of_classes_that_differ_by_any_factor():
    """52/112542: the smaller class's factor was infinite."""
    X, y, weight = np.array([[0.0], [1.0]]), [0, 1], [4e137, 5e-180]
    options = {"class_weight": "balanced", "alphas": [0.01]}
    odd, even = (clearning_path(X, y, sample_weight=w, **options) for w in (weight, None))
    assert odd.objectives[0] == pytest.approx(even.objectives[0])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_ridge_beyond_the_range_of_a_double_hides_nothing(classes):
    """53/60464: alpha times the variance was infinite, and no pull seemed to cost anything."""
    X, y = np.array([[6.0], [-2.0], [1.0], [3.0]]), np.arange(4) % classes
    options = {"loss": "logistic", "l1_ratio": 1e-12, "alphas": [5e10], "standardize": True}
    far, near = (clearning_path(unit * X, y, tol=1e-12, **options) for unit in (1e149, 1.0))
    assert far.objectives[0] - far.dual_gaps[0] <= near.objectives[0]


def test_blocks_refuse_a_ridge_beyond_the_range_of_a_double():
    model = BlockwiseCLearningClassifier(l1_ratio=1e-12, alpha=5e10, standardize=True)
    with pytest.raises(ValueError, match="Scale X"):
        model.fit(1e149 * np.array([[6.0], [-2.0]]), [0, 1])


@pytest.mark.parametrize("seed", [219, 1, 2])
def test_a_way_that_is_gone_on_with_ends_at_the_bounds(seed):
    """53/8072: rounding took a coefficient past zero by 2e-25."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((13, 118)) * 10.0 ** rng.uniform(-12, 12, 118)
    X[[3, 7, 9]] = X[[0, 1, 2]]
    factor = rng.uniform(0, 2, 118) * (rng.random(118) < 0.85)
    y = rng.integers(0, 2, 13)
    y[:2] = [0, 1]
    options = {"loss": rng.choice(["squared_hinge", "logistic"]), "l1_ratio": 0.0}
    options |= {"alphas": [6e-6, 0.15], "bounds": (-np.inf, 0.0), "penalty_factor": factor}
    path = clearning_path(X, y, sample_weight=rng.uniform(0.2, 1.7, 13), **options)
    assert path.coefs.max() <= 0.0


def test_columns_told_apart_by_the_lightest_samples_alone():
    """Seed 66, problem 24774: three samples, which a line separates; nothing is lost."""
    X = np.array(
        [
            [-0.6025182612931613, -0.6025182612912733],
            [-1.0911370733704493, -1.0911370733699266],
            [-0.25232347288337104, -0.25232347288502804],
        ]
    )
    weight = np.array([0.008848768978641364, 546.0226165550963, 45883737.0913738])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = clearning_path(
            X, [1, 0, 0], sample_weight=weight, l1_ratio=1e-12, alphas=1, penalty_factor=[0.0, 0.0]
        )
    assert path.objectives[0] - path.dual_gaps[0] <= 8e-13


@pytest.mark.parametrize("bound", [1e-6, 1e-5])
def test_a_pull_that_seems_to_point_at_a_bound(bound):
    """Seed 68, problem 172032: known up to some noise, it pointed to the side without one."""
    X = np.array([[999998.0], [999999.0]])
    path = clearning_path(
        X,
        [1, 0],
        rho=0.00019064319820390408,
        u=158.01947177240538,
        l1_ratio=1.0,
        fit_intercept=False,
        alphas=[0.022970290658883077],
        bounds=([-np.inf], [bound]),
        coef_init=[-0.00016],
    )
    # The objective at −1.58e-4, where the second sample meets its margin.
    assert path.objectives[0] - path.dual_gaps[0] <= 158.0193963938


def test_a_width_whose_square_is_below_all_doubles_is_none():
    """Weights of which one is 1e12 times the next, and that 1e180 times the last (73/32611)."""
    X, y = np.array([[4e9], [0.0], [0.0]]), [1, 1, 0]
    weight = [4.8e-95, 5.9e85, 4.2e97]
    model = KernelCLearningClassifier(loss="hinge", kernel="laplacian", gamma="mean", alpha=2e-4)
    assert model.fit(X, y, sample_weight=weight).dual_gap_ >= 0


@pytest.mark.parametrize("size", [1e150, 1e299])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_columns_whose_squares_are_beyond_a_double_are_looked_at(size, loss, l1_ratio):
    """No length times no doubt is no doubt, even where the length is infinite (73/34192, 57801)."""
    X, y = size * np.array([[1.0], [0.1]]), [0, 1]
    path = clearning_path(X, y, loss=loss, l1_ratio=l1_ratio, alphas=[1e-5])
    margin = np.array([-1.0, 1.0]) * (0.55 - X[:, 0] / size) * 20
    losses = {
        "logistic": np.logaddexp(0, -margin),
        "hinge": np.maximum(0, 1 - margin),
        "squared_hinge": np.maximum(0, 1 - margin) ** 2,
    }
    assert path.objectives[0] - path.dual_gaps[0] <= losses[loss].mean() + 1e-9
    wide = clearning_path(
        np.c_[X, 0 * X, 0 * X], y, loss=loss, l1_ratio=l1_ratio, alphas=[1e-5], fit_intercept=False
    )
    assert wide.dual_gaps[0] >= 0
