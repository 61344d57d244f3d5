"""Summaries, frames, plots and short representations of fitted models and paths."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import clearning
from clearning import (
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    clearning_path,
    temperature_path,
)

pd = pytest.importorskip("pandas", reason="frames are pandas frames")
FRAME, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = FRAME.to_numpy()


@pytest.fixture(scope="module")
def search():
    return CLearningClassifierCV(alphas=20, standardize=True).fit(FRAME, Y)


def test_a_linear_summary(search):
    table = search.summary().to_frame()
    assert list(table.columns) == ["feature", "coefficient", "standardised", "entered at"]
    kept = np.flatnonzero(search.coef_[0])
    assert set(table["feature"]) == set(FRAME.columns[kept])
    for _, row in table.iterrows():
        j = FRAME.columns.get_loc(row["feature"])
        assert row["coefficient"] == search.coef_[0, j]
        np.testing.assert_allclose(row["standardised"], row["coefficient"] * X[:, j].std())
        entered = search.path_.alphas[np.flatnonzero(search.path_.coefs[:, j])[0]]
        assert row["entered at"] == entered
    assert table["standardised"].abs().is_monotonic_decreasing


def test_scales_are_weighted_and_of_sparse_columns_too():
    from scipy import sparse

    weight = np.where(np.arange(len(Y)) % 3 == 0, 2.0, 1.0)
    dense = CLearningClassifier().fit(X, Y, sample_weight=weight)
    mean = np.average(X, axis=0, weights=weight)
    expected = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    np.testing.assert_allclose(dense.feature_scales_, expected)
    packed = CLearningClassifier().fit(sparse.csr_array(X), Y, sample_weight=weight)
    np.testing.assert_allclose(packed.feature_scales_, expected)


def test_a_single_fit_has_no_entries_and_kernels_have_samples():
    single = CLearningClassifier(standardize=True).fit(X, Y).summary()
    assert list(single.columns) == ["feature", "coefficient", "standardised"]
    assert "features, intercept" in repr(single)
    for model in (
        KernelCLearningClassifier(alpha=0.1),
        KernelCLearningClassifierCV(alphas=5),
        KernelCLearningClassifierCV(alphas=5, n_landmarks=30),
    ):
        model.fit(X, Y)
        columns = model.summary().columns
        assert sorted(columns["sample"]) == sorted(model.support_.tolist())
        largest = np.abs(model.dual_coef_[0]).max()
        assert abs(columns["coefficient"][0]) == largest
        if hasattr(model, "path_"):
            assert min(columns["entered at"]) >= model.alpha_ * (1 - 1e-12)


def test_summaries_print_and_escape():
    frame = FRAME.rename(columns={"worst radius": "<script>alert(1)</script>"})
    summary = CLearningClassifier(standardize=True).fit(frame, Y).summary()
    assert "<script>" not in summary._repr_html_()
    assert "&lt;script&gt;" in summary._repr_html_()
    lines = repr(summary).splitlines()
    assert len({len(line) for line in lines[1:]}) <= 2
    assert len(lines) <= 23


def test_old_models_have_summaries_too(search):
    old = CLearningClassifier().fit(X, Y)
    del old.feature_scales_
    assert np.isnan(old.summary().columns["standardised"]).all()


def test_a_path_as_a_frame(search):
    table = search.path_.to_frame()
    assert len(table) == 20
    np.testing.assert_array_equal(table["alpha"], search.path_.alphas)
    np.testing.assert_array_equal(table["dual_gap"], search.path_.dual_gaps)
    j = int(np.flatnonzero(search.path_.coefs.any(axis=0))[0])
    np.testing.assert_array_equal(table[f"coef {FRAME.columns[j]}"], search.path_.coefs[:, j])
    assert clearning_path(X, Y).to_frame().columns[-1].startswith("coef ")


def test_representations_are_short(search):
    cold = temperature_path(X, Y, alpha=0.1, rhos=3, standardize=True)
    for thing in (search.path_, cold, cold.hinge_limit):
        assert len(repr(thing)) < 250
        assert "\n" not in repr(thing)
    assert "20 penalties" in repr(search.path_)
    assert search.path_._repr_html_().count("<tr>") == 21
    assert search._repr_html_()


def test_submodules_are_attributes():
    for name in ("display", "losses", "metrics", "export", "tables", "datasets", "report"):
        code = f"import clearning; print(clearning.{name}.__name__)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == f"clearning.{name}", done.stderr
    assert "display" in dir(clearning)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = clearning.nothing


def test_models_draw_themselves(search):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = search.plot()
    assert [ax.get_xlabel() for ax in figure.axes] == ["alpha", "alpha"]
    single = CLearningClassifier(standardize=True).fit(FRAME, Y)
    figure = single.plot()
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert shown == single.summary().columns["feature"][:20]
    KernelCLearningClassifier(alpha=0.1).fit(X, Y).plot()
    plt.close("all")


def test_the_features_kept_at_the_chosen_penalty_are_named_in_colours_of_their_own(search):
    plt = pytest.importorskip("matplotlib.pyplot")
    from clearning.display import PathDisplay

    model = CLearningClassifierCV(alphas=20, standardize=True, selection="one_se").fit(FRAME, Y)
    display = PathDisplay.from_estimator(model, n_labels=12)
    kept = set(FRAME.columns[np.flatnonzero(model.coef_[0])])
    named = {label.get_text() for label in display.labels_}
    assert named <= kept
    assert len(named) == min(12, len(kept))
    colours = [tuple(np.ravel(label.get_color())) for label in display.labels_]
    assert len(set(colours)) == len(colours)
    ever = np.flatnonzero(model.path_.coefs.any(axis=0))
    drawn = np.column_stack([line.get_ydata() for line in display.lines_])
    np.testing.assert_allclose(drawn, (model.path_.coefs * X.std(axis=0))[:, ever])
    plt.close("all")
