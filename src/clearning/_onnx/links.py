"""From scores to probabilities in ONNX: losses' links and calibrators, one column a score."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearning._onnx.graph import Graph
from clearning.calibration import CoherenceCalibrator, PlattCalibrator, SollichCalibrator


def loss_probabilities(graph: Graph, loss: Any, scores: str, n_scores: int) -> str:
    """The loss's own inverse link."""
    if n_scores == 1:
        return _two_classes(graph, loss, scores)
    return _many_classes(graph, loss.rho, loss.u, scores, n_scores)


def _two_classes(graph: Graph, loss: Any, scores: str) -> str:
    """w₁ and w₂ over their sum, with w = σ((u ∓ f)/ρ)."""
    rho, u = graph.numbers([loss.rho]), graph.numbers([loss.u])
    weights = [
        graph.op("Sigmoid", graph.op("Div", graph.op(way, u, scores), rho))
        for way in ("Sub", "Add")
    ]
    pair = graph.op("Concat", *weights, axis=1)
    return graph.op("Div", pair, graph.sum(pair))


def _many_classes(graph: Graph, rho: float, u: float, scores: str, n_scores: int) -> str:
    """η_k ∝ a_k (a_k + e^{u/ρ} Σ_{j≠k} a_j), a = exp(g/ρ), in logarithms."""
    tempered = graph.op("Div", scores, graph.numbers([rho]))
    logs = graph.op(
        "Sub", tempered, graph.op("ReduceMax", tempered, graph.integers([1]), keepdims=1)
    )
    apart = np.diag(np.full(n_scores, np.finfo(graph.dtype).min / 4))
    others = graph.op("Add", graph.op("Unsqueeze", logs, graph.integers([1])), graph.numbers(apart))
    rest = graph.op("ReduceLogSumExp", others, graph.integers([2]), keepdims=0)
    own = graph.op("Sub", logs, graph.numbers([u / rho]))
    high = graph.op("Max", own, rest)
    low = graph.op("Sub", graph.op("Min", own, rest), high)
    weight = graph.op("Add", logs, graph.op("Add", high, graph.log1p_exp(low)))
    return graph.op("Softmax", weight, axis=1)


def keeps_sign(calibrator: Any) -> bool:
    """Whether the likelier class is always the one on whose side of zero the score lies."""
    return not isinstance(calibrator, PlattCalibrator) and not getattr(calibrator, "offset", False)


def calibrated_probabilities(graph: Graph, calibrator: Any, scores: str, n_scores: int) -> str:
    """A calibrator's probabilities.

    Of many classes either it has the joint link's temperature and margin, or it serves each class
    against the rest, and its probabilities are divided by their sum.
    """
    if n_scores > 1 and hasattr(calibrator, "rho_") and not hasattr(calibrator, "margins_"):
        return _many_classes(graph, calibrator.rho_, calibrator.u_, scores, n_scores)
    logit = _logit(graph, calibrator, scores)
    positive = graph.op("Sigmoid", logit)
    if n_scores == 1:
        return graph.op("Concat", graph.op("Sigmoid", graph.op("Neg", logit)), positive, axis=1)
    return graph.op("Div", positive, graph.sum(positive))


def _logit(graph: Graph, calibrator: Any, scores: str) -> str:
    if isinstance(calibrator, CoherenceCalibrator):
        return _coherence_logit(graph, calibrator, scores)
    if isinstance(calibrator, PlattCalibrator):
        scaled = graph.op("Mul", scores, graph.numbers([-calibrator.a_]))
        return graph.op("Sub", scaled, graph.numbers([calibrator.b_]))
    if isinstance(calibrator, SollichCalibrator):
        clipped = graph.op(
            "Max", graph.op("Min", scores, graph.numbers([1.0])), graph.numbers([-1.0])
        )
        return graph.op("Add", scores, clipped)
    raise ValueError(
        f"{type(calibrator).__name__} cannot be written as ONNX; calibrators that can are "
        "CoherenceCalibrator, PlattCalibrator and SollichCalibrator."
    )


def _coherence_logit(graph: Graph, calibrator: Any, scores: str) -> str:
    """softplus((f − u)/ρ) − softplus(−(f + u)/ρ), from |f| and given f's sign."""
    zero, rho = graph.numbers([0.0]), graph.numbers([calibrator.rho_])
    positive = graph.op("Greater", scores, zero)
    below, above = (graph.numbers([margin]) for margin in calibrator.margins_)
    u = graph.op("Where", positive, above, below)
    z = _bent(graph, graph.op("Abs", scores), calibrator.knee_)
    a = graph.op("Div", graph.op("Sub", z, u), rho)
    c = graph.op("Neg", graph.op("Div", graph.op("Add", z, u), rho))
    size = graph.op(
        "Add",
        graph.op("Max", a, zero),
        graph.op(
            "Sub",
            graph.log1p_exp(graph.op("Neg", graph.op("Abs", a))),
            graph.log1p_exp(c),
        ),
    )
    logit = graph.op("Where", positive, size, graph.op("Neg", size))
    return graph.op("Add", logit, graph.numbers([calibrator.offset_ if calibrator.offset else 0.0]))


def _bent(graph: Graph, z: str, knee: float) -> str:
    """z up to the knee, k (1 + log(z/k)) beyond."""
    if not np.isfinite(knee):
        return z
    k = graph.numbers([knee])
    beyond = graph.op("Log", graph.op("Div", graph.op("Max", z, k), k))
    return graph.op("Add", graph.op("Min", z, k), graph.op("Mul", k, beyond))
