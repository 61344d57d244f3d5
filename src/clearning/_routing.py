"""Metadata of a cross-validated classifier: what goes to its splitter, and what to its scorer."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)


class SearchRoutingMixin:
    """Routing for a classifier with the parameters ``cv`` and ``scoring``."""

    cv: Any
    scoring: Any

    def _route(
        self, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the splitter and what goes to the scorer."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not _routing_enabled():
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
