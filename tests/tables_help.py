"""Small tables for the tests of the command, the report and the export, and the command itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from clearning.cli import main

WORDS = np.array(
    ["crew", "deck", "boat", "cold", "band", "night", "ice", "water", "calm", "fast", "rescue"]
)


def passengers(n: int = 400, seed: int = 1) -> pl.DataFrame:
    """A table with everything: numbers, categories, dates, text, identifiers, gaps, a constant."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, n).round(1)
    sex = rng.choice(["male", "female"], n)
    port = rng.choice(["Southampton", "Cherbourg", "Queenstown"], n, p=[0.7, 0.2, 0.1])
    fare = np.exp(rng.normal(3, 1, n)).round(2)
    score = -1.5 + 2.2 * (sex == "female") - 0.05 * (age - 40) + 0.4 * np.log(fare)
    frame = pl.DataFrame(
        {
            "passenger_id": np.arange(n) * 7 + 100,
            "name": [f"P{i:05d}x" for i in range(n)],
            "age": age,
            "sex": sex,
            "port": port,
            "fare": fare,
            "booked": (np.datetime64("2020-01-01") + rng.integers(0, 999, n)).astype(str),
            "note": [" ".join(rng.choice(WORDS, 6)) for _ in range(n)],
            "ship": ["Titanic"] * n,
            "survived": np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"),
        }
    )
    gaps = {"age": 0.2, "port": 0.1}
    return frame.with_columns(
        pl.when(pl.Series(rng.random(n) < share)).then(None).otherwise(pl.col(name)).alias(name)
        for name, share in gaps.items()
    )


def write_csv(path: Path, columns: dict[str, list[object]]) -> Path:
    """Write columns as a CSV file."""
    pl.DataFrame(columns, strict=False).write_csv(path)
    return path


def two_classes(n: int = 60, seed: int = 0) -> dict[str, list[object]]:
    """Two numbers and a target with two classes."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n)).round(3)
    y = np.where(x + 0.5 * z + rng.normal(size=n) > 0, "b", "a")
    return {"x": x.tolist(), "z": z.tolist(), "y": y.tolist()}


def run(*words) -> int:
    """What a command line ends with."""
    return main([str(word) for word in words])


def refused(capsys, *words) -> str:
    """The one sentence of a command that fails."""
    assert run(*words) == 1
    error = capsys.readouterr().err
    assert error.startswith("clearning: ")
    assert error.count("\n") == 1
    return error
