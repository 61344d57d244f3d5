"""Fills the benchmarks' environment: the package itself and every peer that can be had.

    .venv-bench/bin/python benchmarks/install.py

Peers are installed one at a time, so that one that cannot be is named and the others remain. R's
glmnet comes from the system's packages, where there are the rights to install them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
R_PACKAGES = ["r-base-core", "r-cran-glmnet", "r-cran-doparallel"]


def pip(*words: str) -> bool:
    command = [sys.executable, "-m", "pip", "install", "--quiet", *words]
    return subprocess.run(command).returncode == 0


def install_peers() -> list[str]:
    """Names of those that could not be installed."""
    names = (HERE / "peers.txt").read_text().split()
    return [name for name in names if not pip(name)]


def install_package() -> None:
    """A build of its own, not the developers' editable one."""
    pip("scikit-build-core>=0.10", "nanobind>=2.4", "ninja", "cmake")
    options = ["--no-build-isolation", "--no-deps", "--force-reinstall"]
    if not pip(*options, "--config-settings=build-dir=build/bench", str(HERE.parent)):
        raise SystemExit("the package itself could not be built")


def have_r_glmnet() -> bool:
    if shutil.which("Rscript") is None:
        return False
    test = (
        'quit(status = !all(sapply(c("glmnet", "doParallel"), requireNamespace, quietly = TRUE)))'
    )
    return subprocess.run(["Rscript", "-e", test], capture_output=True).returncode == 0


def install_r() -> bool:
    if have_r_glmnet():
        return True
    if shutil.which("apt-get") is None:
        return False
    sudo = ["sudo", "-n"] if os.geteuid() and shutil.which("sudo") else []
    for words in (["update"], ["install", "--yes", "--no-install-recommends", *R_PACKAGES]):
        subprocess.run([*sudo, "apt-get", *words], stdout=subprocess.DEVNULL)
    return have_r_glmnet()


def main() -> None:
    missing = install_peers()
    install_package()
    if not install_r():
        missing.append("glmnet and doParallel for R (" + " ".join(R_PACKAGES) + ")")
    for name in missing:
        print(f"missing: {name} could not be installed")


if __name__ == "__main__":
    main()
