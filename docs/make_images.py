"""Draw the pictures of the README and of these pages into docs/images."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from clearning.display import LossDisplay

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "clearning"  # the same picture gives the same file
    IMAGES.mkdir(exist_ok=True)
    pictures = {"figure-1": LossDisplay.from_paper(), "cooling": LossDisplay.from_cooling()}
    for name, display in pictures.items():
        path = IMAGES / f"{name}.svg"
        display.figure_.savefig(path, facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
