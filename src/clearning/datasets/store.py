"""Where data files live: the user's folder, then the cache, then the public source.

A file is either the compressed array file `name.npz` or the raw files as their source publishes
them. Whatever is found is decoded and its arrays are held against a SHA-256 before use.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clearning._whole import whole_file
from clearning.datasets.download import DownloadError, read_url

Arrays = dict[str, NDArray]


class DatasetError(OSError):
    """A data set is missing, damaged or could not be stored; the message says what to do.

    Examples
    --------
    >>> from clearning.datasets import DatasetError
    >>> issubclass(DatasetError, OSError)
    True
    """


@dataclass(frozen=True)
class Source:
    """A data set: what its files are called, where they are public and what they must hold."""

    name: str
    title: str
    files: tuple[str, ...]
    decode: Callable[[Sequence[bytes]], Arrays]
    arrays: tuple[str, ...]
    sha256: str
    base_url: str | None = None
    package: str | None = None

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"{self.base_url}/{file}" for file in self.files) if self.base_url else ()


def cache_folder() -> Path:
    """Return the folder downloaded data are kept in."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "clearning"


def fetch(source: Source) -> Arrays:
    """Return the arrays of a data set from the first place that has it.

    The places are the folder named by the environment variable `CLEARNING_DATA`, the cache, an
    installed package that carries the files, and the public source, whose files are then cached.
    """
    for folder in _folders(source):
        found = _read_folder(source, folder)
        if found is not None:
            return found
    return _download(source)


def checksum(arrays: Arrays, names: Sequence[str]) -> str:
    """Return the SHA-256 of the named arrays: their names, types, shapes and values."""
    digest = hashlib.sha256()
    for name in names:
        array = np.ascontiguousarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _folders(source: Source) -> list[Path]:
    named = os.environ.get("CLEARNING_DATA")
    folders = [Path(named).expanduser()] if named else []
    folders.append(cache_folder())
    if source.package:
        spec = importlib.util.find_spec(source.package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            folders.append(Path(location) / "data")
    return folders


def _read_folder(source: Source, folder: Path) -> Arrays | None:
    stored = folder / f"{source.name}.npz"
    if stored.is_file():
        return _verified(source, lambda: _load(stored, source.arrays), str(stored))
    raw = [folder / file for file in source.files]
    if all(path.is_file() for path in raw):
        where = " and ".join(map(str, raw))
        return _verified(source, lambda: source.decode([p.read_bytes() for p in raw]), where)
    return None


def _load(path: Path, names: Sequence[str]) -> Arrays:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in names}


def _verified(source: Source, read: Callable[[], Arrays], where: str) -> Arrays:
    try:
        arrays = read()
        digest = checksum(arrays, source.arrays)
    except Exception as error:
        raise DatasetError(
            f"{where} cannot be read as {source.title} ({error}); remove it or replace it."
        ) from error
    if digest != source.sha256:
        raise DatasetError(
            f"{where} does not hold {source.title}: its arrays have the SHA-256 {digest}, not "
            f"{source.sha256}; remove it or replace it."
        )
    return arrays


def _download(source: Source) -> Arrays:
    path = cache_folder() / f"{source.name}.npz"
    if not source.urls:
        raise DatasetError(f"{source.title} was not found: {_advice(source)}.")
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"Downloading {source.title} from {source.base_url} to {path}", file=sys.stderr)
    try:
        raw = [read_url(url) for url in source.urls]
    except DownloadError as error:
        raise DatasetError(
            f"{source.title} could not be downloaded, as {error}: {_advice(source)}."
        ) from None
    arrays = _verified(source, lambda: source.decode(raw), " and ".join(source.urls))
    try:
        wanted = {name: arrays[name] for name in source.arrays}
        with whole_file(path) as file:
            np.savez_compressed(file, **wanted)  # type: ignore[arg-type]
    except OSError as error:
        raise DatasetError(
            f"{source.title} was downloaded but {path} could not be written ({error.strerror}); "
            "make room there or point XDG_CACHE_HOME to another folder."
        ) from error
    return arrays


def _advice(source: Source) -> str:
    advice = (
        f"put {' and '.join(source.files)} (or {source.name}.npz) into {cache_folder()} or into "
        "the folder that the environment variable CLEARNING_DATA names"
    )
    if source.package:
        advice += f", or install the Python package {source.package}, which carries it"
    return advice
