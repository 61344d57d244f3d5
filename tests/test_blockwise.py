"""Rows in blocks against rows in memory: objectives, proofs, folds, bits and kinds of sources."""

import os
import signal
import subprocess
import sys
import textwrap
from itertools import count as counter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearning import (
    BlockwiseCLearningClassifier,
    BlockwiseCLearningClassifierCV,
    CLearningClassifier,
    CLearningClassifierCV,
    clearning_path,
)
from clearning._blocks import arrays, drawn_rows, engine, knots, lockstep, wide
from clearning._blocks.draws import fold_of_rows
from clearning._blocks.tree import Tree

N, P = 6000, 10
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, P)) * np.exp(RNG.normal(size=P)) + 3.0 * RNG.normal(size=P)
SCORE = (X - X.mean(axis=0)) / X.std(axis=0) @ np.r_[1.0, -0.7, 0.4, np.zeros(P - 3)]
Y = np.where(SCORE + RNG.logistic(size=N) > 0.5, "yes", "no")
WEIGHT = np.where(np.arange(N) < 50, 0.0, RNG.random(N))
OFFSET = 0.3 * RNG.normal(size=N)
FACTOR = np.r_[0.0, 0.0, RNG.random(P - 2) + 0.5]
BOUNDS = (np.r_[-np.inf, -0.05, np.full(P - 2, -0.1)], np.r_[np.inf, 0.2, np.full(P - 2, 0.05)])


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a thousand rows or so, where an array would be one."""
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 8 * P * 1000)


def sparse_x():
    return sparse.csr_array(np.where(np.abs(X - X.mean(axis=0)) > X.std(axis=0), X, 0.0))


KINDS = {
    "plain": ({}, {}),
    "standardized": ({"standardize": True, "class_weight": "balanced"}, {}),
    "free columns": ({"penalty_factor": FACTOR}, {}),
    "bounds": ({"bounds": BOUNDS, "standardize": True}, {"sample_weight": WEIGHT}),
    "everything": (
        {"penalty_factor": FACTOR, "bounds": BOUNDS, "class_weight": {"no": 1, "yes": 5}},
        {"sample_weight": WEIGHT, "offset": OFFSET},
    ),
    "through the origin": ({"fit_intercept": False}, {"offset": OFFSET}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["coherence", "logistic", "huberized_hinge", "squared_hinge"])
def test_objective_is_that_of_memory_and_the_proof_holds(small_blocks, loss, kind):
    options, given = KINDS[kind]
    for l1_ratio, design in ((0.0, X), (0.6, sparse_x()), (1.0, X)):
        told = {"loss": loss, "l1_ratio": l1_ratio, "alpha": 3e-3, **options}
        blocks = BlockwiseCLearningClassifier(**told).fit(design, Y, **given)
        memory = CLearningClassifier(**told, tol=1e-11).fit(design, Y, **given)
        above = blocks.objective_ - memory.objective_
        assert -memory.dual_gap_ - 1e-12 <= above <= 1e-9
        assert above <= blocks.dual_gap_ + memory.dual_gap_
        null = clearning_null(design, loss, options, given)
        assert blocks.dual_gap_ <= 1e-6 * null * (1 + 1e-6)
        np.testing.assert_allclose(blocks.coef_, memory.coef_, atol=2e-4)


def clearning_null(design, loss, options, given):
    names = ("fit_intercept", "standardize", "penalty_factor", "bounds", "class_weight")
    told = {name: options[name] for name in names if name in options}
    return clearning_path(design, Y, loss=loss, alphas=[1e3], **told, **given).null_objective


def test_cold_loss_and_columns_far_from_zero():
    far = X + 1e6
    told = {"loss": "coherence", "rho": 0.05, "alpha": 1e-3}
    blocks = BlockwiseCLearningClassifier(**told).fit(far, Y)
    memory = CLearningClassifier(**told, tol=1e-8).fit(far, Y)
    assert abs(blocks.objective_ - memory.objective_) <= 1e-8
    assert blocks.dual_gap_ <= 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_no_pass_claims_more_than_is_true(monkeypatch, seed):
    """Far from the optimum, too: constant and repeated columns, few rows, bounds, no penalties."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(60, 400)), int(rng.integers(2, 15))
    design = rng.normal(size=(n, p)) * np.exp(2.0 * rng.normal(size=p)) + 10.0 * rng.normal(size=p)
    design[:, 0] = 1.0 if seed % 2 else design[:, -1]
    y = design[:, 1] - design[:, 1].mean() + rng.logistic(size=n) > 0
    told = {
        "loss": ["coherence", "squared_hinge", "huberized_hinge"][seed % 3],
        "rho": 0.2,
        "alpha": 10 ** rng.uniform(-4, -1),
        "l1_ratio": float(rng.choice([0.0, 0.5, 1.0])),
        "penalty_factor": rng.random(p) * (rng.random(p) < 0.7),
        "bounds": (-rng.choice([0.1, np.inf], p), rng.choice([0.1, np.inf], p)),
    }
    claims = []
    certify = lockstep.LockStep._certify

    def watched(self, task, point):
        certify(self, task, point)
        if self.problem.alphas[0] == told["alpha"]:
            claims.append(
                (self.state.dual[task], self.state.objective[task] - self.state.gap[task])
            )

    monkeypatch.setattr(lockstep.LockStep, "_certify", watched)
    weight, offset = rng.random(n), rng.normal(size=n)
    given = {"sample_weight": weight, "offset": offset}
    blocks = BlockwiseCLearningClassifier(**told).fit(design, y, **given)
    memory = CLearningClassifier(**told, tol=1e-10).fit(
        design, y, sample_weight=weight, offset=offset
    )
    assert len(claims) > 1
    assert blocks.dual_gap_ <= 1e-6 * memory.objective_ + 1e-6
    assert np.max(claims) <= memory.objective_ * (1 + 1e-12)


