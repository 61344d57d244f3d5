"""The progress bar: silent in a pipe, drawn on a terminal, wiped at the end."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from clearning._progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    # pytest puts its own sys.stderr back between a fixture and its test.
    monkeypatch.setattr("clearning._progress.sys", SimpleNamespace(stderr=stream))
    return stream


def test_items_pass_through_and_a_pipe_stays_silent(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    assert list(progress(range(5), min_seconds=0.0)) == list(range(5))
    assert stream.getvalue() == ""


def test_bar_on_a_terminal(terminal):
    assert list(progress(range(4), label="folds", min_seconds=0.0)) == list(range(4))
    assert "folds [" in terminal.getvalue()
    assert "0/4" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_short_work_draws_nothing(terminal):
    list(progress(range(100)))
    assert terminal.getvalue() == ""


def test_unknown_total(terminal):
    assert list(progress(iter("ab"), min_seconds=0.0)) == ["a", "b"]
    assert "0 done" in terminal.getvalue()


def test_line_is_wiped_when_the_work_is_interrupted(terminal):
    def work():
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(progress(work(), total=2, min_seconds=0.0))
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_no_standard_error_at_all(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert list(progress(range(3), min_seconds=0.0)) == [0, 1, 2]


def test_bar_in_a_notebook(monkeypatch):
    shown = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr("clearning._progress.sys", SimpleNamespace(stderr=shown))
    assert list(progress(range(4), label="pass 2", min_seconds=0.0)) == list(range(4))
    assert "pass 2 [" in shown.getvalue()
