"""What all losses share: the base class, and the way from a formula to a method of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearning._ranges import Range

Array = NDArray[np.float64]


def elementwise(
    name: str, low: float = -np.inf, high: float = np.inf
) -> Callable[[Callable[[Any, Array], Array]], Callable[[Any, ArrayLike], Any]]:
    """Let a method on float64 arrays take anything real: scalars in, scalars out, float32 kept.

    `name` is the argument's name in messages, [`low`, `high`] what is allowed. The work is done in
    double precision, so a float32 result is exact to float32.
    """

    def decorate(method: Callable[[Any, Array], Array]) -> Callable[[Any, ArrayLike], Any]:
        @wraps(method)
        def wrapper(self: Any, x: ArrayLike) -> Any:
            given = np.asarray(x)
            if given.dtype.kind not in "fiub":
                raise ValueError(f"{name} must be real numbers, got dtype {given.dtype}.")
            values = given.astype(np.float64, copy=False)
            if np.isnan(values).any():
                raise ValueError(f"{name} must be real numbers, got nan.")
            outside = (values < low) | (values > high)
            if outside.any():
                raise ValueError(f"{name} must lie in [{low}, {high}], got {values[outside][0]}.")
            # exp(-inf) = 0 and log(0) = -inf are the limits wanted here, not accidents.
            with np.errstate(over="ignore", under="ignore", divide="ignore"):
                result = np.asarray(method(self, values))
                return result.astype(np.float32 if given.dtype == np.float32 else np.float64)[()]

        return wrapper

    return decorate


def sigmoid(t: Array) -> Array:
    """1 / (1 + exp(-t)) to full relative accuracy in both tails."""
    small = np.exp(-np.abs(t))
    return np.where(t >= 0, 1.0, small) / (1.0 + small)


def logit(eta: Array) -> Array:
    """log(eta / (1 - eta)) to full relative accuracy, near one half too."""
    near_half = np.abs(eta - 0.5) <= 0.25
    return np.where(near_half, 2.0 * np.arctanh(2.0 * eta - 1.0), np.log(eta) - np.log1p(-eta))


def on_score_side(probabilities: Array, scores: Array) -> Array:
    """Move two probabilities that rounding made equal, or exchanged, to their score's side.

    They are one half to the last digit there, and come to lie one unit of it apart from that.
    """
    negative, positive = probabilities[..., 0], probabilities[..., 1]
    above = np.nextafter(np.asarray(0.5, probabilities.dtype), 1)
    for side, likelier, other in (
        (scores > 0, positive, negative),
        (scores < 0, negative, positive),
    ):
        blurred = side & (likelier <= other)
        likelier[blurred], other[blurred] = above, 1 - above
    return probabilities


class Loss:
    """A convex loss of the margin.

    Attributes
    ----------
    name : str
        The name by which estimators know the loss.
    solver : str or None
        The name by which the compiled solver knows the loss; None where it has none.
    has_link : bool
        Whether `inverse_link` maps every score into the open interval (0, 1), so that the loss has
        class probabilities of its own, with a finite log-loss.

    Notes
    -----
    `conjugate(s)` is the convex conjugate φ*(−s) = sup over z of −s z − φ(z); s ≥ 0 is the weight
    of a sample, and outside its domain the value is +inf. `link(eta)` is the minimiser over f of
    η φ(f) + (1−η) φ(−f), and `inverse_link` its inverse.

    Examples
    --------
    >>> from clearning.losses import Hinge, Loss
    >>> isinstance(Hinge(), Loss), Hinge().has_link
    (True, False)
    """

    name: ClassVar[str]
    solver: ClassVar[str | None] = None
    has_link: ClassVar[bool] = False

    @property
    def solver_parameters(self) -> dict[str, float]:
        """The parameters that the compiled solver reads."""
        return {}

    def value(self, z: ArrayLike) -> Any:
        """φ(z)."""
        raise NotImplementedError

    def gradient(self, z: ArrayLike) -> Any:
        """φ'(z)."""
        raise NotImplementedError

    def hessian(self, z: ArrayLike) -> Any:
        """φ''(z)."""
        raise NotImplementedError

    def conjugate(self, s: ArrayLike) -> Any:
        """φ*(−s) = sup over z of −s z − φ(z)."""
        raise NotImplementedError

    def probabilities(self, f: ArrayLike) -> Any:
        """Probabilities of both classes at a score; the last axis runs over the classes.

        Each is made from its own side, so that neither is the difference of 1 and nearly 1. Of a
        loss with a link the class on the score's side is always the likelier, if only by rounding.
        """
        scores = np.asarray(f)
        pair = self._both(scores)
        return on_score_side(pair, scores) if self.has_link else pair

    def _both(self, f: Array) -> Array:
        return np.stack([self.inverse_link(-f), self.inverse_link(f)], axis=-1)

    def __getattr__(self, attribute: str) -> Any:
        message = f"{type(self).__name__!r} object has no attribute {attribute!r}"
        if attribute in ("link", "inverse_link"):
            message += (
                ": this loss has no link, and so no class probabilities of its own; "
                "wrap the classifier in CalibratedMarginClassifier for those"
            )
        raise AttributeError(message)

    def _set(self, name: str, allowed: Range) -> None:
        """Make the parameter of that name a float, or raise unless it is in the range."""
        object.__setattr__(self, name, allowed.check(name, getattr(self, name)))
