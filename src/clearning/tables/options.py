"""What may be asked of a fit, looked at before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clearning._ranges import Range
from clearning.tables.errors import TableError, quoted
from clearning.tables.kinds import ASKED_KINDS

SELECTIONS = ("best", "one_se")

_TEST = Range(0.0, 1.0)
_FOLDS = Range(2, closed="left", integer=True)
# NumPy's generators take no others, and more threads than these are a slip of the hand.
_SEEDS = Range(0, 2**32 - 1, closed="both", integer=True)
_JOBS = Range(1, 1024, closed="both", integer=True)


@dataclass(frozen=True)
class FitOptions:
    """What may be asked of `fit_table`.

    Attributes
    ----------
    target : str
        Name of the column to predict.
    test : float
        Share of the rows held out to test on.
    time, group, weight : str or None
        Names of columns: hold out the latest rows, hold out whole groups, weigh the rows.
    kinds : mapping of str to str
        What columns are, against what would be decided: "number", "category", "date", "text" or
        "ignore".
    kernel : bool or None
        Whether to try a kernel; None tries one up to 5000 training rows.
    selection : {"best", "one_se"}
        The penalty of the best cross-validated score, or the largest within a standard error.
    folds : int or None
        Folds of the cross-validation; None makes five, or as many as the rarest class has rows.
    seed : int
        Seed of what is held out and of the folds.
    jobs : int
        Threads; -1 for as many as there are cores.

    Examples
    --------
    >>> from clearning.tables import FitOptions
    >>> FitOptions("diagnosis", test=0.3, selection="one_se").kernel is None
    True
    """

    target: str
    test: float = 0.25
    time: str | None = None
    group: str | None = None
    weight: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    kernel: bool | None = None
    selection: str = "best"
    folds: int | None = None
    seed: int = 0
    jobs: int = -1

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_words()
        self._check_roles()

    def _check_numbers(self) -> None:
        if self.test not in _TEST:
            raise TableError(f"--test {self.test} must be a share between 0 and 1.")
        if self.folds is not None and self.folds not in _FOLDS:
            raise TableError(f"--folds {self.folds} must be a whole number from 2 on.")
        if self.seed not in _SEEDS:
            raise TableError(f"--seed {self.seed} must be a whole number in {_SEEDS}.")
        if self.jobs != -1 and self.jobs not in _JOBS:
            raise TableError(
                f"--jobs {self.jobs} must be a number of threads in {_JOBS}, or -1 for all cores."
            )

    def _check_words(self) -> None:
        if self.selection not in SELECTIONS:
            raise TableError(
                f"--selection {self.selection} must be one of {', '.join(SELECTIONS)}."
            )
        for name, kind in self.kinds.items():
            if kind not in ASKED_KINDS:
                raise TableError(
                    f"--as {quoted(f'{name}={kind}')} must name a kind among "
                    f"{', '.join(ASKED_KINDS)}."
                )

    def _check_roles(self) -> None:
        if self.time is not None and self.group is not None:
            raise TableError("--time and --group cannot both say what is held out; give one.")
        taken: dict[str, str] = {}
        for role in ("target", "time", "group", "weight"):
            name = getattr(self, role)
            if name in taken:
                raise TableError(
                    f"Column {quoted(name)} cannot be both --{taken[name]} and --{role}."
                )
            if name is not None:
                taken[name] = role
        for name in self.kinds:
            if name in taken:
                raise TableError(
                    f"Column {quoted(name)} is the --{taken[name]}, so --as has no say in it."
                )