@pytest.mark.parametrize("kind", ["plain", "standardized", "everything"])
def test_cross_validation_is_that_of_memory(kind):
    options, given = KINDS[kind]
    told = {"alphas": 10, **options}
    blocks = BlockwiseCLearningClassifierCV(**told).fit(X, Y, **given)
    fold = fold_of_rows(0, 0, Y, 5)
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    memory = CLearningClassifierCV(search="paper", **told, cv=folds, tol=1e-11).fit(X, Y, **given)
    np.testing.assert_allclose(blocks.path_.alphas, memory.path_.alphas, rtol=1e-5)
    assert blocks.alpha_ == pytest.approx(memory.alpha_, rel=1e-5)
    for name, values in memory.cv_results_.items():
        np.testing.assert_allclose(blocks.cv_results_[name], values, rtol=1e-6, atol=2e-5)
    assert np.all(blocks.path_.objectives <= memory.path_.objectives * (1 + 1e-6))
    assert blocks.cv_gaps_.max() <= 1.2e-6 * blocks.path_.null_objective
    np.testing.assert_allclose(blocks.coef_, memory.coef_, atol=1e-3)


def test_fifty_penalties_and_five_folds_take_at_most_twelve_passes(small_blocks):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(20_000, 20))
    y = wide[:, :5].sum(axis=1) + rng.logistic(size=len(wide)) > 0
    model = BlockwiseCLearningClassifierCV(loss="logistic", alphas=50, l1_ratios=[1.0]).fit(wide, y)
    assert model.n_iter_ <= 12
    path = clearning_path(
        wide, y, loss="logistic", alphas=model.path_.alphas, l1_ratio=1, tol=1e-11
    )
    assert np.abs(model.path_.objectives - path.objectives).max() <= 1e-9
    assert np.all(model.path_.dual_gaps <= 1e-6 * path.null_objective)


