"""Pickles of earlier versions load, and answer as they did when they were made."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from data.make_pickles import answers

ARCHIVES = sorted((Path(__file__).parent / "data").glob("pickles-*.zip"))


def members() -> list[tuple[Path, str]]:
    found = []
    for path in ARCHIVES:
        with zipfile.ZipFile(path) as archive:
            names = [name[: -len(".pickle")] for name in archive.namelist()]
            found += [(path, n) for n, full in zip(names, archive.namelist()) if "pickle" in full]
    return found


@pytest.mark.parametrize(("path", "name"), members(), ids=lambda v: getattr(v, "stem", v))
def test_an_old_pickle_answers_as_it_did(path, name):
    with zipfile.ZipFile(path) as archive:
        X = np.load(io.BytesIO(archive.read("X.npz")))["X"]
        expected = np.load(io.BytesIO(archive.read(f"{name}.npz")))
        thing = pickle.loads(archive.read(f"{name}.pickle"))
    found = answers(name, thing, X)
    for key in expected.files:
        if expected[key].dtype.kind == "f":
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-13, atol=1e-13)
        else:
            np.testing.assert_array_equal(found[key], expected[key])


def test_every_estimator_of_version_0_1_is_kept():
    names = {name for path, name in members() if path.stem == "pickles-0.1.0"}
    assert len(names) == 20
