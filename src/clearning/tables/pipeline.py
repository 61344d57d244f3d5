"""From prepared columns to the numbers that a classifier takes, by scikit-learn's transformers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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
    for number, name in enumerate(named["text"], start=1):
        words = TfidfVectorizer(
            min_df=_rows_a_word(frame), max_features=_MOST_WORDS, sublinear_tf=True
        )
        parts.append((f"text{number}", words, name))
    return ColumnTransformer(parts)


def _rows_a_word(frame: Any) -> int:
    """In how many rows a word must be met to be learnt from."""
    return 2 if len(frame) >= _ROWS_FOR_RARE_WORDS else 1


def words_of() -> Callable[[str], set[str]]:
    """What takes the words of a cell as the transformer does; a cell without has the empty one."""
    analyse = TfidfVectorizer().build_analyzer()
    return lambda cell: set(analyse(cell)) or {""}


def has_words(frame: Any, name: str) -> bool:
    """Whether a column of text holds words that can be learnt from."""
    words, fewest = words_of(), _rows_a_word(frame)
    met: Counter[str] = Counter()
    for cell in frame[name].to_numpy():
        found = words(cell) - {""}
        met.update(found)
        if any(met[word] >= fewest for word in found):
            return True
    return False


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
