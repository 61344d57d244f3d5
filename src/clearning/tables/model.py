"""`TableModel`: a fitted pipeline, the columns it takes, and the record of how it came about."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

from clearning import __version__
from clearning._summary import Summary
from clearning._whole import whole_file
from clearning._words import count
from clearning.export import TRUSTED_TYPES
from clearning.tables.errors import TableError, listed, quoted
from clearning.tables.kinds import ASKED_KINDS, Column
from clearning.tables.pipeline import Derived, derived_features
from clearning.tables.schema import Source, prepare

# Raised when what is stored can no longer be read by the code that read it before.
FORMAT = 1
_NEEDED = "Models on disk need skops: pip install 'clearning[tables]'"


class TableModel:
    """A classifier of a table's rows.

    Attributes
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Transformer and classifier, fitted; it takes prepared columns.
    columns : list of Column
        What was decided about the columns.
    target : str
        Name of the target.
    centre : ndarray of shape (n_derived,)
        Mean of the transformed training rows, against which contributions are counted.
    record : dict
        What was asked, decided and measured, as plain values and arrays.

    Examples
    --------
    >>> from clearning.tables import load_model, read_table
    >>> model = load_model("model.skops")  # doctest: +SKIP
    >>> model.predict(read_table("new.csv"))  # doctest: +SKIP
    """

    def __init__(
        self,
        pipeline: Pipeline,
        columns: list[Column],
        target: str,
        centre: NDArray[np.float64],
        record: Mapping[str, Any],
    ) -> None:
        self.pipeline = pipeline
        self.columns = columns
        self.target = target
        self.centre = centre
        self.record = dict(record)

    def __getstate__(self) -> dict[str, Any]:
        # Plain values go as one text: skops takes its time with every one of them.
        told = {name: value for name, value in self.record.items() if name != "test"}
        columns = [column.record() for column in self.columns]
        return {
            **self.__dict__,
            "columns": json.dumps(columns),
            "record": json.dumps(told),
            "test": self.record["test"],
            "format": FORMAT,
            "version": __version__,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["format"] > FORMAT:
            raise TableError(f"was written by a newer clearning, {state['version']}.")
        fields = {name: value for name, value in state.items() if name not in ("format", "test")}
        if not isinstance(state["pipeline"], Pipeline):
            raise TableError("holds no pipeline, so it is no model of a table.")
        fields["columns"] = [Column(**column) for column in json.loads(state["columns"])]
        fields["record"] = {**json.loads(state["record"]), "test": state["test"]}
        self.__dict__.update(fields)

    @property
    def classifier(self) -> Any:
        """The classifier at the pipeline's end."""
        return self.pipeline[-1]

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, in the order of the probabilities' columns."""
        return self.classifier.classes_

    @property
    def derived(self) -> list[Derived]:
        """The numbers that the classifier sees."""
        return derived_features(self.pipeline[0])

    def prepared(self, frame: Any, path: Path | str = "the table") -> Any:
        """Return the columns that the pipeline takes, from any table that has them.

        Parameters
        ----------
        frame : polars, pandas or Arrow table
            With the columns of the training table; others are not looked at.
        path : path-like, default="the table"
            What the table is called in an error.
        """
        import polars as pl

        if not isinstance(frame, pl.DataFrame):
            frame = pl.DataFrame(frame)
        return prepare(Source(frame, Path(path)), self.columns)

    def unseen(self, prepared: Any) -> list[tuple[str, int, int]]:
        """Columns with categories that training had none of: name, first row, how many rows."""
        found = []
        for part, encoder, names in self.pipeline[0].transformers_:
            for name, levels in zip(names, encoder.categories_ if part == "category" else ()):
                new = ~np.isin(prepared[name].to_numpy().astype(str), levels.astype(str))
                if new.any():
                    found.append((name, int(new.argmax()), int(new.sum())))
        return found

    def predict(self, frame: Any) -> NDArray[Any]:
        """Return the class of each row."""
        return self.pipeline.predict(self.prepared(frame))

    def predict_proba(self, frame: Any) -> NDArray[np.float64]:
        """Return the probability of each class for each row."""
        return self.pipeline.predict_proba(self.prepared(frame))

    def summary(self) -> Summary:
        """Return what the classifier is made of, by the features' names in the table.

        Returns
        -------
        Summary
            As the classifier's own ``summary``: of a linear one, coefficients of standardised
            numbers.
        """
        table = self.classifier.summary()
        if "feature" in table.columns:
            labels = [feature.label for feature in self.derived]
            table.columns["feature"] = [labels[int(j)] for j in table.columns["feature"]]
        return table

    def __repr__(self) -> str:
        used = sum(column.used for column in self.columns)
        return (
            f"TableModel({self.target!r} from {count(used, 'column')}, "
            f"{type(self.classifier).__name__}, "
            f"classes {listed(self.classes.tolist())})"
        )


