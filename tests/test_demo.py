"""`clearning demo` runs, speaks while it works, and writes a page that needs nothing else."""

import re
import subprocess
import sys

import numpy as np
import pytest

from clearning.cli import main

pytest.importorskip("matplotlib", reason="the demo draws with matplotlib")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "clearning.cli", "demo", "--quick", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def _part(text, number):
    """The rows of one of the numbered parts, without their heading."""
    part = re.split(r"^\d\. ", text, flags=re.MULTILINE)[number]
    return [line for line in part.splitlines() if line.startswith("  ")][1:]


def test_every_part_has_its_rows(demo):
    _, text = demo
    assert [len(_part(text, number)) for number in (1, 2, 3, 4)] == [5, 5, 4, 3]
    assert text.startswith("Loading the libraries")


def test_figures_in_the_tables_make_sense(demo):
    _, text = demo
    for row in _part(text, 1) + _part(text, 2) + _part(text, 3):
        error = float(re.search(r"([\d.]+)%", row)[1])
        loss = float(re.search(r"% +([\d.]+)", row)[1])
        assert 0 <= error < 50, row
        assert 0 < loss < np.log(3), row
        if row.strip().startswith("C-learning"):
            assert float(re.search(r"\d(?:\.\d+)?e-\d+", row)[0]) < 1e-4, row


def test_selection_finds_real_columns_and_no_method_beats_the_truth(demo):
    _, text = demo
    columns, real = map(int, re.search(r"(\d+) columns, (\d+) real", _part(text, 1)[0]).groups())
    assert real / columns > 30 / 300  # better than a blind choice
    losses = [float(re.search(r"% +([\d.]+)", row)[1]) for row in _part(text, 2)]
    assert losses[0] == min(losses)


def test_the_proof_bounds_solvers_that_stopped_too_early(demo):
    _, text = demo
    ours, *others = _part(text, 4)
    assert "proved it" in ours
    for row in others:
        assert float(re.search(r"\de-\d+", row)[0]) > 1e-3, row
        assert "a warning, no number" in row


def test_page_holds_its_pictures_and_loads_nothing(demo):
    folder, _ = demo
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert text.count('src="data:image/png;base64,') == 6
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|<script|@import", text)
    assert text.count("<tr") == 4 + 5 + 5 + 4 + 3
    pictures = sorted(path.stem for path in folder.glob("*.png"))
    drawn = ["columns", "confusions", "cross-validation", "pixels", "reliability", "surfaces"]
    assert pictures == drawn


def test_it_ends_in_the_report(demo):
    pytest.importorskip("polars", reason="tables are read with polars")
    folder, text = demo
    report = folder / "report.html"
    assert text.rstrip().endswith(str(report))
    assert "diagnosis" in report.read_text(encoding="utf-8")


def test_pictures_are_not_blank(demo):
    from matplotlib.image import imread

    folder, _ = demo
    for path in folder.glob("*.png"):
        image = imread(path)
        assert min(image.shape[:2]) > 300
        assert np.ptp(image[..., :3]) > 0.5


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path, capsys):
    occupied = tmp_path / "file"
    occupied.write_text("")
    assert main(["demo", "--out", str(occupied)]) == 1
    assert "file" in capsys.readouterr().err.lower()


def test_command_without_arguments_prints_help(capsys):
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_interrupt_ends_cleanly(monkeypatch, capsys, tmp_path):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("clearning.demo.problems.wide", interrupted)
    assert main(["demo", "--quick", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "clearning: interrupted\n"
