"""What the cross-validated classifiers share: their parameters, their routing and their search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from clearning._door import Array, relative
from clearning._margin import MarginClassifierMixin
from clearning._problem import Target, check_grid
from clearning._search import Found, Search, make_combinations
from clearning._search_calibration import make_calibration
from clearning._search_folds import Fold
from clearning._search_scoring import make_metric
from clearning._sklearn import Interval, StrOptions, routing_enabled
from clearning.losses import Loss

SEARCH_CONSTRAINTS: dict[str, list[Any]] = {
    "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "alpha_min_ratio": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
    "l1_ratios": ["array-like"],
    "rhos": ["array-like"],
    "us": ["array-like"],
    "cv": ["cv_object"],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "selection": [StrOptions({"best", "one_se"})],
    "calibrate": ["boolean"],
    "n_jobs": [Integral, None],
}


class SearchMixin(MarginClassifierMixin):
    """A classifier with the parameters above, ``loss`` and ``delta``."""

    loss: str | Loss
    delta: float
    alphas: int | ArrayLike
    alpha_min_ratio: float | str
    l1_ratios: ArrayLike
    rhos: ArrayLike
    us: ArrayLike
    cv: Any
    scoring: Any
    selection: str
    calibrate: bool
    n_jobs: int | None

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
        combinations = make_combinations(
            self.loss, l1_ratios=self.l1_ratios, rhos=self.rhos, us=self.us, delta=self.delta
        )
        linked = self.calibrate or combinations[0].loss.has_link
        weight = relative(np.asarray(score_params.get("sample_weight", np.ones(len(target.codes)))))
        return Search(
            combinations=combinations,
            grid=check_grid(self.alphas, self.alpha_min_ratio),
            settings=self._settings(),
            folds=folds,
            metric=make_metric(self.scoring, X, target, score_params, has_link=linked),
            fold_weight=np.array([weight[test].sum() for _, test in folds]),
            calibration=make_calibration(folds, target, sample_weight) if self.calibrate else None,
            selection=self.selection,
            n_jobs=self.n_jobs,
        )

    def _adopt(self, found: Found) -> None:
        """Set the attributes that tell what was found."""
        chosen = found.candidate.combination
        self.cv_results_, self.best_index_ = found.table, found.index
        self.calibrator_ = found.calibrator
        self.loss_ = chosen.loss
        self.alpha_ = float(found.candidate.alphas[found.alpha_index])
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
