"""The compiled function of one block against plain NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from clearning import _core
from clearning._blocks.audit import Audit
from clearning._blocks.draws import fold_of_rows
from clearning._blocks.plan import Encoding, Plan, add_sums, block_sums, shaped, without_fold
from clearning._blocks.rows import Rows
from clearning._core_input import core_loss
from clearning.losses import CLoss, HuberizedHinge, Logistic, SquaredHinge

N, P, FOLDS = 700, 7, 3
RNG = np.random.default_rng(0)
X = RNG.normal(1.0, 2.0, (N, P)) * (RNG.random((N, P)) < 0.6)
Y = np.where(RNG.random(N) < 0.4, "no", "yes")
WEIGHT, OFFSET = RNG.random(N), RNG.normal(size=N)
FOLD = fold_of_rows(5, 2, Y, FOLDS)
SIGNS = np.where(Y == "yes", 1.0, -1.0)
FACTORS = np.array([2.0, 0.5])
CENTRE = X.mean(axis=0)
WORKING = np.array([4, 0, 2, 6, 1])
AUDIT = Audit(RNG.normal(size=P), np.zeros((2, FOLDS)), 0.0)


def make_plan(loss, centre):
    rng = np.random.default_rng(1)
    part = np.array([-1, -1, 0, 1, 2, 2])
    return Plan(
        encoding=Encoding(np.array(["no", "yes"]), FACTORS, P, centre, FOLDS, 5, AUDIT),
        loss=core_loss(loss),
        working=WORKING,
        part=part,
        coef=rng.normal(size=(len(part), 1, len(WORKING))),
        intercept=rng.normal(size=(len(part), 1)),
        shrink=np.array([0.0, 0.1, 0.01, 0.5, 1e-3, 0.0]),
        line_task=np.array([1, 3]),
        line_coef=rng.normal(size=(2, 1, len(WORKING))),
        line_intercept=rng.normal(size=(2, 1)),
        fractions=np.array([0.5, 0.25]),
        knot_task=np.array([0, 1]),
        knot_lift=np.array([0.0, 0.5]),
        free=np.array([3, 1]),
        tested=np.array([2, 5]),
    )


def sums_of(design, plan):
    return shaped(block_sums(Rows(design, Y, WEIGHT, OFFSET), 2, plan), plan)


def expected(loss, plan):
    """Every sum, row by row in NumPy."""
    centre = 0.0 if plan.encoding.centre is None else plan.encoding.centre
    Z = X - centre
    weight = WEIGHT * np.where(SIGNS > 0, FACTORS[1], FACTORS[0])
    out = {name: [] for name in ("value", "gradient", "slope", "border")}
    for t, part in enumerate(plan.part):
        score = OFFSET + plan.intercept[t] + Z[:, WORKING] @ plan.coef[t, 0]
        inside = weight * (part != FOLD)
        r = inside * SIGNS * loss.gradient(SIGNS * score)
        free = np.c_[np.ones(N), Z[:, WORKING[plan.free]]]
        out["value"].append(inside @ loss.value(SIGNS * score))
        out["gradient"].append([Z.T @ r])
        out["slope"].append([r.sum()])
        out["border"].append([[(free * np.abs(r)[:, None]).T @ free]])
    return {name: np.array(values) for name, values in out.items()}


LOSSES = [Logistic(), CLoss(0.5, 1.0), HuberizedHinge(1.0), SquaredHinge()]
DESIGNS = {
    "rows": (X, CENTRE),
    "columns": (np.asfortranarray(X), CENTRE),
    "slice": (np.repeat(X, 2, axis=0)[::2], CENTRE),
    "sparse": (sparse.csr_array(X), None),
    "sparse64": (sparse.csc_matrix(X), None),
}


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kind", DESIGNS)
def test_loss_gradient_and_border(loss, kind):
    design, centre = DESIGNS[kind]
    plan = make_plan(loss, centre)
    sums, truth = sums_of(design, plan), expected(loss, plan)
    for name in ("value", "gradient", "slope", "border"):
        np.testing.assert_allclose(sums[name], truth[name], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", ["rows", "sparse"])
def test_points_with_few_coefficients(kind):
    # The longest support is not the first task's, and one has none.
    design, centre = DESIGNS[kind]
    plan = make_plan(Logistic(), centre)
    support = np.array([1, 0, 3, 5, 2, 4])[:, None, None] > np.array([3, 0, 4, 1, 2])
    plan = replace(plan, coef=plan.coef * support, line_coef=plan.line_coef * support[:2])
    sums, truth = sums_of(design, plan), expected(Logistic(), plan)
    for name in ("value", "gradient", "slope", "border"):
        np.testing.assert_allclose(sums[name], truth[name], rtol=1e-11, atol=1e-11)
    Z = (X - (0.0 if centre is None else centre))[:, WORKING]
    weight = WEIGHT * np.where(SIGNS > 0, FACTORS[1], FACTORS[0])
    start = plan.line_intercept[1] + Z @ plan.line_coef[1, 0]
    end = plan.intercept[3] + Z @ plan.coef[3, 0]
    value = (weight * (FOLD != 1)) @ Logistic().value(SIGNS * (OFFSET + 0.5 * (start + end)))
    np.testing.assert_allclose(sums["line"][1, 0], value, rtol=1e-12)


@pytest.mark.parametrize("kind", ["rows", "sparse"])
def test_sums_kept_apart_are_those_of_the_folds(kind):
    design, centre = DESIGNS[kind]
    plan = make_plan(CLoss(0.5, 1.0), centre)
    rows = Rows(design, Y, WEIGHT, OFFSET)
    apart = replace(plan, parted=2)
    found = block_sums(rows, 2, apart)
    whole, together = shaped(found, apart), sums_of(design, plan)
    names = ("value", "gradient", "slope", "energy", "border", "shrunk")
    for name in (*names, "gram", "curved", "line", "test"):
        np.testing.assert_allclose(whole[name], together[name], rtol=1e-12, atol=1e-11)
    for fold in range(FOLDS):
        # The same points as tasks of that fold alone.
        own = replace(
            plan,
            part=np.array([fold, fold]),
            coef=plan.coef[:2],
            intercept=plan.intercept[:2],
            shrink=plan.shrink[:2],
            line_task=np.array([1, 1]),
            knot_task=np.array([0, 1]),
            tested=np.array([0]),
        )
        left, truth = without_fold(found, apart, fold), sums_of(design, own)
        for name in names:
            np.testing.assert_allclose(left[name], truth[name], rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("kind", ["rows", "sparse"])
def test_energy_bounds_the_squared_weights(kind):
    design, centre = DESIGNS[kind]
    for loss in LOSSES:
        plan = make_plan(loss, centre)
        Z = X - (0.0 if centre is None else centre)
        weight = WEIGHT * np.where(SIGNS > 0, FACTORS[1], FACTORS[0])
        energy = sums_of(design, plan)["energy"]
        for t, part in enumerate(plan.part):
            z = SIGNS * (OFFSET + plan.intercept[t] + Z[:, WORKING] @ plan.coef[t, 0])
            true = (weight * (part != FOLD)) @ loss.gradient(z) ** 2
            assert true <= energy[t] * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_shrunk_weights_are_charged_no_less_than_they_cost(loss):
    plan = make_plan(loss, None)
    sums = sums_of(X, plan)
    weight = WEIGHT * np.where(SIGNS > 0, FACTORS[1], FACTORS[0])
    for t, part in enumerate(plan.part):
        z = SIGNS * (OFFSET + plan.intercept[t] + X[:, WORKING] @ plan.coef[t, 0])
        s = -(1 - plan.shrink[t]) * loss.gradient(z)
        inside = weight * (part != FOLD)
        true = inside @ (loss.value(z) + loss.conjugate(s) + s * z)
        chord = plan.shrink[t] * (inside @ loss.value(z))
        assert true - 1e-9 <= sums["shrunk"][t] <= chord + 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kind", ["columns", "sparse"])
def test_curvature_by_fold(loss, kind):
    design, centre = DESIGNS[kind]
    plan = make_plan(loss, centre)
    sums = sums_of(design, plan)
    Z = (X - (0.0 if centre is None else centre))[:, WORKING]
    weight = WEIGHT * np.where(SIGNS > 0, FACTORS[1], FACTORS[0])
    for k, task in enumerate(plan.knot_task):
        z = SIGNS * (OFFSET + plan.intercept[task] + Z @ plan.coef[task, 0])
        h = loss.hessian(z)
        if plan.knot_lift[k] > 0:
            h = np.maximum(h, plan.knot_lift[k] * majoriser(loss, z))
        h = h * weight
        for fold in range(FOLDS):
            own = h * (fold == FOLD)
            np.testing.assert_allclose(
                sums["gram"][k, fold, 0], (Z * own[:, None]).T @ Z, rtol=1e-10
            )
            np.testing.assert_allclose(sums["curved"][k, fold, 0], Z.T @ own, rtol=1e-10)
            np.testing.assert_allclose(sums["total"][k, fold, 0], own.sum(), rtol=1e-11)


def majoriser(loss, z):
    if isinstance(loss, Logistic | CLoss):
        rho, u = loss.rho, loss.u
        kappa = loss.solver_parameters.get("kappa", 1.0)
        t = np.abs(u - z) / rho
        return kappa / rho * np.tanh(t / 2) / (2 * t)
    return np.full_like(z, 2.0 if isinstance(loss, SquaredHinge) else 1.0 / loss.delta)


def test_lines_and_held_out_rows():
    loss = CLoss(0.5, 1.0)
    plan = make_plan(loss, CENTRE)
    sums = sums_of(X, plan)
    Z = (X - CENTRE)[:, WORKING]
    weight = WEIGHT * np.where(SIGNS > 0, FACTORS[1], FACTORS[0])
    for line, task in enumerate(plan.line_task):
        inside = weight * (plan.part[task] != FOLD)
        start = plan.line_intercept[line] + Z @ plan.line_coef[line, 0]
        end = plan.intercept[task] + Z @ plan.coef[task, 0]
        for f, share in enumerate(plan.fractions):
            value = inside @ loss.value(SIGNS * (OFFSET + start + share * (end - start)))
            np.testing.assert_allclose(sums["line"][line, f], value, rtol=1e-12)
    for task in plan.tested:
        out = WEIGHT * (plan.part[task] == FOLD)
        score = OFFSET + plan.intercept[task] + Z @ plan.coef[task, 0]
        likelihood = out @ np.log(loss.inverse_link(SIGNS * score))
        hits = out @ ((score > 0) == (SIGNS > 0))
        np.testing.assert_allclose(sums["test"][task], [likelihood, hits, out.sum()], rtol=1e-12)
    assert not sums["test"][[0, 1, 3, 4]].any()


def test_single_precision_rows_are_worked_on_in_double():
    plan = make_plan(Logistic(), CENTRE)
    single = X.astype(np.float32)
    a, b = sums_of(single, plan), sums_of(single.astype(np.float64), plan)
    for name in a:
        assert np.array_equal(a[name], b[name])


def test_sums_of_blocks_add_up_and_are_not_changed():
    plan = make_plan(Logistic(), CENTRE)
    parts = [
        block_sums(Rows(X[rows], Y[rows], WEIGHT[rows], OFFSET[rows]), number, plan)
        for number, rows in enumerate([slice(0, 300), slice(300, N)])
    ]
    before = parts[0]["gradient"].copy()
    total = add_sums(*parts)
    assert np.array_equal(parts[0]["gradient"], before)
    whole = block_sums(Rows(X, Y, WEIGHT, OFFSET), 0, plan)
    np.testing.assert_allclose(total["value"][:2], whole["value"][:2], rtol=1e-13)


def test_core_refuses_folds_and_columns_out_of_range():
    plan = make_plan(Logistic(), CENTRE)
    samples = {
        "label": (SIGNS > 0) * 1.0,
        "weight": WEIGHT,
        "offset": OFFSET,
        "fold": np.full(N, 9, np.int32),
    }
    with pytest.raises(ValueError, match="fold"):
        _core.dense_block(X, samples, plan.request)
    samples["fold"] = FOLD
    with pytest.raises(ValueError, match="order"):
        _core.dense_block(X[:, :-1], samples, plan.request)
    with pytest.raises(ValueError, match="sorted"):
        _core.dense_block(X, samples, plan.request | {"part": plan.request["part"][::-1].copy()})
    with pytest.raises(ValueError, match="parted"):
        _core.dense_block(X, samples, plan.request | {"parted": 3})
