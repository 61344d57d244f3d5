"""The search itself: where paths end, what "auto" looks at, and what it says at an edge."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from linear_oracles import make_data
from sklearn.datasets import make_circles, make_moons
from sklearn.model_selection import StratifiedKFold, cross_val_score

from clearning import (
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    _kernel_problems,
    _search_folds,
)
from clearning._problem import Problem, Target
from clearning._search_folds import folds_on, some_samples
from clearning._search_space import LINEAR, make_space
from clearning._search_trial import FINE, STEP, Descent, Trial, is_better

SHARE = np.full(5, 0.2)


@pytest.fixture(scope="module")
def moons():
    return make_moons(200, noise=0.3, random_state=0)


def rows(model, **chosen):
    """Entries of the table at these hyperparameters."""
    table = model.cv_results_
    keep = [table[f"param_{name}"] == value for name, value in chosen.items()]
    return np.flatnonzero(np.all(keep, axis=0))


def walked(scores, schedule):
    """A trial that is given these mean scores, penalty by penalty, until its schedule ends."""
    trial = Trial(make_space("logistic", **GRIDS).first[0], {}, schedule, SHARE)
    noise = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    while (stretch := schedule.next(trial)) is not None:
        places = range(len(trial.alphas), len(trial.alphas) + len(stretch))
        trial.add(stretch, np.array([scores[k] + 1e-3 * noise for k in places]), [], [])
    return trial


GRIDS = {"l1_ratios": "auto", "rhos": "auto", "us": "auto", "delta": 2.0, "auto": LINEAR}


# --- Penalties --------------------------------------------------------------------------------


def test_a_descent_ends_where_the_score_has_turned_or_at_the_floor():
    rising = np.linspace(-1.0, 0.0, 40)
    to_the_floor = walked(rising, Descent(1.0, 1e-6))
    assert to_the_floor.alphas[-1] == pytest.approx(1e-6)
    np.testing.assert_allclose(to_the_floor.alphas[1:] / to_the_floor.alphas[:-1], STEP)
    turned = walked(-np.abs(np.arange(40) - 6.0), Descent(1.0, 1e-9))
    assert turned.best == 6
    assert len(turned.alphas) <= 9
    # Near the best the steps are finer.
    near = walked(-np.abs(np.arange(40) - 9.0), Descent(1.0, 1e-9, near=1e-2))
    assert near.alphas[near.best] / near.alphas[near.best - 1] == pytest.approx(FINE)


def test_a_descent_does_not_end_before_it_is_where_the_best_is_expected():
    """The first penalty is the best by chance, until the score rises much further down."""
    late = np.where(np.arange(40) < 10, -1.0, -np.abs(np.arange(40) - 14.0) / 8)
    late[0] = -0.9
    assert walked(late, Descent(1.0, 1e-12)).best == 0
    assert walked(late, Descent(1.0, 1e-12, near=1e-5)).best == 14


def test_a_flat_score_is_not_followed_for_ever_but_a_flat_beginning_is():
    flat = np.zeros(60)
    assert len(walked(flat, Descent(1.0, 1e-9)).alphas) == 19
    flat[5:] = 1.0
    assert len(walked(flat, Descent(1.0, 1e-9)).alphas) < 13


def test_ridges_begin_and_end_at_the_same_penalties_as_others():
    ridge = Descent.below(1000.0, 0.0, 30.0, 1e-4, 0.0)
    lasso = Descent.below(1.0, 1.0, 30.0, 1e-4, 0.0)
    assert ridge.floor == pytest.approx(lasso.floor)
    assert ridge.top == pytest.approx(30.0 * lasso.top)


def test_penalties_are_added_below_the_grid_while_the_score_rises():
    """More features than samples and a ridge: the ordinary grid ends far too early."""
    X, y = make_data(n=60, p=100, seed=3)
    with pytest.warns(UserWarning, match="The best alpha is .* pass a smaller alpha_min_ratio"):
        grid = CLearningClassifierCV(search="paper", l1_ratios=(0.0,)).fit(X, y)
    told = {"l1_ratios": (0.0,), "rhos": (1.0,), "us": (1.0,), "calibrate": False}
    longer = CLearningClassifierCV(**told).fit(X, y)
    assert longer.alpha_ < grid.path_.alphas[-1]
    best = [m.cv_results_["mean_test_score"][m.best_index_] for m in (grid, longer)]
    assert best[1] > best[0] + 0.01
    assert len(longer.path_.alphas) < 40


def test_scores_along_a_descent_are_those_of_separate_fits():
    X, y = make_data(n=100, p=6, seed=11)
    folds = StratifiedKFold(4)
    model = CLearningClassifierCV(cv=folds, tol=1e-12, calibrate=False).fit(X, y)
    table = model.cv_results_
    for k in range(0, len(table["param_alpha"]), 9):
        own = {name: table[f"param_{name}"][k] for name in ("alpha", "l1_ratio", "rho", "u")}
        expected = cross_val_score(
            CLearningClassifier(**own, tol=1e-12), X, y, cv=folds, scoring="neg_log_loss"
        )
        found = [table[f"split{fold}_test_score"][k] for fold in range(4)]
        np.testing.assert_allclose(found, expected, atol=1e-6)
    chosen = rows(model, l1_ratio=model.l1_ratio_, rho=model.rho_, u=model.u_)
    np.testing.assert_array_equal(table["param_alpha"][chosen], model.path_.alphas)
    assert (np.diff(model.path_.alphas) < 0).all()


def test_a_given_floor_is_kept(moons):
    model = CLearningClassifierCV(alpha_min_ratio=0.1).fit(*moons)
    assert model.path_.alphas[-1] / model.path_.alphas[0] >= 0.1


# --- Other hyperparameters --------------------------------------------------------------------


def test_a_rival_must_win_clearly():
    base = np.array([-0.50, -0.60, -0.40, -0.55, -0.45])
    by_chance = base + np.array([0.05, -0.04, 0.03, -0.03, 0.02])
    surely = base + np.array([0.05, 0.04, 0.03, 0.03, 0.02])
    assert not is_better(by_chance, base, SHARE, n_errors=2.0)
    assert is_better(surely, base, SHARE, n_errors=2.0)
    assert not is_better(np.full(5, np.nan), base, SHARE)
    assert is_better(base, np.full(5, np.nan), SHARE)


def test_auto_begins_at_one_combination_and_looks_around_it():
    space = make_space("coherence", **GRIDS)
    (first,) = space.first
    assert (first.l1_ratio, first.rho, first.u) == (0.5, 3.0, 1.0)
    losses, ratios = (axis(first) for axis in space.axes)
    assert {(each.rho, each.u) for each in losses} == set(LINEAR.losses)
    assert [each.l1_ratio for each in ratios] == list(LINEAR.l1_ratios)
    # What is given is not looked for.
    assert len(make_space("logistic", **GRIDS).axes) == 1
    given = make_space("coherence", **{**GRIDS, "rhos": (0.5, 2.0), "l1_ratios": (0.2,)})
    assert given.axes == []
    assert [(each.rho, each.u) for each in given.first] == [(0.5, 1.0), (2.0, 1.0)]


def test_the_papers_search_is_one_argument_away(moons):
    for kind, widths in (
        (CLearningClassifierCV, {}),
        (KernelCLearningClassifierCV, {"gammas": ("median",)}),
    ):
        paper = kind(search="paper", alpha_min_ratio=0.05).fit(*moons)
        grids = {"alphas": 100, "l1_ratios": (0.5,), "rhos": (1.0,), "us": (1.0,), **widths}
        told = kind(**grids, alpha_min_ratio=0.05, calibrate=False).fit(*moons)
        np.testing.assert_array_equal(
            paper.cv_results_["mean_test_score"], told.cv_results_["mean_test_score"]
        )
        assert (paper.rho_, paper.u_, len(paper.path_.alphas)) == (1.0, 1.0, 100)


@pytest.mark.parametrize(("large", "times"), [(False, 1), (True, 2)])
def test_each_fold_is_cut_out_once_unless_it_is_large(moons, monkeypatch, large, times):
    cut, rows = [], Problem.rows
    monkeypatch.setattr(Problem, "rows", lambda self, kept: cut.append(kept) or rows(self, kept))
    if large:
        monkeypatch.setattr(_search_folds, "_KEPT_ENTRIES", 1)
    model = CLearningClassifierCV(cv=3).fit(*moons)
    assert len(set(model.cv_results_["param_l1_ratio"])) == 4
    assert len(set(model.cv_results_["param_rho"])) == 2
    assert len(cut) >= 3 * times
    assert large or len(cut) == 3


def test_widths_are_looked_for_around_the_rule_and_beyond():
    """A board of squares, much smaller than the distances that the rule looks at."""
    X = np.random.default_rng(0).uniform(0.0, 6.0, (300, 2))
    y = np.floor(X).sum(axis=1) % 2
    told = {"rhos": (1.0,), "us": (1.0,), "cv": 3}
    model = KernelCLearningClassifierCV(**told).fit(X, y)
    one = KernelCLearningClassifierCV(gammas=("median",), **told).fit(X, y)
    tried = np.unique(model.cv_results_["param_gamma"])
    assert model.gamma_ > 9 * one.gamma_
    assert tried.min() < model.gamma_ < tried.max()
    best = [m.cv_results_["mean_test_score"][m.best_index_] for m in (one, model)]
    assert best[1] > best[0] + 0.02


def test_a_kernel_that_cannot_bend_yet_goes_on():
    """Rings, and a kernel so wide that it draws lines in vain before it draws circles."""
    rng = np.random.default_rng(1)
    X, y = make_circles(200, noise=0.12, factor=0.6, random_state=1)
    X = np.column_stack([X / 0.6, rng.standard_normal((200, 6))])
    model = KernelCLearningClassifierCV(gammas=(0.01,), rhos=(1.0,), us=(1.0,), cv=3).fit(X, y)
    means = model.cv_results_["mean_test_score"]
    assert means[0] < -0.6
    assert means.max() > -0.4


def test_widths_are_looked_for_on_landmarks_and_the_best_is_fitted_on_all(moons, monkeypatch):
    X, y = moons
    monkeypatch.setattr(_kernel_problems, "COARSE_OF_FEW", 30)
    model = KernelCLearningClassifierCV(cv=3, tol=1e-8, calibrate=False).fit(X, y)
    table, best = model.cv_results_, model.best_index_
    assert set(table["param_n_landmarks"]) == {30, 200}
    assert table["param_n_landmarks"][best] == 200
    assert len(np.unique(table["param_gamma"][table["param_n_landmarks"] == 200])) == 1
    assert model.path_.coefs.shape[1] == 200
    assert model.landmarks_ is None
    single = KernelCLearningClassifier(
        gamma=model.gamma_,
        alpha=model.alpha_,
        l1_ratio=model.l1_ratio_,
        rho=model.rho_,
        u=model.u_,
        tol=1e-8,
    )
    expected = cross_val_score(single, X, y, cv=StratifiedKFold(3), scoring="neg_log_loss")
    assert table["mean_test_score"][best] == pytest.approx(np.mean(expected), abs=1e-4)


def test_few_samples_are_looked_at_whole(moons):
    model = KernelCLearningClassifierCV(cv=3).fit(*moons)
    assert set(model.cv_results_["param_n_landmarks"]) == {200}
    assert model.l1_ratio_ == 0.1
    some = KernelCLearningClassifierCV(cv=3, n_landmarks=40).fit(*moons)
    assert set(some.cv_results_["param_n_landmarks"]) == {40}


def test_three_classes_have_a_default_of_their_own(moons):
    X = moons[0][:60]
    model = KernelCLearningClassifierCV(cv=2, gammas=("median",)).fit(X, np.arange(60) % 3)
    assert model.l1_ratio_ == 0.5
    assert 0.0 in model.cv_results_["param_u"]


# --- Edges ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        (CLearningClassifierCV, {"alphas": [1.0, 0.5]}, "alpha is 0.5.*smallest.*smaller alphas"),
        (CLearningClassifierCV, {"alphas": 3, "alpha_min_ratio": 0.5}, "smaller alpha_min_ratio"),
        (CLearningClassifierCV, {"us": (5.0, 9.0), "rhos": (0.1,)}, "u is 5, .*pass other us"),
        (KernelCLearningClassifierCV, {"gammas": (50.0, 60.0)}, "gamma is 50.*other gammas"),
    ],
)
def test_a_best_value_at_the_edge_is_told(moons, kind, options, told):
    with pytest.warns(UserWarning, match=told):
        kind(search="paper", **{"alphas": [0.1, 0.01, 1e-7], **options}).fit(*moons)


def test_nothing_is_told_inside_or_at_a_natural_end():
    X, y = make_data(n=60, p=30, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CLearningClassifierCV(
            search="paper", alphas=[10.0, 0.1, 1e-6], l1_ratios=(0.0, 1.0), us=(0.0, 50.0)
        ).fit(X, y)
    assert (model.alpha_, model.u_) == (0.1, 0.0)


# --- Widths looked for on some of the samples ---


def _target(codes):
    return Target(np.unique(codes), codes, None, None)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_some_samples_hold_every_class_in_every_fold(n_classes):
    codes = np.r_[np.zeros(900, int), np.repeat(np.arange(1, n_classes), 30)]
    folds = list(StratifiedKFold(5).split(codes, codes))
    rows = some_samples(folds, _target(codes), 100, 0)
    assert len(rows) < 200
    assert (np.diff(rows) > 0).all()
    for (train, test), (few, few_test) in zip(folds, folds_on(folds, rows, len(codes))):
        assert set(rows[few]) == set(rows) & set(train)
        assert set(rows[few_test]) == set(rows) & set(test)
        assert len(np.unique(codes[rows[few]])) == n_classes


def test_all_samples_are_taken_where_some_would_leave_a_fold_without_a_class():
    """The fold learns from one sample of a class of a hundred; the draw is likely to miss it."""
    codes = np.repeat([0, 1], 500)
    lone = [(np.r_[0:500, 999], np.arange(500, 999))]
    drawn = [some_samples(lone, _target(codes), 100, seed) for seed in range(10)]
    assert any(rows is None for rows in drawn)
    assert all(rows is None or 999 in rows for rows in drawn)
    assert some_samples(lone, _target(codes), 1000, 0) is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_widths_are_looked_for_on_some_samples_and_fitted_on_all(monkeypatch, n_classes):
    monkeypatch.setattr(KernelCLearningClassifierCV, "_looks_on", 150)
    X = np.random.default_rng(0).standard_normal((300, 2))
    y = np.digitize(X[:, 0] ** 2 + X[:, 1] ** 2, [0.7, 2.0][: n_classes - 1])
    model = KernelCLearningClassifierCV(cv=3).fit(X, y)
    counts = model.cv_results_["param_n_samples"]
    assert counts.min() < 160
    assert counts[model.best_index_] == 300
    assert set(counts) == {counts.min(), 300}
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv gives no folds"),
        ([(np.arange(20), np.arange(20, 41))], r"below the number of samples \(40\)"),
        ([(np.arange(20.0), np.arange(20, 40))], "got float64"),
        ([(np.ones(39, bool), np.arange(20, 40))], "masks of that length"),
        ([(np.arange(40), np.empty(0, int))], "no sample with weight to test on"),
    ],
)
@pytest.mark.parametrize("model", [CLearningClassifierCV(), KernelCLearningClassifierCV()])
def test_folds_that_are_none_are_told(model, cv, message):
    X, y = make_moons(40, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.set_params(cv=cv).fit(X, y)


def test_folds_may_be_masks_and_count_from_the_end():
    X, y = make_moons(40, random_state=0)
    test = np.arange(40) % 4 == 0
    masks = [(~test, test), (test, ~test)]
    indices = [(np.flatnonzero(a), np.flatnonzero(b) - 40) for a, b in masks]
    one, other = (CLearningClassifierCV(cv=cv).fit(X, y) for cv in (masks, indices))
    assert one.alpha_ == other.alpha_
    assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_landmarks_stay_the_same_when_a_width_is_come_back_to(monkeypatch, seed):
    """Without a seed others were drawn, whose number did not fit the solutions so far."""
    monkeypatch.setattr(KernelCLearningClassifierCV, "_looks_on", 300)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((700, 3))
    y = X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.standard_normal(700) > 0.8
    model = KernelCLearningClassifierCV(cv=2, tol=1e-3, random_state=None).fit(X, y)
    assert model.score(X, y) > 0.8
