"""One draw of a simulation, and how probabilities are judged on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearning.experiments.protocol import Protocol
from clearning.experiments.selection import Array, Fold, KernelDesign, Rows
from clearning.metrics import cross_entropy, generalized_kl


@dataclass(frozen=True)
class Replication:
    """One draw of a simulation, split and folded."""

    protocol: Protocol
    design: KernelDesign
    y: Array
    eta: Array
    train: Rows
    test: Rows
    draws: list[list[Fold]]

    def judge(self, probabilities: Array, **extra: Any) -> dict[str, Any]:
        """Measure test probabilities against the labels and against the truth."""
        y = self.y[self.test]
        return {
            "gkl": cross_entropy(y, probabilities),
            "divergence": generalized_kl(self.eta[self.test], probabilities),
            "cer": float(np.mean((probabilities > 0.5) != (y > 0))),
            **extra,
        }


def pointwise_entropy(y: Array, probabilities: Array) -> Array:
    """−log of the probability given to the label that came true."""
    with np.errstate(divide="ignore"):
        return -np.log(np.where(y > 0, probabilities, 1 - probabilities))
