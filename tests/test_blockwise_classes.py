"""Many classes in blocks against many classes in memory: objectives, proofs, folds and bits."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from clearning import (
    BlockwiseCLearningClassifier,
    BlockwiseCLearningClassifierCV,
    CLearningClassifier,
    clearning_path,
)
from clearning._blocks import arrays, knots, lockstep, scan, wide
from clearning._blocks.audit import Audit
from clearning._blocks.draws import fold_of_rows
from clearning._blocks.plan import Encoding, Plan, block_sums, shaped
from clearning._blocks.rows import Rows
from clearning.losses import MultiCoherence

N, P, M = 4000, 6, 4
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, P)) + np.arange(P)
B = RNG.normal(size=(M, P)) * (RNG.random((M, P)) < 0.6)
CODES = ((X - X.mean(axis=0)) @ B.T + RNG.gumbel(size=(N, M)) + [0.0, 0.5, -1.0, 0.0]).argmax(1)
Y = np.array(["a", "b", "c", "d"])[CODES]
WEIGHT = np.where(np.arange(N) < 40, 0.0, RNG.random(N))
OFFSET = 0.5 * RNG.normal(size=(N, M))
FACTOR = np.r_[0.0, RNG.random(P - 1) + 0.5]
BOUNDS = (np.full((M, P), -0.3), np.where(np.arange(M)[:, None] == 1, 0.05, np.inf) + np.zeros(P))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 8 * P * 700)


KINDS = {
    "plain": ({}, {}),
    "standardized": ({"standardize": True, "class_weight": "balanced"}, {}),
    "free column": ({"penalty_factor": FACTOR}, {}),
    "bounds": ({"bounds": BOUNDS}, {"sample_weight": WEIGHT}),
    "everything": (
        {
            "penalty_factor": FACTOR,
            "bounds": BOUNDS,
            "class_weight": dict(zip("abcd", (1, 2, 3, 4))),
        },
        {"sample_weight": WEIGHT, "offset": OFFSET},
    ),
    "through the origin": ({"fit_intercept": False}, {"offset": OFFSET}),
}


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("kind", KINDS)
def test_objective_is_that_of_memory_and_the_proof_holds(kind, l1_ratio):
    told, beside = KINDS[kind]
    options = {"loss": "coherence", "rho": 0.5, "alpha": 0.003, "l1_ratio": l1_ratio, **told}
    blocks = BlockwiseCLearningClassifier(**options).fit(X, Y, **beside)
    memory = CLearningClassifier(**options, tol=1e-11).fit(X, Y, **beside)
    error = blocks.objective_ - memory.objective_
    assert abs(error) <= 1e-9
    assert error - 1e-12 <= blocks.dual_gap_ + memory.dual_gap_
    assert blocks.dual_gap_ <= 1e-6 * np.log(M) * 2
    assert blocks.coef_.shape == (M, P)
    assert blocks.intercept_.shape == (M,)
    assert blocks.loss_ == memory.loss_
    if l1_ratio < 1:
        # Without a penalty a column's coefficients are known up to a constant.
        free = np.where(np.arange(P) == 0, "penalty_factor" in told, False)
        ours, theirs = (each.coef_ - free * each.coef_.mean(axis=0) for each in (blocks, memory))
        np.testing.assert_allclose(ours, theirs, atol=2e-4)
    given = {"offset": beside["offset"]} if "offset" in beside else {}
    agree = blocks.predict(X, **given) == memory.predict(X, **given)
    assert agree.mean() > 0.999


@pytest.mark.parametrize("seed", range(4))
def test_no_pass_claims_more_than_is_true(monkeypatch, seed):
    """Every dual value of every pass is below the optimum."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(CODES)[:600] if seed % 2 else CODES[:600]
    rows, labels = X[:600], codes
    factor = FACTOR if seed >= 2 else np.ones(P)
    told = {"loss": "logistic", "l1_ratio": (1.0, 0.5)[seed % 2], "penalty_factor": factor}
    path = clearning_path(rows, labels, alphas=np.geomspace(0.1, 1e-3, 6), tol=1e-12, **told)
    optimum, seen = path.objectives, []
    certify = lockstep.LockStep._certify

    def watched(self, task, point):
        certify(self, task, point)
        if task[0] == 0 and len(self.problem.alphas) == 6:
            seen.append((task[1], self.state.dual[task], self.state.objective[task]))

    monkeypatch.setattr(lockstep.LockStep, "_certify", watched)
    told["l1_ratios"] = (told.pop("l1_ratio"),)
    BlockwiseCLearningClassifierCV(alphas=path.alphas, cv=2, **told).fit(rows, labels)
    assert len(seen) > 10
    for k, dual, objective in seen:
        assert dual <= optimum[k] + 1e-12
        assert objective >= optimum[k] - path.dual_gaps[k] - 1e-12


