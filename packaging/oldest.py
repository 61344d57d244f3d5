"""Print the oldest versions that pyproject.toml allows, for `pip install`."""

from __future__ import annotations

import tomllib
from pathlib import Path


def main() -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    for requirement in tomllib.loads(text)["project"]["dependencies"]:
        print(requirement.replace(">=", "==") + ".*")


if __name__ == "__main__":
    main()
