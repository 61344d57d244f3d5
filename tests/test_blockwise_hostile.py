"""Blocks that change between passes, columns that tell little, sources that are nearly right."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from clearning import (
    BlockwiseCLearningClassifier,
    BlockwiseCLearningClassifierCV,
    CLearningClassifier,
)
from clearning._blocks import lockstep

N, P = 3000, 6
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, P))
SCORES = X @ RNG.normal(size=(P, 3)) + RNG.gumbel(size=(N, 3))
LABELS = {
    2: np.array(["a", "b"])[SCORES[:, :2].argmax(1)],
    3: np.array(list("abc"))[SCORES.argmax(1)],
}
CLASSES = pytest.mark.parametrize("m", [2, 3])


def in_blocks(design, y, rows=700):
    return lambda: ((design[i : i + rows], y[i : i + rows]) for i in range(0, len(y), rows))


def plain_objective(model, design, y, factor):
    """The objective of the reported coefficients, at the defaults alpha .01 and l1_ratio .5."""
    scores = design @ model.coef_.T + model.intercept_
    codes = np.searchsorted(model.classes_, y)
    if len(model.classes_) == 2:
        loss = model.loss_.value(np.where(codes > 0, 1, -1) * scores[:, 0])
    else:
        loss = model.loss_.value(scores, codes)
    b = model.coef_
    return loss.mean() + 0.01 * (factor * (0.5 * np.abs(b) + 0.25 * b**2)).sum()


# --- The same rows in every pass ---


def drawn_anew(y):
    calls = []

    def blocks():
        calls.append(0)
        rows = np.random.default_rng(len(calls)).permutation(N)[:2000]
        yield X[rows], y[rows]

    return blocks


def other_labels(y):
    calls = []

    def blocks():
        calls.append(0)
        yield X, np.roll(y, len(calls))

    return blocks


def one_row_more(y):
    calls = []

    def blocks():
        calls.append(0)
        yield X[: N - 5 + len(calls)], y[: N - 5 + len(calls)]

    return blocks


def an_iterator(y):
    once = iter([(X[:2000], y[:2000]), (X[2000:], y[2000:])])
    return lambda: once


@CLASSES
@pytest.mark.parametrize("blocks", [drawn_anew, other_labels, one_row_more, an_iterator])
def test_rows_that_change_between_passes_have_no_certificate(blocks, m):
    with pytest.raises(ValueError, match="not those of the first pass"):
        BlockwiseCLearningClassifier().fit(blocks(LABELS[m]))


def test_rows_in_another_order_are_in_other_folds():
    y, calls = LABELS[2], []

    def shuffled():
        calls.append(0)
        rows = np.random.default_rng(len(calls)).permutation(N)
        yield X[rows], y[rows]

    with pytest.raises(ValueError, match="not those of the first pass"):
        BlockwiseCLearningClassifierCV(alphas=5, cv=3).fit(shuffled)


def test_a_checkpoint_of_other_rows_is_told(tmp_path, monkeypatch):
    file = tmp_path / "state"
    one_pass, passes = lockstep.LockStep.one_pass, []

    def failing(self):
        passes.append(0)
        if len(passes) == 2:
            raise KeyboardInterrupt
        one_pass(self)

    monkeypatch.setattr(lockstep.LockStep, "one_pass", failing)
    model = BlockwiseCLearningClassifier(checkpoint=file)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, LABELS[2])
    with pytest.raises(ValueError, match="checkpoint of rows that have changed"):
        model.fit(X[::-1] + 1e-3, LABELS[2])
    assert model.fit(X, LABELS[2]).dual_gap_ <= 1e-6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1.0, 1e12, 1e150])
def test_the_same_rows_are_the_same_at_any_scale(scale):
    design = sparse.csr_array(X * [scale, 1.0, 0.0, 1.0, 1.0, -1.0])
    weight = np.r_[1e12, np.ones(N - 1)]
    model = BlockwiseCLearningClassifier(standardize=True)
    assert model.fit(design, LABELS[2], sample_weight=weight).n_iter_ > 1
    assert model.fit(design.toarray().astype(np.float32 if scale == 1 else float), LABELS[2])


# --- Columns that tell nothing ---


FREE = np.r_[0.0, 0.0, np.ones(P - 2)]


@CLASSES
@pytest.mark.parametrize("kind", ["constant", "far"])
def test_columns_without_a_penalty_that_tell_little(kind, m):
    design, y, factor = X.copy(), LABELS[m], FREE
    if kind == "constant":
        design[:, 0], design[:, 1] = 3.7, 0.0
    else:
        design[:, 0] += 1e6
    model = BlockwiseCLearningClassifier(penalty_factor=factor).fit(in_blocks(design, y))
    assert plain_objective(model, design, y, factor) == pytest.approx(model.objective_, abs=1e-9)
    assert model.dual_gap_ <= 2e-6
    kept = np.ptp(design, axis=0) > 0
    memory = CLearningClassifier(penalty_factor=factor[kept], tol=1e-9).fit(design[:, kept], y)
    assert model.objective_ - memory.objective_ == pytest.approx(0, abs=1e-8)
    assert not model.coef_[:, ~kept].any()


@CLASSES
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_column_of_one_row_without_a_penalty(m):
    # The optimum is at infinity, and sums prove little of it; no row that is drawn has the column.
    design, y = X.copy(), LABELS[m]
    design[:, 0] = np.arange(N) == 1234
    model = BlockwiseCLearningClassifier(penalty_factor=FREE).fit(in_blocks(design, y))
    memory = CLearningClassifier(penalty_factor=FREE, tol=1e-9).fit(design, y)
    assert plain_objective(model, design, y, FREE) == pytest.approx(model.objective_, abs=1e-12)
    above = model.objective_ - memory.objective_
    assert -memory.dual_gap_ <= above <= min(1e-8, model.dual_gap_)
    assert np.abs(model.coef_).max() < 100


# --- Folds of few rows ---


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_cold_folds_step_by_their_own_curvature():
    model = BlockwiseCLearningClassifierCV(alphas=6, cv=3, rhos=(0.01,)).fit(
        X[:600], LABELS[2][:600]
    )
    assert model.cv_gaps_.max() <= 1.1e-6


# --- Sources that are nearly right ---


def test_columns_in_the_names_of_folders(tmp_path):
    pa, dataset = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    frame = pd.DataFrame(X, columns=list("pqrstu")).assign(label=LABELS[3])
    by_label = dataset.partitioning(pa.schema([("label", pa.string())]), flavor="hive")
    dataset.write_dataset(
        pa.Table.from_pandas(frame), tmp_path / "rows", format="parquet", partitioning=by_label
    )
    opened = dataset.dataset(tmp_path / "rows", partitioning=by_label)
    model = BlockwiseCLearningClassifier().fit(opened, "label")
    memory = CLearningClassifier(tol=1e-9).fit(X, LABELS[3])
    assert model.objective_ == pytest.approx(memory.objective_, abs=1e-8)


def test_names_that_no_column_has(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("pqrstu")).assign(label=LABELS[2])
    frame.to_parquet(tmp_path / "rows.parquet")
    table = dd.from_pandas(frame, npartitions=2)
    for source in (table, tmp_path / "rows.parquet"):
        with pytest.raises(ValueError, match=r"y must be the name of a column.*'lable'.*p, q, r"):
            BlockwiseCLearningClassifier().fit(source, "lable")
    with pytest.raises(ValueError, match="y must be the name of a column of X; got a ndarray"):
        BlockwiseCLearningClassifier().fit(tmp_path / "rows.parquet", LABELS[2])
    model = BlockwiseCLearningClassifier().fit(table, "label")
    with pytest.raises(ValueError, match="X has no column 'q', which was there in fit"):
        model.predict_proba(table.drop(columns="q"))


def test_offsets_beside_a_frame_have_a_column_a_class():
    dd = pytest.importorskip("dask.dataframe")
    offset = RNG.normal(size=(N, 3))
    frame = pd.DataFrame(np.c_[X, offset], columns=list("pqrstuxyz"))
    table = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(LABELS[3]), npartitions=3)
    model = BlockwiseCLearningClassifier().fit(
        table[list("pqrstu")], labels, offset=table[list("xyz")].values
    )
    memory = CLearningClassifier(tol=1e-9).fit(X, LABELS[3], offset=offset)
    assert model.objective_ == pytest.approx(memory.objective_, abs=1e-8)


def test_labels_beside_files_are_as_many_as_the_rows(tmp_path):
    sparse.save_npz(tmp_path / "0.npz", sparse.csr_array(X))
    with pytest.raises(ValueError, match="y has 3001 entries, but the files have 3000 rows"):
        BlockwiseCLearningClassifier().fit(tmp_path, np.r_[LABELS[2], ["a"]])


def test_a_list_of_blocks_is_told_of_functions():
    with pytest.raises(TypeError, match=r"got a list of blocks: pass lambda: X"):
        BlockwiseCLearningClassifier().fit([(X, LABELS[2])])


def test_predictions_name_the_block_that_is_bad(tmp_path):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    model = BlockwiseCLearningClassifier().fit(X, LABELS[2])
    spoilt = X.copy()
    spoilt[-1, 2] = np.nan
    words = r"Block 2.*X contains NaN"
    with pytest.raises(ValueError, match=words):
        model.predict_proba(da.from_array(spoilt, chunks=(1000, P))).compute(scheduler="sync")
    table = dd.from_pandas(pd.DataFrame(spoilt), npartitions=3)
    with pytest.raises(ValueError, match=words):
        model.predict(table).compute(scheduler="sync")
    with pytest.raises(ValueError, match=words):
        model.predict(in_blocks(spoilt, LABELS[2], 1000), to_parquet=tmp_path / "out")
    assert not list(tmp_path.iterdir())
