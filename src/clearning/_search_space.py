"""What a search looks at: the combinations it begins with, and where it looks from the best one.

A hyperparameter that is given is taken as it is; each of its values meets each of the others'. One
that is "auto" begins at one value, and others are looked at from the best combination so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from numpy.typing import ArrayLike

from clearning._ranges import NON_NEGATIVE, POSITIVE, SHARE
from clearning.losses import CLoss, Loss, make_loss

AUTO = "auto"


@dataclass(frozen=True)
class Combination:
    """One combination of hyperparameters."""

    l1_ratio: float
    rho: float
    u: float
    loss: Loss


@dataclass(frozen=True)
class Auto:
    """What "auto" stands for: the first of each is where a search begins.

    The C-loss of temperature ρ and margin u is, but for the units of scores and penalty, the one of
    ρ = 1 and margin u/ρ: pairs are a line, from the logistic loss at u = 0 towards the hinge.
    Others than the first must win by so many standard errors (`clearly`). Calibration fits an
    offset beside the temperature, held to zero by so much (`offset`), or none. Where the ℓ₁ part is
    small, penalties begin at so many times the largest of that part alone (`top`).
    """

    l1_ratios: tuple[float, ...]
    losses: tuple[tuple[float, float], ...]
    clearly: float
    offset: float | None
    top: float


# Chosen by benchmarks/defaults, on sets that nothing is judged by.
LINEAR = Auto(
    l1_ratios=(0.5, 0.1, 0.0, 1.0),
    losses=((3.0, 1.0), (1.0, 1.0), (1.0, 0.0)),
    clearly=2.0,
    offset=None,
    top=30.0,
)
KERNEL = Auto(
    l1_ratios=(0.1,),
    losses=((3.0, 1.0), (1.0, 1.0), (0.3, 1.0)),
    clearly=1.0,
    offset=1.0,
    top=3.0,
)
# Of many classes nothing was chosen: what two had before.
KERNEL_OF_MANY = replace(
    KERNEL, l1_ratios=(0.5,), losses=((3.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.3, 1.0))
)
# The setting of the paper: one temperature, one margin, one width, and what goes with them.
PAPER: dict[str, Any] = {
    "alphas": 100,
    "l1_ratios": (0.5,),
    "rhos": (1.0,),
    "us": (1.0,),
    "gammas": ("median",),
}

Axis = Callable[[Combination], list[Combination]]


@dataclass(frozen=True)
class Space:
    """Combinations to begin with, and the axes along which others lie."""

    first: list[Combination]
    axes: Sequence[Axis] = ()


def make_space(
    loss: str | Loss, *, l1_ratios: Any, rhos: Any, us: Any, delta: float, auto: Auto
) -> Space:
    """Return the space that these hyperparameters span; ρ and u are looked for together."""
    axes: list[Axis] = []
    if _is_auto(rhos) and _is_auto(us) and loss == CLoss.name:
        rhos, us = ([value] for value in auto.losses[0])
        axes.append(_losses(auto.losses, delta))
    if _is_auto(l1_ratios):
        l1_ratios = auto.l1_ratios[:1]
        axes.append(lambda best: [replace(best, l1_ratio=each) for each in auto.l1_ratios])
    first = make_combinations(
        loss,
        l1_ratios=l1_ratios,
        rhos=[1.0] if _is_auto(rhos) else rhos,
        us=[1.0] if _is_auto(us) else us,
        delta=delta,
    )
    return Space(first, axes)


def make_combinations(
    loss: str | Loss, *, l1_ratios: ArrayLike, rhos: ArrayLike, us: ArrayLike, delta: float
) -> list[Combination]:
    """Return every combination; ρ and u vary only where the loss is named "coherence"."""
    ratios = SHARE.check_each("l1_ratios", l1_ratios).tolist()
    temperatures = POSITIVE.check_each("rhos", rhos).tolist()
    margins = NON_NEGATIVE.check_each("us", us).tolist()
    if loss != CLoss.name:
        temperatures, margins = temperatures[:1], margins[:1]
    return [
        Combination(l1_ratio, rho, u, make_loss(loss, rho=rho, u=u, delta=delta))
        for l1_ratio, rho, u in product(ratios, temperatures, margins)
    ]


def _losses(pairs: Sequence[tuple[float, float]], delta: float) -> Axis:
    def around(best: Combination) -> list[Combination]:
        return [
            Combination(best.l1_ratio, rho, u, make_loss(CLoss.name, rho=rho, u=u, delta=delta))
            for rho, u in pairs
        ]

    return around


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO
