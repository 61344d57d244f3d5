"""Draw the picture of the README and of the site's first page into docs/images."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from clearning.display import LossDisplay

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "clearning"  # the same picture gives the same file
    IMAGES.mkdir(exist_ok=True)
    figure = LossDisplay.from_cooling().figure_
    figure.savefig(IMAGES / "cooling.svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