def test_cross_validation_is_that_of_memory():
    model = BlockwiseCLearningClassifierCV(loss="logistic", alphas=8, l1_ratios=(0.5,), cv=3)
    model.fit(X, Y)
    alphas = model.path_.alphas
    whole = clearning_path(X, Y, loss="logistic", alphas=8, tol=1e-11)
    np.testing.assert_allclose(alphas, whole.alphas, rtol=1e-9)
    assert np.abs(model.path_.objectives - whole.objectives).max() <= 1e-9
    assert (model.cv_gaps_ <= 2e-6 * whole.null_objective).all()
    edges = np.r_[np.arange(0, N, 700), N]
    fold = np.concatenate(
        [fold_of_rows(0, b, Y[i:j], 3) for b, (i, j) in enumerate(pairwise(edges))]
    )
    for number in range(3):
        train, test = fold != number, fold == number
        path = clearning_path(X[train], Y[train], loss="logistic", alphas=alphas, tol=1e-11)
        for k, alpha in enumerate(alphas):
            eta = path.loss.probabilities(path.decision_function(X[test], alpha))
            score = np.log(eta[np.arange(test.sum()), CODES[test]]).mean()
            found = model.cv_results_[f"split{number}_test_score"][k]
            np.testing.assert_allclose(found, score, atol=3e-5)


def test_fifty_penalties_and_five_folds_take_at_most_twelve_passes():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30_000, 10))
    labels = (rows[:, :4] @ rng.normal(size=(4, 3)) + rng.gumbel(size=(30_000, 3))).argmax(1)
    model = BlockwiseCLearningClassifierCV(loss="logistic", alphas=50, l1_ratios=(1.0,), cv=5)
    model.fit(rows, labels)
    assert model.n_iter_ <= 12
    assert model.path_.converged.all()


def test_the_number_of_threads_changes_no_bit():
    fits = [
        BlockwiseCLearningClassifierCV(alphas=6, cv=2, n_jobs=n).fit(X, Y, WEIGHT, OFFSET)
        for n in (1, 3)
    ]
    assert np.array_equal(fits[0].path_.coefs, fits[1].path_.coefs)
    assert np.array_equal(fits[0].cv_gaps_, fits[1].cv_gaps_)


def test_sparse_rows_and_products_instead_of_matrices(monkeypatch):
    rng, n = np.random.default_rng(2), 6000
    rows = sparse.random_array((n, 40), density=0.1, rng=rng, format="csr")
    labels = (rows[:, :3].toarray() @ (4 * np.eye(3)) + rng.gumbel(size=(n, 3))).argmax(1)
    told = {"loss": "logistic", "alpha": 0.003, "l1_ratio": 0.9}
    memory = CLearningClassifier(tol=1e-11, **told).fit(rows, labels)
    for largest in (5000, 60):
        monkeypatch.setattr(wide, "LARGEST_GRAM", largest)
        blocks = BlockwiseCLearningClassifier(**told).fit(rows, labels)
        assert abs(blocks.objective_ - memory.objective_) <= 1e-9
        assert blocks.dual_gap_ <= 1.1e-6
        assert blocks.n_iter_ <= 12


