"""Columns of a table in ONNX: an input each, and what skl2onnx lacks in double."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx.common.data_types import (
    DoubleTensorType,
    FloatTensorType,
    StringTensorType,
    guess_numpy_type,
)
from sklearn.impute import MissingIndicator, SimpleImputer

from clearning._onnx.graph import Graph


def column_inputs(model: Any, number: Any) -> list[tuple[str, Any]]:
    """A column of numbers or of text for each column that the model takes."""
    used = [column for column in model.columns if column.used]
    worded = [column.name for column in used if column.kind == "text"]
    if worded:
        raise ValueError(
            f"Column {worded[0]!r} is free text, which ONNX takes apart in other ways than "
            "scikit-learn: fit without it (--as COLUMN=ignore) to export the model."
        )
    return [
        (c.name, (StringTensorType if c.kind == "category" else number)([None, 1])) for c in used
    ]


def _joined(graph: Graph, operator: Any) -> str:
    inputs = [graph.cast(one.full_name) for one in operator.inputs]
    return inputs[0] if len(inputs) == 1 else graph.op("Concat", *inputs, axis=1)


def _write_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Values that are no numbers become the column's statistic."""
    graph = Graph.of(scope, operator, container)
    x = _joined(graph, operator)
    statistic = graph.numbers(operator.raw_operator.statistics_)
    graph.op("Where", graph.op("IsNaN", x), statistic, x, out=operator.outputs[0].full_name)


def _write_indicator(scope: Any, operator: Any, container: Any) -> None:
    """One where a value is missing, zero elsewhere."""
    graph = Graph.of(scope, operator, container)
    missing = graph.op("IsNaN", _joined(graph, operator))
    graph.op("Cast", missing, to=graph.proto, out=operator.outputs[0].full_name)


def _same_numbers(operator: Any) -> None:
    """As many numbers as there are inputs, in their precision."""
    first = operator.inputs[0].type
    number = DoubleTensorType if guess_numpy_type(first) == np.float64 else FloatTensorType
    width = sum(one.get_second_dimension() for one in operator.inputs)
    operator.outputs[0].type = number([operator.inputs[0].get_first_dimension(), width])


COLUMN_CONVERTERS = {SimpleImputer: _write_imputer, MissingIndicator: _write_indicator}
COLUMN_SHAPES = {SimpleImputer: _same_numbers, MissingIndicator: _same_numbers}
