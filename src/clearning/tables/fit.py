"""From a table to a fitted model: decide, hold out, cross-validate, test."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from clearning import __version__
from clearning.tables.errors import TableError, place, quoted
from clearning.tables.explain import influence
from clearning.tables.kinds import Column
from clearning.tables.model import TableModel
from clearning.tables.pipeline import column_mean, make_transformer
from clearning.tables.problems import find_problems
from clearning.tables.schema import (
    Source,
    Target,
    decide_columns,
    prepare,
    read_target,
    read_weight,
)
from clearning.tables.search import search
from clearning.tables.split import (
    Indices,
    group_folds,
    hold_out,
    hold_out_groups,
    hold_out_latest,
    read_groups,
)

# A class needs a row to test on, and one for each of at least two folds, with one to spare.
FEWEST = 4


@dataclass(frozen=True)
class FitOptions:
    """What may be asked of `fit_table`.

    Attributes
    ----------
    target : str
        Name of the column to predict.
    test : float
        Share of the rows held out to test on.
    time, group, weight : str or None
        Names of columns: hold out the latest rows, hold out whole groups, weigh the rows.
    kinds : mapping of str to str
        What columns are, against what would be decided: "number", "category", "date", "text" or
        "ignore".
    kernel : bool or None
        Whether to try a kernel; None tries one up to 5000 training rows.
    selection : {"best", "one_se"}
        The penalty of the best cross-validated score, or the largest within a standard error.
    folds : int
        Folds of the cross-validation.
    seed : int
        Seed of what is held out.
    jobs : int
        Threads.

    Examples
    --------
    >>> from clearning.tables import FitOptions
    >>> FitOptions("diagnosis", test=0.3, selection="one_se").kernel is None
    True
    """

    target: str
    test: float = 0.25
    time: str | None = None
    group: str | None = None
    weight: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    kernel: bool | None = None
    selection: str = "best"
    folds: int = 5
    seed: int = 0
    jobs: int = -1

    def __post_init__(self) -> None:
        if not 0.0 < self.test < 1.0:
            raise TableError(f"--test {self.test:g} must be a share between 0 and 1.")
        if self.time is not None and self.group is not None:
            raise TableError("--time and --group cannot both say what is held out; give one.")
        taken: dict[str, str] = {}
        for role in ("target", "time", "group", "weight"):
            name = getattr(self, role)
            if name in taken:
                raise TableError(
                    f"Column {quoted(name)} cannot be both --{taken[name]} and --{role}."
                )
            if name is not None:
                taken[name] = role


@dataclass(frozen=True)
class Data:
    """The rows that have a target and weight, ready to be learnt from."""

    source: Source
    features: Any
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    rows: NDArray[np.int64]

    def weights_of(self, part: Indices) -> NDArray[np.float64] | None:
        """The weights of some rows, where there are any."""
        return None if self.weight is None else self.weight[part]


def fit_table(
    frame: Any,
    options: FitOptions,
    path: Path | str = "table.csv",
    say: Callable[[str], None] = lambda line: None,
) -> TableModel:
    """Fit a classifier to a table and test it on rows it has not seen.

    Parameters
    ----------
    frame : polars.DataFrame
        The table, as `read_table` returns it.
    options : FitOptions
        What is asked.
    path : path-like, default="table.csv"
        What the table is called.
    say : callable, default=nothing
        Takes a line about each thing decided.

    Returns
    -------
    TableModel
        Fitted to the training part; its record holds what it said of the test part.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning.tables import FitOptions, fit_table
    >>> data = load_breast_cancer()
    >>> frame = pl.DataFrame(data.data[:, :4], schema=["radius", "texture", "perimeter", "area"])
    >>> frame = frame.with_columns(benign=pl.Series(data.target))
    >>> model = fit_table(frame, FitOptions("benign", kernel=False))
    >>> model.predict_proba(frame).shape
    (569, 2)
    """
    begun = time.perf_counter()
    source = Source(frame, Path(path))
    weight = None if options.weight is None else read_weight(source, options.weight)
    target = read_target(source, options.target, FEWEST, weight)
    data, columns = _data(source, target, weight, options)
    say(_what_was_read(source, target, columns))
    train, test, cv = _parts(data, options)
    problems = find_problems(data.features, columns, target)
    transformer = make_transformer(data.features[train], columns)
    Z = transformer.fit_transform(data.features[train])
    choice = search(Z, data.labels[train], data.weights_of(train), options, cv, say)
    pipeline = Pipeline([("columns", transformer), ("classifier", choice.classifier)])
    record: dict[str, Any] = {
        "version": __version__,
        "file": source.path.name,
        "options": asdict(options),
        "rows": {"read": len(frame), "train": len(train), "test": len(test)},
        "counts": {str(label): count for label, count in target.counts.items()},
        "problems": problems + choice.notes,
        "candidates": choice.candidates,
        "reason": choice.reason,
        "test": _tested(pipeline, data, test),
    }
    model = TableModel(pipeline, columns, options.target, column_mean(Z), record)
    model.record["influence"] = influence(model, data.features[test])
    model.record["seconds"] = time.perf_counter() - begun
    return model


def _data(
    source: Source, target: Target, weight: NDArray[np.float64] | None, options: FitOptions
) -> tuple[Data, list[Column]]:
    # What parts or weighs the rows is not learnt from: later rows lie beyond every time seen.
    roles = {name: getattr(options, name) for name in ("target", "weight", "group", "time")}
    columns = decide_columns(source, roles, options.kinds)
    held = np.flatnonzero(target.held)
    features = prepare(source, columns)
    rows = np.array([source.row_of(0)]) + held
    every = len(held) == len(source.frame)
    return Data(
        source if every else source.rows(held),
        features if every else features[held],
        target.labels,
        None if weight is None else weight[held],
        rows,
    ), columns


def _parts(data: Data, options: FitOptions) -> tuple[Indices, Indices, Any]:
    """Return the rows to learn from, those to test on, and the folds."""
    source, labels = data.source, data.labels
    if options.group is not None:
        groups = read_groups(source, options.group)
        train, test = hold_out_groups(
            source, options.group, labels, groups, options.test, options.seed
        )
        return train, test, group_folds(labels[train], groups[train], options.folds)
    if options.time is not None:
        train, test = hold_out_latest(source, options.time, labels, options.test)
    else:
        train, test = hold_out(labels, options.test, options.seed)
    smallest = int(np.unique(labels[train], return_counts=True)[1].min())
    if smallest < 2:
        raise TableError(
            f"{place(source.path, None, options.target)} has a class with {smallest} row left to "
            "learn from; a smaller --test leaves more."
        )
    return train, test, min(options.folds, smallest)


def _tested(pipeline: Pipeline, data: Data, test: Indices) -> dict[str, Any]:
    """What the model says of the rows it was not fitted to."""
    held = data.features[test]
    classes = pipeline[-1].classes_
    weight = data.weights_of(test)
    return {
        "row": data.rows[test],
        "actual": np.searchsorted(classes, data.labels[test]),
        "predicted": np.searchsorted(classes, pipeline.predict(held)),
        "probability": pipeline.predict_proba(held),
        "weight": np.ones(len(test)) if weight is None else weight,
    }


def _what_was_read(source: Source, target: Target, columns: list[Column]) -> str:
    kinds: dict[str, int] = {}
    for column in columns:
        kinds[column.kind] = kinds.get(column.kind, 0) + 1
    kinds["left out"] = kinds.pop("ignore", 0)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
    classes = ", ".join(f"{label} {count:,}" for label, count in target.counts.items())
    return f"{source.path}: {len(source.frame):,} rows; target {classes}; columns: {counted}"
