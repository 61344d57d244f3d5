"""WeightedMarginClassifier: the definition to the letter, and warm starts that change nothing."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearning import CLearningClassifier, KernelCLearningClassifier, WeightedMarginClassifier
from clearning.metrics import generalized_kl
from clearning.path import solve_path


@parametrize_with_checks(
    [
        WeightedMarginClassifier(CLearningClassifier(rho=0.1, l1_ratio=0.0), n_weights=10),
        WeightedMarginClassifier(KernelCLearningClassifier(rho=0.1), n_weights=6),
        WeightedMarginClassifier(LogisticRegression(), n_weights=5),
    ]
)
def test_scikit_learn_s_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


class GivenScores(ClassifierMixin, BaseEstimator):
    """Scores that depend on the weight of the classes as a table says: X holds row numbers."""

    def __init__(self, table=None):
        self.table = table

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        positive = sample_weight[y == self.classes_[1]][0]
        self.pi_ = 1 - positive / 2
        return self

    def decision_function(self, X):
        column = round(self.pi_ * (self.table.shape[1] + 1)) - 1
        return self.table[np.asarray(X)[:, 0].astype(int), column]


def test_the_interval_is_the_definition_s_crossings_and_zeros_included():
    table = np.array(
        [
            [1, 1, 1, -1],  # turns between 0.6 and 0.8
            [-1, -1, -1, -1],  # always against: between 0 and 0.2
            [1, 1, 1, 1],  # always for: between 0.8 and 1
            [-1, 1, -1, 1],  # crosses: first against 0.2, last for 0.8
            [1, 0, 0, -1],  # zeros count for neither: between 0.2 and 0.8
        ]
    )
    X, y = np.arange(5)[:, None], np.array([0, 1, 0, 1, 1])
    model = WeightedMarginClassifier(GivenScores(table), n_weights=5).fit(X, y)
    np.testing.assert_allclose(
        model.predict_interval(X),
        [[0.6, 0.8], [0.0, 0.2], [0.8, 1.0], [0.8, 0.2], [0.2, 0.8]],
    )
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], [0.7, 0.1, 0.9, 0.5, 0.5])
    np.testing.assert_array_equal(model.predict(X), [1, 0, 1, 0, 0])


@pytest.fixture
def problem():
    return make_classification(150, n_features=6, flip_y=0.2, random_state=1)


def test_own_solver_agrees_with_scikit_learn_s_logistic_regression(problem):
    X, y = problem
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    weight *= len(y) / weight.sum()
    own = CLearningClassifier(loss="logistic", l1_ratio=0.0, alpha=0.02, tol=1e-10)
    other = LogisticRegression(C=1 / (len(y) * 0.02), tol=1e-10)
    ours, theirs = (
        WeightedMarginClassifier(estimator, n_weights=20).fit(X, y, sample_weight=weight)
        for estimator in (own, other)
    )
    np.testing.assert_allclose(ours.fits_.scores(X), theirs.fits_.scores(X), rtol=1e-3, atol=1e-4)


def test_own_kernel_solver_agrees_with_libsvm():
    X, y = make_moons(80, noise=0.3, random_state=0)
    own = KernelCLearningClassifier(loss="hinge", l1_ratio=0.0, alpha=0.01, gamma=1.0, tol=1e-7)
    other = SVC(C=1 / (len(y) * 0.01), gamma=1.0, tol=1e-8)
    ours, theirs = (
        WeightedMarginClassifier(estimator, n_weights=8).fit(X, y) for estimator in (own, other)
    )
    np.testing.assert_allclose(ours.fits_.scores(X), theirs.fits_.scores(X), atol=2e-3)


@pytest.mark.parametrize(
    "estimator",
    [
        CLearningClassifier(rho=0.1, l1_ratio=0.0, alpha=0.01, tol=1e-9),
        CLearningClassifier(rho=0.5, l1_ratio=0.7, alpha=0.01, standardize=True, tol=1e-9),
        KernelCLearningClassifier(rho=0.1, l1_ratio=0.0, alpha=0.01, tol=1e-9),
        KernelCLearningClassifier(rho=0.5, l1_ratio=0.5, alpha=0.002, n_landmarks=30, tol=1e-7),
    ],
    ids=["ridge", "elastic net", "kernel", "landmarks"],
)
def test_neighbours_starts_save_work_and_change_nothing(problem, estimator, monkeypatch):
    X, y = problem
    iterations = []

    def run(warm):
        def counted(*problem, start):
            path = solve_path(*problem, start=start if warm else None)
            iterations[-1] += int(path.n_iters.sum())
            return path

        iterations.append(0)
        monkeypatch.setattr("clearning.calibration._weighted.solve_path", counted)
        return WeightedMarginClassifier(estimator, n_weights=30).fit(X, y)

    warm, cold = run(True), run(False)
    np.testing.assert_allclose(warm.fits_.scores(X), cold.fits_.scores(X), atol=1e-2)
    assert iterations[0] < 0.8 * iterations[1]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_more_features_than_samples_are_fitted_as_any(convert):
    X, y = make_classification(60, n_features=90, flip_y=0.2, random_state=2)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    estimator = CLearningClassifier(rho=0.1, l1_ratio=0.0, alpha=0.05, tol=1e-10)
    model = WeightedMarginClassifier(estimator, n_weights=5).fit(convert(X), y, weight)
    for column, pi in enumerate(model.weights_[1:-1]):
        both = weight * np.where(y == 1, 2 * (1 - pi), 2 * pi)
        alpha = estimator.alpha * weight.sum() / both.sum()
        single = clone(estimator).set_params(alpha=alpha).fit(X, y, both)
        np.testing.assert_allclose(
            model.fits_.scores(convert(X))[:, column], single.decision_function(X), atol=1e-3
        )


def test_the_middle_fit_is_the_estimator_itself(problem):
    X, y = problem
    for estimator in (
        CLearningClassifier(alpha=0.05, tol=1e-9),
        KernelCLearningClassifier(alpha=0.05, tol=1e-9),
        LogisticRegression(tol=1e-9),
    ):
        model = WeightedMarginClassifier(estimator, n_weights=4).fit(X, y)
        np.testing.assert_allclose(
            model.fits_.scores(X)[:, 1], estimator.fit(X, y).decision_function(X), atol=1e-4
        )


@pytest.mark.parametrize(
    "estimator",
    [
        CLearningClassifier(rho=0.1, l1_ratio=0.0, alpha=1e-3),
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
        DecisionTreeClassifier(min_samples_leaf=100),
    ],
    ids=["own", "pipeline", "tree without scores"],
)
def test_known_probabilities_are_found(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    eta = expit(1.5 * X[:, 0])
    y = (rng.uniform(size=len(X)) < eta).astype(int)
    model = WeightedMarginClassifier(estimator, n_weights=20).fit(X, y)
    assert generalized_kl(eta, model.predict_proba(X)[:, 1]) < 0.03


def test_inputs_of_any_kind(problem):
    X, y = problem
    estimator = CLearningClassifier(rho=0.1, l1_ratio=0.0)
    reference = WeightedMarginClassifier(estimator, n_weights=10).fit(X, y).predict_proba(X)
    labels = np.array(["no", "yes"])[y]
    model = WeightedMarginClassifier(estimator, n_weights=10).fit(sparse.csr_array(X), labels)
    np.testing.assert_allclose(
        model.predict_proba(sparse.csr_array(X)), reference, atol=0.05 + 1e-9
    )
    assert set(model.predict(sparse.csr_array(X))) <= {"no", "yes"}


def test_a_precomputed_kernel_is_the_same_as_its_own(problem):
    X, y = problem
    K = rbf_kernel(X, gamma=0.2)
    one, other = (
        WeightedMarginClassifier(
            KernelCLearningClassifier(kernel=kernel, gamma=0.2, rho=0.2, tol=1e-8), n_weights=6
        ).fit(design, y)
        for kernel, design in (("rbf", X), ("precomputed", K))
    )
    np.testing.assert_allclose(one.fits_.scores(X), other.fits_.scores(K), atol=1e-5)


def test_bad_input_is_named(problem):
    X, y = problem
    with pytest.raises(ValueError, match="KNeighborsClassifier does not"):
        WeightedMarginClassifier(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="'n_weights' parameter"):
        WeightedMarginClassifier(n_weights=1).fit(X, y)
    with pytest.raises(ValueError, match="Only binary classification"):
        WeightedMarginClassifier().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="'rho' parameter"):
        WeightedMarginClassifier(CLearningClassifier(rho=-1)).fit(X, y)
    with pytest.raises(NotFittedError):
        WeightedMarginClassifier().predict(X)
