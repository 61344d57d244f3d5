"""The report in a real browser: it works, it fits a phone, and hostile names do no harm."""

import numpy as np
import polars as pl
import pytest
from tables_help import passengers, two_classes

from clearning.report import write_report
from clearning.report.measures import Measures
from clearning.tables import FitOptions, fit_table

HOSTILE = {
    "<script>window.hacked = 1</script>": "x",
    "</script><img src=x onerror='window.hacked=1'>": "z",
    r"$\frac{a}{b}$ ${window.hacked=1} {{7*7}}": "v",
    "w" * 300: "w",
    "עמודה \u202e מימין": "r",
    '"&quot;\n\t\0 \ud7ff': "q",
}


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    model = fit_table(passengers(), FitOptions("survived", kernel=False), "passengers.csv")
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(model, path)
    return model, path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    rng = np.random.default_rng(0)
    n, frame = 120, {}
    for name in HOSTILE:
        frame[name] = rng.normal(size=n)
    score = sum(frame.values())
    frame["<b>group</b>"] = np.where(
        rng.random(n) < 0.5, "<i onclick=x>one</i>", "two & three" * 30
    )
    label = np.where(
        score > 0, "<u>yes</u>", "“no”\u202e</option></select><script>hacked=1</script>"
    )
    frame["y</title><script>window.hacked=1</script>"] = label
    target = list(frame)[-1]
    model = fit_table(pl.DataFrame(frame), FitOptions(target, kernel=False), "<img src=x>.csv")
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    write_report(model, path)
    return model, path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("kind", ["ordinary", "hostile"])
def test_the_page_works_and_fits(open_page, request, kind, width, dark):
    _, path = request.getfixturevalue(kind)
    page = open_page(path, width=width, dark=dark)
    assert page.complaints() == []
    assert page.requests() == [path.as_uri()]
    assert page.ask("typeof window.hacked") == "undefined"
    page.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask("document.querySelectorAll('svg.chart').length") >= 5
    assert _contrast(page) >= 4.5


def _contrast(page) -> float:
    """The least contrast of body text and quiet text on cards and page."""
    colours = page.ask(
        """[...document.querySelectorAll('body, .card, .lead, .soft, figcaption, a')].map(e => {
          let back = e;
          while (back && getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)')
            back = back.parentElement;
          return [getComputedStyle(e).color, getComputedStyle(back).backgroundColor];
        })"""
    )

    def light(colour):
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def ratio(pair):
        low, high = sorted(map(light, pair))
        return (high + 0.05) / (low + 0.05)

    return min(map(ratio, colours))


def _counts(page):
    return {
        name: int(page.ask(f"document.getElementById('{name}').textContent").replace(",", ""))
        for name in ("hits", "false", "missed", "quiet")
    }


def _set(page, name, value):
    page.ask(
        f"(() => {{ const e = document.getElementById('{name}'); e.value = '{value}';"
        "e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); })()"
    )


def test_costs_move_the_threshold_and_the_counts(open_page, ordinary):
    model, path = ordinary
    page = open_page(path, width=390)
    found = Measures.of(model).of_class("yes")
    _set(page, "class", 1)
    for false_alarm, miss in ((1, 1), (1, 9), (5, 1)):
        _set(page, "cost-false", false_alarm)
        _set(page, "cost-miss", miss)
        threshold = round(200 * false_alarm / (false_alarm + miss)) / 200
        alarm = found.probability >= threshold
        expected = {
            "hits": int((alarm & found.event).sum()),
            "false": int((alarm & ~found.event).sum()),
            "missed": int((~alarm & found.event).sum()),
            "quiet": int((~alarm & ~found.event).sum()),
        }
        assert _counts(page) == expected
        assert page.ask("threshold.textContent") == f"{100 * threshold:.1f}%"
        cost = 1000 * (false_alarm * expected["false"] + miss * expected["missed"]) / 100
        assert page.ask("cost.textContent") == f"{cost:,.0f}"
    before = _counts(page)
    _set(page, "slider", 190)
    assert _counts(page) != before
    page.ask("document.getElementById('by-cost').click()")
    assert _counts(page) == before
    for nonsense in ("", "-3", "1e200"):
        _set(page, "cost-miss", nonsense)
    assert page.complaints() == []


def test_the_page_prints(open_page, ordinary):
    page = open_page(ordinary[1])
    assert page.printed().startswith(b"%PDF")


def test_what_stands_there_without_the_script_is_what_the_script_says(open_page, ordinary):
    _, path = ordinary
    page = open_page(path)
    text = path.read_text()
    for name, value in _counts(page).items():
        assert f'<output id="{name}">{value:,}</output>' in text


def test_a_kernel_and_a_model_of_nothing(open_page, tmp_path):
    rng = np.random.default_rng(0)
    noise = pl.DataFrame({"x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    ring = pl.DataFrame(two_classes(120)).with_columns(
        y=pl.when(pl.col("x") ** 2 + pl.col("z") ** 2 > 1.4)
        .then(pl.lit("out"))
        .otherwise(pl.lit("in"))
    )
    for frame in (noise, ring):
        path = tmp_path / "report.html"
        write_report(fit_table(frame, FitOptions("y"), "t.csv"), path)
        page = open_page(path, width=390)
        assert page.complaints() == []
        assert page.ask("document.documentElement.scrollWidth") <= 390