def test_folds_that_are_given_are_those_of_memory(small_blocks):
    groups = np.arange(N) // 7 % 4
    pairs = [(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(4)]
    told = {"loss": "logistic", "alphas": np.geomspace(0.1, 1e-3, 5), "l1_ratios": (0.5,)}
    memory = CLearningClassifierCV(cv=pairs, calibrate=False, tol=1e-10, **told)
    memory.fit(X, Y)
    for cv in (pairs, iter(pairs), PredefinedSplit(groups)):
        blocks = BlockwiseCLearningClassifierCV(cv=cv, **told).fit(X, Y)
        for k in range(4):
            name = f"split{k}_test_score"
            np.testing.assert_allclose(
                blocks.cv_results_[name], memory.cv_results_[name], atol=2e-5
            )


@pytest.mark.parametrize(
    ("cv", "rows", "words"),
    [
        (KFold(3), lambda: [(X, Y)], "cv=.*rows that can be numbered.*number of folds"),
        (ShuffleSplit(2, random_state=0), X, "must test each of the 6000 rows in one fold"),
        ([(np.arange(9), np.arange(9, N))] * 2, X, "must test each of the 6000 rows"),
        ([(np.arange(10), np.arange(20, N))], X, "Fold 0 of cv=.*train on all others"),
    ],
)
def test_folds_that_blocks_cannot_have_are_refused(cv, rows, words):
    with pytest.raises(ValueError, match=words):
        BlockwiseCLearningClassifierCV(cv=cv).fit(rows, None if callable(rows) else Y)


def test_calibration_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"calibrate=True must be False.*CoherenceCalibrator"):
        BlockwiseCLearningClassifierCV(calibrate=True).fit(X, Y)


def test_a_warm_start_begins_where_the_last_fit_ended(small_blocks):
    cold = BlockwiseCLearningClassifier(loss="logistic", alpha=0.01, tol=1e-9).fit(X, Y)
    warm = clone(cold).set_params(warm_start=True).fit(X, Y)
    coef, passes = warm.coef_, warm.n_iter_
    warm.fit(X, Y)
    assert warm.n_iter_ < passes
    np.testing.assert_allclose(warm.coef_, coef, atol=1e-6)
    warm.set_params(alpha=0.009).fit(X, Y)
    other = clone(cold).set_params(alpha=0.009).fit(X, Y)
    assert abs(warm.objective_ - other.objective_) <= 1e-9
    assert warm.set_params(alpha=0.01).fit(X[:, :4], Y).coef_.shape == (1, 4)


def test_combinations_and_selection():
    told = {"alphas": 5, "l1_ratios": [0.2, 1.0], "rhos": [0.5, 1.0], "selection": "one_se"}
    model = BlockwiseCLearningClassifierCV(**told, cv=3, scoring="accuracy").fit(X, Y)
    assert len(model.cv_results_["mean_test_score"]) == 20
    assert (model.l1_ratio_, model.rho_) in {(0.2, 0.5), (0.2, 1.0), (1.0, 0.5), (1.0, 1.0)}
    assert model.predict_proba(X).shape == (N, 2)


def test_folds_are_not_evaluated_where_the_full_path_was(monkeypatch):
    # Their sums there are those of the full path, which are kept apart for each fold.
    make_plan, plans = lockstep.LockStep._plan, []

    def watched(self):
        plan, tasks = make_plan(self)
        plans.append([(task, plan.coef[i], plan.intercept[i]) for i, task in enumerate(tasks)])
        return plan, tasks

    monkeypatch.setattr(lockstep.LockStep, "_plan", watched)
    model = BlockwiseCLearningClassifierCV(loss="logistic", alphas=10, cv=3).fit(X, Y)
    full = {(k, *b.ravel(), *a) for plan in plans for (part, k), b, a in plan if part == 0}
    folds = [(k, *b.ravel(), *a) for plan in plans for (part, k), b, a in plan if part > 0]
    assert len(folds) >= 3 * 10
    assert not full.intersection(folds)
    assert model.cv_gaps_.max() <= 1.2e-6 * model.path_.null_objective


# --- Many columns ---


def wide_rows(n=8000, p=1200, entries=15):
    rng = np.random.default_rng(1)
    design = sparse.random_array((n, p), density=entries / p, rng=rng, format="csr")
    score = design @ np.r_[2.0 * rng.normal(size=30), np.zeros(p - 30)]
    return design, score + 0.5 * rng.logistic(size=n) > 0


