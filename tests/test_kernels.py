"""Kernels, width rules and landmarks, against scikit-learn's and SciPy's own."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import additive_chi2_kernel, pairwise_kernels, rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from clearning import _kernel_blocks, kernels
from clearning._kernel_matrix import check_kernel_matrix
from clearning.kernels import Kernel, kernel_width, negative_distance_matrix
from clearning.landmarks import select_landmarks

RNG = np.random.default_rng(0)
NAMED = ("rbf", "laplacian", "chi2", "polynomial", "poly", "linear", "cosine", "sigmoid")


def min_kernel(A, B):
    return np.minimum(A[:, None, :], B[None, :, :]).sum(axis=2)


@pytest.fixture(scope="module")
def X():
    # Far from the origin, where squared norms cancel.
    return np.random.default_rng(1).standard_normal((150, 7)) + 100.0


@pytest.fixture(scope="module")
def Y():
    return np.random.default_rng(2).standard_normal((40, 7)) + 100.0


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("n_blocks", [1, 5])
def test_matrices_are_scikit_learns(name, n_blocks, X, Y, monkeypatch):
    monkeypatch.setattr(_kernel_blocks, "BLOCK_ENTRIES", 150 * 150 // n_blocks)
    X, Y = (X - 100) / 3, (Y - 100) / 3
    if name == "chi2":
        X, Y = np.abs(X), np.abs(Y)
    kernel = Kernel(name, gamma=0.3, degree=3, coef0=0.5)
    params = {"gamma": 0.3, "degree": 3, "coef0": 0.5}
    gram, cross = kernel.gram(X), kernel.cross(X, Y)
    expected = pairwise_kernels(X, metric=name, filter_params=True, **params)
    np.testing.assert_allclose(gram, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(gram, gram.T)
    expected = pairwise_kernels(X, Y, metric=name, filter_params=True, **params)
    np.testing.assert_allclose(cross, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X, np.arange(150)), np.diag(gram), rtol=1e-12)
    coef = RNG.standard_normal(len(Y))
    np.testing.assert_allclose(kernel.score(X, Y, coef), expected @ coef, rtol=1e-10, atol=1e-10)


def test_rbf_survives_a_far_origin(X, Y):
    exact = np.exp(-0.2 * cdist(X, Y, "sqeuclidean"))
    np.testing.assert_allclose(Kernel("rbf", 0.2).cross(X, Y), exact, rtol=1e-12)


def test_callable_takes_two_matrices(X, monkeypatch):
    monkeypatch.setattr(kernels, "_CALLED_ENTRIES", 150 * 40)
    kernel, expected = Kernel(min_kernel), min_kernel(X, X)
    np.testing.assert_allclose(kernel.gram(X), expected)
    np.testing.assert_allclose(kernel.cross(X[:5], X[7:11]), expected[:5, 7:11])
    np.testing.assert_allclose(kernel.diagonal(X, np.arange(150)), np.diag(expected))
    np.testing.assert_allclose(kernel.score(X, X[:9], np.arange(9.0)), expected[:, :9] @ range(9))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, z: np.exp(-np.sum((x - z) ** 2)), r"failed on dense .*operands"),
        (lambda A, B: 1j * (A @ B.T), "returned complex numbers"),
        (lambda x, z: 1.0, "returned a number"),
        (lambda A, B: A, r"returned an array of shape \(5, 7\)"),
    ],
)
def test_functions_of_two_rows_are_told_what_to_write(function, words, X):
    with pytest.raises(ValueError, match=f"(?s){words}.*A @ B.T.*metric=function"):
        Kernel(function).cross(X[:5], X[5:9])


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "polynomial", "linear", "cosine"])
def test_sparse_input_gives_the_dense_matrix(name):
    X = sparse.random(60, 30, density=0.2, format="csr", random_state=0)
    kernel, dense = Kernel(name, gamma=0.7), X.toarray()
    K = kernel.gram(dense)
    np.testing.assert_allclose(kernel.gram(X), K, atol=1e-13)
    np.testing.assert_allclose(kernel.cross(X, X[:9]), K[:, :9], atol=1e-13)
    for left, right in ((X, dense[:9]), (dense, X[:9])):
        np.testing.assert_allclose(
            kernel.score(left, right, np.ones(9)), K[:, :9].sum(axis=1), atol=1e-12
        )


def test_callables_get_sparse_samples_as_they_are():
    X = sparse.random(60, 30, density=0.2, format="csr", random_state=0)
    kinds = set()

    def product(A, B):
        kinds.add((sparse.issparse(A), sparse.issparse(B)))
        return A @ B.T

    np.testing.assert_allclose(Kernel(product).gram(X), (X @ X.T).toarray(), atol=1e-13)
    assert kinds == {(True, True)}
    Kernel(product).score(X, X[:3].toarray(), np.ones(3))
    assert kinds == {(True, True), (False, False)}


def test_wide_sparse_samples_are_never_one_array():
    X = sparse.random(300, 200_000, density=1e-4, format="csr", random_state=0)
    for name in ("rbf", "laplacian", "chi2", "cosine"):
        tracemalloc.start()
        Kernel(name, gamma=0.5).gram(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 300 * 200_000 * 8 / 3, name


def test_float32_is_the_rounded_matrix(X):
    K = Kernel("rbf", 0.1, dtype="float32").gram(X)
    assert K.dtype == np.float32
    np.testing.assert_array_equal(K, Kernel("rbf", 0.1).gram(X).astype(np.float32))


@pytest.mark.parametrize("name", ["rbf", "linear", "chi2", min_kernel])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_products_are_those_of_the_matrix(name, n_threads, X, monkeypatch):
    monkeypatch.setattr(kernels, "_TILE_ROWS", 32)
    monkeypatch.setattr(kernels, "_THREADED_ENTRIES", 0)
    monkeypatch.setattr(kernels, "_blas_threads", lambda: n_threads)
    kernel, r = Kernel(name, 0.1), np.linspace(-1, 2, 150)
    np.testing.assert_allclose(kernel.product(X, r), kernel.gram(X) @ r, rtol=1e-10, atol=1e-10)


def test_distances_give_every_width(X):
    D = negative_distance_matrix(X)
    np.testing.assert_allclose(np.exp(0.4 * D), rbf_kernel(X, gamma=0.4), atol=1e-11)
    np.testing.assert_array_equal(D, D.T)


def test_gram_needs_little_beside_itself():
    X = RNG.standard_normal((1500, 10))
    tracemalloc.start()
    K = Kernel("rbf", 0.1).gram(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.25 * K.nbytes


def test_score_memory_is_bounded():
    X, support = RNG.standard_normal((50_000, 3)), RNG.standard_normal((300, 3))
    tracemalloc.start()
    Kernel("rbf", 0.1).score(X, support, np.ones(300))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.15 * 8 * 50_000 * 300


def test_threads_do_not_change_the_score(monkeypatch):
    X, support = RNG.standard_normal((3000, 3)), RNG.standard_normal((300, 3))
    coef = RNG.standard_normal(300)
    with threadpool_limits(1):  # BLAS's own threads round otherwise
        alone = Kernel("rbf", 0.1).score(X, support, coef)
    monkeypatch.setattr(kernels, "_THREADED_ENTRIES", 0)
    monkeypatch.setattr(kernels, "_blas_threads", lambda: 2)
    np.testing.assert_array_equal(Kernel("rbf", 0.1).score(X, support, coef), alone)


# Width rules


def test_median_rule_is_the_median_distance_between_the_classes(X):
    for n_first in (50, 51):
        y = np.repeat(["b", "a"], [n_first, 150 - n_first])
        sigma = np.median(cdist(X[:n_first], X[n_first:]))
        assert kernel_width("median", X, y) == pytest.approx(1 / sigma**2, rel=1e-10)


def test_mean_rule_is_the_mean_distance_among_inputs(X):
    y = np.arange(150) % 2
    assert kernel_width("mean", X, y) == pytest.approx(1 / pdist(X).mean() ** 2, rel=1e-10)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_scale_rule_is_svcs(as_sparse):
    X = sparse.random(50, 8, density=0.5, format="csr", random_state=1)
    X = X if as_sparse else X.toarray()
    y = np.arange(50) % 2
    expected = SVC(gamma="scale").fit(X, y)._gamma
    assert kernel_width("scale", X, y) == pytest.approx(expected, rel=1e-12)


def test_chi2_widths_are_those_of_its_own_distances(X):
    y = np.arange(150) % 2
    distances = -additive_chi2_kernel(X[y == 0], X[y == 1])
    assert kernel_width("median", X, y, kernel="chi2") == pytest.approx(
        1 / np.median(np.sqrt(distances)) ** 2, rel=1e-10
    )


@pytest.mark.parametrize("seed", range(10))
def test_weights_repeat_samples_in_the_median(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 3)), np.arange(30) % 2
    weight = rng.integers(0, 4, 30)
    repeated = kernel_width("median", np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert kernel_width("median", X, y, weight.astype(float)) == pytest.approx(repeated, rel=1e-10)
    assert kernel_width("median", X, y, np.full(30, 2.5)) == kernel_width("median", X, y)


def test_mean_rule_weighs_pairs():
    X, y = RNG.standard_normal((30, 3)), np.arange(30) % 2
    weight = RNG.uniform(size=30)
    pairs = np.outer(weight, weight)[np.triu_indices(30, 1)]
    sigma = np.average(pdist(X), weights=pairs)
    assert kernel_width("mean", X, y, weight) == pytest.approx(1 / sigma**2, rel=1e-10)


def test_many_samples_are_thinned_evenly(monkeypatch):
    X, y = RNG.standard_normal((3000, 4)), RNG.integers(0, 2, 3000)
    full = {rule: kernel_width(rule, X, y) for rule in ("median", "mean")}
    monkeypatch.setattr(kernels, "_WIDTH_SAMPLES", 400)
    for rule, gamma in full.items():
        assert kernel_width(rule, X, y) == pytest.approx(gamma, rel=0.05)


def test_a_number_and_a_constant_input():
    X, y = np.ones((4, 2)), np.array([0, 0, 1, 1])
    assert kernel_width(0.25, X, y) == 0.25
    assert [kernel_width(rule, X, y) for rule in kernels.GAMMA_RULES] == [1.0, 1.0, 1.0]


# Kernel matrices given by the user


def test_a_kernel_matrix_passes_untouched(X):
    K = rbf_kernel(X, gamma=0.1)
    K = (K + K.T) / 2
    assert check_kernel_matrix(K) is K


def test_rounding_asymmetry_is_averaged_away(X):
    K = Kernel("rbf", 0.1).gram(X)
    noisy = K * (1 + 1e-12 * RNG.standard_normal(K.shape))
    result = check_kernel_matrix(noisy)
    np.testing.assert_array_equal(result, result.T)
    np.testing.assert_allclose(result, K, atol=1e-11)


def test_not_square_is_told():
    with pytest.raises(ValueError, match=r"square kernel matrix, got shape \(3, 4\)"):
        check_kernel_matrix(np.ones((3, 4)))


def test_not_symmetric_is_told_where(X):
    K = Kernel("rbf", 0.1).gram(X)
    K[120, 3] += 0.25
    with pytest.raises(ValueError, match=r"symmetric .*K\[3, 120\].*K\[120, 3\]"):
        check_kernel_matrix(K)


@pytest.mark.parametrize("n", [100, 800])
def test_not_psd_is_told_with_the_eigenvalue(n):
    values = np.linspace(0, 5, n)
    values[0] = -2.0
    basis, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((n, n)))
    K = (basis * values) @ basis.T
    K = (K + K.T) / 2
    with pytest.raises(ValueError, match="positive semidefinite") as failure:
        check_kernel_matrix(K)
    told = float(str(failure.value).split("eigenvalue of ")[1].split()[0])
    assert -2.0 - 1e-5 <= told < -0.5
    if n == 100:
        assert told == pytest.approx(-2.0, rel=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [100, 800])
def test_singular_kernels_are_psd(n, dtype):
    X = np.random.default_rng(4).standard_normal((n // 2, 3))
    X = np.concatenate([X, X])
    for name in ("rbf", "linear"):
        check_kernel_matrix(Kernel(name, 0.1, dtype=dtype).gram(X))
    check_kernel_matrix(np.ones((n, n), dtype=dtype))
    check_kernel_matrix(np.zeros((n, n), dtype=dtype))


def test_tanh_is_found_out():
    X = np.random.default_rng(5).standard_normal((200, 4))
    assert not Kernel("sigmoid").surely_psd
    with pytest.raises(ValueError, match="positive semidefinite"):
        check_kernel_matrix(Kernel("sigmoid", gamma=1.0, coef0=-1.0).gram(X))


# Landmarks


def unexplained(K, landmarks):
    """Trace of K − K_S K_SS⁺ K_S'."""
    K_nm, K_mm = K[:, landmarks], K[np.ix_(landmarks, landmarks)]
    return np.trace(K) - np.trace(np.linalg.pinv(K_mm, rcond=1e-12, hermitian=True) @ K_nm.T @ K_nm)


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(6)
    sizes, spreads = (1000, 60, 40), (0.3, 0.3, 2.0)
    parts = [
        rng.standard_normal((n, 5)) * s + 4 * i for i, (n, s) in enumerate(zip(sizes, spreads))
    ]
    return np.concatenate(parts)


