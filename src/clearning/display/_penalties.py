"""What pictures along a path share: penalties that fall to the right, counts at the top."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PATH_SIZE = (7.0, 4.6)


def falling_log_axis(ax: Any) -> None:
    ax.set_xscale("log")
    if not ax.xaxis_inverted():
        ax.invert_xaxis()


def count_axis(ax: Any, along: NDArray[Any], counts: NDArray[Any], *, most: int = 16) -> None:
    """Show the number of non-zero coefficients at some points of the path, `most` fill the top."""
    points = np.unique(np.linspace(0, len(along) - 1, 9).round().astype(int))
    # Where the path hardly moves its points fall together, and so would their numbers.
    place = np.log(along[points]) if ax.get_xscale() == "log" else along[points]
    room = np.ptp(place) / most
    kept = [0]
    for k in range(1, len(points)):
        if abs(place[k] - place[kept[-1]]) > room:
            kept.append(k)
    top = ax.secondary_xaxis("top")
    top.set_xticks(along[points[kept]], labels=[str(c) for c in counts[points[kept]]])
    top.set_xticks([], minor=True)
    top.set_xlabel("non-zero coefficients")
    top.spines["top"].set_visible(False)
    top.tick_params(length=0)
