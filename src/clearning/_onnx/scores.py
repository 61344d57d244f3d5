"""Scores in ONNX: x'b + a, and kernel expansions. One column a score."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clearning._onnx.graph import Graph

# From here on γ‖s‖² loses digits that an exponent needs; distances are then taken one by one.
_CANCELLING = 64.0


def linear_scores(graph: Graph, estimator: Any, x: str) -> str:
    """Return X coef_' + intercept_."""
    return _weighed(graph, x, estimator.coef_, estimator.intercept_)


def _weighed(graph: Graph, x: str, coef: Any, intercept: Any) -> str:
    """Return x coef' + intercept, in double: raw features may cancel all of single's digits."""
    wide = graph.double
    product = wide.op("MatMul", wide.cast(x), wide.numbers(np.atleast_2d(coef).T))
    return graph.cast(wide.op("Add", product, wide.numbers(np.ravel(intercept))))


def kernel_scores(graph: Graph, estimator: Any, x: str) -> str:
    """Return K(X, support vectors) dual_coef_' + intercept_."""
    kernel, vectors = estimator.kernel_, estimator.support_vectors_
    coef = np.atleast_2d(estimator.dual_coef_)
    if kernel.precomputed:
        full = np.zeros((len(coef), estimator.shape_fit_[0]))
        full[:, estimator.support_] = coef
        return _weighed(graph, x, full, estimator.intercept_)
    vectors = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
    if kernel.name == "linear" or coef.shape[1] == 0:
        folded = coef @ vectors.reshape(coef.shape[1], estimator.n_features_in_)
        return _weighed(graph, x, folded, estimator.intercept_)
    values = graph.op("MatMul", _values(graph, kernel, vectors, x), graph.numbers(coef.T))
    return graph.op("Add", values, graph.numbers(np.ravel(estimator.intercept_)))


def _values(graph: Graph, kernel: Any, vectors: np.ndarray, x: str) -> str:
    """The matrix of kernel values between samples and support vectors."""
    if kernel.name == "rbf":
        exponent = graph.op(
            "Mul",
            _squared_distances(graph, vectors, kernel.gamma, x),
            graph.numbers([-kernel.gamma]),
        )
        return graph.op("Exp", exponent)
    if kernel.name == "laplacian":
        distance = graph.op(
            "ReduceSum",
            graph.op("Abs", _differences(graph, vectors, x)),
            graph.integers([2]),
            keepdims=0,
        )
        return graph.op("Exp", graph.op("Mul", distance, graph.numbers([-kernel.gamma])))
    if kernel.name in ("polynomial", "poly", "sigmoid"):
        product = graph.op("MatMul", x, graph.numbers(kernel.gamma * vectors.T))
        shifted = graph.op("Add", product, graph.numbers([kernel.coef0]))
        if kernel.name == "sigmoid":
            return graph.op("Tanh", shifted)
        return graph.op("Pow", shifted, graph.numbers([float(kernel.degree)]))
    raise ValueError(
        f"kernel={kernel.name!r} cannot be written as ONNX; kernels that can are 'rbf', "
        "'laplacian', 'polynomial', 'linear', 'sigmoid' and 'precomputed'."
    )


def _squared_distances(graph: Graph, vectors: np.ndarray, gamma: float, x: str) -> str:
    centre = vectors.mean(axis=0)
    centred = vectors - centre
    norms = np.einsum("ij,ij->i", centred, centred)
    if gamma * norms.max() > _CANCELLING:
        differences = _differences(graph, vectors, x)
        squares = graph.op("Mul", differences, differences)
        return graph.op("ReduceSum", squares, graph.integers([2]), keepdims=0)
    moved = graph.op("Sub", x, graph.numbers(centre))
    product = graph.op("MatMul", moved, graph.numbers(-2.0 * centred.T))
    own = graph.sum(graph.op("Mul", moved, moved))
    total = graph.op("Add", graph.op("Add", product, own), graph.numbers(norms))
    return graph.op("Max", total, graph.numbers([0.0]))


def _differences(graph: Graph, vectors: np.ndarray, x: str) -> str:
    """x − s for every pair, along the last axis."""
    return graph.op("Sub", graph.op("Unsqueeze", x, graph.integers([1])), graph.numbers(vectors))