def test_landmarks_explain_more_than_random_samples(clusters):
    kernel = Kernel("rbf", 0.1)
    K = kernel.gram(clusters)
    ours = [
        unexplained(K, select_landmarks(kernel, clusters, 60, np.random.RandomState(seed)))
        for seed in range(5)
    ]
    rng = np.random.default_rng(7)
    random = [unexplained(K, rng.choice(len(K), 60, replace=False)) for _ in range(5)]
    assert np.mean(ours) < 0.6 * np.mean(random)


def test_landmarks_are_reproducible_distinct_and_the_same_for_the_matrix(clusters):
    kernel = Kernel("rbf", 0.1)
    chosen = [select_landmarks(kernel, clusters, 40, np.random.RandomState(0)) for _ in range(2)]
    np.testing.assert_array_equal(*chosen)
    assert len(np.unique(chosen[0])) == 40
    K = kernel.gram(clusters)
    again = select_landmarks(Kernel("precomputed"), K, 40, np.random.RandomState(0))
    np.testing.assert_array_equal(again, chosen[0])


def test_landmarks_from_a_subsample(clusters, monkeypatch):
    monkeypatch.setattr("clearning.landmarks._MIN_CANDIDATES", 100)
    chosen = select_landmarks(Kernel("rbf", 0.1), clusters, 50, np.random.RandomState(0))
    assert len(np.unique(chosen)) == 50
    assert chosen.max() > 900


def test_landmarks_stop_at_the_rank():
    rng = np.random.default_rng(8)
    repeated = np.repeat(rng.standard_normal((10, 3)), 20, axis=0)
    assert len(select_landmarks(Kernel("rbf", 1.0), repeated, 50, np.random.RandomState(0))) == 10
    flat = rng.standard_normal((200, 4))
    assert len(select_landmarks(Kernel("linear"), flat, 50, np.random.RandomState(0))) == 4
    everything = select_landmarks(Kernel("linear"), flat, 200, np.random.RandomState(0))
    np.testing.assert_array_equal(everything, np.arange(200))


def test_samples_that_are_alike_give_no_width_of_rounding():
    """Seed 68, problem 204417: a width of 1e-8 among samples of which most are the same."""
    X, y = np.zeros((14, 5)), ~np.isin(np.arange(14), [4, 7, 10])
    X[0] = 0.4166485509870999
    X[4] = 0.0924646
    X[[0, 2, 4], 1] = 0.39248, 1.5798, 0.0
    assert kernel_width("median", X, y) == 1.0
    assert kernel_width("median", sparse.csr_array(X), y) == 1.0
