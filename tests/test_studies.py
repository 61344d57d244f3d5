"""The studies' sections say what their rows say."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
if not FOLDER.exists():
    pytest.skip("the benchmarks are not part of this tree", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

import calibration.study  # noqa: E402
import kernel_quality.study  # noqa: E402
import quality.study  # noqa: E402
import runner  # noqa: E402
from calibration import speed  # noqa: E402
from calibration.methods import METHODS as CALIBRATORS  # noqa: E402
from calibration.methods import SIGN_KEEPING  # noqa: E402
from kernel_quality.methods import METHODS as CLASSIFIERS  # noqa: E402
from quality import tables as quality_tables  # noqa: E402
from quality.methods import METHODS as COMPARED  # noqa: E402
from quality.methods import Skipped  # noqa: E402
from quality.sets import JUDGED, RARE_JUDGED, SETS  # noqa: E402


@pytest.fixture
def stored(monkeypatch):
    """What the sections find on disk."""
    results = {}
    monkeypatch.setattr(runner, "recall", lambda kind, name: results[name])
    return results


def test_kernel_classifiers(stored):
    losses = {"C-learning": [0.1, 0.2, 0.5], "calibrated SVC": [0.2, 0.3, 0.4]}
    stored["kernel-quality"] = {
        "rows": [
            {
                "data": f"set {i}",
                "split": split,
                "method": method,
                "log_loss": losses.get(method, [0.3] * 3)[i] + 0.01 * split,
                "error": 0.1 if method == "calibrated SVC" else 0.08,
                "n_support": 10,
                "seconds": 1.0,
                "n_train": 100,
                "n_test": 50,
            }
            for i in range(3)
            for split in range(2)
            for method in CLASSIFIERS
        ],
        "seconds": 60.0,
    }
    section = kernel_quality.study.section()
    share, error = section.targets
    assert share.reached == pytest.approx(1 / 3)
    assert error.reached == pytest.approx(-2.0)
    assert [target.verdict for target in section.targets] == ["reached", "reached"]
    assert "| calibrated SVC | 2 of 3 sets |" in str(section)
    assert "**0.1050**" in str(section)
    assert "over 2 random" in str(section)


def calibration_rows(losses):
    rng = np.random.default_rng(0)
    cases = [(f"set {i}", "rbf", C, 0) for i in range(5) for C in (0.1, 1.0, 10.0)]
    return [
        {
            **dict(zip(("data", "kernel", "C", "split"), case)),
            "method": method,
            "log_loss": losses.get(method, 0.6) + 1e-3 * rng.uniform(),
            "brier": 0.1,
            "ece": 0.1,
            "smooth": 0.1,
            "disagreements": 0 if method in SIGN_KEEPING else 3,
            "n_test": 100,
            "seconds": 1.0,
            "calibration_seconds": 0.1,
        }
        for case in cases
        for method in CALIBRATORS
    ]


@pytest.mark.parametrize(
    ("losses", "verdicts"),
    [
        ({"coherence": 0.4, "betacal": 0.4}, ["reached", "reached"]),
        ({"coherence": 0.4, "betacal": 0.3}, ["reached", "**short**"]),
        ({"coherence": 0.4, "temperature": 0.3}, ["**short**", "**short**"]),
    ],
)
def test_calibrators(stored, losses, verdicts):
    rows = calibration_rows(losses)
    keys = ("data", "kernel", "C", "split")
    prices = [
        {**{key: row[key] for key in keys}, "free": 0.3, "sign_keeping": 0.31} for row in rows
    ]
    stored["calibration"] = {"rows": rows, "prices": prices, "missing": [], "seconds": 60.0}
    section = calibration.study.section()
    contradictions, *others = section.targets
    assert contradictions.verdict == "reached"
    # Within noise of the best: equal up to the noise put in, or behind for certain.
    assert others[0].verdict == verdicts[0]
    assert (others[1].reached > 0.05) == (verdicts[1] == "**short**")
    assert "0.0100 above" in str(section)


def test_speed(stored):
    stored["calibration-speed"] = {
        "n_scores": 1000,
        "calibrators": {name: 1.0 if "scikit" in name else 0.4 for name in speed.FITS},
        "weighted": {name: [0.4, 0.02] for name in speed.ESTIMATORS},
    }
    section = speed.section()
    assert all(target.reached == pytest.approx(0.4) for target in section.targets)
    assert "| 20.0 |" in str(section)


def test_the_price_of_keeping_signs_is_that_of_the_best_fits():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=200)
    y = (rng.uniform(size=200) < 1 / (1 + np.exp(-3 * (scores - 0.5)))).astype(int)
    price = calibration.study.price(("set", "rbf", 1.0, 0), scores, y)
    assert 0 < price.free < price.sign_keeping < np.log(2)


def quality_rows(**losses):
    """Rows of two judged sets and one that the defaults were chosen on."""
    return [
        quality_tables.Row(
            data=name,
            split=split,
            method=method,
            n_train=300,
            n_features=10,
            log_loss=losses.get(name, {}).get(method, 0.3) + 0.01 * split,
            error=0.1,
            brier=0.1,
            calibration=0.02,
            size=7,
            seconds=2.0 if method == "linear default" else 1.0,
        )
        for name in ("spambase", "arcene", "saheart")
        for split in range(2)
        for method in COMPARED
    ]


def test_the_quality_study_judges_by_sets_nobody_looked_at(tmp_path):
    rows = quality_rows(
        spambase={"linear default": 0.2},
        arcene={"linear default": 0.32},
        saheart={"linear default": 9.0},
    )
    table = str(quality_tables.duels(rows, JUDGED))
    assert "| linear default | cv.glmnet | 2 | -0.0400 ± 0.0600 | 1 of 2 |" in table
    assert "| 2.00 × |" in table
    lost = str(quality_tables.lost(rows))
    assert "| linear default | cv.glmnet | arcene | +0.0200 ± 0.0000 |" in lost
    assert "| linear default | cv.glmnet | spambase |" not in lost
    assert "saheart" not in lost
    quality_tables.write(tmp_path / "told.md", rows)
    told = (tmp_path / "told.md").read_text()
    assert "**0.2050**" in told
    assert "| saheart | chosen on | 300 × 10 |" in told


def test_skipped_methods_leave_their_sets_out(tmp_path):
    rows = quality_rows()
    row = next(k for k, r in enumerate(rows) if (r.data, r.method) == ("arcene", "cv.glmnet"))
    rows[row] = rows[row]._replace(log_loss=np.nan, skipped="no R")
    assert "| linear default | cv.glmnet | 1 |" in str(quality_tables.duels(rows, JUDGED))
    quality_tables.write(tmp_path / "told.md", rows)
    assert "- cv.glmnet on arcene: no R" in (tmp_path / "told.md").read_text()


def test_the_quality_study_goes_on_where_it_was(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "CACHE", tmp_path)
    calls = []

    def fit(method, X, y):
        calls.append(method)
        if method == "cv.glmnet":
            raise Skipped("no R")
        return quality.methods.Fitted(lambda X: np.full(len(X), 0.5), 3, 0.1)

    monkeypatch.setattr(quality.study, "fit", fit)
    rows = quality.study.run(["iris 1 or 2"], 2, [])
    assert len(calls) == len(rows) == 2 * len(COMPARED)
    assert rows[0].log_loss == pytest.approx(np.log(2))
    assert str(quality.study.run(["iris 1 or 2"], 2, ["linear default"])) == str(rows)
    assert calls[2 * len(COMPARED) :] == ["linear default"] * 2


def test_rare_positives_are_five_in_a_hundred():
    split = SETS["digits 8 or others, rare"].split(0)
    assert SETS["digits 8 or others, rare"].use == RARE_JUDGED
    assert len(split.y) == 300
    assert split.y.mean() == pytest.approx(0.05)
    assert sum(each.use == JUDGED for each in SETS.values()) >= 15
