"""The report's numbers are right, by class, for two classes and for many."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, log_loss
from tables_help import passengers, two_classes

from clearning.report import render_report, summary_facts
from clearning.report.findings import certificate, kept_features, percent
from clearning.report.measures import Measures
from clearning.report.words import named, plain
from clearning.tables import FitOptions, fit_table
from clearning.tables.explain import explain
from clearning.tables.predictions import explanations, held_out_predictions
from clearning.tables.schema import Source


@pytest.fixture(scope="module")
def model():
    return fit_table(passengers(), FitOptions("survived", kernel=False), "passengers.csv")


def test_measures_are_scikit_learns(model):
    found, test = Measures.of(model), model.record["test"]
    assert found.n_rows == 100
    np.testing.assert_allclose(found.log_loss, log_loss(test["actual"], test["probability"]))
    np.testing.assert_array_equal(
        found.confusion, confusion_matrix(test["actual"], test["predicted"])
    )
    assert found.n_wrong == round(100 * found.error)
    low, high = found.error_band
    assert low < found.error < high
    assert [one.label for one in found.judged] == ["yes"]


def test_weighted_measures_are_those_of_repeated_rows(model):
    found = Measures.of(model)
    weight = np.arange(100) % 3 + 1
    rows = np.repeat(np.arange(100), weight)

    def taken(rows, weight):
        return Measures(
            found.labels,
            found.actual[rows],
            found.predicted[rows],
            found.probability[rows],
            weight,
            found.scored,
        )

    weighted, repeated = (
        taken(np.arange(100), weight.astype(float)),
        taken(rows, np.ones(len(rows))),
    )
    for name in ("error", "log_loss", "base_log_loss"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name))
    np.testing.assert_allclose(weighted.judged[0].area, repeated.judged[0].area)


def test_kept_features_are_on_the_tables_scale(model):
    """Moving a number by one unit moves the score by its coefficient."""
    features = {feature.label: feature for feature in kept_features(model)}
    frame = passengers().drop_nulls().head(5)
    moved = frame.with_columns(pl.col("fare") + 1.0)

    def scores(table):
        return model.pipeline.decision_function(model.prepared(table))

    step = scores(moved) - scores(frame)
    np.testing.assert_allclose(step, features["fare"].coefficients[0], rtol=1e-8)
    for feature in features.values():
        earlier = sum(other.entered > feature.entered for other in features.values())
        assert 1 + earlier <= feature.order
    first = max(feature.entered for feature in features.values())
    assert {one.order for one in features.values() if one.entered == first} == {1}
    orders = {(feature.entered, feature.order) for feature in features.values()}
    assert len(dict(orders)) == len(orders)


def test_the_certificate_is_a_sentence_that_stays_true(model):
    told = certificate(model.classifier)
    share = float(re.search(r"more than ([\d.]+)%", told).group(1)) / 100
    assert model.classifier.dual_gap_ <= share * model.classifier.objective_
    for value in (1.2345e-7, 0.031, 0.5, 1e-30, 0.0):
        assert float(percent(value).rstrip("%")) >= 100 * value


def test_landmarks_speak_of_all_rows_where_that_is_known():
    class Landmarks:
        dual_gap_, objective_, full_gap_ = 1e-8, 0.5, 1e-3
        landmarks_ = np.arange(40)

    told = certificate(Landmarks())
    assert "40 rows chosen as landmarks" in told
    assert "all rows none lower by more than 0.2%" in told
    Landmarks.full_gap_ = np.nan
    assert "of models on all rows nothing is proved" in certificate(Landmarks())


def test_names_are_escaped_and_cut():
    assert plain('<a href="x">&\u202e\0') == "&lt;a href=&quot;x&quot;&gt;&amp;\ufffd\ufffd"
    assert named("w" * 300).count("w") == 372
    assert "…" in named("w" * 300)


def test_the_page_is_self_contained_and_says_what_was_asked(model):
    page = render_report(model)
    assert not re.search(r"(src|href)=\"(?!#)|url\(|@import", page)
    for words in (
        "survived",
        "best",
        "one standard error",
        "No model of this kind",
        "What was odd",
        "left out",
        "seed 0",
    ):
        assert words in page
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page).group(1))
    assert facts["rows"] == 100
    assert [one["label"] for one in facts["classes"]] == ["no", "yes"]
    yes = facts["classes"][1]
    assert yes["hits"][0] == yes["events"]
    assert yes["false"][0] == 100 - yes["events"]


@pytest.fixture(scope="module")
def three():
    frame = pl.DataFrame(two_classes(240)).with_columns(y=pl.Series(list("abc") * 80))
    shift = pl.col("y").replace_strict({"a": -2.0, "b": 0.0, "c": 2.0})
    frame = frame.with_columns(x=pl.col("x") + shift)
    return fit_table(frame, FitOptions("y", kernel=False), "t.csv"), frame


def test_many_classes_are_reported_class_by_class(three):
    model, _ = three
    page = render_report(model)
    for label in "abc":
        assert f"Calibration of <bdi>{label}</bdi>" in page
        assert f"towards <bdi>{label}</bdi>" in page
    assert page.count("<option") == 3
    facts = summary_facts(model)
    assert facts["test"]["area"].keys() == {"a", "b", "c"}
    assert held_out_predictions(model).columns[-3:] == [f"probability of {k}" for k in "abc"]
    assert len(model.classifier.summary().columns) == 1 + 2 * 3 + 1


def test_many_classes_are_drawn_and_framed(three):
    from matplotlib import pyplot as plt

    from clearning.display import PathDisplay

    model, _ = three
    path = model.classifier.path_
    display = PathDisplay.from_path(path, ax=plt.subplots()[1])
    assert len(display.lines_) == 2
    assert (display.lines_[0].get_ydata() >= 0).all()
    table = path.to_frame()
    assert {"intercept a", "intercept c", "coef a 0", "coef c 0"} <= set(table.columns)


def test_many_classes_are_explained_class_by_class(three):
    model, frame = three
    prepared = model.prepared(frame.head(7))
    found = explain(model, prepared)
    assert found.contributions.shape == (3, 7, 2)
    assert found.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(found.together, 0.0, atol=1e-12)
    table = explanations(Source(frame.head(7), Path("t.csv")), prepared, found)
    assert len(table) == 3 * 7 * 4


def test_frames_in_memory_are_refused_in_the_same_words(model):
    with pytest.raises(ValueError, match="the table lacks the columns"):
        model.predict(pl.DataFrame({"age": [1.0]}))
    odd = passengers(30).with_columns(age=pl.lit("old"))
    with pytest.raises(ValueError, match="the table, row 1, column 'age': 'old' is no number"):
        model.predict(odd)
