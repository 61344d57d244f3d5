"""Every public name is in the reference, and has an example that runs."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import clearning

REFERENCE = Path(__file__).parent.parent / "docs" / "reference.md"
# Names that are data: there is nothing to call.
DATA = {"__version__", "TRUSTED_TYPES"}


def _public():
    """(module, name) of what each public module lists, once, where it is first listed."""
    modules = ["clearning", *(f"clearning.{name}" for name in clearning._SUBMODULES)]
    seen = {}
    for module in modules:
        for name in getattr(importlib.import_module(module), "__all__", ()):
            seen.setdefault(name, module)
    return [(module, name) for name, module in seen.items() if name != "__version__"]


def _listed():
    """(module, name) of each name in the reference's tables."""
    listed, module = set(), None
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.fullmatch(r"   (\w+)", line):
            listed.add((module, found[1]))
    return listed


def test_the_reference_lists_the_public_names_and_no_others():
    assert _listed() == set(_public())


@pytest.mark.parametrize(("module", "name"), _public(), ids=lambda part: part.split(".")[-1])
def test_a_name_has_an_example_that_runs(module, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in DATA:
        return
    if module == "clearning.display":
        pytest.importorskip("matplotlib").use("Agg")
    if module in ("clearning.tables", "clearning.report"):
        pytest.importorskip("polars", reason="tables are read with polars")
    if module == "clearning.export":
        pytest.importorskip("onnx", reason="graphs are made with onnx")
    thing = getattr(importlib.import_module(module), name)
    examples = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    assert examples, f"{module}.{name} has no docstring"
    assert examples[0].examples, f"{module}.{name} has no example"
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples[0])
    assert outcome.failed == 0
