"""From prepared columns to the numbers that a classifier takes, by scikit-learn's transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from clearning.tables.kinds import Column

_MOST_WORDS = 20_000
_ROWS_FOR_RARE_WORDS = 100


def make_transformer(frame: Any, columns: Sequence[Column]) -> ColumnTransformer:
    """Return the transformer of a prepared frame, not fitted.

    Numbers and dates are imputed by their median and standardised, with a mark where they were
    missing; categories are encoded one by one, new ones as none of them; text as tf-idf.
    """
    named: dict[str, list[str]] = {"number": [], "category": [], "text": []}
    for column in columns:
        if column.used:
            named["number" if column.kind == "date" else column.kind].append(column.name)
    holed = [name for name in named["number"] if np.isnan(frame[name].to_numpy()).any()]
    scaled = Pipeline([("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
    parts: list[tuple[str, Any, Any]] = [
        ("number", scaled, named["number"]),
        ("missing", MissingIndicator(features="all"), holed),
        ("category", OneHotEncoder(handle_unknown="ignore"), named["category"]),
    ]
    parts = [part for part in parts if part[2]]
    rare = 2 if len(frame) >= _ROWS_FOR_RARE_WORDS else 1
    for number, name in enumerate(named["text"], start=1):
        words = TfidfVectorizer(min_df=rare, max_features=_MOST_WORDS, sublinear_tf=True)
        parts.append((f"text{number}", words, name))
    return ColumnTransformer(parts)


@dataclass(frozen=True)
class Derived:
    """One number that a classifier sees, and the column of the table it was made of."""

    column: str
    label: str
    scale: float = 1.0


def derived_features(transformer: ColumnTransformer) -> list[Derived]:
    """Name every number that a fitted transformer makes, in its order."""
    derived: list[Derived] = []
    for part, fitted, names in transformer.transformers_:
        if part == "number":
            scales = fitted[-1].scale_
            derived += [Derived(n, n, float(s)) for n, s in zip(names, scales)]
        elif part == "missing":
            derived += [Derived(n, f"{n} is missing") for n in names]
        elif part == "category":
            for name, levels in zip(names, fitted.categories_):
                derived += [Derived(name, f"{name} = {level or '(missing)'}") for level in levels]
        elif part != "remainder":
            derived += [Derived(names, f"{names}: “{w}”") for w in fitted.get_feature_names_out()]
    return derived


def column_mean(Z: Any) -> NDArray[np.float64]:
    """The mean of each column of a dense or sparse matrix."""
    return np.asarray(Z.mean(axis=0), dtype=float).ravel()
