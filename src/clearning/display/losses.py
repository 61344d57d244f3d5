"""`LossDisplay`: losses and the probabilities they imply, as pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearning._ranges import Range
from clearning.display._style import COLOURS, GREY, from_hot_to_cold, new_axes, tidy
from clearning.losses import (
    CLoss,
    Coherence,
    Exponential,
    Hinge,
    Loss,
    MajorizationLoss,
    SquaredHinge,
)

__all__ = ["LossDisplay"]

MARGIN = "margin  $z = y\\,f$"
SCORE = "score  $f$"


@dataclass
class _Curve:
    label: str
    function: Callable[[np.ndarray], np.ndarray]
    style: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Panel:
    """One picture: curves over [`low`, `high`], the y axis cut to `limits`."""

    title: str
    curves: list[_Curve]
    xlabel: str = MARGIN
    ylabel: str = "loss"
    low: float = -3.0
    high: float = 3.0
    limits: tuple[float, float] | None = None

    def draw(self, ax: Any, **line_kw: Any) -> None:
        x = np.linspace(self.low, self.high, 1201)
        for curve in self.curves:
            ax.plot(x, curve.function(x), label=curve.label, **{**curve.style, **line_kw})
        ax.set(title=self.title, xlabel=self.xlabel, ylabel=self.ylabel, xlim=(self.low, self.high))
        if self.limits:
            ax.set_ylim(*self.limits)
        ax.legend(frameon=False)
        tidy(ax)


class LossDisplay:
    """Losses of the margin, drawn side by side.

    Make one with `from_losses`, `from_paper` (Figure 1 of Zhang, Liu, Dai and Jordan, 2012) or
    `from_cooling` (one loss from logistic to hinge, beside the probability it implies).

    Parameters
    ----------
    panels : list
        What each picture shows; made by the class methods.
    shape : tuple of int
        Rows and columns of pictures.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for each panel.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
        The figure that holds them.
    lines_ : list of matplotlib Line2D
        All curves, panel after panel.

    Examples
    --------
    >>> from clearning.display import LossDisplay
    >>> from clearning.losses import CLoss, Hinge
    >>> display = LossDisplay.from_losses({"C-loss": CLoss(0.5), "hinge": Hinge()})
    """

    axes_: np.ndarray
    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, panels: list[_Panel], shape: tuple[int, int]) -> None:
        self.panels = panels
        self.shape = shape

    def plot(self, axes: Any = None, **line_kw: Any) -> LossDisplay:
        """Draw every panel.

        Parameters
        ----------
        axes : matplotlib Axes or sequence of them, default=None
            Where to draw, one for each panel; a new figure by default.
        **line_kw : dict
            Passed to `Axes.plot` of every curve.

        Returns
        -------
        LossDisplay
            This object, with `axes_`, `ax_`, `figure_` and `lines_`.
        """
        rows, columns = self.shape
        if axes is None:
            axes = new_axes("LossDisplay.plot", rows, columns, (4.8 * columns, 3.7 * rows))
        axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(axes) != len(self.panels):
            raise ValueError(
                f"axes must hold one Axes for each of the {len(self.panels)} panels, "
                f"got {len(axes)}."
            )
        for ax, panel in zip(axes, self.panels):
            panel.draw(ax, **line_kw)
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        self.lines_ = [line for ax in axes for line in ax.get_lines()]
        return self

    @classmethod
    def from_losses(
        cls,
        losses: Mapping[str, Loss] | Sequence[Loss],
        *,
        quantity: str = "value",
        low: float = -3.0,
        high: float = 3.0,
        ax: Any = None,
        **line_kw: Any,
    ) -> LossDisplay:
        """Draw one quantity of several losses in one picture.

        Parameters
        ----------
        losses : mapping of str to Loss, or sequence of Loss
            The losses, by the label each is to have.
        quantity : {"value", "gradient", "hessian", "inverse_link"}, default="value"
            What to draw.
        low, high : float, default=-3.0, 3.0
            Ends of the horizontal axis.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed to `Axes.plot` of every curve.

        Returns
        -------
        LossDisplay
        """
        names = {
            "value": "loss",
            "gradient": "first derivative",
            "hessian": "second derivative",
            "inverse_link": "probability of the positive class",
        }
        if quantity not in names:
            raise ValueError(f"quantity must be one of {list(names)}, got {quantity!r}.")
        if not isinstance(losses, Mapping):
            losses = {repr(loss): loss for loss in losses}
        curves = [
            _Curve(label, getattr(loss, quantity), {"color": colour})
            for (label, loss), colour in zip(losses.items(), _cycle(len(losses)))
        ]
        xlabel = SCORE if quantity == "inverse_link" else MARGIN
        panel = _Panel("", curves, xlabel, names[quantity], low, high)
        return cls([panel], (1, 1)).plot(ax, **line_kw)

    @classmethod
    def from_paper(cls, *, axes: Any = None, **line_kw: Any) -> LossDisplay:
        """Figure 1 of the paper, all four panels.

        (a) V_{ρ,1} at four temperatures; (b) the majorisations of the 0-1 loss; (c) C_{ρ,1}, which
        is L_{ρ,1}, at four temperatures; (d) L_{1,u} at four margins.

        Parameters
        ----------
        axes : sequence of four matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed to `Axes.plot` of every curve.

        Returns
        -------
        LossDisplay
        """
        panels = [
            _Panel(
                "(a)  Coherence function  $V_{\\rho,1}(z)$",
                _family("\\rho", {rho: Coherence(rho, 1.0) for rho in (2.0, 1.0, 0.1, 0.01)}),
                limits=(-0.1, 4.7),
            ),
            _Panel("(b)  Majorisations of the 0–1 loss", _majorisations(), limits=(-0.1, 4.7)),
            _Panel(
                "(c)  C-loss  $C_{\\rho,1}(z)$",
                _family("\\rho", {rho: CLoss(rho, 1.0) for rho in (100.0, 10.0, 1.0, 0.1)}),
                limits=(-0.1, 4.7),
            ),
            _Panel(
                "(d)  Majorisation  $L_{1,u}(z)$",
                _family("u", {u: MajorizationLoss(1.0, u) for u in (10.0, 1.0, 0.1, 0.0)}),
                limits=(-0.1, 4.7),
            ),
        ]
        return cls(panels, (2, 2)).plot(axes, **line_kw)

    @classmethod
    def from_cooling(
        cls, rhos: ArrayLike = (1.0, 0.6, 0.3, 0.1, 0.01), *, axes: Any = None, **line_kw: Any
    ) -> LossDisplay:
        """One loss cooling from logistic to hinge, beside the probability curve it implies.

        Parameters
        ----------
        rhos : array-like of float, default=(1.0, 0.6, 0.3, 0.1, 0.01)
            Temperatures in (0, 1]. The margin is u = 1 − ρ, so that ρ = 1 is the logistic loss
            itself and ρ → 0 the hinge. Where both ends are drawn, so is the classifiers' default,
            the C-loss with ρ = 1 and u = 1.
        axes : sequence of two matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **line_kw : dict
            Passed to `Axes.plot` of every curve.

        Returns
        -------
        LossDisplay
        """
        temperatures = np.sort(Range(0.0, 1.0, "right").check_each("rhos", rhos))[::-1]
        family = {rho: Coherence(rho, 1.0 - rho) for rho in temperatures}
        panels = [
            _Panel("What a mistake costs", _family("\\rho", family)),
            _Panel(
                "How sure a score makes us",
                _family("\\rho", family, "inverse_link"),
                SCORE,
                "probability of the positive class",
            ),
        ]
        display = cls(panels, (1, 2)).plot(axes, **line_kw)
        if temperatures[0] == 1.0 and temperatures[-1] <= 0.05:
            _annotate_cooling(display.axes_)
        return display


def _cycle(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def _family(letter: str, losses: Mapping[float, Loss], method: str = "value") -> list[_Curve]:
    """The curves of losses that differ in one parameter, coloured from hot to cold."""
    return [
        _Curve(f"${letter} = {parameter:g}$", getattr(loss, method), {"color": colour, "lw": 2.0})
        for (parameter, loss), colour in zip(losses.items(), from_hot_to_cold(len(losses)))
    ]


def _majorisations() -> list[_Curve]:
    blue, orange, green, pink, *_ = COLOURS
    return [
        _Curve("C-loss $C_{1,1}$", CLoss(1.0, 1.0).value, {"color": blue, "lw": 2.6}),
        _Curve("logit $L_{1,0}$", MajorizationLoss(1.0, 0.0).value, {"color": orange, "ls": "--"}),
        _Curve("exponential", Exponential().value, {"color": green, "ls": "-."}),
        _Curve("hinge", Hinge().value, {"color": "black", "lw": 1.4}),
        _Curve("squared hinge", SquaredHinge().value, {"color": pink, "ls": (0, (5, 1))}),
        _Curve("0–1", lambda z: (z <= 0).astype(float), {"color": GREY, "lw": 1.2, "ls": ":"}),
    ]


def _annotate_cooling(axes: Any) -> None:
    """Say in words what the two ends of the family are."""
    loss, probability = axes
    hot, cold = loss.get_lines()[0].get_color(), loss.get_lines()[-1].get_color()
    slanted = {"rotation_mode": "anchor", "transform_rotates_text": True}
    loss.text(-2.75, 2.22, "hot: the logistic loss", color=hot, rotation=-38, **slanted)
    loss.text(-2.1, 3.25, "cold: the SVM's hinge", color=cold, rotation=-45, **slanted)
    usual, dashed = CLoss(), {"color": "black", "ls": "--", "lw": 1.4}
    z = np.linspace(-3.0, 3.0, 1201)
    loss.plot(z, usual.value(z), label="default: $\\rho = 1,\\ u = 1$", **dashed)
    probability.plot(z, usual.inverse_link(z), **dashed)
    loss.legend(frameon=False, title="temperature $\\rho$, margin $u = 1 - \\rho$")
    probability.get_legend().remove()
    probability.axvspan(-1, 1, color=GREY, alpha=0.12, lw=0)
    note = "inside its margin\na cold loss knows\nonly one half"
    probability.text(0.08, 0.1, note, ha="center", va="bottom", color="#555555", fontsize=9)
