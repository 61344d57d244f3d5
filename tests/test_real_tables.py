"""`clearning fit` on real tables, without any option but the target."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from clearning.cli import main
from clearning.tables import load_model

FOLDER = Path(os.environ.get("CLEARNING_DATA", ""))


def load(name):
    path = FOLDER / f"{name}.npz"
    if "CLEARNING_DATA" not in os.environ or not path.is_file():
        pytest.skip(f"{name}.npz is found through CLEARNING_DATA")
    return np.load(path, allow_pickle=False)


def numbers(name):
    data = load(name)
    frame = pl.DataFrame(data["X"], schema=[f"x{j}" for j in range(data["X"].shape[1])])
    return frame.with_columns(y=pl.Series(data["y"]))


def heart():
    """Categories and missing values: the family's history in words, and every tenth cell gone."""
    frame, rng = numbers("saheart"), np.random.default_rng(0)
    binary = [name for name in frame.columns[:-1] if frame[name].n_unique() == 2]
    history = pl.Series(np.where(frame[binary[0]] > 0, "present", "absent"))
    frame = frame.drop(binary[0]).with_columns(history=history)
    gone = rng.random(frame.shape) < 0.1
    holed = [
        pl.Series(name, [None if out else cell for cell, out in zip(frame[name], column)])
        for name, column in zip(frame.columns, gone.T)
        if name != "y"
    ]
    return frame.with_columns(holed)


def reviews(rows=1000):
    """Free text: each word of a review by its number."""
    data = load("rt_polarity_bow")
    picked = np.random.default_rng(0).choice(len(data["y"]), rows, replace=False)
    starts = data["indptr"]
    texts = [
        " ".join(f"word{j}" for j in data["indices"][starts[i] : starts[i + 1]]) for i in picked
    ]
    return pl.DataFrame({"review": texts, "y": data["y"][picked]})


def census(rows=500):
    data = load("a9a")
    X = np.zeros((rows, data["shape"][1]), dtype=int)
    for i in range(rows):
        X[i, data["indices"][data["indptr"][i] : data["indptr"][i + 1]]] = 1
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    return frame.with_columns(y=pl.Series(data["y"][:rows]))


TABLES = {
    "saheart": (heart, 0.35),
    "diabetes_pima": (lambda: numbers("diabetes_pima"), 0.3),
    "colon_alon": (lambda: numbers("colon_alon"), 0.4),
    "spambase": (lambda: numbers("spambase").sample(500, seed=0), 0.2),
    "rt_polarity": (reviews, 0.45),
    "a9a": (census, 0.25),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_real_table_needs_no_option(name, tmp_path, capsys):
    make, worst = TABLES[name]
    make().write_csv(tmp_path / "t.csv")
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "y", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""
    model = load_model(tmp_path / "model.skops")
    test = model.record["test"]
    assert np.mean(test["actual"] != test["predicted"]) < worst
    assert model.classifier.dual_gap_ <= 1e-5 * model.classifier.objective_
