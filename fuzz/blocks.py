"""Rows in blocks: the problems of two classes and of many, cut into blocks and given in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from answers import Fit, View, probes
from many import class_plain, draw_classes_path
from plain import Point
from problems import Problem, Rng, chance, pick, power

SMOOTH = ("coherence", "logistic", "huberized_hinge", "squared_hinge")

# Without a cut the rows are an array; with one they are a function's blocks, the last an empty one.
CALL = """cut = options.pop('cut')
if cut:
    whole = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    beside = [y, given.get('sample_weight'), given.get('offset')]
    def blocks():
        for start in range(0, whole.shape[0] + cut, cut):
            rows = slice(start, start + cut)
            yield whole[rows], *(None if v is None else v[rows] for v in beside)
    X, y, given = blocks, None, {}
result = clearning.BlockwiseCLearningClassifier(**options).fit(X, y, **given)"""


def in_blocks(rng: Rng, problem: Problem) -> Problem:
    """Return the problem for a blockwise classifier: one penalty, and rows that may be cut."""
    options = {name: v for name, v in problem.options.items() if name != "warm_start"}
    if options.get("loss") == "hinge":
        options["loss"] = pick(rng, SMOOTH)
    if "max_iter" in options:
        options["max_iter"] = max(int(options["max_iter"]), 2)
    if chance(rng, 0.3):
        options["random_state"] = int(rng.integers(5))
    options["n_jobs"] = int(rng.integers(1, 3))
    options["cut"] = int(rng.integers(1, len(problem.X) + 1)) if chance(rng, 0.6) else 0
    return replace(problem, options=options)


def draw_class_blocks(rng: Rng) -> Problem:
    problem = in_blocks(rng, draw_classes_path(rng))
    options = {name: v for name, v in problem.options.items() if name not in ("groups", "alphas")}
    options["alpha"] = power(rng, -4, 0)
    return replace(problem, kind="class_blocks", options=options)


def class_block_fits(problem: Problem, model: Any) -> list[Fit]:
    plain, point = class_plain(problem), Point(model.coef_, model.intercept_)
    return [Fit(plain, problem.options["alpha"], point, model.objective_, model.dual_gap_)]


def class_block_views(problem: Problem, model: Any) -> list[View]:
    X = np.asarray(probes(problem))
    return [
        View(model.decision_function(X), model.classes_, model.predict(X), model.predict_proba(X))
    ]
