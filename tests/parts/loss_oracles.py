"""Margin losses as mathematics writes them, in as many digits as are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mpmath as mp
from scipy.optimize import minimize_scalar


@dataclass(frozen=True)
class Case:
    """A loss as the core names it, its formula, and what is needed to look at it."""

    kind: str
    value: Callable[[mp.mpf], mp.mpf]
    parameters: dict[str, float] = field(default_factory=dict)
    kinks: tuple[float, ...] = ()  # where a derivative jumps
    centre: float = 1.0
    width: float = 1.0  # over which it bends
    limit: float = 1.0  # of its weight

    def __str__(self) -> str:
        return " ".join([self.kind, *(f"{k}={v}" for k, v in self.parameters.items())])

    def margins(self) -> list[float]:
        """Near where it bends, far from there, and at no kink."""
        near = [
            self.centre + self.width * t for t in (-30.0, -5.0, -1.3, -0.2, 1e-7, 0.4, 2.0, 9.0)
        ]
        return [z for z in (*near, -1e3, -7.7, 0.0, 0.3, 6.0, 1e3) if z not in self.kinks]

    def weights(self) -> list[float]:
        """Dual weights inside the domain of the conjugate."""
        top = min(self.limit, 10.0)
        return [top * share for share in (1e-6, 0.02, 0.3, 0.5, 0.9, 1.0 - 1e-6)]

    def point(self, z: float) -> tuple[float, float, float]:
        """Value, weight −φ' and curvature φ'', each rounded once."""
        step = mp.mpf(self.width) * mp.mpf(10) ** -25
        below, here, above = (self.value(mp.mpf(z) + k * step) for k in (-1, 0, 1))
        first, second = (above - below) / (2 * step), (above - 2 * here + below) / step**2
        return float(here), float(-first), float(second)

    def fenchel_young(self, z: float, s: float) -> float:
        """φ(z) + s z less the least value of φ(x) + s x, which SciPy finds, or a kink has."""

        def along(x: float) -> float:
            return float(self.value(mp.mpf(x)) + mp.mpf(s) * mp.mpf(x))

        reach = 40.0 * max(self.width, 0.3)
        ends = (min(z, self.centre - reach), max(z, self.centre + reach))
        with mp.workdps(30):
            inside = minimize_scalar(along, bounds=ends, method="bounded", options={"xatol": 1e-13})
            return along(z) - min([inside.fun, *map(along, self.kinks)])


def coherence(rho: float, u: float, kappa: float = 1.0) -> Case:
    def value(z: mp.mpf) -> mp.mpf:
        return mp.mpf(kappa) * rho * mp.log1p(mp.exp((mp.mpf(u) - z) / mp.mpf(rho)))

    given = {"rho": rho, "u": u, "kappa": kappa}
    return Case("coherence", value, given, centre=u, width=rho, limit=kappa)


def huberized(delta: float) -> Case:
    def value(z: mp.mpf) -> mp.mpf:
        r = 1 - z
        if r <= 0:
            return mp.mpf(0)
        return r * r / (2 * mp.mpf(delta)) if r < delta else r - mp.mpf(delta) / 2

    return Case("huberized_hinge", value, {"delta": delta}, kinks=(1.0, 1.0 - delta), width=delta)


CASES = [
    coherence(1.0, 0.0),
    coherence(1.0, 1.0, kappa=0.761),
    coherence(0.3, 1.0),
    coherence(1e-3, 1.0),
    coherence(20.0, 2.5, kappa=3.0),
    huberized(2.0),
    huberized(0.125),
    Case("squared_hinge", lambda z: max(1 - z, mp.mpf(0)) ** 2, kinks=(1.0,), limit=mp.inf),
    Case("hinge", lambda z: max(1 - z, mp.mpf(0)), kinks=(1.0,)),
]
