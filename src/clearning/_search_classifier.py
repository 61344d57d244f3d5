"""What the cross-validated classifiers share: their parameters, their routing and their search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from clearning._designs import Indices
from clearning._door import Array, relative
from clearning._margin import MarginClassifierMixin
from clearning._problem import Target, check_grid
from clearning._ranges import Range
from clearning._search import Found, Penalties, Search
from clearning._search_calibration import Calibration, can_calibrate, make_calibration
from clearning._search_folds import Fold, folds_on
from clearning._search_rounds import Work
from clearning._search_scoring import make_metric
from clearning._search_space import AUTO, PAPER, Auto, make_space
from clearning._search_watch import Watch
from clearning._sklearn import Interval, StrOptions, routing_enabled, safe_indexing
from clearning.losses import Loss

GRID_CONSTRAINTS: dict[str, list[Any]] = {
    "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "alpha_min_ratio": [StrOptions({AUTO}), Interval(Real, 0, 1, closed="neither")],
    "l1_ratios": ["array-like"],
    "rhos": ["array-like"],
    "us": ["array-like"],
    "selection": [StrOptions({"best", "one_se"})],
}
SEARCH_CONSTRAINTS: dict[str, list[Any]] = {
    **GRID_CONSTRAINTS,
    **{
        name: [StrOptions({AUTO}), *GRID_CONSTRAINTS[name]]
        for name in ("alphas", "l1_ratios", "rhos", "us")
    },
    "search": [StrOptions({AUTO, "paper"})],
    "cv": ["cv_object"],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "calibrate": ["boolean", StrOptions({AUTO})],
    "n_jobs": [Integral, None],
    "verbose": ["boolean", StrOptions({AUTO})],
}


class SearchMixin(MarginClassifierMixin):
    """A classifier with the parameters above, ``loss`` and ``delta``."""

    _auto: ClassVar[Auto]
    _auto_of_many: ClassVar[Auto]
    loss: str | Loss
    delta: float
    # What those had that were pickled before there was a choice.
    search: str = "paper"
    verbose: bool | str = AUTO
    # What to do instead of waiting for long.
    _cheaper: ClassVar[str]
    alphas: int | str | ArrayLike
    alpha_min_ratio: float | str
    l1_ratios: str | ArrayLike
    rhos: str | ArrayLike
    us: str | ArrayLike
    cv: Any
    scoring: Any
    selection: str
    calibrate: bool | str
    class_weight: Any
    fit_intercept: bool
    n_jobs: int | None

    def _asked(self, name: str) -> Any:
        """Return what is asked of a hyperparameter; of the paper's search, what the paper has."""
        value = getattr(self, name)
        is_auto = isinstance(value, str) and value == AUTO
        return PAPER[name] if is_auto and self.search == "paper" else value

    def _plan(
        self,
        X: Any,
        target: Target,
        folds: Sequence[Fold],
        sample_weight: Array | None,
        score_params: Mapping[str, Any],
    ) -> Search:
        """Check all that the search is told, before it does any work.

        X is seen by scorers alone, which get its rows as they are; score_params are arrays with one
        entry per sample.
        """
        space = make_space(
            self.loss,
            l1_ratios=self._asked("l1_ratios"),
            rhos=self._asked("rhos"),
            us=self._asked("us"),
            delta=self.delta,
            auto=self._auto if target.n_classes == 2 else self._auto_of_many,
        )
        has_link = space.first[0].loss.has_link
        calibration = self._calibration(folds, target, sample_weight, has_link=has_link)
        linked = has_link or calibration is not None
        weight = relative(np.asarray(score_params.get("sample_weight", np.ones(len(target.codes)))))
        work = Work(
            folds=folds,
            settings=self._settings(),
            metric=make_metric(self.scoring, X, target, score_params, has_link=linked),
            calibration=calibration,
            n_jobs=self.n_jobs,
            watch=Watch(self.verbose, self._cheaper),
        )

        def work_on(rows: Indices) -> Work:
            part = self._plan(
                safe_indexing(X, rows),
                target.rows(rows),
                folds_on(folds, rows, len(target.codes)),
                None if sample_weight is None else sample_weight[rows],
                {name: safe_indexing(value, rows) for name, value in score_params.items()},
            )
            return replace(part.work, watch=work.watch)

        return Search(
            space=space,
            penalties=self._penalties(),
            work=work,
            work_on=work_on,
            fold_weight=np.array([weight[test].sum() for _, test in folds]),
            selection=self.selection,
            clearly=self._auto.clearly,
            searched=self._searched(),
        )

    def _calibration(
        self, folds: Sequence[Fold], target: Target, weight: Array | None, *, has_link: bool
    ) -> Calibration | None:
        """Return how probabilities are calibrated; "auto" does so where it can.

        An offset gives weighted classes their rates back, and takes from the predictions what the
        weights gave them: that has to be asked for.
        """
        weighted = self.class_weight is not None
        told = self.calibrate
        if told == AUTO:
            # Of many classes a temperature seldom gains (benchmarks/results-classes.md).
            can = has_link and not weighted and target.n_classes == 2
            told = can and self.search != "paper" and can_calibrate(folds, target)
        free = self.fit_intercept and self.search != "paper"
        offset = 0.0 if weighted else self._auto.offset if free else None
        return make_calibration(folds, target, weight, offset=offset) if told else None

    def _penalties(self) -> Penalties:
        alphas = self._asked("alphas")
        if not isinstance(alphas, str):
            return Penalties(check_grid(alphas, self.alpha_min_ratio), self._auto.top)
        floor = Range(0.0, 1.0).check("alpha_min_ratio", self.alpha_min_ratio, AUTO)
        return Penalties(None, self._auto.top, None if floor == AUTO else floor)

    def _searched(self) -> dict[str, str]:
        """Return what has a range, each with the parameter that sets it."""
        given = not isinstance(self.alphas, (str, Integral))
        ranges = {"alpha": "smaller alphas" if given else "a smaller alpha_min_ratio"}
        for name, parameter in (("l1_ratio", "l1_ratios"), ("rho", "rhos"), ("u", "us")):
            # Where "auto" has looked, its own limits are no cause for alarm.
            if not isinstance(self._asked(parameter), str):
                ranges[name] = f"other {parameter}"
        return ranges

    def _adopt(self, found: Found) -> None:
        """Set the attributes that tell what was found."""
        chosen = found.trial.combination
        self.cv_results_, self.best_index_ = found.table, found.index
        self.calibrator_ = found.calibrator
        self.path_, self.loss_ = found.path, found.path.loss
        self.alpha_ = float(found.trial.alphas[found.alpha_index])
        self.l1_ratio_, self.rho_, self.u_ = chosen.l1_ratio, chosen.rho, chosen.u

    def _route(
        self, sample_weight: Array | None, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the splitter and what goes to the scorer."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not routing_enabled():
            return {}, weights
        routed = process_routing(self, "fit", **weights, **params)
        score_params = weights if self.scoring is None else routed.scorer.score
        return routed.splitter.split, score_params

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata is routed: to this estimator, the splitter and the scorer.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        router = (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv, classifier=True),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )
        if self.scoring is not None:
            router.add(
                scorer=get_scorer(self.scoring),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        return router
