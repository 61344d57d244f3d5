"""The benchmark harness measures what it says: objectives, bounds, limits, verdicts."""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

FOLDER = Path(__file__).parents[1] / "benchmarks"
if not FOLDER.exists():
    pytest.skip("the benchmarks are not part of this tree", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

import guard  # noqa: E402
import matched  # noqa: E402
import objective  # noqa: E402
import runner  # noqa: E402
import workloads  # noqa: E402
from report import Table, Target, number  # noqa: E402


@pytest.mark.parametrize("name", ["60x20", "30x60", "sparse"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_bound_meets_objective_at_the_optimum(name, l1_ratio, intercept):
    workload = workloads.load("60x20" if name == "sparse" else name)
    if name == "sparse":
        thinned = sparse.csc_array(np.where(workload.X > 0.5, workload.X, 0.0))
        workload = replace(workload, X=thinned)
    n, _ = workload.shape
    alphas = workload.alphas(l1_ratio, n_alphas=5)[1:3]
    coefs, intercepts = [], []
    for alpha in alphas:
        model = LogisticRegression(
            solver="saga",
            l1_ratio=l1_ratio,
            C=1.0 / (n * alpha),
            tol=1e-12,
            max_iter=100_000,
            fit_intercept=intercept,
            random_state=0,
        ).fit(workload.X, workload.y)
        coefs.append(model.coef_[0])
        intercepts.append(model.intercept_[0])
    coefs, intercepts = np.array(coefs), np.array(intercepts)

    def values(coefs):
        scores = objective.path_scores(workload.X, coefs, intercepts)
        penalties = objective.path_penalties(coefs, alphas, l1_ratio)
        return (
            objective.logistic_objectives(scores, workload.signs, penalties),
            objective.logistic_bounds(
                workload.X, scores, workload.signs, alphas, l1_ratio, intercept=intercept
            ),
        )

    optimum, bound = values(coefs)
    np.testing.assert_allclose(bound, optimum, rtol=1e-6)
    worse, loose = values(coefs + 0.1)
    assert (worse > optimum).all()
    assert (loose < optimum).all()


def test_largest_penalty_is_the_smallest_that_gives_zero():
    workload = workloads.load("60x20")
    largest = workload.alphas(0.5)[0]
    for share, zero in ((1.01, True), (0.99, False)):
        model = LogisticRegression(
            solver="saga",
            l1_ratio=0.5,
            C=1.0 / (60 * share * largest),
            tol=1e-10,
            max_iter=100_000,
            random_state=0,
        )
        # The elastic net's quadratic part plays no role at zero.
        assert (model.fit(workload.X, workload.y).coef_ == 0).all() == zero


def test_workloads_repeat():
    first, second = workloads.load("40x30"), workloads.load("40x30")
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert first.X.flags.f_contiguous


def test_worker_answers_fails_and_is_ended():
    folder = os.environ.get("TMPDIR")
    worker = runner.Worker(time.sleep, threads=1)
    assert worker(0.0, limit=60.0) is None
    assert os.environ.get("TMPDIR") == folder  # the worker's own goes with it
    with pytest.raises(runner.TimedOut):
        worker(600.0, limit=0.2)
    assert worker.process is None
    failing = runner.Worker(json.loads, threads=1)
    with pytest.raises(runner.Failed, match="JSONDecodeError"):
        failing("{", limit=60.0)
    assert failing("[1]", limit=60.0) == [1]
    failing.close()


def test_cache_returns_what_was_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "CACHE", tmp_path)
    assert runner.recall("kind", peer="a", size=1) is None
    runner.remember({"seconds": 0.5}, "kind", peer="a", size=1)
    assert runner.recall("kind", size=1, peer="a") == {"seconds": 0.5}
    assert runner.recall("kind", peer="b", size=1) is None


def test_targets_are_judged():
    assert Target("a", 0.5, 0.4).verdict == "reached"
    assert Target("a", 0.5, 0.6).verdict == "**short**"
    assert Target("a", 0.5, None).verdict == "not measured"


def test_table_is_markdown():
    table = Table(["a", "b"])
    table.add("1", "2")
    assert str(table) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    assert [number(x) for x in (0.01234, 0.1234, 1.234, 12.34, 123.4)] == [
        "0.0123",
        "0.123",
        "1.23",
        "12.3",
        "123",
    ]


def test_guard_sees_a_slower_core(capsys):
    assert guard.compare({"wide": 100}, {"wide": 101})
    assert not guard.compare({"wide": 100, "tall": 100}, {"wide": 103, "tall": 90})
    assert "SLOWER" in capsys.readouterr().out


def test_our_seconds_are_those_to_a_proof_and_others_those_to_an_error():
    assert matched.accurate({"suboptimality": 9e-7, "proved": None})
    assert matched.accurate({"suboptimality": 1e-9, "proved": 9e-7})
    assert not matched.accurate({"suboptimality": 1e-9, "proved": 2e-6})
    assert not matched.accurate({"failure": "over 5 s"})


def test_looseness_is_told_only_where_the_error_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "CACHE", tmp_path)
    reference = matched.Reference(matched.Problem("60x20", 1.0))
    exact = {"complete": True, "gaps": None, "objectives": [1.0, 1.0, 1.0]}
    reference.absorb({**exact, "bounds": [1.0 - 1e-12, 1.0 - 1e-12, 1.0]})
    found = {"complete": True, "objectives": [1.0 + 1e-9, 1.0 + 1e-12, 1.0]}
    assert reference.looseness({**found, "gaps": [4e-9, 1e-9, 1e-9]}) == pytest.approx(
        [4.0], rel=1e-5
    )
    assert reference.looseness({**found, "gaps": None}) == []


def test_both_sides_of_a_ridge_solve_the_same_problem():
    """scikit-learn's C and our α: the same optimum, and a bound that meets it."""
    workload = workloads.load("60x20")
    alphas = matched.Problem("60x20", 0.0, "C=0.5").alphas(workload)
    np.testing.assert_allclose(alphas, [1 / 30])
    values, bounds = [], []
    for side in ("lbfgs", matched.OURS):
        peer = matched.PEERS[side]()
        peer.prepare(workload)
        found = peer.path(alphas, 0.0, 1e-10)
        scores = objective.path_scores(workload.X, found.coefs, found.intercepts)
        penalties = objective.path_penalties(found.coefs, alphas, 0.0)
        signs = workload.signs
        values += list(objective.logistic_objectives(scores, signs, penalties))
        bounds += list(
            objective.logistic_bounds(workload.X, scores, signs, alphas, 0.0, intercept=True)
        )
    np.testing.assert_allclose(values + bounds, values[0], rtol=1e-8)


def test_shapes_are_drawn_anew_with_every_seed():
    for seed in range(50):
        names = workloads.drawn(seed)
        assert names == workloads.drawn(seed)
        assert sum(name.startswith("sparse") for name in names) == 2
        for name in names:
            n, p = map(int, name.removeprefix("sparse").split("x"))
            assert n >= 50
            assert 20 <= p <= 50_000
    assert workloads.drawn(1) != workloads.drawn(2)
