"""Exported models answer as they do here: ONNX in double and single, skops round trips."""

import io
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tables_help import passengers

import clearning
from clearning import (
    CalibratedMarginClassifier,
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    WeightedMarginClassifier,
    clearning_path,
    temperature_path,
)
from clearning import losses as losses_module
from clearning.cli import main
from clearning.export import TRUSTED_TYPES, to_onnx
from clearning.losses import Loss
from clearning.tables import FitOptions, TableModel, fit_table, load_model, save_model

onnxruntime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
skops_io = pytest.importorskip("skops.io", reason="models are stored by skops")

RAW, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(RAW)
LABELS = np.array(["benign", "malignant"])[1 - Y]
MANY = 100_000


def many_rows(samples):
    rng = np.random.default_rng(0)
    rows = samples[rng.integers(0, len(samples), MANY)]
    return rows + 0.1 * samples.std(axis=0) * rng.normal(size=rows.shape)


def run(graph, rows):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return session.run(None, {session.get_inputs()[0].name: rows})


def scores_of(model, rows):
    return model.decision_function(rows) if hasattr(model, "decision_function") else None


def kernel(**options):
    return KernelCLearningClassifier(**{"alpha": 0.02, **options})


LINEAR = {
    "linear": (CLearningClassifier(), X),
    "raw features": (CLearningClassifier(standardize=True), RAW),
    "cold": (CLearningClassifier(rho=0.05), X),
    "logistic": (CLearningClassifier(loss="logistic"), X),
    "cross-validated": (CLearningClassifierCV(alphas=5), X),
    "calibrated search": (CLearningClassifierCV(alphas=5, loss="hinge", calibrate=True), X),
    "linear kernel": (kernel(kernel="linear"), X),
    "pipeline": (make_pipeline(StandardScaler(), CLearningClassifier()), RAW),
    "coherence": (CalibratedMarginClassifier(CLearningClassifier()), X),
    "platt": (CalibratedMarginClassifier(CLearningClassifier(), method="platt"), X),
    "sollich": (CalibratedMarginClassifier(CLearningClassifier(), method="sollich"), X),
    "calibrated pipeline": (
        CalibratedMarginClassifier(make_pipeline(StandardScaler(), LinearSVC())),
        RAW,
    ),
}
KERNEL = {
    "rbf": (kernel(), X),
    "rbf far apart": (kernel(gamma=5.0), X[:, :3]),
    "polynomial": (kernel(kernel="polynomial", gamma=0.01, coef0=1.0), X),
    "landmarks": (KernelCLearningClassifierCV(alphas=5, n_landmarks=40), X),
    "ensemble": (CalibratedMarginClassifier(kernel(), ensemble=True, cv=2), X),
}


@pytest.mark.parametrize("name", [*LINEAR, *KERNEL])
def test_onnx_answers_as_the_model(name):
    model, samples = {**LINEAR, **KERNEL}[name]
    model.fit(samples, LABELS)
    rows = many_rows(samples)
    label, probabilities = run(to_onnx(model), rows)
    assert np.abs(probabilities - model.predict_proba(rows)).max() <= 1e-12
    assert (label == model.predict(rows)).all()

    single = rows.astype(np.float32)
    label, probabilities = run(to_onnx(model, double=False), single)
    rows = single.astype(float)
    bound = 1e-6 if name in LINEAR else 1e-5
    assert probabilities.dtype == np.float32
    assert np.abs(probabilities - model.predict_proba(rows)).max() <= bound
    changed = label != model.predict(rows)
    scores = scores_of(model, rows)
    if scores is None:
        scores = np.diff(model.predict_proba(rows))[:, 0]
    assert not (changed & (np.abs(scores) > 1e-4)).any()


def test_scores_where_there_are_no_probabilities():
    model = CLearningClassifier(loss="hinge").fit(X, Y)
    graph = to_onnx(model)
    assert [output.name for output in graph.graph.output] == ["label", "scores"]
    label, scores = run(graph, X)
    np.testing.assert_allclose(scores[:, 0], model.decision_function(X), atol=1e-12)
    assert label.dtype == np.int64