@pytest.mark.parametrize("largest", [5000, 10], ids=["matrix", "products"])
def test_many_sparse_columns(monkeypatch, largest):
    monkeypatch.setattr(wide, "LARGEST_GRAM", largest)
    design, y = wide_rows()
    told = {"loss": "logistic", "alpha": 1e-3, "l1_ratio": 0.9}
    blocks = BlockwiseCLearningClassifier(**told).fit(design, y)
    memory = CLearningClassifier(**told, tol=1e-9).fit(design, y)
    above = blocks.objective_ - memory.objective_
    assert -1e-9 <= above <= min(1e-9, blocks.dual_gap_ + memory.dual_gap_)
    assert 20 < np.count_nonzero(blocks.coef_) < 600
    np.testing.assert_allclose(blocks.coef_, memory.coef_, atol=1e-3)


def test_large_matrices_are_fewer_and_shared_by_the_folds(monkeypatch):
    design, y = wide_rows(p=700)
    told = {"loss": "logistic", "alphas": 20, "alpha_min_ratio": 0.2, "cv": 2, "l1_ratios": [1.0]}
    free = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    counts = []
    keep = knots.Knots.keep

    def watched(self, *given):
        keep(self, *given)
        counts.append(
            (len(self.state.knots), *{len(knot.gram) for knot in self.state.knots.values()})
        )

    monkeypatch.setattr(knots.Knots, "keep", watched)
    monkeypatch.setattr(knots, "MOST_GRAM_NUMBERS", 1000)
    monkeypatch.setattr(lockstep, "CROWDED", 0.0)
    bound = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    assert max(counts) <= (3, 1)
    np.testing.assert_allclose(bound.path_.objectives, free.path_.objectives, atol=1e-9)


def test_columns_that_nobody_needs_leave_the_working_set(monkeypatch):
    design, y = wide_rows()
    told = {"loss": "logistic", "alphas": 8, "alpha_min_ratio": 0.2, "cv": 2, "l1_ratios": [1.0]}
    sizes = []
    one_pass = lockstep.LockStep.one_pass

    def watched(self):
        sizes.append(len(self.state.working))
        one_pass(self)

    monkeypatch.setattr(lockstep.LockStep, "one_pass", watched)
    narrow = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    fewest = min(sizes)
    assert 0 < fewest < 0.6 * sizes[0]
    # A pass takes no matrices, and leaves fewer columns than ask for products.
    monkeypatch.setattr(wide, "LARGEST_GRAM", fewest + 10)
    changed = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    memory = clearning_path(
        design, y, loss="logistic", l1_ratio=1.0, alphas=narrow.path_.alphas, tol=1e-10
    )
    for model in (narrow, changed):
        np.testing.assert_allclose(model.path_.objectives, memory.objectives, atol=1e-9)


