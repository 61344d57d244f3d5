"""`clearning reproduce`: resumable, the same for any number of jobs, honest in its tables."""

from __future__ import annotations

import argparse
import errno
import json
import os
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from clearning import _whole
from clearning.datasets import make_g241c, make_simulation
from clearning.experiments import command, paper, reproduce, sets, svm_probabilities
from clearning.experiments.document import (
    Document,
    Grid,
    Items,
    Paragraph,
    Picture,
    to_html,
    to_markdown,
)
from clearning.experiments.protocol import FULL, QUICK
from clearning.experiments.replication import Replication
from clearning.experiments.results import ResultStore, Task, run
from clearning.experiments.selection import FeatureDesign, KernelDesign, cross_validate, make_folds
from clearning.experiments.simulations import VARIANTS, draw, replicate
from clearning.experiments.summary import statistics, summarise
from clearning.experiments.svm_probabilities import WSL_LEVELS, weighted_probabilities
from clearning.kernels import Kernel
from clearning.losses import make_loss

TINY = replace(
    QUICK, n_replications=2, n_partitions=2, sets=("g241c",), n_alphas=6, n_folds=3, n_repeats=1
)


@pytest.fixture
def generated(monkeypatch):
    """A generated set in the place of the real g241c, so that nothing has to be downloaded."""

    def load():
        X, y, _ = make_g241c(n_samples=120, n_features=20, random_state=0)
        return X, y

    benchmark = paper.Benchmark("g241c", load, 120, 20, 0.3)
    monkeypatch.setitem(paper.BENCHMARKS, "g241c", benchmark)
    sets.load.cache_clear()
    yield
    sets.load.cache_clear()


def square(number):
    return {"square": number**2}


def count_and_fail_once(folder, number):
    (folder / f"{number}-{len(list(folder.iterdir()))}").touch()
    if number == 2 and not (folder / "failed").exists():
        (folder / "failed").touch()
        raise KeyboardInterrupt
    return number


@pytest.mark.parametrize("text", ['{"square": 1', "", "\xff"])
def test_damaged_result_is_made_again(tmp_path, text):
    store = ResultStore(tmp_path)
    tasks = [Task(f"square/{number}", square, (number,)) for number in (2, 3)]
    expected = run(tasks, store, jobs=1)
    store.path("square/3").write_bytes(text.encode("latin-1"))
    with pytest.warns(UserWarning, match=r"square--3\.json is damaged .* done again\."):
        assert run(tasks, store, jobs=1) == expected
    assert store.read("square/3") == {"square": 9}


def test_run_returns_every_outcome(tmp_path):
    tasks = [Task(f"a/{k}", square, (k,)) for k in range(5)]
    outcomes = run(tasks, ResultStore(tmp_path), jobs=1)
    assert outcomes == {f"a/{k}": {"square": k**2} for k in range(5)}
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a--{k}.json" for k in range(5)]