def test_a_frozen_estimator_and_one_without_support_vectors():
    inner = CLearningClassifier().fit(X, Y)
    model = CalibratedMarginClassifier(FrozenEstimator(inner)).fit(X, Y)
    np.testing.assert_allclose(run(to_onnx(model), X)[1], model.predict_proba(X), atol=1e-12)
    empty = kernel(alpha=1e3).fit(X, Y)
    assert empty.dual_coef_.shape[1] == 0
    np.testing.assert_allclose(run(to_onnx(empty), X)[1], empty.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(("rho", "u"), [(1.0, 1.0), (0.3, 0.5), (1.0, 0.0), (0.05, 1.0)])
def test_many_classes_have_the_closed_form_s_probabilities(rho, u):
    from mpmath import exp, mp, mpf

    iris, labels = load_iris(return_X_y=True)
    model = CLearningClassifier(alpha=0.01, rho=rho, u=u).fit(iris, labels)
    rows = iris + np.random.default_rng(4).normal(size=iris.shape)
    label, probabilities = run(to_onnx(model), rows)
    scores = rows @ model.coef_.T + model.intercept_
    assert (label == model.classes_[scores.argmax(axis=1)]).all()
    with mp.workdps(60):
        for row, found in zip(scores, probabilities):
            a = [exp(mpf(float(g)) / rho) for g in row]
            weight = [x * (x + exp(mpf(u) / rho) * (sum(a) - x)) for x in a]
            expected = [float(w / sum(weight)) for w in weight]
            np.testing.assert_allclose(found, expected, atol=1e-12)


THREE = {
    "linear": CLearningClassifierCV(alphas=5, standardize=True),
    "grouped": CLearningClassifierCV(alphas=5, groups="classes"),
    "one versus rest": CalibratedMarginClassifier(LinearSVC()),
    "jointly calibrated": CalibratedMarginClassifier(LinearSVC(), method="joint"),
    "kernel": KernelCLearningClassifier(),
    "kernel on landmarks": KernelCLearningClassifierCV(alphas=5, n_landmarks=20, groups="classes"),
}


@pytest.mark.parametrize("name", THREE)
def test_three_classes_answer_the_same_elsewhere(name):
    iris, labels = load_iris(return_X_y=True)
    model = clone(THREE[name]).fit(iris, labels)
    rows = many_rows(iris)
    found, probabilities = run(to_onnx(model), rows)
    assert np.abs(probabilities - model.predict_proba(rows)).max() <= 1e-12
    assert (found == model.predict(rows)).all()
    single = run(to_onnx(model, double=False), rows.astype(np.float32))[1]
    assert np.abs(single - model.predict_proba(rows.astype(np.float32))).max() <= 1e-5
    again = skops_io.loads(skops_io.dumps(model), trusted=TRUSTED_TYPES)
    np.testing.assert_array_equal(again.predict_proba(iris), model.predict_proba(iris))


def test_what_cannot_be_exported_is_told():
    model = KernelCLearningClassifier(kernel=lambda A, B: A @ B.T).fit(X[:60], Y[:60])
    with pytest.raises(ValueError, match="cannot be written as ONNX"):
        to_onnx(model)
    weighted = WeightedMarginClassifier(CLearningClassifier()).fit(X[:60], Y[:60])
    with pytest.raises(ValueError, match="WeightedMarginClassifier cannot be written as ONNX"):
        to_onnx(weighted)


def test_a_stored_estimator_is_exported_by_the_command(tmp_path, capsys):
    model = CLearningClassifier().fit(X, Y)
    (tmp_path / "m.skops").write_bytes(skops_io.dumps(model))
    words = ["export", str(tmp_path / "m.skops"), "-o", str(tmp_path / "m.onnx"), "--float32"]
    assert main(words) == 0
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    _, probabilities = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-6)
    assert main(["predict", words[1], str(tmp_path / "t.csv"), "-o", str(tmp_path / "o.csv")]) == 1
    assert "not a model that `clearning fit` wrote" in capsys.readouterr().err


@pytest.fixture(scope="module")
def table_model():
    frame = passengers().drop("note")
    return fit_table(frame, FitOptions("survived", kernel=False)), frame