def test_products_with_all_rows_are_steps_of_newton(monkeypatch):
    design, y = wide_rows()
    told = {"loss": "logistic", "alphas": 5, "alpha_min_ratio": 0.2, "cv": 3, "l1_ratios": [0.5]}
    matrices = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    monkeypatch.setattr(wide, "LARGEST_GRAM", 10)
    products = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    assert products.n_iter_ <= 14
    monkeypatch.setattr(drawn_rows, "MOST_NUMBERS", design.nnz // 2)
    half = BlockwiseCLearningClassifierCV(**told).fit(design, y)
    for model in (products, half):
        assert (model.path_.dual_gaps <= 1e-6 * model.path_.null_objective).all()
        np.testing.assert_allclose(model.path_.objectives, matrices.path_.objectives, atol=1e-9)
        np.testing.assert_allclose(
            model.cv_results_["mean_test_score"],
            matrices.cv_results_["mean_test_score"],
            atol=1e-4,
        )


# --- The same bits ---


def bits(model):
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.dual_gap_, model.objective_


@pytest.mark.parametrize("design", [X, np.asfortranarray(X), X.astype(np.float32), sparse_x()])
def test_the_number_of_threads_changes_no_bit(small_blocks, design):
    told = {"alphas": 4, "cv": 3}
    models = [
        BlockwiseCLearningClassifierCV(**told, n_jobs=n_jobs).fit(design, Y) for n_jobs in (1, 2, 3)
    ]
    assert len({bits(model) for model in models}) == 1
    assert len({model.cv_results_["mean_test_score"].tobytes() for model in models}) == 1


def test_tree_merges_by_number_alone():
    for count in range(1, 40):
        tree = Tree(lambda first, second: f"({first}{second})")
        for number in range(count):
            tree.push(f"{number} ")
        merged = tree.finish()
        assert [int(n) for n in merged.replace("(", "").replace(")", "").split()] == list(
            range(count)
        )
        assert merged.count("(") == count - 1
    assert Tree(max).finish() is None


def test_folds_are_stratified_and_a_function_of_seed_and_block():
    fold = fold_of_rows(7, 3, Y, 4)
    assert np.array_equal(fold, fold_of_rows(7, 3, Y, 4))
    assert not np.array_equal(fold, fold_of_rows(7, 4, Y, 4))
    for label in ("yes", "no"):
        counts = np.bincount(fold[label == Y], minlength=4)
        assert counts.max() - counts.min() <= 1


# --- Sources ---


def test_memory_maps_by_rows_and_by_columns_are_read_in_blocks(small_blocks, tmp_path):
    models = []
    for order in "CF":
        file = tmp_path / order
        mapped = np.memmap(file, dtype=np.float64, mode="w+", shape=X.shape, order=order)
        mapped[:] = X
        read = np.memmap(file, dtype=np.float64, mode="r", shape=X.shape, order=order)
        models.append(BlockwiseCLearningClassifier().fit(read, Y))
    assert bits(models[0]) == bits(models[1]) == bits(BlockwiseCLearningClassifier().fit(X, Y))


def test_factories_give_their_blocks_anew_each_pass_and_empty_ones_are_skipped():
    calls = []

    def blocks():
        calls.append(1)
        for rows in np.array_split(np.arange(N), 5):
            yield X[rows], Y[rows], WEIGHT[rows], OFFSET[rows]
            yield X[:0], Y[:0], WEIGHT[:0], OFFSET[:0]

    model = BlockwiseCLearningClassifier().fit(blocks)
    assert len(calls) == model.n_iter_
    memory = CLearningClassifier(tol=1e-10).fit(X, Y, sample_weight=WEIGHT, offset=OFFSET)
    assert model.objective_ == pytest.approx(memory.objective_, abs=1e-9)


def test_saved_sparse_matrices_with_labels_beside_them(tmp_path):
    whole = sparse_x()
    for number, start in enumerate(range(0, N, 2500)):
        sparse.save_npz(tmp_path / f"part{number}.npz", whole[start : start + 2500])
    folder = BlockwiseCLearningClassifier().fit(tmp_path, Y, sample_weight=WEIGHT)
    files = BlockwiseCLearningClassifier().fit(sorted(tmp_path.glob("*")), Y, sample_weight=WEIGHT)
    assert bits(folder) == bits(files)
    memory = CLearningClassifier(tol=1e-10).fit(whole, Y, sample_weight=WEIGHT)
    assert folder.objective_ == pytest.approx(memory.objective_, abs=1e-9)
    assert np.concatenate(list(folder.predict(tmp_path))).shape == (N,)


@pytest.fixture
def parquet(tmp_path):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    frame["label"], frame["weight"], frame["shift"] = Y, WEIGHT, OFFSET
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, start in enumerate(range(0, N, 2000)):
        piece = frame[start : start + 2000]
        piece.to_parquet(folder / f"part-{number}.parquet", row_group_size=700, index=False)
    return folder


def test_parquet_by_the_names_of_columns(parquet, tmp_path):
    from pyarrow import dataset

    told = {"y": "label", "sample_weight": "weight", "offset": "shift"}
    folder = BlockwiseCLearningClassifier().fit(parquet, **told)
    opened = BlockwiseCLearningClassifier().fit(dataset.dataset(parquet), **told)
    assert bits(folder) == bits(opened)
    assert list(folder.feature_names_in_) == [f"x{j}" for j in range(P)]
    memory = CLearningClassifier(tol=1e-10).fit(X, Y, sample_weight=WEIGHT, offset=OFFSET)
    assert folder.objective_ == pytest.approx(memory.objective_, abs=1e-9)
    written = folder.predict_proba(parquet, to_parquet=tmp_path / "out")
    read = pd.read_parquet(written)
    frame = pd.DataFrame(X, columns=folder.feature_names_in_)
    np.testing.assert_allclose(read.to_numpy(), folder.predict_proba(frame), rtol=1e-12)
    assert list(read.columns) == ["no", "yes"]
    with pytest.raises(FileExistsError, match="to_parquet"):
        folder.predict(parquet, to_parquet=written)
    lazy = folder.decision_function(parquet)
    for _ in range(2):
        assert np.concatenate(list(lazy)).shape == (N,)


# --- Faults ---


def bad_blocks(what):
    calls = counter()

    def blocks():
        for number, rows in enumerate(np.array_split(np.arange(N), 4)):
            block, labels = X[rows].copy(), Y[rows].copy()
            if number == 2 and what == "nan":
                block[5, 1] = np.nan
            if number == 2 and what == "columns":
                block = block[:, :-1]
            if number == 2 and what == "label" and next(calls) > 0:
                labels[3] = "so"
            yield block, labels

    return blocks


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("nan", r"Block 2 \(.*X contains NaN"),
        ("columns", "Block 2 has 9 columns.*10"),
        ("label", "Block 2.*holds the label.*so.*now"),
    ],
)
def test_a_bad_block_is_named(what, words):
    with pytest.raises(ValueError, match=words):
        BlockwiseCLearningClassifier().fit(bad_blocks(what))