def test_interrupted_run_resumes_and_repeats_nothing(tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    tasks = [Task(f"t/{k}", count_and_fail_once, (calls, k)) for k in range(4)]
    store = ResultStore(tmp_path / "store")
    with pytest.raises(KeyboardInterrupt):
        run(tasks, store, jobs=1)
    assert store.read("t/1") == 1
    assert store.read("t/2") is None
    assert run(tasks, store, jobs=1) == {f"t/{k}": k for k in range(4)}
    done = [path.name.split("-")[0] for path in calls.iterdir() if path.name != "failed"]
    assert sorted(done) == ["0", "1", "2", "2", "3"]


def test_full_disk_leaves_no_half_result(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_whole.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ResultStore(tmp_path).write("key", 1)
    assert not list(tmp_path.iterdir())


def test_generators_depend_on_their_words_alone():
    first = FULL.generator("partition", "colon", 3).integers(2**31)
    FULL.generator("something else").integers(2**31)
    assert FULL.generator("partition", "colon", 3).integers(2**31) == first
    assert FULL.generator("partition", "colon", 4).integers(2**31) != first
    assert replace(FULL, seed=1).generator("partition", "colon", 3).integers(2**31) != first


def test_fingerprint_is_of_what_a_task_depends_on():
    others = [replace(FULL, seed=1), replace(FULL, n_alphas=9), replace(FULL, l1_ratios=(0.5,))]
    assert len({protocol.fingerprint() for protocol in (FULL, *others)}) == 4
    assert replace(FULL, n_partitions=3, sets=("colon",)).fingerprint() == FULL.fingerprint()


def test_paper_tables_are_whole():
    assert len(FULL.sets) == 11
    assert list(paper.ERRORS["features"]) == list(paper.ERRORS["kernels"])
    bold = {"features": 8, "kernels": 10}
    for setting, expected in bold.items():
        rows = [paper.ERRORS[setting][name] for name in FULL.sets]
        best = [min(row, key=lambda method: row[method][0]) for row in rows]
        assert best.count("C-learning") == expected
    assert [paper.BENCHMARKS[name].n_train for name in FULL.sets] == [12] * 6 + [
        24,
        150,
        150,
        16,
        20,
    ]


def test_held_out_scores_come_from_fits_without_the_sample(generated):
    X, y = sets.load("g241c")
    train, _ = sets.split(TINY, "g241c", 0)
    draws = make_folds(y[train], TINY, np.random.default_rng(0))
    loss = make_loss("coherence")
    design = FeatureDesign(X)
    result = cross_validate(design, y, train, draws, loss, (0.5,), TINY)
    fit, held_out = draws[0][1]
    alone = design.fit(
        train[fit], y, loss=loss, l1_ratio=0.5, alphas=result.paths[0].alphas, tol=TINY.tol
    )
    expected = X[train[held_out]] @ alone.coefs.T + alone.intercepts
    np.testing.assert_array_equal(result.held_out[0][held_out], expected)
    np.testing.assert_allclose(
        result.losses()[0], loss.value(y[train][:, None] * result.held_out[0]).mean(axis=0)
    )


def test_best_skips_empty_models_and_breaks_ties(generated):
    X, y = sets.load("g241c")
    train, _ = sets.split(TINY, "g241c", 0)
    draws = make_folds(y[train], TINY, np.random.default_rng(0))
    result = cross_validate(
        FeatureDesign(X), y, train, draws, make_loss("logistic"), (0.5, 0.9), TINY
    )
    flat = np.zeros((2, TINY.n_alphas))
    assert result.paths[0].n_nonzero[0] == 0
    assert result.best(flat) == (0, 1)
    second = flat.copy()
    second[1, 3] = -1
    assert result.best(flat, second) == (1, 3)


def test_partitions_are_stratified_and_disjoint(generated):
    _, y = sets.load("g241c")
    train, test = sets.split(TINY, "g241c", 1)
    assert len(train) == 36
    assert not set(train) & set(test)
    assert np.sum(y[train] == 1) == 18


def small_replication(seed=0):
    X, labels, eta = make_simulation(1, n_samples=120, random_state=seed)
    y = labels.astype(float)
    design = KernelDesign(Kernel("rbf", gamma=1.0).gram(X))
    rows = np.arange(120)
    draws = make_folds(y[:60], TINY, np.random.default_rng(0))
    return Replication(replace(TINY, tol=1e-8), design, y, eta, rows[:60], rows[60:], draws)


def test_an_unfinished_svm_is_fitted_again_and_the_path_stays_as_it_was(monkeypatch):
    monkeypatch.setattr(svm_probabilities, "MAX_STEPS", 2)
    drawn, fitted = small_replication(), []

    def fit(self, rows, y, **options):
        fitted.append(original(self, rows, y, **options))
        return fitted[-1]

    original = KernelDesign.fit
    monkeypatch.setattr(KernelDesign, "fit", fit)
    path = svm_probabilities._fit(drawn, drawn.train, np.geomspace(1.0, 1e-3, 4))
    first, *alone = fitted
    stalled = np.flatnonzero(~first.converged)
    assert len(alone) == len(stalled) > 0
    assert path is not first
    np.testing.assert_array_equal(first.sparse_coefs.toarray(), first.coefs)
    np.testing.assert_array_equal(path.sparse_coefs.toarray(), path.coefs)
    for i, point in zip(stalled, alone):
        for name in ("coefs", "intercepts", "objectives", "dual_gaps", "n_iters", "converged"):
            np.testing.assert_array_equal(getattr(path, name)[i], getattr(point, name)[0])


def test_weighted_svms_against_libsvm():
    drawn, alpha = small_replication(), 0.02
    ours = weighted_probabilities(drawn, drawn.train, drawn.test, np.array([alpha]))[:, 0]
    K, y = drawn.design.K, drawn.y[drawn.train]
    levels = np.arange(1, WSL_LEVELS) / WSL_LEVELS
    signs = []
    for level in levels:
        svm = SVC(C=1 / (len(y) * alpha), kernel="precomputed", tol=1e-8)
        svm.fit(K[:60, :60], y, sample_weight=np.where(y > 0, 1 - level, level))
        signs.append(svm.decision_function(K[60:, :60]) > 0)
    grid = np.concatenate([[0], levels, [1]])
    table = np.vstack([np.ones(60, bool), signs, np.zeros(60, bool)])
    highest = np.array([grid[column].max() for column in table.T])
    lowest = np.array([grid[~column].min() for column in table.T])
    assert np.mean(np.abs(ours - (highest + lowest) / 2) < 1e-12) > 0.95


def test_stalled_svms_start_anew(monkeypatch):
    drawn, alphas = small_replication(), np.array([1.0, 0.01, 1e-4])
    monkeypatch.setattr(svm_probabilities, "MAX_STEPS", 3)
    path = svm_probabilities._fit(drawn, drawn.train, alphas)
    assert not path.converged[-1]
    alone = svm_probabilities._fit(drawn, drawn.train, alphas[-1:])
    np.testing.assert_array_equal(path.coefs[-1], alone.coefs[0])
    assert path.intercepts[-1] == alone.intercepts[0]


def test_judge_against_scikit_learn():
    drawn = small_replication()
    p = np.clip(drawn.eta[60:] + 0.05, 0, 1)
    judged = drawn.judge(p)
    assert judged["gkl"] == pytest.approx(log_loss(drawn.y[60:], p))
    assert judged["cer"] == np.mean((p > 0.5) != (drawn.y[60:] > 0))
    assert drawn.judge(drawn.eta[60:])["divergence"] == 0


def test_replication_has_every_method():
    outcome = replicate(TINY, 2, 0)
    assert set(outcome) >= {*paper.OUR_METHODS, "truth"}
    assert outcome["C-learning"]["hindsight"]["gkl"] <= outcome["C-learning"]["gkl"]
    assert all(np.isfinite(outcome[name]["gkl"]) for name in paper.OUR_METHODS)
    assert json.loads(json.dumps(outcome)) == outcome


def test_variants_see_the_same_draw():
    plain, larger = draw(TINY, 1, 0), draw(TINY, 1, 0, n_train=200)
    np.testing.assert_array_equal(larger.train[:100], plain.train)
    np.testing.assert_array_equal(larger.y, plain.y)
    wider = draw(TINY, 1, 0, width=2.0)
    np.testing.assert_allclose(wider.design.K**4, plain.design.K)


def test_statistics():
    values = [1.0, 2.0, 4.0]
    result = statistics(values)
    assert result["mean"] == pytest.approx(7 / 3)
    assert result["sd"] == pytest.approx(np.std(values, ddof=1))
    assert result["se"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))


def outcomes_of(errors):
    """Outcomes of two partitions of g241c with these errors, by method."""
    return {
        f"features/g241c/{k:02d}": {
            method: {"error": values[k] / 100, "n_nonzero": 3, "converged": True}
            for method, values in errors.items()
        }
        for k in range(2)
    }


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ({"HHSVM": [30, 32], "RLRM": [22, 25], "C-learning": [20, 22]}, "best"),
        ({"HHSVM": [30, 32], "RLRM": [20, 23], "C-learning": [21, 22.5]}, "tied"),
        ({"HHSVM": [30, 32], "RLRM": [20, 22], "C-learning": [21, 23.1]}, "beaten"),
    ],
)
def test_verdicts(errors, verdict):
    table = summarise(TINY, outcomes_of(errors))["features"]
    row = table["rows"]["g241c"]
    assert row["verdict"] == verdict
    assert row["difference"]["HHSVM"]["mean"] == pytest.approx(
        np.mean(errors["C-learning"]) - np.mean(errors["HHSVM"])
    )
    assert table["counts"]["best_or_tied"] == (verdict != "beaten")
    # 21.34 ± 1.11 is printed for C-learning.
    assert table["counts"]["at_or_below_paper"] == (np.mean(errors["C-learning"]) <= 21.34)


