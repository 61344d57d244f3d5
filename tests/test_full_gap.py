"""The certificate of landmarks against the full kernel problem, and landmarks by themselves."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons

from clearning import (
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    _auto_landmarks,
    kernel_clearning_path,
)
from clearning._full_gap import Solution, full_certificate
from clearning._problem import check_target
from clearning.kernels import Kernel
from clearning.losses import make_loss

RATIOS = (0.0, 1e-6, 0.05, 0.5, 0.95, 1.0 - 1e-9, 1.0)
LOSSES = ("coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge")


def draw(seed):
    """A problem of any kind: samples, weights, offsets, loss, penalty."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(10, 60)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, p)) * 10 ** rng.uniform(-1, 1)
    y = np.where(X[:, 0] + X[:, -1] ** 2 + rng.standard_normal(n) > 0.5, 1, 0)
    y[:2] = 0, 1
    name = str(rng.choice(["rbf", "laplacian", "linear", "poly", "cosine"]))
    options = {
        "kernel": name,
        "gamma": float(10 ** rng.uniform(-2, 1)) if name != "poly" else 0.1 / X.var(),
        "degree": 2,
        "coef0": 1.0,
        "loss": str(rng.choice(LOSSES)),
        "rho": float(10 ** rng.uniform(-1, 1)),
        "u": float(rng.choice([0.0, 0.5, 1.0, 3.0])),
        "alpha": float(10 ** rng.uniform(-4, 0)),
        "l1_ratio": float(rng.choice(RATIOS)),
        "fit_intercept": bool(rng.random() < 0.8),
        "n_landmarks": int(rng.integers(1, n)),
    }
    given = {}
    if rng.random() < 0.5:
        given["sample_weight"] = rng.exponential(size=n) * (rng.random(n) < 0.9) + 1e-3
    if rng.random() < 0.5:
        given["offset"] = rng.standard_normal(n) * 10 ** rng.uniform(-1, 1)
    return X, y, options, given


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(300))
def test_no_fit_in_all_samples_is_below_the_bound(seed):
    X, y, options, given = draw(seed)
    model = KernelCLearningClassifier(**options).fit(X, y, **given)
    whole = {**options, "n_landmarks": None, "tol": 1e-10}
    full = KernelCLearningClassifier(**whole).fit(X, y, **given)
    assert np.isfinite(model.full_gap_)
    assert model.objective_ - model.full_gap_ <= full.objective_ * (1 + 1e-14)
    assert model.full_gap_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1_ratio", RATIOS)
def test_any_point_is_below_the_optimum(loss, l1_ratio):
    """The proof holds for points that no solver would return, too."""
    rng = np.random.default_rng(0)
    X, y = make_moons(60, noise=0.3, random_state=1)
    kernel, made = Kernel("rbf", 1.0), make_loss(loss)
    K = kernel.gram(X)
    for trial in range(20):
        weight = rng.exponential(size=60)
        target = check_target(X, y, sample_weight=weight, class_weight=None, offset=None)
        alpha = float(10 ** rng.uniform(-4, 0))
        best = kernel_clearning_path(
            K, y, loss=loss, alphas=[alpha], l1_ratio=l1_ratio, sample_weight=weight, tol=1e-10
        )
        centres = np.sort(rng.choice(60, 10, replace=False))
        coef = rng.standard_normal(10) * 10 ** rng.uniform(-3, 1)
        fit = Solution(centres, coef, rng.standard_normal(), 0.0, made, alpha, l1_ratio)
        certificate = full_certificate(kernel, X, target, True, fit)
        assert certificate.bound <= best.objectives[0] + 1e-12, trial


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 1.0])
def test_landmarks_that_miss_nothing_are_proved_to(loss, l1_ratio):
    X, y = make_moons(80, noise=0.3, random_state=1)
    options = {"loss": loss, "l1_ratio": l1_ratio, "gamma": 1.0, "alpha": 3e-3, "tol": 1e-11}
    model = KernelCLearningClassifier(n_landmarks=80, **options).fit(X, y)
    assert model.full_gap_ < 1e-4 * model.objective_
    few = KernelCLearningClassifier(n_landmarks=5, **options).fit(X, y)
    assert few.full_gap_ > model.full_gap_


def test_all_samples_have_the_solvers_own_gap():
    X, y = make_moons(80, noise=0.3, random_state=1)
    model = KernelCLearningClassifier().fit(X, y)
    assert model.full_gap_ == model.dual_gap_
    assert model.landmarks_ is None