def test_a_file_that_cannot_be_read_is_named(parquet, tmp_path):
    model = BlockwiseCLearningClassifier().fit(parquet, "label")
    (parquet / "part-1.parquet").write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(ValueError, match=r"part-1\.parquet.*cannot be read"):
        BlockwiseCLearningClassifier().fit(parquet, "label")
    with pytest.raises(ValueError, match=r"part-1\.parquet.*cannot be read"):
        model.predict(parquet, to_parquet=tmp_path / "half")
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_file_without_a_column_is_named(parquet):
    path = parquet / "part-2.parquet"
    pd.read_parquet(path).drop(columns="x3").to_parquet(path, index=False)
    with pytest.raises(ValueError, match=r"part-2\.parquet.*no column 'x3'"):
        BlockwiseCLearningClassifier().fit(parquet, "label")


@pytest.mark.parametrize(
    ("told", "X_given", "y_given", "words"),
    [
        ({"loss": "hinge"}, X, Y, "hinge.*no curvature.*rho"),
        ({}, X, Y[:-1], "y must have one entry for each of the 6000 rows"),
        ({}, X, np.zeros(N), "only one class"),
        ({}, X[:0], Y[:0], "no rows"),
        ({}, "nowhere", Y, "nowhere.*does not exist"),
        ({}, lambda: [(X, Y)], Y, "y must be None"),
        ({}, lambda: [X], None, r"Block 0 must be a tuple"),
        ({"checkpoint": "no/such/folder/file"}, X, Y, "checkpoint.*folder that exists"),
        ({"checkpoint": "state", "random_state": None}, X, Y, "random_state=None.*integer"),
        ({"checkpoint": 3}, X, Y, "checkpoint"),
        ({"penalty_factor": [1.0]}, X, Y, "penalty_factor"),
    ],
)
def test_bad_input_gets_one_sentence(told, X_given, y_given, words):
    with pytest.raises((ValueError, OSError), match=words):
        BlockwiseCLearningClassifier(**told).fit(X_given, y_given)


def test_folds_without_weight_are_refused():
    weight = np.where(fold_of_rows(0, 0, Y, 3) == 1, 0.0, 1.0)
    with pytest.raises(ValueError, match="Fold 1 of cv=3 has no row with weight"):
        BlockwiseCLearningClassifierCV(cv=3).fit(X, Y, sample_weight=weight)


