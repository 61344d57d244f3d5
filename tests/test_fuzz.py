"""The fuzzer sees what it is there to see: lies planted in good answers, crashes, bad input."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime

FOLDER = Path(__file__).parents[1] / "fuzz"
if not FOLDER.exists():
    pytest.skip("the fuzzer is not part of this tree", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

import answers  # noqa: E402
import judge  # noqa: E402
import problems  # noqa: E402
import workers  # noqa: E402
from answers import View  # noqa: E402
from kinds import draw  # noqa: E402
from plain import MarginLoss, Point  # noqa: E402
from shrink import reproduction, shrink  # noqa: E402

LOSSES = [
    MarginLoss("coherence", rho=0.3, u=0.7),
    MarginLoss("coherence", rho=0.3, u=0.7, scaled=False),
    MarginLoss("logistic"),
    MarginLoss("huberized_hinge", delta=0.5),
    MarginLoss("squared_hinge"),
    MarginLoss("hinge"),
]


def good_problem(**options):
    """A small problem that any version solves."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    signs = np.where(X[:, 0] + rng.standard_normal(20) > 0, 1.0, -1.0)
    options = {"loss": "logistic", "l1_ratio": 0.5, "alphas": np.array([0.1, 0.01]), **options}
    return problems.Problem("linear_path", X, signs, options=options)


def kinds_of_failure(problem):
    return {failure.kind for failure in judge.judge(problem).failures}


def test_problem_is_determined_by_seed_and_index():
    for index in range(40):
        one, two = draw(3, index), draw(3, index)
        assert one.kind == two.kind
        assert repr(one.options) == repr(two.options)
        np.testing.assert_array_equal(one.X, two.X)
    assert draw(3, 0).X.shape != draw(4, 0).X.shape


@pytest.mark.parametrize("step", problems.STORAGE)
def test_storage_keeps_the_values(step):
    X = np.rint(3 * np.random.default_rng(0).standard_normal((5, 4)))
    stored = problems.handed_over(X, (step,))
    stored = stored.toarray() if hasattr(stored, "toarray") else np.asarray(stored)
    np.testing.assert_array_equal(stored, X)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}-{loss.scaled}")
def test_slope_is_the_derivative(loss):
    for z in (-3.0, -0.2, 0.4, 0.9, 2.5):
        numeric = approx_fprime(np.array([z]), lambda at: float(loss.value(at)[0]))[0]
        assert loss.slope(np.array([z]))[0] == pytest.approx(-numeric, abs=1e-6)


def test_good_answer_passes():
    assert judge.judge(good_problem()).failures == []


LIES = {
    "wrong objective": lambda fit: fit._replace(objective=fit.objective * (1 + 1e-9)),
    "negative objective": lambda fit: fit._replace(objective=-0.1),
    "bad gap": lambda fit: fit._replace(gap=-1e-20),
    "not finite": lambda fit: fit._replace(objective=np.nan),
    "silent": lambda fit: fit._replace(converged=False),
    "false convergence": lambda fit: fit._replace(gap=1e-3),
    "wrong null objective": lambda fit: fit._replace(null=fit.null * (1 + 1e-4)),
    "wrong intercept": lambda fit: fit._replace(plain=replace(fit.plain, fit_intercept=False)),
    "out of bounds": lambda fit: fit._replace(plain=replace(fit.plain, upper=np.zeros(3))),
}


@pytest.mark.parametrize("lie", LIES)
def test_planted_lie_is_seen(lie, monkeypatch):
    kind = judge.KINDS["linear_path"]
    lying = replace(kind, fits=lambda *given: [LIES[lie](fit) for fit in kind.fits(*given)])
    monkeypatch.setitem(judge.KINDS, "linear_path", lying)
    assert lie in kinds_of_failure(good_problem())


@pytest.mark.parametrize("thorough", [True, False])
def test_false_certificate_is_seen(monkeypatch, thorough):
    """A worse point with its own objective and no gap: only a better point disproves it."""
    kind = judge.KINDS["linear_path"]

    def lying(problem, path):
        fit = kind.fits(problem, path)[-1]
        step = 1e-4 if thorough else 10.0
        point = Point(fit.point.coef + step, fit.point.intercept)
        value = fit.plain.value(point, fit.alpha)
        return [fit._replace(point=point, objective=value, gap=0.0)]

    monkeypatch.setitem(judge.KINDS, "linear_path", replace(kind, fits=lying))
    failures = judge.judge(good_problem(), thorough=thorough).failures
    assert "false certificate" in {failure.kind for failure in failures}


