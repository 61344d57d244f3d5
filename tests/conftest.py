"""What every test module shares."""

import sys

import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """No figure outlives its test; matplotlib is not imported for tests that do not draw."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
