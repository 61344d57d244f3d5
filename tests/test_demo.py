"""`clearning demo` runs, prints its table and writes a page that needs nothing else."""

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
    return folder, done


def test_table_has_every_method_on_both_data_sets(demo):
    _, done = demo
    rows = [line for line in done.stdout.splitlines() if line.startswith("  ")]
    assert len(rows) == 12  # two headings, two times five methods
    for method in (
        "C-learning, linear",
        "C-learning, kernel",
        "logistic regression",
        "SVM, Platt's sigmoid",
        "SVM, coherence link",
    ):
        assert sum(method in row for row in rows) == 2


def test_figures_in_the_table_make_sense(demo):
    _, done = demo
    for row in done.stdout.splitlines():
        if "%" not in row or not row.startswith("  "):
            continue
        error, log_loss, calibration = re.search(r"([\d.]+)% +([\d.]+) +([\d.]+)", row).groups()
        assert 0 < float(error) < 12
        assert 0 < float(log_loss) < 0.4
        assert 0 < float(calibration) < 0.2
        if "C-learning" in row:
            assert float(re.search(r"\d\.\de[+-]\d\d", row).group()) < 1e-5


def test_nothing_is_said_on_stderr_in_a_pipe(demo):
    _, done = demo
    assert done.stderr == ""


def test_page_is_self_contained(demo):
    folder, done = demo
    page = folder / "index.html"
    assert str(page) in done.stdout
    text = page.read_text(encoding="utf-8")
    assert text.count('src="data:image/png;base64,') == 7
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|<script|@import", text)
    assert text.count("<tr") == 12
    pictures = sorted(path.stem for path in folder.glob("*.png"))
    assert pictures == [
        "cross-validation",
        "kernel-cross-validation",
        "kernel-path",
        "path",
        "reliability",
        "simulation-reliability",
        "surface",
    ]


def test_it_ends_in_the_report(demo):
    pytest.importorskip("polars", reason="tables are read with polars")
    folder, done = demo
    report = folder / "report.html"
    assert done.stdout.rstrip().endswith(str(report))
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

    monkeypatch.setattr("clearning.demo.contest.contests", interrupted)
    assert main(["demo", "--quick", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "clearning: interrupted\n"