def test_incomplete_sets_have_no_row():
    outcomes = outcomes_of({"HHSVM": [1, 2], "RLRM": [1, 2], "C-learning": [1, 2]})
    del outcomes["features/g241c/01"]
    assert "features" not in summarise(TINY, outcomes)


def test_document_is_escaped_and_complete():
    document = Document("a < b")
    document.add(Paragraph("**bold** & `x < 1`"), Items(["one"]), Grid(["h", "i"], [["1", "2"]]))
    document.add(Picture("t", "data:image/svg+xml;base64,AA", "figures/1.svg"))
    page = to_html(document)
    assert "<title>a &lt; b</title>" in page
    assert "<strong>bold</strong> &amp; <code>x &lt; 1</code>" in page
    assert "<td>2</td>" in page
    assert "http" not in page
    assert '<img alt="t" src="data:image/svg+xml;base64,AA">' in page
    text = to_markdown(document)
    assert "| h | i |\n| --- | ---: |\n| 1 | 2 |" in text
    assert "![t](figures/1.svg)" in text


def parse(*words):
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return parser.parse_args(["reproduce", *words])


def test_command_from_end_to_end(generated, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the report's figures need matplotlib")
    monkeypatch.setattr(reproduce, "QUICK", TINY)
    args = parse("features", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert args.run(args) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert set(results["tables"]["features"]["rows"]) == {"g241c"}
    page = (tmp_path / "report.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert "What reproduces and what does not" in page
    assert "report.html" in capsys.readouterr().out


def test_simulations_from_end_to_end(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="the report's figures need matplotlib")
    monkeypatch.setattr(reproduce, "QUICK", TINY)
    args = parse("simulations", "--quick", "--jobs", "1", "--out", str(tmp_path))
    assert args.run(args) == 0
    tables = json.loads((tmp_path / "results.json").read_text())["tables"]
    assert set(tables["simulations"]) == {"1", "2"}
    assert list(tables["variants"]) == sorted(VARIANTS)
    page = (tmp_path / "report.md").read_text()
    assert "![Figure 2: " in page
    assert "Why simulation 1 is better in the paper was tried out" in page


def test_interruption_is_said(monkeypatch, tmp_path, capsys):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "reproduce", interrupted)
    args = parse("--out", str(tmp_path))
    assert args.run(args) == 130
    assert "goes on from here" in capsys.readouterr().err


def test_same_numbers_whatever_the_jobs(tmp_path):
    tasks = [Task(f"simulation/{n}/000", replicate, (TINY, n, 0)) for n in (1, 2)]
    one = run(tasks, ResultStore(tmp_path / "one"), jobs=1)
    two = run(tasks, ResultStore(tmp_path / "two"), jobs=2)
    assert json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def test_missing_data_is_said_and_nothing_is_run(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the report's figures need matplotlib")

    def unavailable():
        raise reproduce.DatasetError("g241c was not found: put it somewhere.")

    benchmark = replace(paper.BENCHMARKS["g241c"], load=unavailable)
    monkeypatch.setitem(paper.BENCHMARKS, "g241c", benchmark)
    monkeypatch.setattr(reproduce, "QUICK", TINY)
    sets.load.cache_clear()
    args = parse("kernels", "--quick", "--out", str(tmp_path / "out"))
    with pytest.raises(OSError, match="no data set could be found: g241c was not found"):
        args.run(args)
    assert "g241c is left out" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [["--jobs", "0"], ["tables"], ["--seed", "x"]])
def test_bad_arguments_are_refused(words, capsys):
    with pytest.raises(SystemExit):
        parse(*words)
    assert "error" in capsys.readouterr().err
