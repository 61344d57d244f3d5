"""The built site in a real browser: links, pictures, search, a phone's width, no complaint."""

import re
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

SITE = Path(__file__).parent.parent / "build" / "docs" / "html"
# What lies in _static is the theme's, no page.
PAGES = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
SHOWN = (
    "index",
    "ten-minutes",
    "losses",
    "from-glmnet",
    "reference",
    "api/clearning.CLearningClassifier",
    "benchmarks",
    "gallery/index",
    "gallery/plot_consistency",
)

pytestmark = pytest.mark.skipif(not PAGES, reason="the site is not built: make docs")


class _Anchors(HTMLParser):
    """Where a page leads, what it loads, and the names that it can be entered by."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names |= {given[key] for key in ("id", "name") if given.get(key)}
        where = given.get({"a": "href", "link": "href"}.get(tag, "src"))
        if where and tag in ("a", "link", "img", "script", "source"):
            self.links.append((tag, where))


@pytest.fixture(scope="module")
def anchors():
    return {path.resolve(): _Anchors(path) for path in PAGES}


def test_no_link_is_broken_and_no_picture_missing(anchors):
    broken = []
    for path, page in anchors.items():
        for _, link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = anchors.get(target)
            if not target.exists() or (
                known and parts.fragment and unquote(parts.fragment) not in known.names
            ):
                broken.append((path.relative_to(SITE.resolve()).as_posix(), link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(anchors):
    loaded = {
        link
        for page in anchors.values()
        for tag, link in page.links
        if tag != "a" and urlsplit(link).scheme in ("http", "https")
    }
    assert loaded == set()


def test_every_gallery_example_has_its_picture(anchors):
    examples = sorted((SITE / "gallery").glob("plot_*.html"))
    assert len(examples) >= 12
    for path in examples:
        pictures = [link for tag, link in anchors[path.resolve()].links if tag == "img"]
        assert any("_images" in link for link in pictures), path.name


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def address():
    """The site as a host would serve it: search fetches pages, which files may not."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def opened(open_page, address):
    """A function that opens pages of the site."""
    return lambda name, **options: open_page(f"{address}/{name}", **options)


def _errors(page):
    """What the page complained of; the theme's own notes begin with its name."""
    return [text for text in page.complaints() if not re.search(r"\[PST\]|theme mode", text)]


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_fits_and_does_not_complain(opened, address, name, width):
    page = opened(f"{name}.html", width=width)
    assert _errors(page) == []
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask("[...document.images].filter(i => !i.complete || !i.naturalWidth).length") == 0
    assert [url for url in page.requests() if not url.startswith((address, "data:"))] == []


def test_formulas_are_set(opened):
    page = opened("losses.html")
    page.wait_until("document.querySelectorAll('mjx-container').length >= 2")


@pytest.mark.parametrize("words", ["duality gap", "lambda.1se", "CLearningClassifierCV"])
def test_search_finds_pages(opened, words):
    page = opened(f"search.html?q={quote(words)}")
    page.wait_until("document.querySelectorAll('ul.search li a').length > 0")
    assert _errors(page) == []