@pytest.mark.parametrize("given", ["rows", "sparse", "matrix", "function"])
def test_every_form_of_kernel_is_proved_alike(given):
    X, y = make_moons(90, noise=0.3, random_state=1)
    kernel = Kernel("rbf", 1.0)
    forms = {
        "rows": (X, "rbf"),
        "sparse": (sparse.csr_matrix(X), "rbf"),
        "matrix": (kernel.gram(X), "precomputed"),
        "function": (X, kernel.cross),
    }
    samples, name = forms[given]
    options = {"alpha": 1e-3, "gamma": 1.0, "n_landmarks": 20, "tol": 1e-9}
    model = KernelCLearningClassifier(kernel=name, **options).fit(samples, y)
    plain = KernelCLearningClassifier(**options).fit(X, y)
    assert model.full_gap_ == pytest.approx(plain.full_gap_, rel=1e-6)


def test_what_proves_nothing_says_so():
    X, y = make_moons(90, noise=0.3, random_state=1)
    tanh = KernelCLearningClassifier(kernel="sigmoid", gamma=1e-3, coef0=1.0, n_landmarks=2)
    assert tanh.fit(X, y).full_gap_ == np.inf

    def indefinite(A, B):
        return A @ B.T - 5.0 * (A**2) @ (B**2).T

    target = check_target(X, y, sample_weight=None, class_weight=None, offset=None)
    fit = Solution(np.array([3]), np.array([0.1]), 0.0, 1.0, make_loss("logistic"), 0.01, 0.5)
    assert full_certificate(Kernel(indefinite), X, target, True, fit).gap == np.inf
    K = Kernel("rbf", 1.0).gram(X)
    with pytest.raises(ValueError, match="positive semidefinite"):
        KernelCLearningClassifier(kernel="precomputed", n_landmarks=2).fit(K - 0.5 + np.eye(90), y)


@pytest.fixture
def few(monkeypatch):
    """Begin with 20 landmarks, where there are more than 50 samples."""
    for kind in (KernelCLearningClassifier, KernelCLearningClassifierCV):
        monkeypatch.setattr(kind, "_all_samples_up_to", 50)
        monkeypatch.setattr(kind, "_landmarks_at_first", 20)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_landmarks_are_added_until_little_is_lost(few, l1_ratio):
    X, y = make_moons(400, noise=0.3, random_state=0)
    options = {"gamma": 3.0, "alpha": 3e-4, "l1_ratio": l1_ratio}
    model = KernelCLearningClassifier(**options).fit(X, y)
    full = KernelCLearningClassifier(n_landmarks=None, **options).fit(X, y)
    null = kernel_clearning_path(np.eye(400), y, alphas=1).null_objective
    assert 20 < len(model.landmarks_) < 400
    assert model.full_gap_ <= 1e-2 * null
    assert model.objective_ - full.objective_ <= model.full_gap_
    scores = [fitted.decision_function(X) for fitted in (model, full)]
    assert np.corrcoef(*scores)[0, 1] > 0.99


def test_landmarks_end_at_their_limit(few, monkeypatch):
    X, y = make_moons(400, noise=0.3, random_state=0)
    monkeypatch.setattr(_auto_landmarks, "MOST_LANDMARKS", 30)
    model = KernelCLearningClassifier(gamma=50.0, alpha=1e-4, l1_ratio=0.0).fit(X, y)
    assert len(model.landmarks_) == 30
    monkeypatch.setattr(_auto_landmarks, "MOST_CERTIFIED_AUTO", 300)
    model = KernelCLearningClassifier(gamma=50.0, alpha=1e-4).fit(X, y)
    assert len(model.landmarks_) == 20
    assert np.isnan(model.full_gap_)


def test_searches_end_on_more_landmarks(few):
    X, y = make_moons(300, noise=0.3, random_state=0)
    search = KernelCLearningClassifierCV(
        search="paper", gammas=(1.0, 10.0), alphas=10, alpha_min_ratio=1e-3, cv=3
    ).fit(X, y)
    assert len(search.landmarks_) > 20
    assert search.path_.coefs.shape == (10, len(search.landmarks_))
    again = KernelCLearningClassifier(
        loss=search.loss_, gamma=search.gamma_, alpha=search.alpha_, n_landmarks=None
    ).fit(X, y)
    assert 0 <= search.objective_ - again.objective_ + 2e-6 <= search.full_gap_ + 4e-6
    coef = np.zeros(300)
    coef[search.support_] = search.dual_coef_[0]
    chosen = int(np.argmin(np.abs(search.path_.alphas - search.alpha_)))
    np.testing.assert_array_equal(coef[search.landmarks_], search.path_.coefs[chosen])
    # The rest of the path is what the first landmarks make of it.
    K = Kernel("rbf", search.gamma_).cross(X, X[search.landmarks_])
    square = K[search.landmarks_]
    for k in (chosen, chosen - 1):
        beta, alpha = search.path_.coefs[k], search.path_.alphas[k]
        loss = search.loss_.value((2 * y - 1) * (K @ beta + search.path_.intercepts[k])).mean()
        penalty = alpha / 2 * (beta @ square @ beta / 2 + np.abs(beta).sum())
        assert search.path_.objectives[k] == pytest.approx(loss + penalty, rel=1e-9)
