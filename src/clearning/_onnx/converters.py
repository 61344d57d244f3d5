"""The converters that skl2onnx asks for, and the conversion of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import convert_sklearn, update_registered_converter
from skl2onnx.algebra.onnx_operator import OnnxSubEstimator
from skl2onnx.algebra.onnx_ops import OnnxIdentity
from skl2onnx.common.data_types import (
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
    guess_numpy_type,
)
from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from clearning import (
    CalibratedMarginClassifier,
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
)
from clearning._onnx.columns import COLUMN_CONVERTERS, COLUMN_SHAPES, column_inputs
from clearning._onnx.graph import Graph
from clearning._onnx.links import calibrated_probabilities, keeps_sign, loss_probabilities
from clearning._onnx.scores import kernel_scores, linear_scores
from clearning.tables.model import TableModel

_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
}
_OPSET = 18


def convert(model: Any, X: Any, *, double: bool) -> Any:
    """Return the graph of a model; see `clearning.export.to_onnx`."""
    number = DoubleTensorType if double else FloatTensorType
    if isinstance(model, TableModel):
        estimator, inputs = model.pipeline, column_inputs(model, number)
    else:
        check_is_fitted(model)
        estimator, inputs = model, [("X", number([None, _n_features(model, X)]))]
    final = _last(estimator)
    second = "probabilities" if hasattr(final, "predict_proba") else "scores"
    try:
        return convert_sklearn(
            estimator,
            initial_types=inputs,
            options={id(final): {"zipmap": False}},
            final_types=[("label", None), (second, None)],
            target_opset={"": _OPSET, "ai.onnx.ml": 3},
            custom_conversion_functions=COLUMN_CONVERTERS,
            custom_shape_calculators=COLUMN_SHAPES,
        )
    except (MissingConverter, MissingShapeCalculator, NameError) as error:
        raise ValueError(
            f"{type(final).__name__} cannot be written as ONNX: {str(error).splitlines()[0]}"
        ) from error


def _n_features(model: Any, X: Any) -> int:
    found = np.shape(X)[1] if X is not None else getattr(model, "n_features_in_", None)
    if found is None:
        raise ValueError(
            f"{type(model).__name__} does not know how many features it takes: give to_onnx some "
            "rows as X."
        )
    return int(found)


def _last(estimator: Any) -> Any:
    return _last(estimator[-1]) if isinstance(estimator, Pipeline) else estimator


def _shapes(operator: Any) -> None:
    """A label and a column a class for each row."""
    classes = operator.raw_operator.classes_
    double = guess_numpy_type(operator.inputs[0].type) == np.float64
    number = DoubleTensorType if double else FloatTensorType
    label = Int64TensorType if np.asarray(classes).dtype.kind in "iub" else StringTensorType
    rows = operator.inputs[0].get_first_dimension()
    columns = len(classes)
    if not hasattr(operator.raw_operator, "predict_proba"):
        columns = 1 if columns == 2 else columns
    operator.outputs[0].type = label([rows])
    operator.outputs[1].type = number([rows, columns])


def _write(scope: Any, operator: Any, container: Any) -> None:
    """A classifier: scores, then the label and the probabilities that follow from them."""
    graph, model = Graph.of(scope, operator, container), operator.raw_operator
    x = _input(graph, operator)
    if isinstance(model, CalibratedMarginClassifier):
        label, probabilities = _calibrated(graph, model, x, scope, container)
    else:
        scores, n_scores = _scores(graph, model, x, scope, container)
        probabilities = _probabilities(graph, model, scores, n_scores)
        label = _winner(graph, scores, n_scores)
        if not keeps_sign(getattr(model, "calibrator_", None)):
            label = _likeliest(graph, probabilities)
    names = [output.full_name for output in operator.outputs]
    labels = graph.op("Gather", graph.labels(model.classes_), label)
    graph.op("Reshape", labels, graph.integers([-1]), out=names[0])
    graph.op("Identity", probabilities, out=names[1])


def _input(graph: Graph, operator: Any) -> str:
    inputs = [graph.cast(one.full_name) for one in operator.inputs]
    return inputs[0] if len(inputs) == 1 else graph.op("Concat", *inputs, axis=1)


def _probabilities(graph: Graph, model: Any, scores: str, n_scores: int) -> str:
    if getattr(model, "calibrator_", None) is not None:
        return calibrated_probabilities(graph, model.calibrator_, scores, n_scores)
    if not hasattr(model, "predict_proba"):
        return scores
    return loss_probabilities(graph, model.loss_, scores, n_scores)


def _winner(graph: Graph, scores: str, n_scores: int) -> str:
    """The place of the predicted class: the sign of one score, the largest of many."""
    if n_scores == 1:
        positive = graph.op("Greater", scores, graph.numbers([0.0]))
        return graph.op("Cast", positive, to=_INT64)
    return graph.op("ArgMax", scores, axis=1, keepdims=1)


def _scores(graph: Graph, model: Any, x: str, scope: Any, container: Any) -> tuple[str, int]:
    """The scores of anything that has some, and how many there are."""
    if isinstance(model, FrozenEstimator):
        return _scores(graph, model.estimator, x, scope, container)
    if isinstance(model, Pipeline):
        for step in model[:-1]:
            x = _transformed(graph, step, x, scope, container)
        return _scores(graph, model[-1], x, scope, container)
    if hasattr(model, "dual_coef_") and hasattr(model, "kernel_"):
        return kernel_scores(graph, model, x), len(np.atleast_2d(model.dual_coef_))
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        return linear_scores(graph, model, x), len(model.coef_)
    raise ValueError(
        f"The scores of {type(model).__name__} cannot be written as ONNX; those of this package's "
        "classifiers and of linear ones can, in a pipeline too."
    )


def _transformed(graph: Graph, step: Any, x: str, scope: Any, container: Any) -> str:
    """Let skl2onnx write a step of a pipeline."""
    if step in (None, "passthrough"):
        return x
    made = scope.get_unique_variable_name("step")
    number = DoubleTensorType if graph.dtype == np.float64 else FloatTensorType
    given = scope.declare_local_variable("features", number([None, step.n_features_in_]))
    graph.op("Identity", x, out=given.full_name)
    value = OnnxSubEstimator(step, given, op_version=_OPSET)
    OnnxIdentity(value, output_names=[made], op_version=_OPSET).add_to(scope, container)
    return graph.cast(made)


def _calibrated(graph: Graph, model: Any, x: str, scope: Any, container: Any) -> tuple[str, str]:
    """One pair's scores and probabilities, or the mean of an ensemble's."""
    made = []
    for pair in model.calibrated_classifiers_:
        scores, n_scores = _scores(graph, pair.estimator, x, scope, container)
        made.append(calibrated_probabilities(graph, pair.calibrator, scores, n_scores))
    if len(made) > 1:
        mean = graph.op("Div", graph.op("Sum", *made), graph.numbers([float(len(made))]))
        return _likeliest(graph, mean), mean
    moved = n_scores == 1 and not keeps_sign(pair.calibrator)
    return _likeliest(graph, made[0]) if moved else _winner(graph, scores, n_scores), made[0]


def _likeliest(graph: Graph, probabilities: str) -> str:
    return graph.op("ArgMax", probabilities, axis=1, keepdims=1)


_INT64 = 7
_CLASSIFIERS = (
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    CalibratedMarginClassifier,
)
for _kind in _CLASSIFIERS:
    update_registered_converter(
        _kind, f"Clearning{_kind.__name__}", _shapes, _write, options=_OPTIONS
    )
