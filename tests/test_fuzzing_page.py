"""The sums that docs/fuzzing.md and docs/certificate.md name are those of the table of runs."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
FUZZING = (DOCS / "fuzzing.md").read_text(encoding="utf-8")
CERTIFICATE = (DOCS / "certificate.md").read_text(encoding="utf-8")
# What a line of the certificate's table is called in the table of runs.
COLUMNS = {
    "false certificate": "false",
    "coefficients or objectives that are not finite": "not finite",
    "objective is not that of the coefficients": "objective off",
    "null objective is not the best constant's": "null objective",
    "more than 5 s": "above 5 s",
    "a good problem refused": "refused",
    "coefficients out of bounds, by a rounding": "past a bound",
    "not converged, and not warned of": "silent",
}


def _table(page, first):
    """The rows, as dictionaries, of the table whose first heading is that."""
    lines = page.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().removesuffix("|")[1:].split("|")])
    names, _, *body = rows
    assert all(len(row) == len(names) for row in body)
    return [dict(zip(names, row)) for row in body]


def _number(text):
    return float(text.replace(",", "") or 0)


def _sums():
    runs = _table(FUZZING, "seed")
    names = [name for name in runs[0] if name not in ("seed", "revision")]
    return {name: sum(_number(run[name]) for run in runs) for name in names}


@pytest.mark.parametrize("page", ["fuzzing", "certificate"])
def test_the_headline_is_the_sum_of_the_runs(page):
    text = {"fuzzing": FUZZING, "certificate": CERTIFICATE}[page]
    problems, hours = re.search(
        r"^([\d,]+) problems (?:were drawn so far, )?in ([\d.]+) hours", text, re.MULTILINE
    ).groups()
    sums = _sums()
    assert _number(problems) == sums["problems"]
    decimals = len(hours.partition(".")[2])
    assert abs(float(hours) - sums["hours"]) <= 0.5 * 10**-decimals + 1e-9


def test_the_certificates_table_is_the_sum_of_the_runs():
    sums = _sums()
    lines = _table(CERTIFICATE, "what broke")
    told = {line["what broke"]: _number(line["problems"]) for line in lines}
    assert {COLUMNS[name]: count for name, count in told.items() if name in COLUMNS} == {
        name: count for name, count in sums.items() if name not in ("problems", "hours")
    }


def test_the_false_certificates_are_counted():
    counted = re.search(r"(\d+) certificates among them were false", CERTIFICATE)[1]
    assert int(counted) == _sums()["false"]
