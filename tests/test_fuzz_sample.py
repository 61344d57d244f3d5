"""A small fixed sample of the fuzzer; `make fuzz` draws more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "fuzz"
if not FOLDER.exists():
    pytest.skip("the fuzzer is not part of this tree", allow_module_level=True)
sys.path.insert(0, str(FOLDER))

import workers  # noqa: E402

COUNT = 200


@pytest.mark.parametrize("seed", [101, 102])
def test_nothing_breaks(seed):
    judged = list(workers.judge_all(seed, COUNT, minutes=10.0, jobs=1))
    assert len(judged) == COUNT
    broken = [
        f"--seed {seed} --index {one.index}: {one.kind}, {failure.kind}, {failure.message}"
        for one in judged
        for failure in one.verdict.failures
    ]
    assert not broken, "\n".join(broken)