def feed(session, prepared, dtype):
    def column(name):
        series = prepared[name]
        values = series.to_numpy()
        return (values.astype(dtype) if series.dtype.is_float() else values.astype(object))[:, None]

    return {one.name: column(one.name) for one in session.get_inputs()}


@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_a_whole_table_as_onnx(table_model, dtype, bound):
    model, frame = table_model
    prepared = model.prepared(frame)
    graph = to_onnx(model, double=dtype == np.float64)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    label, probabilities = session.run(None, feed(session, prepared, dtype))
    assert np.abs(probabilities - model.predict_proba(frame)).max() <= bound
    assert (label == model.predict(frame)).all()


def test_free_text_is_no_onnx():
    model = fit_table(passengers(), FitOptions("survived", kernel=False))
    with pytest.raises(ValueError, match="'note' is free text"):
        to_onnx(model)


def test_skops_round_trip_of_every_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [model.fit(samples, Y) for model, samples in {**LINEAR, **KERNEL}.values()]
        models.append(WeightedMarginClassifier(CLearningClassifier()).fit(X, Y))
        models.append(CLearningClassifier(loss="squared_hinge").fit(X, Y))
    samples = [data for _, data in {**LINEAR, **KERNEL}.values()] + [X, X]
    for model, data in zip(models, samples):
        again = skops_io.loads(skops_io.dumps(model), trusted=TRUSTED_TYPES)
        assert repr(again) == repr(model)
        np.testing.assert_array_equal(again.predict(data), model.predict(data))
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))
    for packed in (sparse.csr_array(X), sparse.csr_matrix(X)):
        model = kernel().fit(packed, Y)
        again = skops_io.loads(skops_io.dumps(model), trusted=TRUSTED_TYPES)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_allclose(run(to_onnx(model), X)[1], model.predict_proba(X), atol=1e-12)
    for path in (clearning_path(X, Y), temperature_path(X, Y, alpha=0.1, rhos=3)):
        again = skops_io.loads(skops_io.dumps(path), trusted=TRUSTED_TYPES)
        np.testing.assert_array_equal(again.decision_function(X), path.decision_function(X))


def test_every_class_that_can_be_stored_is_trusted():
    stored = [
        getattr(clearning, name)
        for name in clearning.__all__
        if isinstance(getattr(clearning, name), type)
    ]
    stored += [
        loss
        for loss in vars(losses_module).values()
        if isinstance(loss, type) and issubclass(loss, Loss) and loss is not Loss
    ]
    assert {f"{one.__module__}.{one.__qualname__}" for one in stored} <= set(TRUSTED_TYPES)


def test_a_table_model_round_trip(table_model, tmp_path):
    model, frame = table_model
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops")
    assert again.columns == model.columns
    assert again.record["problems"] == model.record["problems"]
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(
        again.predict_proba(frame.to_pandas()), model.predict_proba(frame)
    )


def test_a_table_model_sums_itself_up(table_model):
    model, _ = table_model
    features = model.summary().columns["feature"]
    assert "sex = female" in features
    assert "age" in features


def test_damaged_models_are_one_sentence(table_model, tmp_path):
    model, _ = table_model
    save_model(model, tmp_path / "m.skops")
    whole = (tmp_path / "m.skops").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    hollow = TableModel("no pipeline", model.columns, "y", model.centre, model.record)
    damaged = {
        "cut": whole[: len(whole) // 2],
        "empty": repacked({}),
        "nonsense": repacked({**members, "schema.json": b"{}"}),
        "no json": repacked({**members, "schema.json": b"\xff"}),
        "without arrays": repacked({"schema.json": members["schema.json"]}),
        "hollow": skops_io.dumps(hollow),
    }
    for name, content in damaged.items():
        path = tmp_path / f"{name}.skops"
        path.write_bytes(content)
        with pytest.raises(ValueError) as caught:
            load_model(path)
        assert str(caught.value).startswith(str(path)), name
        assert "\n" not in str(caught.value)


def repacked(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Foreign:
    """A class nobody trusts."""


def test_a_file_with_foreign_types_is_not_loaded(tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops_io.dumps({"model": Foreign()}))
    with pytest.raises(ValueError, match="not trusted and was not loaded"):
        load_model(path)
