"""Tables of what a model says: predictions, test predictions, explanations."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearning.tables.errors import TableError, place, quoted
from clearning.tables.explain import Explanation
from clearning.tables.model import TableModel
from clearning.tables.schema import Source
from clearning.tables.values import numbers, strings


def predictions(model: TableModel, source: Source, prepared: Any) -> Any:
    """The class and the probabilities of each row, with its number in the file."""
    import polars as pl

    rows = np.arange(len(prepared)) + source.row_of(0)
    return pl.DataFrame(
        {
            "row": rows,
            "predicted": model.pipeline.predict(prepared),
            **_probabilities(model, model.pipeline.predict_proba(prepared)),
        }
    )


def held_out_predictions(model: TableModel) -> Any:
    """What the model said of the rows that were held out."""
    import polars as pl

    test = model.record["test"]
    return pl.DataFrame(
        {
            "row": test["row"],
            "actual": model.classes[test["actual"]],
            "predicted": model.classes[test["predicted"]],
            **_probabilities(model, test["probability"]),
        }
    )


def _probabilities(model: TableModel, probability: Any) -> dict[str, Any]:
    return {f"probability of {label}": probability[:, k] for k, label in enumerate(model.classes)}


def tested(model: TableModel, source: Source, prepared: Any) -> dict[str, Any]:
    """Measure a model on new rows that have the target; rows without one are left out."""
    series = source.column(model.target, "target")
    text = strings(series)
    labels = numbers(text) if model.classes.dtype.kind in "iu" else text
    place_of = {label: k for k, label in enumerate(model.classes.tolist())}
    actual = np.array([place_of.get(label, -1) for label in labels.to_list()])
    unknown = (actual < 0) & text.is_not_null().to_numpy()
    if unknown.any():
        first = int(unknown.argmax())
        raise TableError(
            f"{place(source.path, source.row_of(first), model.target)}: {quoted(series[first])} is "
            "no class of the model."
        )
    held = np.flatnonzero(actual >= 0)
    if len(held) == 0:
        raise TableError(f"{place(source.path, None, model.target)} holds no target to test on.")
    prepared = prepared[held]
    return {
        "row": held + source.row_of(0),
        "actual": actual[held],
        "predicted": np.searchsorted(model.classes, model.pipeline.predict(prepared)),
        "probability": model.pipeline.predict_proba(prepared),
        "weight": np.ones(len(held)),
    }


def explanations(source: Source, prepared: Any, found: Explanation) -> Any:
    """One line for each row, scored class and column, the base and what is left among them."""
    import polars as pl

    names = ["(average row)", *found.columns, "(columns together)"]
    n_rows, n_names = len(prepared), len(names)
    frames = []
    cells = [[""] * n_rows, *(strings(source.frame[c]).to_list() for c in found.columns)]
    values = np.array([*cells, [""] * n_rows], dtype=object).T.ravel()
    for k, label in enumerate(found.classes):
        parts = np.column_stack(
            [np.full(n_rows, found.base[k]), found.contributions[k], found.together[:, k]]
        )
        frames.append(
            pl.DataFrame(
                {
                    "row": np.repeat(np.arange(n_rows) + source.row_of(0), n_names),
                    "class": [str(label)] * (n_rows * n_names),
                    "probability": np.repeat(found.probabilities[:, k], n_names),
                    "score": np.repeat(found.scores[:, k], n_names),
                    "column": names * n_rows,
                    "value": pl.Series(values.tolist(), dtype=pl.String),
                    "contribution": parts.ravel(),
                }
            )
        )
    return pl.concat(frames)
