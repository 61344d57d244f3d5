"""The common look of the plots: colours that colour-blind readers can tell apart, little ink."""

from __future__ import annotations

from typing import Any

import numpy as np

# Okabe and Ito's palette, without its yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
GREY = "#8a8a8a"
PALE = "#c4c4c4"


def new_axes(caller: str, rows: int, columns: int, size: tuple[float, float]) -> np.ndarray:
    """Fresh axes, laid out so that labels never overlap."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} requires matplotlib: pip install 'clearning[plots]'"
        ) from error

    _, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    return axes.ravel()


def distinct_colours(count: int) -> list[Any]:
    """`count` colours, none of them twice: the palette, then hues between its own."""
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    from matplotlib.colors import hsv_to_rgb

    # A golden turn between hues, and three depths, keep neighbours apart.
    more = count - len(COLOURS)
    hues = (0.11 + 0.61803398875 * np.arange(more)) % 1.0
    depths = np.array([0.75, 0.55, 0.4])[np.arange(more) % 3]
    return [*COLOURS, *hsv_to_rgb(np.column_stack([hues, np.full(more, 0.8), depths]))]


def tidy(ax: Any) -> None:
    """A light grid behind the curves and no box around them."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY)
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def from_hot_to_cold(count: int) -> list[Any]:
    """`count` colours from orange (hot) to indigo (cold), ever darker."""
    import matplotlib as mpl

    return list(mpl.colormaps["plasma"](np.linspace(0.74, 0.04, count)))
