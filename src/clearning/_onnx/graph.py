"""A pencil for ONNX graphs: operations in, names of their results out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from skl2onnx.common.data_types import guess_numpy_type
from skl2onnx.proto import onnx_proto


class Graph:
    """Writes nodes into a container of skl2onnx, in the precision of the operator's input."""

    def __init__(self, scope: Any, container: Any, double: bool) -> None:
        self._scope, self._container = scope, container
        self.dtype: Any = np.float64 if double else np.float32
        self.proto = onnx_proto.TensorProto.DOUBLE if double else onnx_proto.TensorProto.FLOAT

    @classmethod
    def of(cls, scope: Any, operator: Any, container: Any) -> Graph:
        """The graph of an operator."""
        return cls(scope, container, guess_numpy_type(operator.inputs[0].type) == np.float64)

    @property
    def double(self) -> Graph:
        """The same graph, written in double precision."""
        return Graph(self._scope, self._container, True)

    def op(self, kind: str, *inputs: str, out: str | None = None, **given: Any) -> str:
        """Apply an operation to named values and return the name of its result."""
        result = out or self._scope.get_unique_variable_name(kind.lower())
        name = self._scope.get_unique_operator_name(kind)
        self._container.add_node(
            kind,
            list(inputs),
            [result],
            op_version=_VERSIONS.get(kind, 13),
            name=name,
            **given,
        )
        return result

    def numbers(self, values: ArrayLike) -> str:
        """A constant in the graph's precision."""
        array = np.asarray(values, dtype=self.dtype)
        return self._constant(self.proto, array)

    def integers(self, values: ArrayLike) -> str:
        """A constant of whole numbers."""
        return self._constant(onnx_proto.TensorProto.INT64, np.asarray(values, dtype=np.int64))

    def labels(self, values: Any) -> str:
        """A constant of labels, whole numbers or strings."""
        array = np.asarray(values)
        if array.dtype.kind in "iub":
            return self.integers(array)
        encoded = [str(label).encode("utf-8") for label in array.tolist()]
        name = self._scope.get_unique_variable_name("labels")
        proto = onnx_proto.TensorProto.STRING
        self._container.add_initializer(name, proto, [len(encoded)], encoded)
        return name

    def _constant(self, proto: int, array: np.ndarray) -> str:
        name = self._scope.get_unique_variable_name("constant")
        self._container.add_initializer(name, proto, list(array.shape), array.ravel().tolist())
        return name

    def cast(self, name: str) -> str:
        """A value in the graph's precision."""
        return self.op("Cast", name, to=self.proto)

    def log1p_exp(self, name: str) -> str:
        """log(1 + exp(t)) for t ≤ 0."""
        return self.op("Log", self.op("Add", self.op("Exp", name), self.numbers([1.0])))

    def sum(self, name: str, axis: int = 1) -> str:
        """The sum along an axis, which stays."""
        return self.op("ReduceSum", name, self.integers([axis]), keepdims=1)


# The version of each operation whose signature is used here, where it is not 13.
_VERSIONS = {"ReduceMax": 18, "ReduceLogSumExp": 18, "Where": 9}
