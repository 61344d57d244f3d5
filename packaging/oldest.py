"""Print the oldest versions that pyproject.toml allows, for `pip install --constraint`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

# What users get beside the package, and what tests need to see it as users do.
EXTRAS = ("plots", "tables", "arrow", "dask", "onnx")
BESIDE = ("pandas",)


def main() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    optional = project["optional-dependencies"]
    asked = [*project["dependencies"], *(each for name in EXTRAS for each in optional[name])]
    asked += [each for each in optional["test"] if each.startswith(BESIDE)]
    # A constraint has no extras of its own.
    floors = (re.sub(r"\[.*\]", "", each).replace(">=", "==") + ".*" for each in asked)
    print(*dict.fromkeys(floors), sep="\n")


if __name__ == "__main__":
    main()
