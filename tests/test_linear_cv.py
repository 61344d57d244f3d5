"""Cross-validated linear classifiers: folds, metrics, selection, and what the user is told."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from linear_oracles import make_data
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold, cross_val_score

from clearning import CLearningClassifier, CLearningClassifierCV
from clearning._problem import Problem
from clearning._search_folds import FoldPart
from clearning.path import linear_problem

ALPHAS = np.geomspace(0.3, 0.003, 6)


@pytest.fixture(scope="module")
def data():
    return make_data(n=100, p=6, seed=11)


def test_scores_are_those_of_scikit_learns_own_cross_validation(data):
    X, y = data
    cv = StratifiedKFold(4)
    for scoring in ("neg_log_loss", "accuracy", "roc_auc", "neg_brier_score"):
        model = CLearningClassifierCV(
            search="paper", alphas=ALPHAS, cv=cv, scoring=scoring, tol=1e-12
        ).fit(X, y)
        for k in (0, 3, 5):
            single = CLearningClassifier(alpha=ALPHAS[k], tol=1e-12)
            expected = cross_val_score(single, X, y, cv=cv, scoring=scoring)
            found = [model.cv_results_[f"split{fold}_test_score"][k] for fold in range(4)]
            np.testing.assert_allclose(found, expected, atol=2e-6)
            assert model.cv_results_["mean_test_score"][k] == pytest.approx(
                expected.mean(), rel=1e-5
            )


def test_default_metric_is_log_loss_with_a_link_and_accuracy_without(data):
    X, y = data
    for loss, scoring in [("logistic", "neg_log_loss"), ("squared_hinge", "accuracy")]:
        default = CLearningClassifierCV(loss=loss, alphas=ALPHAS).fit(X, y)
        named = CLearningClassifierCV(loss=loss, alphas=ALPHAS, scoring=scoring).fit(X, y)
        np.testing.assert_array_equal(
            default.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
        )


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_a_score_of_probabilities_needs_a_link(data, scoring):
    with pytest.raises(ValueError, match=r"needs probabilities.*CalibratedMarginClassifier"):
        CLearningClassifierCV(loss="squared_hinge", alphas=3, scoring=scoring).fit(*data)


def test_any_scorer(data):
    X, y = data
    by_name = CLearningClassifierCV(alphas=ALPHAS, scoring="roc_auc").fit(X, y)
    made = make_scorer(roc_auc_score, response_method="decision_function")
    by_object = CLearningClassifierCV(alphas=ALPHAS, scoring=made).fit(X, y)
    by_function = CLearningClassifierCV(
        alphas=ALPHAS, scoring=lambda model, X, y: roc_auc_score(y, model.predict_proba(X)[:, 1])
    ).fit(X, y)
    expected = by_name.cv_results_["mean_test_score"]
    np.testing.assert_allclose(by_object.cv_results_["mean_test_score"], expected)
    np.testing.assert_allclose(by_function.cv_results_["mean_test_score"], expected)


def test_automatic_grid_begins_where_all_coefficients_vanish(data):
    X, y = data
    model = CLearningClassifierCV(alphas=12, cv=3).fit(X, y)
    assert model.path_.coefs.shape == (12, X.shape[1])
    assert not model.path_.coefs[0].any()
    assert model.path_.coefs[1].any()
    ratios = model.path_.alphas[1:] / model.path_.alphas[:-1]
    np.testing.assert_allclose(ratios, ratios[0])
    assert model.path_.alphas[-1] / model.path_.alphas[0] == pytest.approx(1e-4)
    shorter = CLearningClassifierCV(alphas=4, cv=3, alpha_min_ratio=0.1).fit(X, y)
    assert shorter.path_.alphas[-1] / shorter.path_.alphas[0] == pytest.approx(0.1)


def test_refit_is_the_single_fit_at_the_chosen_hyperparameters(data):
    X, y = data
    model = CLearningClassifierCV(
        search="paper",
        alphas=ALPHAS,
        l1_ratios=(0.2, 1.0),
        rhos=(0.5, 2.0),
        us=(0.5, 1.0),
        tol=1e-12,
    ).fit(X, y)
    single = CLearningClassifier(
        alpha=model.alpha_, l1_ratio=model.l1_ratio_, rho=model.rho_, u=model.u_, tol=1e-12
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, single.coef_, atol=2e-5)
    np.testing.assert_allclose(model.predict_proba(X), single.predict_proba(X), atol=1e-5)
    assert model.dual_gap_ <= 1e-12 * model.path_.null_objective
    results = model.cv_results_
    assert len(results["mean_test_score"]) == 2 * 2 * 2 * len(ALPHAS)
    best = model.best_index_
    assert results["rank_test_score"][best] == 1
    assert results["mean_test_score"][best] == results["mean_test_score"].max()
    chosen = [results[f"param_{name}"][best] for name in ("alpha", "l1_ratio", "rho", "u")]
    assert chosen == [model.alpha_, model.l1_ratio_, model.rho_, model.u_]


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_refit_is_no_worse_than_the_path_and_ends(loss, l1_ratio):
    """Repeated sparse columns, of which no step ends at rounding."""
    rng = np.random.default_rng(0)
    X = sp.random_array((120, 300), density=0.05, format="csc", rng=rng)
    y = np.asarray(X.sum(axis=1)).ravel() + rng.normal(size=120) > 7.5
    model = CLearningClassifierCV(loss=loss, l1_ratios=(l1_ratio,), alphas=8, cv=3, tol=1e-5)
    model.fit(sp.hstack([X, X], format="csc"), y)
    chosen = np.flatnonzero(model.path_.alphas == model.alpha_)[0]
    assert model.dual_gap_ <= model.path_.dual_gaps[chosen]
    assert model.n_iter_ <= model.path_.n_iters[chosen] + 30


def test_temperatures_are_tried_only_where_the_loss_has_one(data):
    model = CLearningClassifierCV(
        loss="logistic", alphas=3, rhos=(0.5, 1.0), us=(1.0, 2.0), l1_ratios=(0.5,)
    )
    assert len(model.fit(*data).cv_results_["param_rho"]) == 3


def test_one_standard_error_rule(data):
    X, y = data
    best = CLearningClassifierCV(alphas=30).fit(X, y)
    frugal = CLearningClassifierCV(alphas=30, selection="one_se").fit(X, y)
    results = frugal.cv_results_
    top = best.best_index_
    floor = results["mean_test_score"][top] - results["sem_test_score"][top]
    allowed = np.flatnonzero(results["mean_test_score"] >= floor)
    assert frugal.best_index_ == allowed[0]
    assert frugal.alpha_ > best.alpha_
    folds = np.array([results[f"split{k}_test_score"][top] for k in range(5)])
    assert results["sem_test_score"][top] == pytest.approx(folds.std() / np.sqrt(4), rel=1e-6)


def test_ties_go_to_the_larger_penalty():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    model = CLearningClassifierCV(alphas=[0.1, 0.01, 0.001], scoring="accuracy").fit(X, y)
    assert model.alpha_ == 0.1


def test_given_alphas_are_sorted(data):
    model = CLearningClassifierCV(search="paper", alphas=[0.001, 0.1, 0.01]).fit(*data)
    np.testing.assert_array_equal(model.path_.alphas, [0.1, 0.01, 0.001])
    np.testing.assert_array_equal(model.cv_results_["param_alpha"], [0.1, 0.01, 0.001])


def test_parallel_folds_give_the_same_result(data):
    X, y = data
    one = CLearningClassifierCV(alphas=10, l1_ratios=(0.5, 1.0)).fit(X, y)
    two = CLearningClassifierCV(alphas=10, l1_ratios=(0.5, 1.0), n_jobs=2).fit(X, y)
    for key, values in one.cv_results_.items():
        np.testing.assert_array_equal(values, two.cv_results_[key])
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_sparse_design_gives_the_same_choice(data):
    X, y = data
    dense = CLearningClassifierCV(alphas=ALPHAS, standardize=True, tol=1e-13).fit(X, y)
    for kind in (sp.csc_array, sp.csr_matrix):
        sparse = CLearningClassifierCV(alphas=ALPHAS, standardize=True, tol=1e-13).fit(kind(X), y)
        assert sparse.alpha_ == dense.alpha_
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)


def test_weights_count_as_repetitions_in_fits_and_scores(data):
    X, y = data
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y))
    fold = np.arange(len(y)) % 4
    repeated = np.repeat(np.arange(len(y)), weight)

    def folds(labels):
        return [(np.flatnonzero(labels != k), np.flatnonzero(labels == k)) for k in range(4)]

    for scoring in (None, "roc_auc"):
        options = {"alphas": ALPHAS, "tol": 1e-12, "scoring": scoring}
        weighted = CLearningClassifierCV(cv=folds(fold), **options)
        weighted.fit(X, y, sample_weight=weight)
        twice = CLearningClassifierCV(cv=folds(fold[repeated]), **options)
        twice.fit(X[repeated], y[repeated])
        for key in ("mean_test_score", "std_test_score"):
            np.testing.assert_allclose(weighted.cv_results_[key], twice.cv_results_[key], atol=1e-6)
        np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-6)


def test_offsets_are_part_of_the_test_scores(data):
    """A column given as an offset is a column with its coefficient fixed."""
    X, y = data
    offset = 0.8 * X[:, 0]
    model = CLearningClassifierCV(search="paper", alphas=ALPHAS, cv=3, tol=1e-12)
    model.fit(X[:, 1:], y, offset=offset)
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        single = CLearningClassifier(alpha=ALPHAS[2], tol=1e-12)
        single.fit(X[train][:, 1:], y[train], offset=offset[train])
        probability = single.predict_proba(X[test][:, 1:], offset=offset[test])
        expected = np.log(probability[np.arange(len(test)), (y[test] > 0).astype(int)]).mean()
        assert model.cv_results_[f"split{fold}_test_score"][2] == pytest.approx(expected, abs=2e-6)


# --- Folds ----------------------------------------------------------------------------------


def test_class_too_small_for_the_folds():
    X = np.random.default_rng(0).standard_normal((30, 3))
    y = np.array(["yes"] * 3 + ["no"] * 27)
    with pytest.raises(ValueError, match=r"cv=5 needs at least 5 samples of each class.*'yes'.*3"):
        CLearningClassifierCV(cv=5).fit(X, y)
    assert CLearningClassifierCV(cv=3, alphas=3).fit(X, y).path_.coefs.shape == (3, 3)


def test_fold_with_one_class_to_train_on():
    X = np.random.default_rng(0).standard_normal((20, 3))
    y = np.repeat([0, 1], 10)
    with pytest.raises(ValueError, match=r"Fold 0 .* only one class to train on"):
        CLearningClassifierCV(cv=KFold(2), alphas=3).fit(X, y)


def test_class_without_weight_in_the_folds(data):
    X, y = data
    weight = np.ones(len(y))
    weight[np.flatnonzero(y > 0)[2:]] = 0.0
    with pytest.raises(ValueError, match="cv=5 needs at least 5 samples of each class"):
        CLearningClassifierCV(alphas=3).fit(X, y, sample_weight=weight)


def test_leave_one_out(data):
    X, y = data
    model = CLearningClassifierCV(alphas=3, cv=LeaveOneOut()).fit(X[:20], y[:20])
    assert "split19_test_score" in model.cv_results_


def test_splitter_and_scorer_get_their_metadata(data):
    X, y = data
    groups = np.arange(len(y)) // 10
    weight = np.linspace(0.5, 2.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("neg_log_loss").set_score_request(sample_weight=True)
        model = CLearningClassifierCV(alphas=ALPHAS, cv=GroupKFold(5), scoring=scorer)
        model.set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=weight, groups=groups)
        plain = CLearningClassifierCV(alphas=ALPHAS, cv=GroupKFold(5))
        plain.fit(X, y, sample_weight=weight, groups=groups)
    expected = CLearningClassifierCV(alphas=ALPHAS, cv=list(GroupKFold(5).split(X, y, groups))).fit(
        X, y, sample_weight=weight
    )
    for key, values in expected.cv_results_.items():
        np.testing.assert_allclose(model.cv_results_[key], values)
        np.testing.assert_allclose(plain.cv_results_[key], values)


def test_groups_without_routing_are_refused(data):
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        CLearningClassifierCV(alphas=3).fit(*data, groups=np.zeros(100))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("alphas", 0, "'alphas' parameter of CLearningClassifierCV"),
        ("alphas", [0.1, -1.0], r"alphas must hold numbers in \(0, inf\); got -1"),
        ("alphas", [], r"not empty; got shape \(0,\)"),
        ("alpha_min_ratio", 1.0, "'alpha_min_ratio' parameter"),
        ("l1_ratios", [0.5, 1.5], r"l1_ratios must hold numbers in \[0, 1\]; got 1.5"),
        ("l1_ratios", 0.5, "'l1_ratios' parameter"),
        ("rhos", [0.0], r"rhos must hold numbers in \(0, inf\); got 0"),
        ("us", [-1.0], r"us must hold numbers in \[0, inf\); got -1"),
        ("rhos", [np.nan], "rhos contains NaN"),
        ("cv", 1, "cv"),
        ("scoring", "neg_logloss", "'scoring' parameter"),
        ("selection", "largest", "'selection' parameter"),
    ],
)
def test_bad_parameters(data, parameter, value, message):
    with pytest.raises(ValueError, match=message):
        CLearningClassifierCV(**{parameter: value}).fit(*data)


def test_agrees_with_scikit_learns_choice_of_logistic_penalty(data):
    """The mean scores of LogisticRegressionCV's way: one fit per fold and penalty, by itself."""
    X, y = data
    cv = StratifiedKFold(5)
    model = CLearningClassifierCV(
        loss="logistic", alphas=ALPHAS, l1_ratios=(0.0,), cv=cv, tol=1e-13, calibrate=False
    ).fit(X, y)
    expected = []
    for alpha in ALPHAS:
        folds = []
        for train, test in cv.split(X, y):
            C = 1.0 / (len(train) * alpha)
            theirs = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12)
            theirs.fit(X[train], y[train])
            folds.append(get_scorer("neg_log_loss")(theirs, X[test], y[test]))
        expected.append(np.mean(folds))
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, atol=1e-8)
    assert model.alpha_ == ALPHAS[int(np.argmax(expected))]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_folds_design_is_made_once_for_all_combinations(data, monkeypatch, n_jobs):
    made, rows = [], Problem.rows

    def counted(self, index):
        made.append(len(index))
        return rows(self, index)

    monkeypatch.setattr(Problem, "rows", counted)
    grids = {"l1_ratios": (0.5, 1.0), "rhos": (0.5, 1.0)}
    CLearningClassifierCV(alphas=3, cv=3, standardize=True, n_jobs=n_jobs, **grids).fit(*data)
    assert len(made) == 3


