"""The package imports lightly and carries its compiled core."""

import subprocess
import sys


def test_import_pulls_in_neither_matplotlib_nor_pandas():
    code = "import sys, clearning; print([m for m in ('matplotlib', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_core_and_package_have_one_version():
    import clearning
    from clearning import _core

    assert _core.__version__ == clearning.__version__
