"""What a search shows of itself while it is under way."""

from __future__ import annotations

import io
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV, _search_watch
from clearning._search_trial import Descent
from clearning._search_watch import Watch


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    hand = SimpleNamespace(now=0.0)
    monkeypatch.setattr(_search_watch.time, "monotonic", lambda: hand.now)
    return hand


def watched(monkeypatch, stream, verbose="auto", cheaper="Do less."):
    monkeypatch.setattr(_search_watch, "sys", SimpleNamespace(stderr=stream))
    return Watch(verbose, cheaper)


def test_share_and_time_left_are_in_units_of_cost(monkeypatch, clock):
    terminal = Terminal()
    with watched(monkeypatch, terminal) as watch:
        watch.label, watch.expected = "cross-validation", 10.0
        clock.now = 5.0
        watch.passed(1.0)
        assert watch.share == pytest.approx(0.1)
        assert watch.seconds_left(5.0) == pytest.approx(45.0)
        assert "cross-validation [###" in terminal.getvalue()
        assert "10%, about 0:45 left" in terminal.getvalue()
        # More work than was expected is never past its end.
        watch.passed(100.0)
        assert watch.share < 1.0
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_log_gets_lines_only_where_it_is_asked_for(monkeypatch, clock):
    silent, log = io.StringIO(), io.StringIO()
    for stream, verbose in ((silent, "auto"), (log, True)):
        clock.now = 0.0
        with watched(monkeypatch, stream, verbose) as watch:
            watch.expected = 100.0
            for clock.now in range(0, 60, 5):
                watch.passed(5.0)
    assert silent.getvalue() == ""
    assert len(log.getvalue().splitlines()) == 5
    assert "\r" not in log.getvalue()


@pytest.mark.parametrize("verbose", [True, False])
def test_a_long_search_is_told_of_once_with_the_cheaper_way(monkeypatch, clock, verbose):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        with watched(monkeypatch, io.StringIO(), verbose) as watch:
            watch.expected = 100.0
            for clock.now in (1.0, 6.0, 12.0):
                watch.passed(1.0)
    told = [str(one.message) for one in met]
    assert told == (["This search will take about 5 minutes more. Do less."] if verbose else [])


def test_a_short_search_says_nothing(monkeypatch, clock):
    with warnings.catch_warnings(), watched(monkeypatch, io.StringIO(), True) as watch:
        warnings.simplefilter("error")
        watch.expected = 10.0
        clock.now = 10.0
        watch.passed(1.0)


def test_small_penalties_are_counted_as_the_slow_end():
    parts = np.array([Descent(1.0, 1e-9).part(n) for n in range(15)])
    assert (np.diff(parts[:12], 2) > 0).all()
    assert parts[-1] == 1.0


@pytest.mark.parametrize("kind", [CLearningClassifierCV, KernelCLearningClassifierCV])
@pytest.mark.parametrize("options", [{}, {"search": "paper"}])
def test_a_search_tells_its_watch_of_all_its_work(monkeypatch, kind, options):
    seen, passed = [], Watch.passed

    def counted(self, cost):
        passed(self, cost)
        seen.append((self, cost))

    monkeypatch.setattr(Watch, "passed", counted)
    kind(cv=3, **options).fit(*make_moons(80, noise=0.3, random_state=0))
    watch, done = seen[0][0], sum(cost for _, cost in seen)
    # What is expected holds but for widths, of which there may be a few more or less.
    assert 0.6 * watch.expected < done < 1.6 * watch.expected
    assert all(cost >= 0.0 for _, cost in seen)


def test_verbose_is_checked(monkeypatch):
    with pytest.raises(ValueError, match="'verbose' parameter"):
        CLearningClassifierCV(verbose="much").fit(*make_moons(80, random_state=0))
