"""Makes a problem that breaks something smaller while it still breaks the same thing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from judge import namespace, statements
from problems import Problem

# What the plain objective is built from; without it a problem would not be judged.
NEEDED = (
    "loss",
    "l1_ratio",
    "alpha",
    "alphas",
    "kernel",
    "degree",
    "coef0",
    "method",
    "rhos",
    "l1_ratios",
    "n_weights",
    "cv",
)
MAX_SECONDS = 30.0
SHOWN = "objectives dual_gaps converged null_objective coefs intercepts hinge_limit objective_ "
SHOWN += "dual_gap_ coef_ dual_coef_ intercept_"


def shrink(problem: Problem, still_fails: Callable[[Problem], bool]) -> Problem:
    """Try smaller problems, each time from the smallest that fails, until none does."""
    deadline = time.monotonic() + MAX_SECONDS
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(problem):
            if time.monotonic() > deadline:
                return problem
            if still_fails(smaller):
                problem, progress = smaller, True
                break
    return problem


def _smaller(problem: Problem) -> Iterator[Problem]:
    yield from _fewer(len(problem.X), problem.keep_rows, problem)
    if not problem.paired and problem.X.shape[1] > 1:
        yield from _fewer(problem.X.shape[1], problem.keep_columns, problem)
    yield from _plainer(problem)
    for digits in (0, 1, 2):
        rounded = np.array([float(f"{x:.{digits}e}") for x in problem.X.flat])
        rounded = rounded.reshape(problem.X.shape)
        if (rounded != problem.X).any() and problem.square is None:
            yield replace(problem, X=rounded)
            break


def _fewer(size: int, keep: Callable[[Any], Problem], problem: Problem) -> Iterator[Problem]:
    """Leave out halves, quarters, ..., single ones; two samples of two classes must remain."""
    width = size // 2
    while width >= 1:
        for start in range(0, size, width):
            kept = np.delete(np.arange(size), slice(start, start + width))
            if len(kept) == 0:
                continue
            smaller = keep(kept)
            if len(np.unique(smaller.signs)) == len(problem.labels):
                yield smaller
        width //= 2


def _plainer(problem: Problem) -> Iterator[Problem]:
    if problem.storage:
        yield replace(problem, storage=())
        for step in problem.storage:
            yield replace(problem, storage=tuple(s for s in problem.storage if s != step))
    for part in ("rows", "columns"):
        for name in getattr(problem, part):
            if name != "upper":
                gone = (name, "upper") if name == "lower" else (name,)
                kept = {k: v for k, v in getattr(problem, part).items() if k not in gone}
                yield replace(problem, **{part: kept})
    for name, value in problem.options.items():
        if name not in NEEDED:
            kept = {k: v for k, v in problem.options.items() if k != name}
            yield replace(problem, options=kept)
        elif name in ("alphas", "rhos") and np.ndim(value) == 1 and len(value) > 1:
            for one in value:
                yield replace(problem, options={**problem.options, name: np.array([one])})
        elif name == "alphas" and isinstance(value, int) and value > 1:
            yield replace(problem, options={**problem.options, name: value - 1})
    plain = tuple(range(len(problem.labels)))
    if problem.labels != plain:
        yield replace(problem, labels=plain)


def reproduction(problem: Problem) -> str:
    """A Python program that makes the call and prints what it says."""
    names = namespace(problem)
    # Seventeen digits, so that what is printed is the number itself.
    with np.printoptions(floatmode="unique", threshold=10**6, linewidth=100):
        values = [f"{name} = {_code(names[name])}" for name in ("X", "y", "options", "given")]
    lines = [
        "import tempfile",
        "import clearning",
        "import numpy as np",
        "from scipy import sparse",
        *values,
        *statements(problem),
        f"names = {SHOWN!r}.split()",
        "print({name: getattr(result, name) for name in dir(result) if name in names})",
    ]
    return "\n".join(lines)


def _code(value: Any) -> str:
    """A value as Python source."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})".replace("inf", "np.inf")
    if isinstance(value, tuple):
        return "(" + "".join(_code(item) + ", " for item in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_code(item)}" for key, item in value.items()) + "}"
    return repr(value)
