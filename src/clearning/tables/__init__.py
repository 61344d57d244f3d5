"""From a file to a model: reading tables, telling columns apart, fitting, and models on disk."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Column": "kinds",
    "FitOptions": "options",
    "TableError": "errors",
    "TableModel": "model",
    "fit_table": "fit",
    "load_model": "model",
    "read_table": "files",
    "save_model": "model",
    "write_table": "files",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
