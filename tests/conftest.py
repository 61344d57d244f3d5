"""What every test module shares."""

import contextlib
import sys

import pytest
from browser import CHROMIUM, Browser, BrowserEnded, Page


@pytest.fixture(autouse=True)
def close_figures():
    """No figure outlives its test; matplotlib is not imported for tests that do not draw."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def browsers():
    """Those that were started, the last of which may run; they end with the tests."""
    started: list[Browser] = []
    yield started
    for one in started:
        one.close()


def _running(browsers):
    """The last browser, or a new one where that has ended."""
    if not browsers or not browsers[-1].runs:
        try:
            browsers.append(Browser.started())
        except BrowserEnded as ended:
            pytest.skip(f"chromium is there and does not run here: {ended}")
    return browsers[-1]


@pytest.fixture
def open_page(browsers):
    """A function that opens pages, which are closed at the end."""
    if CHROMIUM is None:
        pytest.skip("chromium is not there: make browser")
    with contextlib.ExitStack() as pages:

        def opened(where, **options):
            page = Page(_running(browsers), where, **options)
            pages.callback(page.close)
            return page

        yield opened