def test_a_folds_part_is_let_go_after_a_rounds_last_job(data, monkeypatch):
    X, y = data
    whole = linear_problem(
        X, y, fit_intercept=True, standardize=False, penalty_factor=None, bounds=None
    )
    part = FoldPart(whole, (np.arange(60), np.arange(60, 100)))
    for limit, kept in ((0, False), (10**6, True)):
        monkeypatch.setattr("clearning._search_folds._KEPT_ENTRIES", limit)
        part.expect(2)
        with part as first:
            pass
        with part as second:
            assert second is first
        alive = weakref.ref(first)
        del first, second
        gc.collect()
        # Small parts stay for the next round.
        assert (alive() is not None) == kept


# --- Long work ------------------------------------------------------------------------------

LONG_WORK = textwrap.dedent(
    """
    import signal, sys, numpy as np
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from clearning import CLearningClassifierCV
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((2000, 400)))
    y = rng.integers(0, 2, 2000)
    grids = {{"alphas": 200, "rhos": np.geomspace(0.1, 1.0, 200), "us": (1.0,)}}
    model = CLearningClassifierCV(**grids, n_jobs={n_jobs})
    print("begun", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(3)
    """
)


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_a_long_search(n_jobs):
    work = subprocess.Popen(
        [sys.executable, "-c", LONG_WORK.format(n_jobs=n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert work.stdout.readline() == "begun\n"
    time.sleep(1.0)
    work.send_signal(signal.SIGINT)
    out, err = work.communicate(timeout=60)
    assert work.returncode == 3, err
    assert out == "interrupted\n"
    assert err == ""