def model_bytes(model: TableModel) -> bytes:
    """A model as the content of a skops file."""
    return _skops().dumps(model, compression=zipfile.ZIP_DEFLATED, compresslevel=6)


def save_model(model: TableModel, path: Path) -> None:
    """Write a model as a skops file, whole or not at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from clearning.tables import load_model, save_model
    >>> save_model(load_model("model.skops"), Path("copy.skops"))  # doctest: +SKIP
    """
    content = model_bytes(model)
    with whole_file(path) as file:
        file.write(content)


def load_model(path: Path | str) -> Any:
    """Read a model, and nothing that runs code of its own.

    Parameters
    ----------
    path : path-like
        A skops file: what `clearning fit` wrote, or a classifier or pipeline of this package.

    Returns
    -------
    TableModel or estimator

    Examples
    --------
    >>> from clearning.tables import load_model
    >>> model = load_model("model.skops")  # doctest: +SKIP
    """
    io, path = _skops(), Path(path)
    if not path.is_file():
        raise TableError(f"{path} is not there, or no file.")
    if not zipfile.is_zipfile(path):
        raise TableError(f"{path} is no skops file, or is cut off.")
    try:
        _refuse_unknown(io, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # told in our own words
            model = io.load(path, trusted=TRUSTED_TYPES)
        _refuse_other(model, (TableModel, BaseEstimator))
        if isinstance(model, TableModel):
            _try_out(model)
        return model
    except TableError as error:
        raise TableError(f"{path} {error}") from error
    except Exception as error:
        # A file from a stranger may fail in any way; that it failed is all there is to say.
        raise TableError(
            f"{path} is no model that clearning {__version__} can read ({_short(error)})."
        ) from error


def _refuse_unknown(io: Any, path: Path) -> None:
    unknown = sorted(set(io.get_untrusted_types(file=path)) - set(TRUSTED_TYPES))
    if unknown:
        raise TableError(f"holds types that are not trusted and was not loaded: {listed(unknown)}.")


def load_table_model(path: Path | str) -> TableModel:
    """Read what `clearning fit` wrote."""
    model = load_model(path)
    try:
        _refuse_other(model, (TableModel,))
    except TableError as error:
        raise TableError(f"{path} {error}") from error
    return model


def _refuse_other(model: Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(model, kinds):
        raise TableError(f"holds a {type(model).__name__}, not a model that `clearning fit` wrote.")


def _try_out(model: TableModel) -> None:
    """Predict an empty row: what was altered or is of another version fails here, not later."""
    import polars as pl

    odd = [column.kind for column in model.columns if column.kind not in ASKED_KINDS]
    if odd:
        raise TableError(f"holds a column of the kind {quoted(odd[0])}, which there is not.")
    names = [column.name for column in model.columns]
    row = pl.DataFrame({name: [None] for name in names}, schema=dict.fromkeys(names, pl.String))
    probabilities = model.predict_proba(row)
    if probabilities.shape != (1, len(model.classes)) or len(model.centre) != len(model.derived):
        raise TableError("does not fit together: it was altered or is damaged.")
    _check_test(model.record["test"], len(model.classes))


def _check_test(test: Mapping[str, Any], n_classes: int) -> None:
    """Refuse a record of the test rows that could not have been made."""
    rows, chosen = np.asarray(test["row"]), np.array([test["actual"], test["predicted"]])
    probability, weight = np.asarray(test["probability"]), np.asarray(test["weight"])
    sound = (
        rows.ndim == 1
        and len(rows) > 0
        and chosen.shape == (2, len(rows))
        and chosen.dtype.kind in "iu"
        and probability.shape == (len(rows), n_classes)
        and weight.shape == rows.shape
        and bool(((chosen >= 0) & (chosen < n_classes)).all())
        and bool(((probability >= 0) & (probability <= 1)).all())
        and bool(np.isfinite(weight).all() and (weight > 0).all())
    )
    if not sound:
        raise TableError("holds a record of its test that was altered or is damaged.")


def version_note(model: Any, path: Path | str) -> str | None:
    """A sentence where a model was made by another version."""
    made = getattr(model, "version", __version__)
    if made == __version__:
        return None
    return (
        f"{path} was made by clearning {made} and is read by {__version__}: if predictions matter, "
        "compare some."
    )


def _short(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:120]}" if lines else type(error).__name__


def _skops() -> Any:
    try:
        from skops import io
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    return io
