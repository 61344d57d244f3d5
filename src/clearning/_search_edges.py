"""Warnings where the best of what was tried lies at the edge of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from clearning._search_trial import Trial

# Beyond these there is nothing to try.
_NATURAL_ENDS: Mapping[str, tuple[float, ...]] = {"l1_ratio": (0.0, 1.0), "u": (0.0,)}


def warn_of_edges(chosen: Trial, rivals: Sequence[Trial], searched: Mapping[str, str]) -> None:
    """Warn of each searched hyperparameter whose best value is its smallest or largest.

    Parameters
    ----------
    chosen : Trial
        The best candidate.
    rivals : sequence of Trial
        All that were tried, the chosen one among them.
    searched : mapping
        What was searched, each with the parameter that sets its range.
    """
    for name, parameter in searched.items():
        if name == "alpha":
            value, values = float(chosen.alphas[chosen.best]), set(chosen.alphas.tolist())
        else:
            value = chosen.parameters[name]
            values = {trial.parameters[name] for trial in rivals}
        ends = {"smallest": min(values), "largest": max(values)}
        if len(values) < 2 or value in _NATURAL_ENDS.get(name, ()):
            continue
        for which, end in ends.items():
            # At the largest penalty there is no coefficient left: nothing lies beyond.
            if value == end and (name, which) != ("alpha", "largest"):
                _warn(name, value, which, parameter)


def _warn(name: str, value: float, which: str, parameter: str) -> None:
    further = "smaller" if which == "smallest" else "larger"
    warnings.warn(
        f"The best {name} is {value:.4g}, the {which} that was tried; a {further} one may be "
        f"better: pass {parameter}.",
        UserWarning,
        stacklevel=6,
    )
