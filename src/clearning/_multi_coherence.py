"""The coherence function of many classes: the loss of a sample's m scores, and its link.

Everything is written in differences of scores from two of them, so that nothing overflows and no
digit is lost at any temperature: the special class (a sample's own, or the one with the largest
score) and the largest of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from clearning._loss import Array
from clearning._ranges import NON_NEGATIVE, POSITIVE

Labels = NDArray[np.intp]
# Halvings of an interval as wide as u/ρ = 1e8 and more, down to rounding.
_HALVINGS = 110


@dataclass(frozen=True)
class _Rivals:
    """The classes but one, seen from the largest of them.

    Attributes
    ----------
    shares : ndarray of shape (n, m)
        γ_j = exp((g_j − g_r)/ρ), r the largest of the others; 0 for the class itself.
    total : ndarray of shape (n,)
        Σ γ_j, at least 1.
    lead : ndarray of shape (n,)
        h = (u + g_r − g_c)/ρ.
    place : ndarray of shape (n,)
        r.
    """

    shares: Array
    total: Array
    lead: Array
    place: Labels


@dataclass(frozen=True)
class MultiCoherence:
    r"""The coherence function of m classes, V(g, c) = ρ log[1 + Σ_{j≠c} exp((u + g_j − g_c)/ρ)].

    It is ρ times the multinomial loss with an offset u/ρ on every class but the true one. u = 0 is
    multinomial logistic regression; as ρ falls to 0 the loss becomes the multi-class hinge of
    Crammer and Singer, max(0, max_{j≠c} u + g_j − g_c). With two classes and f = g₁ − g₀ it is
    :class:`Coherence`.

    Parameters
    ----------
    rho : float, default=1.0
        Temperature, > 0.
    u : float, default=1.0
        Margin, >= 0.
    scaled : bool, default=False
        Whether to multiply by κ = u / (ρ log[1 + (m−1) exp(u/ρ)]), which makes it the C-loss of m
        classes: equal scores cost u. At u = 0, κ is 1.

    Notes
    -----
    V(g, c) = max over s in the simplex of Σ_{j≠c} s_j (u + g_j − g_c) + ρ H(s). The maximiser is
    s = softmax((g + u(1 − e_c))/ρ), the gradient s − e_c and the Hessian (diag s − s s')/ρ. The
    last axis of all arguments runs over the classes, of which there are at least two.
    Zhang, Jordan, Li and Yeung, "Coherence functions for multicategory margin-based classification
    methods", AISTATS 2009.

    Examples
    --------
    >>> from clearning.losses import MultiCoherence
    >>> loss = MultiCoherence(rho=0.5)
    >>> loss.inverse_link(loss.link([0.7, 0.2, 0.1])).round(12)
    array([0.7, 0.2, 0.1])
    """

    rho: float = 1.0
    u: float = 1.0
    scaled: bool = False

    solver: ClassVar[str | None] = "multi_coherence"
    has_link: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", POSITIVE.check("rho", self.rho))
        object.__setattr__(self, "u", NON_NEGATIVE.check("u", self.u))

    @property
    def name(self) -> str:
        """The name by which estimators know the loss."""
        return "coherence" if self.scaled else "coherence_function"

    def scale(self, n_classes: int) -> float:
        """The factor κ that multiplies V for so many classes."""
        if not self.scaled or self.u == 0.0:
            return 1.0
        lead = np.log(n_classes - 1.0) + self.u / self.rho
        return float(self.u / (self.rho * np.logaddexp(0.0, lead)))

    def value(self, g: ArrayLike, c: ArrayLike) -> Any:
        """V(g, c), times κ."""
        scores, own = _scores(g), _labels(c, g)
        rivals = self._rivals(scores, own)
        ahead = np.maximum(rivals.lead, 0.0)
        with np.errstate(under="ignore"):
            rest = np.exp(-ahead) + np.exp(rivals.lead - ahead) * rivals.total - 1.0
            behind = np.exp(np.minimum(rivals.lead, 0.0)) * rivals.total
        # Behind the true class the sum is 1 + something small; ahead of it, at least 1.
        log = np.where(rivals.lead <= 0.0, np.log1p(behind), np.log1p(rest))
        return self._like(g, self.scale(scores.shape[-1]) * self.rho * (ahead + log), 1)

    def weights(self, g: ArrayLike, c: ArrayLike) -> Any:
        """The dual weights s = softmax((g + u(1 − e_c))/ρ)."""
        return self._like(g, self._weights(_scores(g), _labels(c, g))[0])

    def gradient(self, g: ArrayLike, c: ArrayLike) -> Any:
        """s − e_c, times κ."""
        scores, own = _scores(g), _labels(c, g)
        slope, _ = self._weights(scores, own)
        # The sum of the others is exact where 1 − s_c is not.
        np.put_along_axis(slope, own[:, None], 0.0, axis=1)
        np.put_along_axis(slope, own[:, None], -slope.sum(axis=1, keepdims=True), axis=1)
        return self._like(g, self.scale(scores.shape[-1]) * slope)

    def hessian_product(self, g: ArrayLike, c: ArrayLike, d: ArrayLike) -> Any:
        """(diag s − s s') d / ρ, times κ."""
        scores, own = _scores(g), _labels(c, g)
        s, likeliest = self._weights(scores, own)
        along = np.broadcast_to(np.asarray(d, dtype=np.float64), np.shape(g)).reshape(scores.shape)
        # Seen from the likeliest class nothing cancels where it has all the weight.
        along = along - np.take_along_axis(along, likeliest[:, None], axis=1)
        product = s * (along - (s * along).sum(axis=1, keepdims=True))
        return self._like(g, self.scale(scores.shape[-1]) / self.rho * product)

    def conjugate(self, s: ArrayLike, c: ArrayLike) -> Any:
        """φ*(κ(s − e_c)) = −κ [u (1 − s_c) + ρ H(s)] for s in the simplex, +inf elsewhere."""
        weights, own = _scores(s, "s"), _labels(c, s)
        inside = (weights >= 0.0).all(axis=1) & (np.abs(weights.sum(axis=1) - 1.0) <= 1e-9)
        others = weights.sum(axis=1) - np.take_along_axis(weights, own[:, None], axis=1)[:, 0]
        entropy = entr(np.maximum(weights, 0.0)).sum(axis=1)
        dual = -self.scale(weights.shape[-1]) * (self.u * others + self.rho * entropy)
        return self._like(s, np.where(inside, dual, np.inf), 1)

    def inverse_link(self, g: ArrayLike) -> Any:
        """Probabilities of the classes: η_k ∝ a_k (a_k + e^{u/ρ} Σ_{j≠k} a_j), a = exp(g/ρ).

        The order of the classes by probability is their order by score, and the largest
        probability is the largest score's: rounding never turns it round, nor makes two of the
        largest scores' probabilities equal unless the scores are.
        """
        scores = _scores(g)
        top = scores.argmax(axis=1)
        rivals = self._rivals(scores, top)
        with np.errstate(under="ignore"):
            near = np.exp((scores - scores.max(axis=1, keepdims=True)) / self.rho)
            behind = np.exp(np.minimum(rivals.lead, 0.0))
            odds = rivals.shares * (
                near.sum(axis=1, keepdims=True) + np.expm1(-self.u / self.rho) * near
            )
            odds *= behind[:, None]
            own = np.exp(-np.maximum(rivals.lead, 0.0)) + behind * rivals.total
            np.put_along_axis(odds, top[:, None], own[:, None], axis=1)
            eta = odds / odds.sum(axis=1, keepdims=True)
        return _in_order(self._like(g, eta), np.asarray(g))

    def probabilities(self, g: ArrayLike) -> Any:
        """The same as :meth:`inverse_link`."""
        return self.inverse_link(g)

    def link(self, eta: ArrayLike) -> Any:
        """Scores of probabilities, which sum to zero over the classes.

        With a = exp(g/ρ)/S the probabilities are η_k μ = a_k (1 − (1 − δ) a_k), δ = exp(−u/ρ).
        For every class but the likeliest that is the smaller root of a parabola; the sum of all is
        1 at one μ, which is found by bisection in log μ.
        """
        given = _scores(eta, "eta")
        if (given <= 0.0).any() or (np.abs(given.sum(axis=1) - 1.0) > 1e-6).any():
            raise ValueError("eta must hold positive probabilities that sum to 1 over the classes.")
        log_eta = np.log(given / given.sum(axis=1, keepdims=True))
        top = log_eta.argmax(axis=1)[:, None]
        own = np.take_along_axis(log_eta, top, axis=1)
        others = log_eta.copy()
        np.put_along_axis(others, top, -np.inf, axis=1)
        scores = self.rho * self._log_roots(others, own)
        # At small temperature rounding would tell equal probabilities apart.
        scores = np.where(log_eta == own, 0.0, scores)
        return self._like(eta, scores - scores.mean(axis=1, keepdims=True))

    def _log_roots(self, others: Array, own: Array) -> Array:
        """Return log(a_k / a_top) for the logarithms of all probabilities and of the largest."""
        cold = self.u / self.rho
        keep = -np.expm1(-cold)

        def roots(log_mu: Array) -> tuple[Array, Array]:
            with np.errstate(divide="ignore", under="ignore", over="ignore", invalid="ignore"):
                square = 1.0 - 4.0 * keep * np.exp(log_mu + others)
                log_a = log_mu + others - np.log1p((np.sqrt(np.maximum(square, 0.0)) - 1.0) / 2.0)
                return log_a, np.logaddexp.reduce(log_a, axis=1, keepdims=True)

        with np.errstate(divide="ignore", under="ignore", over="ignore", invalid="ignore"):
            # The second largest probability says how far μ can go.
            high = -np.log(4.0 * keep) - others.max(axis=1, keepdims=True) if keep > 0.0 else 50.0
            high = np.minimum(high, 50.0 + np.zeros_like(own))
            low = np.full_like(own, -cold - 50.0)
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                _, rest = roots(middle)
                # log of a_top (1 − (1 − δ) a_top) with a_top = 1 − rest
                reach = np.log1p(-np.exp(rest)) + np.logaddexp(-cold, np.log(keep) + rest)
                more = (rest < 0.0) & (reach > middle + own)
                low, high = np.where(more, middle, low), np.where(more, high, middle)
            log_a, rest = roots(0.5 * (low + high))
            return log_a - np.log1p(-np.exp(rest))

    def _weights(self, scores: Array, own: Labels) -> tuple[Array, Labels]:
        """Return s and the class that has most of it, the sample's own or its first rival."""
        rivals = self._rivals(scores, own)
        with np.errstate(under="ignore"):
            behind = np.exp(np.minimum(rivals.lead, 0.0))
            mine = np.exp(-np.maximum(rivals.lead, 0.0))
            s = behind[:, None] * rivals.shares
            np.put_along_axis(s, own[:, None], mine[:, None], axis=1)
            s /= (mine + behind * rivals.total)[:, None]
        return s, np.where(rivals.lead <= 0.0, own, rivals.place)

    def _rivals(self, scores: Array, own: Labels) -> _Rivals:
        others = scores.copy()
        np.put_along_axis(others, own[:, None], -np.inf, axis=1)
        place = others.argmax(axis=1)
        first = np.take_along_axis(scores, place[:, None], axis=1)
        mine = np.take_along_axis(scores, own[:, None], axis=1)
        with np.errstate(under="ignore"):
            shares = np.exp((others - first) / self.rho)
        lead = _exact_sum(self.u, first[:, 0], -mine[:, 0]) / self.rho
        return _Rivals(shares, shares.sum(axis=1), lead, place)

    @staticmethod
    def _like(given: ArrayLike, result: Array, drop: int = 0) -> Any:
        """Return a result in the shape and precision of what was given."""
        array = np.asarray(given)
        shaped = result.reshape(array.shape[: array.ndim - drop])
        return shaped.astype(np.float32 if array.dtype == np.float32 else np.float64)[()]


def _scores(given: ArrayLike, name: str = "g") -> Array:
    """Return finite float64 numbers with one row a sample."""
    array = np.asarray(given)
    if array.dtype.kind not in "fiub" or array.ndim == 0 or array.shape[-1] < 2:
        raise ValueError(
            f"{name} must hold real numbers, at least two on the last axis; got shape "
            f"{array.shape} and dtype {array.dtype}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    return array.reshape(-1, array.shape[-1]).astype(np.float64)


def _labels(c: ArrayLike, g: ArrayLike) -> Labels:
    """Return the number of each sample's class."""
    array, shape = np.asarray(c), np.shape(g)
    outside = array.size > 0 and (array.min() < 0 or array.max() >= shape[-1])
    if array.dtype.kind not in "iu" or outside:
        raise ValueError(f"c must hold the numbers of classes, from 0 to {shape[-1] - 1}.")
    return np.broadcast_to(array, shape[:-1]).reshape(-1).astype(np.intp)


def _exact_sum(u: float, a: Array, b: Array) -> Array:
    """u + a + b, rounded once: at small temperature its last digits decide."""
    first = a + b
    part = first - a
    lost = (a - (first - part)) + (b - part)
    total = u + first
    part = total - u
    return total + ((u - (total - part)) + (first - part) + lost)


def _in_order(eta: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """Give probabilities the order of their scores where rounding has lost it."""
    order = np.argsort(scores, axis=-1, kind="stable")
    ranked = np.maximum.accumulate(np.take_along_axis(eta, order, axis=-1), axis=-1)
    np.put_along_axis(eta, order, ranked, axis=-1)
    largest = scores == scores.max(axis=-1, keepdims=True)
    best = eta.max(axis=-1, keepdims=True)
    rest = np.where(largest, 0.0, eta).max(axis=-1, keepdims=True)
    above = np.where(rest >= best, np.nextafter(best, np.asarray(2, eta.dtype)), best)
    return np.where(largest, above, eta)[()]
