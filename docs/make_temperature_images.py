"""Draw the pictures of temperature.md into docs/images."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clearning import temperature_path
from clearning.display import TemperatureDisplay

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "clearning"  # the same picture gives the same file
    data = load_breast_cancer()
    X = StandardScaler().fit_transform(data.data)
    path = temperature_path(X, data.target_names[data.target], alpha=0.02)
    display = TemperatureDisplay.from_path(path, X, feature_names=data.feature_names)
    display.figure_.savefig(IMAGES / "temperature.svg", facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
