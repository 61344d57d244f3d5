"""Install a wheel where there is no compiler, and test it: `check_wheel.py dist/clearning-….whl`.

The environment is new, takes nothing but wheels, and its PATH holds its own programs alone. The
tests are copied beside it, so that the installed package is what they import.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOLS = ("pytest>=8.0", "hypothesis>=6.100", "mpmath>=1.3", "pandas>=2.1")
TESTS = (
    "test_package.py",
    "test_losses.py",
    "test_certificate.py",
    "test_linear_correctness.py",
    "test_kernel_correctness.py",
    "test_many_classes.py",
    "test_calibration.py",
)


def main(wheel: Path) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        python = str(programs / "python")
        environment = {**os.environ, "PATH": str(programs), "PYTHONNOUSERSITE": "1"}
        environment.pop("PYTHONPATH", None)
        for compiler in ("cc", "c++", "gcc", "g++", "clang", "cl"):
            assert shutil.which(compiler, path=environment["PATH"]) is None, compiler
        install = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*install, str(wheel), *TOOLS], env=environment, check=True)
        shutil.copytree(ROOT / "tests", folder / "tests")
        tests = [str(folder / "tests" / test) for test in TESTS]
        where = "import clearning, pathlib; print(pathlib.Path(clearning.__file__).parent)"
        subprocess.run([python, "-c", where], cwd=folder, env=environment, check=True)
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