def test_thinned_curvature_leads_to_the_same_place(monkeypatch):
    memory = CLearningClassifier(loss="logistic", tol=1e-11).fit(X, Y)
    whole = BlockwiseCLearningClassifier(loss="logistic").fit(X, Y)
    monkeypatch.setattr(knots, "ROWS_A_COLUMN", 60)
    thinned = BlockwiseCLearningClassifier(loss="logistic").fit(X, Y)
    assert not np.array_equal(whole.coef_, thinned.coef_)
    assert abs(thinned.objective_ - memory.objective_) <= 1e-9


def test_tables_with_a_column_of_offsets_a_class(tmp_path):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)]).assign(label=Y)
    names = [f"o{k}" for k in range(M)]
    frame[names] = OFFSET
    frame.to_parquet(tmp_path / "part.parquet", index=False, row_group_size=700)
    file = BlockwiseCLearningClassifier().fit(tmp_path, "label", offset=names)
    array = BlockwiseCLearningClassifier().fit(X, Y, offset=OFFSET)
    assert np.array_equal(file.coef_, array.coef_)
    folder = file.predict_proba(tmp_path, to_parquet=tmp_path.parent / "probabilities")
    read = pd.read_parquet(folder)
    assert list(read.columns) == ["a", "b", "c", "d"]
    np.testing.assert_allclose(read.to_numpy(), file.predict_proba(frame[frame.columns[:P]]))
    scores = np.concatenate(list(file.decision_function(tmp_path)))
    assert scores.shape == (N, M)
    lazy = np.concatenate(list(file.predict(tmp_path)))
    assert np.array_equal(lazy, file.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize(
    ("told", "beside", "words"),
    [
        ({"loss": "squared_hinge"}, {}, "squared_hinge.*joins the 4 classes.*logistic"),
        ({}, {"offset": OFFSET[:, 0]}, r"offset must be of shape \(n_rows, 4\)"),
        ({}, {"offset": OFFSET[:, :3]}, r"offset must be of shape \(n_rows, 4\)"),
        ({"bounds": (np.zeros((3, P)), 1.0)}, {}, "bounds"),
    ],
)
def test_bad_input_gets_one_sentence(told, beside, words):
    with pytest.raises(ValueError, match=words):
        BlockwiseCLearningClassifier(**told).fit(X, Y, **beside)


def test_labels_that_are_no_classes_are_refused(monkeypatch):
    monkeypatch.setattr(scan, "MOST_CLASSES", 3)
    with pytest.raises(ValueError, match=r"Block 0.*at most"):
        BlockwiseCLearningClassifier().fit(X, Y)


# --- The compiled function of one block ---


@pytest.mark.parametrize("design", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_sums_of_a_block_against_numpy(design):
    loss, rng = MultiCoherence(0.6, 1.0, scaled=True), np.random.default_rng(1)
    part, kappa = np.array([-1, 0, 1]), MultiCoherence(0.6, 1.0, scaled=True).scale(M)
    factors, working, folds = np.array([1.0, 2.0, 0.5, 1.0]), np.array([3, 0, 5]), 2
    audit = Audit(np.zeros(P), np.zeros((M, folds)), 0.0)
    plan = Plan(
        encoding=Encoding(np.array(list("abcd")), factors, P, None, folds, 5, audit),
        loss={"rho": 0.6, "u": 1.0, "kappa": kappa},
        working=working,
        part=part,
        coef=rng.normal(size=(3, M, 3)),
        intercept=rng.normal(size=(3, M)),
        shrink=np.array([0.0, 0.1, 0.01]),
        line_task=np.array([1]),
        line_coef=rng.normal(size=(1, M, 3)),
        line_intercept=rng.normal(size=(1, M)),
        fractions=np.array([0.5]),
        knot_task=np.array([0]),
        knot_lift=np.array([0.1]),
        free=np.array([2]),
        tested=np.array([1, 2]),
    )
    sums = shaped(block_sums(Rows(design, Y, WEIGHT, OFFSET), 2, plan), plan)
    fold, weight = fold_of_rows(5, 2, Y, folds), WEIGHT * factors[CODES]
    Z = np.c_[np.ones(N), X[:, 5]]
    for t in range(3):
        g = OFFSET + plan.intercept[t] + X[:, working] @ plan.coef[t].T
        inside = weight * (fold != part[t])
        r = inside[:, None] * loss.gradient(g, CODES)
        np.testing.assert_allclose(sums["value"][t], inside @ loss.value(g, CODES), rtol=1e-11)
        np.testing.assert_allclose(sums["gradient"][t], r.T @ X, atol=1e-9)
        np.testing.assert_allclose(sums["slope"][t], r.sum(axis=0), atol=1e-10)
        squares = np.divide(r**2, inside[:, None], where=inside[:, None] > 0, out=np.zeros_like(r))
        assert (squares.sum(axis=0) <= sums["energy"][t] * (1 + 1e-12)).all()
        for c in range(M):
            for j in set(range(M)) - {c}:
                flow = r[:, j] * (c == CODES)
                np.testing.assert_allclose(
                    sums["border"][t, c, j], (Z * flow[:, None]).T @ Z, atol=1e-9
                )
        s = loss.weights(g, CODES)
        kept = (1 - plan.shrink[t]) * s
        kept[np.arange(N), CODES] += plan.shrink[t]
        cost = loss.conjugate(kept, CODES) + loss.value(g, CODES)
        cost += kappa * ((kept - np.eye(M)[CODES]) * -g).sum(axis=1)
        np.testing.assert_allclose(sums["shrunk"][t], inside @ cost, atol=1e-8)
    _check_curvature(plan, sums, loss, kappa, fold, weight)
    _check_line_and_test(plan, sums, loss, fold, weight)


def _check_curvature(plan, sums, loss, kappa, fold, weight):
    s = loss.weights(OFFSET + plan.intercept[0] + X[:, plan.working] @ plan.coef[0].T, CODES)
    for number in range(2):
        own = kappa / 0.6 * weight * (fold == number)
        for pair, (k, other) in enumerate(zip(*np.tril_indices(M))):
            h = s[:, k] * ((1 - s[:, k]) if k == other else s[:, other])
            h = own * (h + 0.1 * (0.5 * (1 - 1 / M) if k == other else 0.5 / M))
            Z = X[:, plan.working]
            gram = (Z * h[:, None]).T @ Z
            np.testing.assert_allclose(sums["gram"][0, number, pair], gram, rtol=1e-9)
            np.testing.assert_allclose(sums["curved"][0, number, pair], Z.T @ h, rtol=1e-9)
            np.testing.assert_allclose(sums["total"][0, number, pair], h.sum(), rtol=1e-10)


def _check_line_and_test(plan, sums, loss, fold, weight):
    def scores(intercept, coef):
        return OFFSET + intercept + X[:, plan.working] @ coef.T

    end = scores(plan.intercept[1], plan.coef[1])
    start = scores(plan.line_intercept[0], plan.line_coef[0])
    value = (weight * (fold != 0)) @ loss.value(0.5 * (start + end), CODES)
    np.testing.assert_allclose(sums["line"][0, 0], value, rtol=1e-11)
    out = WEIGHT * (fold == 0)
    likelihood = np.log(np.clip(loss.inverse_link(end)[np.arange(N), CODES], 2.3e-16, 1))
    hits = end.argmax(axis=1) == CODES
    truth = [out @ likelihood, out @ hits, out.sum()]
    np.testing.assert_allclose(sums["test"][1], truth, rtol=1e-10)
    assert not sums["test"][0].any()