def test_reference_needs_no_help_of_the_package(monkeypatch):
    monkeypatch.setattr(judge, "second_opinion", lambda *given: [])
    test_false_certificate_is_seen(monkeypatch, thorough=True)


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([[0.4, 0.6], [0.6, 0.4]], set()),
        ([[0.5, 0.5], [0.6, 0.4]], {"contradiction"}),
        ([[0.6, 0.4], [0.6, 0.4]], {"contradiction"}),
        ([[0.4, 0.7], [0.6, 0.4]], {"no probabilities"}),
        ([[np.nan, 0.7], [0.6, 0.4]], {"no probabilities"}),
    ],
)
def test_probabilities_must_follow_the_scores(probabilities, expected, monkeypatch):
    kind = judge.KINDS["linear_path"]
    classes = np.array([0, 1])
    view = View(np.array([1e-300, -2.0]), classes, np.array([1, 0]), np.array(probabilities))
    monkeypatch.setitem(judge.KINDS, "linear_path", replace(kind, views=lambda *given: [view]))
    assert kinds_of_failure(good_problem()) == expected


def test_bad_input_that_is_accepted_is_seen(monkeypatch):
    name = next(name for name in judge.BAD if name.startswith("options['l1_ratio'] = -0.1"))
    spoilt = replace(good_problem(), spoil=name)
    assert kinds_of_failure(spoilt) == set()
    monkeypatch.setitem(judge.BAD, name, judge.BAD[name]._replace(names=("another",)))
    assert kinds_of_failure(spoilt) == {"blames another"}
    monkeypatch.setitem(judge.BAD, name, judge.BAD[name]._replace(code="pass"))
    assert kinds_of_failure(spoilt) == {"accepted"}
    monkeypatch.setitem(judge.BAD, name, judge.BAD[name]._replace(code="raise KeyError('x')"))
    assert kinds_of_failure(spoilt) == {"exception"}


def test_refusal_of_a_good_problem_is_seen():
    one_class = replace(good_problem(), signs=np.ones(20))
    assert kinds_of_failure(one_class) == {"refused"}
    assert kinds_of_failure(replace(one_class, refusable=True)) == set()


def test_death_and_delay_are_only_findings(monkeypatch):
    monkeypatch.setattr(workers, "judge", lambda problem, **given: os._exit(7))
    assert [failure.kind for failure in workers.judge_apart(good_problem())] == ["crash"]
    lost = list(workers.judge_all(0, 3, minutes=1.0, jobs=2))
    assert sorted(judged.index for judged in lost) == [0, 1, 2]
    assert {failure.kind for judged in lost for failure in judged.verdict.failures} == {"crash"}
    monkeypatch.setattr(workers, "judge", lambda problem, **given: time.sleep(60))
    assert [failure.kind for failure in workers.judge_apart(good_problem(), 0.2)] == ["slow"]


def test_one_that_dies_does_not_take_others_along(monkeypatch):
    judge_one = workers.judge_index

    def die_at_nine(seed, index):
        return os._exit(7) if index == 9 else judge_one(seed, index)

    monkeypatch.setattr(workers, "judge_index", die_at_nine)
    judged = list(workers.judge_all(0, 4, minutes=1.0, jobs=1, start=7))
    assert [one.index for one in judged] == [7, 8, 9, 10]
    kinds = [{failure.kind for failure in one.verdict.failures} for one in judged]
    assert [bool(kind & {"crash"}) for kind in kinds] == [False, False, True, False]


def test_what_never_ends_is_slow_by_the_processor_s_clock(monkeypatch):
    def count_for_ever(seed, index):
        while True:
            index += 1

    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    monkeypatch.setattr(workers, "judge_index", count_for_ever)
    (judged,) = workers.judge_all(0, 1, minutes=1.0, jobs=1)
    assert [failure.kind for failure in judged.verdict.failures] == ["slow"]


def test_shrinking_keeps_the_failure():
    problem = good_problem(standardize=True, tol=1e-4)
    problem = replace(problem, storage=("float32",), rows={"offset": np.arange(20.0)})

    def fails(smaller):
        return bool((smaller.rows.get("offset", np.zeros(1)) == 13.0).any())

    small = shrink(problem, fails)
    assert fails(small)
    assert small.X.shape == (2, 1)
    assert small.storage == ()
    assert set(small.options) == {"loss", "l1_ratio", "alphas"}


def test_reproduction_runs_by_itself():
    names = {}
    exec(reproduction(replace(good_problem(), storage=("fortran",))), names)
    plain = answers.plain_of(good_problem(), MarginLoss("logistic"), 0.5)
    result = names["result"]
    point = Point(result.coefs[0], result.intercepts[0])
    assert plain.value(point, 0.1) == pytest.approx(result.objectives[0], rel=1e-12)
