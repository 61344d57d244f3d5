"""The state of a fit on disk: written whole or not at all, and only for the fit that wrote it."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import joblib


class Checkpoint:
    """A file with what a fit has found so far, by name; without a path nothing is kept."""

    def __init__(self, path: Any, fit: Any) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = joblib.hash(fit)
        self.entries: dict[str, Any] = {}
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint={str(path)!r} must lie in a folder that exists; make "
                f"{str(self.path.parent)!r} first."
            )
        if self.path.exists():
            self.entries = self._read(self.path)

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            with path.open("rb") as file:
                kept = pickle.load(file)
            fingerprint, entries = kept["fit"], kept["entries"]
        except (pickle.UnpicklingError, EOFError, KeyError, TypeError) as error:
            raise ValueError(
                f"checkpoint={str(path)!r} is no checkpoint of a fit; delete it or pass another."
            ) from error
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"checkpoint={str(path)!r} belongs to a fit with other parameters or other data; "
                "delete it or pass another."
            )
        return entries

    def get(self, name: str) -> Any:
        """Return what was kept under a name, or None."""
        return self.entries.get(name)

    def keep(self, name: str, value: Any) -> None:
        """Keep a value under a name: in a new file, which then takes the place of the old one."""
        self.entries[name] = value
        if self.path is None:
            return
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with new.open("wb") as file:
                pickle.dump({"fit": self.fingerprint, "entries": self.entries}, file, protocol=5)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.path)
        finally:
            new.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the file of a fit that has ended."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
