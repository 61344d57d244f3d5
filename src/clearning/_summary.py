"""`model.summary()`: what a fitted classifier is made of, as a table to read or to compute with."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from clearning._directions import coefficients_by_score, scored_classes, strength

_SHOWN = 20


class Summary:
    """A small table that prints itself.

    Attributes
    ----------
    title : str
        One line about the model.
    columns : dict of str to list
        The columns, all of one length.
    """

    def __init__(self, title: str, columns: dict[str, list[Any]]) -> None:
        self.title = title
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return make_frame(self.columns)

    def _cells(self) -> list[list[str]]:
        rows = list(zip(*self.columns.values()))[:_SHOWN]
        return [[_cell(value) for value in row] for row in rows]

    def _rest(self) -> str:
        return f"… and {len(self) - _SHOWN} more" if len(self) > _SHOWN else ""

    def __repr__(self) -> str:
        table = [list(self.columns), *self._cells()]
        widths = [max(map(len, column)) for column in zip(*table)]
        lines = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths))
            ).rstrip()
            for row in table
        ]
        return "\n".join(line for line in (self.title, *lines, self._rest()) if line)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        return (
            f"<p>{escape(self.title)}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table><p>{self._rest()}</p>"
        )


def make_frame(columns: dict[str, Any]) -> Any:
    """Columns as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame() makes a pandas DataFrame: pip install pandas") from error
    return pd.DataFrame(columns)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.5g}"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def linear_summary(model: Any) -> Summary:
    """The features that are not zero: coefficients, standardised too, and when they entered."""
    coef = model.coef_
    sizes = np.abs(strength(coef * _scales(model)))
    kept = [j for j in np.argsort(-sizes, kind="stable") if coef[:, j].any()]
    names = feature_names(model)
    columns: dict[str, list[Any]] = {"feature": [names[j] for j in kept]}
    labels = [f" {label}" for label in scored_classes(model.classes_).tolist()]
    for label, row in zip(labels if len(labels) > 1 else [""], coef):
        columns[f"coefficient{label}"] = row[kept].tolist()
        columns[f"standardised{label}"] = (row * _scales(model))[kept].tolist()
    if hasattr(model, "path_"):
        columns["entered at"] = entry_penalties(model)[kept].tolist()
    title = (
        f"{type(model).__name__}: {len(kept)} of {coef.shape[1]} features, intercept "
        f"{', '.join(f'{a:.5g}' for a in model.intercept_)}, duality gap {model.dual_gap_:.1e}"
    )
    return Summary(title, columns)


def kernel_summary(model: Any) -> Summary:
    """The support vectors and their coefficients, the largest first."""
    coef = np.atleast_2d(model.dual_coef_)
    sizes = np.abs(strength(coef))
    order = np.argsort(-sizes, kind="stable")
    columns: dict[str, list[Any]] = {"sample": model.support_[order].tolist()}
    labels = [f" {label}" for label in scored_classes(model.classes_).tolist()]
    for label, row in zip(labels if len(labels) > 1 else [""], coef):
        columns[f"coefficient{label}"] = row[order].tolist()
    if hasattr(model, "path_"):
        entered = entry_penalties(model)
        rows = model.support_ if model.landmarks_ is None else _places(model)
        if len(entered) > rows.max(initial=-1):
            columns["entered at"] = entered[rows][order].tolist()
    title = (
        f"{type(model).__name__}: {coef.shape[1]} of {model.shape_fit_[0]} samples support it, "
        f"intercept {', '.join(f'{a:.5g}' for a in model.intercept_)}, duality gap "
        f"{model.dual_gap_:.1e}"
    )
    return Summary(title, columns)


def _places(model: Any) -> Any:
    """Where each support vector is among the landmarks."""
    return np.searchsorted(model.landmarks_, model.support_)


def entry_penalties(model: Any) -> Any:
    """The largest penalty of the path at which each coefficient is not zero, nan if at none."""
    path = model.path_
    inside = (coefficients_by_score(path.coefs, path.coefs.shape[-1]) != 0).any(axis=1)
    return np.where(inside.any(axis=0), path.alphas[inside.argmax(axis=0)], np.nan)


def feature_names(model: Any) -> Sequence[str]:
    """The names seen at fitting, or numbers."""
    names = getattr(model, "feature_names_in_", None)
    return [str(j) for j in range(model.n_features_in_)] if names is None else list(names)


def _scales(model: Any) -> Any:
    """Standard deviations of the features; nan for models fitted before they were kept."""
    return getattr(model, "feature_scales_", np.full(model.n_features_in_, np.nan))
