"""Tables that are strange but fine go all the way, and what cannot is told in one sentence."""

import datetime

import numpy as np
import polars as pl
import pytest

from clearning.cli import main

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
Y = np.where(X + RNG.normal(size=N) > 0, "b", "a")
BASE = pl.DataFrame({"x": X, "y": Y})


def with_column(*columns, **named):
    return BASE.with_columns(*columns, **{name: pl.Series(v) for name, v in named.items()})


def with_weight(one):
    return with_column(w=["1"] * 4 + [str(one)] + ["1"] * (N - 5))


STRANGE = {
    "infinities": with_column(z=[float("inf"), -float("inf"), float("nan")] * 20),
    "names like patterns": pl.DataFrame(
        {"*": X, "^.*$": X**2, "": np.sin(X), "w" * 3000: X**3, "a\nb": -X, "y": Y}
    ),
    "names of methods": pl.DataFrame({"__class__": X, "self": X**2, "X": np.sin(X), "y": Y}),
    "categories only": pl.DataFrame(
        {"c": RNG.choice(list("uvw"), N), "d": RNG.choice(list("uv"), N), "y": Y}
    ),
    "truth values": with_column(y=X > 0, b=X < 0.3),
    "huge labels": with_column(y=np.where(X > 0, "99999999999999999999", "5")),
    "labels that are formulas": with_column(y=np.where(X > 0, "=cmd|' /C calc'!A0", "<b>")),
    "rare class": with_column(y=["a"] * 56 + ["b"] * 4),
    "one category and gaps": with_column(c=[None if i % 3 else "k" for i in range(N)]),
    "text of many tongues": with_column(
        t=[" ".join(RNG.choice(["привет", "мир", "café", "straße"], 6)) + f" {i}" for i in range(N)]
    ),
    "marks instead of words": with_column(t=["!? " * (3 + i) for i in range(N)]),
    "times of day": with_column(
        t=[datetime.time(i % 24) for i in range(N)], d=[datetime.timedelta(i % 9) for i in range(N)]
    ),
    "categories of Parquet": with_column(pl.Series("c", Y).reverse().cast(pl.Categorical)),
    "lists": with_column(c=[[1, 2]] * N),
}
BINARY = ("times of day", "categories of Parquet", "lists", "truth values")


@pytest.mark.parametrize("name", STRANGE)
def test_strange_but_fine(name, tmp_path, capsys):
    path = tmp_path / ("t.parquet" if name in BINARY else "t.csv")
    frame = STRANGE[name]
    frame.write_parquet(path) if name in BINARY else frame.write_csv(path)

    def run(*words):
        status = main([str(word) for word in words])
        assert (status, capsys.readouterr().err) == (0, "")

    run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel")
    model = tmp_path / "model.skops"
    run("predict", model, path, "-o", tmp_path / "o.csv")
    run("explain", model, path)
    run("report", model, path, "-o", tmp_path / "r.html")
    if "text" not in name:
        run("export", model, "-o", tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("frame", "options", "told"),
    [
        (with_column(z=X * 1e300), (), "column 'z': -2.33e+300 is too large to compute with"),
        (with_column(w=[-1.0] * N), ("--weight", "w"), "row 2, column 'w': '-1.0' is no weight"),
        (with_column(w=[0.0] * N), ("--weight", "w"), "column 'w' holds no weight above zero"),
        (with_weight(1e308), ("--weight", "w"), "row 6, column 'w': 1e+308 is the largest weight"),
        (with_weight(1e20), ("--weight", "w"), "row 6, column 'w': 1e+20 is more weight than all"),
        (with_weight("inf"), ("--weight", "w"), "row 6, column 'w': 'inf' is no weight"),
        (with_weight("nan"), ("--weight", "w"), "row 6, column 'w': a missing value is no weight"),
        (
            with_column(w=[1e-300] * N),
            ("--weight", "w"),
            "row 2, column 'w': 1e-300 is the",
        ),
        (with_column(w=(Y == "a") * 1.0), ("--weight", "w"), "every sample of class 'b'"),
        (with_column(g=["u", "v"] * 30), ("--group", "g"), "holds 2 groups, and at least 8"),
        (with_column(g=["u", "v"] * 30), ("--time", "g"), "holds no times: 2 categories"),
        (with_column(g=np.arange(N) * 1.5, y=["a"] * 40 + ["b"] * 20), ("--time", "g"), "no 'a'"),
        (with_column(z=X * 1e-200), (), "column 'z': 2.33e-200 is the largest number of a column"),
        (
            BASE.rename({"y": " Y "}),
            (),
            "has no column 'y' to take as the target; did you mean ' Y '",
        ),
        (BASE, ("--as", "x=date", "--as", "x=text"), "--as takes column 'x' as date and as text"),
        (BASE, ("--test", "0.99"), "leaves 1 of 60 rows"),
        (BASE, ("--test", "nan"), "must be a share between 0 and 1"),
        (BASE, ("--as", "q=number"), "has no column 'q'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(frame, options, told, tmp_path, capsys):
    frame.write_csv(tmp_path / "t.csv")
    words = ["fit", str(tmp_path / "t.csv"), "--target", "y", "-o", str(tmp_path / "out"), *options]
    assert main(words) == 1
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "column", [pl.Series([{"a": 1}] * N), pl.Series([datetime.date(2024, 1, 1)] * N)]
)
def test_what_is_no_number_is_not_taken_for_one(column, tmp_path, capsys):
    path = tmp_path / "t.parquet"
    BASE.with_columns(column.alias("w")).write_parquet(path)
    for option, told in ((("--weight", "w"), "is no weight"), (("--as", "w=number"), "not a num")):
        assert main(["fit", str(path), "--target", "y", "-o", str(tmp_path), *option]) == 1
        error = capsys.readouterr().err
        assert f"{path}, row 1, column 'w': " in error
        assert told in error
        assert error.count("\n") == 1