def test_scoring_without_probabilities_is_refused():
    model = BlockwiseCLearningClassifierCV(loss="squared_hinge", scoring="neg_log_loss")
    with pytest.raises(ValueError, match="scoring='neg_log_loss' needs probabilities"):
        model.fit(X, Y)


def test_passes_that_are_used_up_are_told(small_blocks):
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 passes"):
        model = BlockwiseCLearningClassifier(max_iter=2, tol=1e-12).fit(X, Y)
    memory = CLearningClassifier(tol=1e-11).fit(X, Y)
    assert model.objective_ - memory.objective_ <= model.dual_gap_
    score = np.where(Y == "yes", 1, -1) * model.decision_function(X)
    penalty = 0.01 * (0.25 * model.coef_ @ model.coef_.T + 0.5 * np.abs(model.coef_).sum())
    assert model.objective_ == pytest.approx(model.loss_.value(score).mean() + penalty.item())


def test_a_fit_that_was_ended_goes_on_from_its_checkpoint(small_blocks, tmp_path, monkeypatch):
    told = {"alphas": 6, "cv": 3}
    whole = BlockwiseCLearningClassifierCV(**told).fit(X, Y)
    file = tmp_path / "state"
    passes = []
    one_pass = lockstep.LockStep.one_pass

    def failing(self):
        passes.append(1)
        if len(passes) == 3:
            raise KeyboardInterrupt
        one_pass(self)

    monkeypatch.setattr(lockstep.LockStep, "one_pass", failing)
    model = BlockwiseCLearningClassifierCV(**told, checkpoint=file)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert file.exists()
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="other parameters or other data"):
        clone(model).set_params(cv=4).fit(X, Y)
    model.fit(X, Y)
    assert bits(model) == bits(whole)
    assert model.n_iter_ == whole.n_iter_
    # Two passes before the interrupt, one that failed, and those that were left.
    assert len(passes) == whole.n_iter_ - 1 + 1
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path):
    file = tmp_path / "mine"
    file.write_text("precious")
    with pytest.raises(ValueError, match="no checkpoint"):
        BlockwiseCLearningClassifier(checkpoint=file).fit(X, Y)
    assert file.read_text() == "precious"


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_fit_cleanly():
    script = textwrap.dedent(
        """
        import numpy as np, sys
        from clearning import BlockwiseCLearningClassifier
        def blocks():
            rng = np.random.default_rng(0)
            for _ in range(10**9):
                X = rng.normal(size=(2000, 5))
                print("block", flush=True)
                yield X, X[:, 0] > 0
        try:
            BlockwiseCLearningClassifier(n_jobs=2).fit(blocks)
        except KeyboardInterrupt:
            sys.exit(7)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    for _ in range(5):
        assert process.stdout.readline() == "block\n"
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(timeout=60) == 7


# --- scikit-learn ---


def expected_failures(estimator):
    weights = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    if isinstance(estimator, BlockwiseCLearningClassifierCV):
        return dict.fromkeys(weights, "folds are drawn, and not given")
    return {}


@parametrize_with_checks(
    [
        BlockwiseCLearningClassifier(n_jobs=1),
        BlockwiseCLearningClassifierCV(alphas=5, cv=2, max_iter=15, n_jobs=1),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_predictions_before_a_fit_are_refused():
    with pytest.raises(NotFittedError):
        BlockwiseCLearningClassifier().predict_proba(X)
    with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
        BlockwiseCLearningClassifier(loss="squared_hinge").predict_proba  # noqa: B018


def test_names_of_columns_are_kept_and_checked():
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    model = BlockwiseCLearningClassifier().fit(frame, pd.Series(Y))
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"x0": "z"}))
    assert np.array_equal(model.predict(frame) == "yes", model.decision_function(frame) > 0)
    memory = CLearningClassifier().fit(frame, Y)
    np.testing.assert_allclose(model.feature_scales_, memory.feature_scales_, rtol=1e-10)
    assert list(model.summary().columns) == list(memory.summary().columns)


def test_one_blas_thread_at_a_time_and_what_was_before_afterwards():
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with engine.ONE_BLAS_THREAD:
            with engine.ONE_BLAS_THREAD:
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}
