"""From a table to a fitted model: decide, hold out, cross-validate, test."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from clearning import __version__
from clearning._words import count
from clearning.tables.errors import TableError, place, quoted
from clearning.tables.explain import influence
from clearning.tables.kinds import AS_ASKED, ASKED_KINDS, Column
from clearning.tables.model import TableModel
from clearning.tables.options import FitOptions
from clearning.tables.pipeline import column_mean, has_words, make_transformer
from clearning.tables.problems import find_problems
from clearning.tables.schema import (
    Source,
    Target,
    check_any_used,
    decide_columns,
    prepare,
    read_target,
    read_weight,
    refuse_tiny,
)
from clearning.tables.search import search
from clearning.tables.split import (
    Folds,
    Indices,
    class_folds,
    group_folds,
    hold_out,
    hold_out_groups,
    hold_out_latest,
    read_groups,
)

# A class needs a row to test on, and one for each of at least two folds, with one to spare.
FEWEST = 4


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
    train, test, folds = _parts(data, options)
    columns = _with_words(data, columns, train)
    problems = find_problems(data.features, columns, target)
    transformer = make_transformer(data.features[train], columns)
    Z = transformer.fit_transform(data.features[train])
    choice = search(Z, data.labels[train], data.weights_of(train), options, folds.cv, say)
    pipeline = Pipeline([("columns", transformer), ("classifier", choice.classifier)])
    record: dict[str, Any] = {
        "version": __version__,
        "file": source.path.name,
        "options": asdict(options),
        "rows": {"read": len(frame), "train": len(train), "test": len(test)},
        "folds": {"count": folds.count, "how": folds.how},
        "counts": {str(label): size for label, size in target.counts.items()},
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
    refuse_tiny(source, features)
    rows = np.array([source.row_of(0)]) + held
    every = len(held) == len(source.frame)
    return Data(
        source if every else source.rows(held),
        features if every else features[held],
        target.labels,
        None if weight is None else weight[held],
        rows,
    ), columns


def _parts(data: Data, options: FitOptions) -> tuple[Indices, Indices, Folds]:
    """Return the rows to learn from, those to test on, and the folds."""
    source, labels, asked, seed = data.source, data.labels, options.folds, options.seed
    if options.group is not None:
        name, groups = options.group, read_groups(source, options.group)
        train, test = hold_out_groups(source, name, labels, groups, options.test, seed)
        return train, test, group_folds(source, name, labels[train], groups[train], asked)
    if options.time is not None:
        train, test = hold_out_latest(source, options.time, labels, options.test)
        return train, test, class_folds(source, options.target, labels[train], asked, None)
    train, test = hold_out(labels, options.test, seed)
    return train, test, class_folds(source, options.target, labels[train], asked, seed)


def _with_words(data: Data, columns: list[Column], train: Indices) -> list[Column]:
    """The columns, without text that has no words to learn from; asked for, it is refused."""
    why = "text whose words occur in one row each, or none"
    learnt, left = data.features[train], []
    for column in columns:
        if column.kind != "text" or has_words(learnt, column.name):
            left.append(column)
        elif column.why == AS_ASKED:
            cell, where = data.source.frame[column.name][0], data.source.row_of(0)
            raise TableError(
                f"{place(data.source.path, where, column.name)}: {quoted(cell)} is taken as text, "
                "as asked, but no word is met in two rows to learn from; take the column as "
                f"{', '.join(kind for kind in ASKED_KINDS if kind != 'text')}."
            )
        else:
            left.append(replace(column, kind="ignore", why=why))
    check_any_used(data.source, left)
    return left


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
    counted = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number)
    classes = ", ".join(f"{label} {size:,}" for label, size in target.counts.items())
    rows = count(len(source.frame), "row")
    return f"{source.path}: {rows}; target {classes}; columns: {counted}"
