"""Which candidates are tried unasked."""

from types import SimpleNamespace

import numpy as np
import pytest

from clearning.tables import search as tables_search


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_rows", "tried"), [(5000, ["linear", "kernel"]), (5001, ["linear"])])
def test_a_kernel_is_tried_unasked_up_to_5000_rows(monkeypatch, n_rows, tried, n_classes):
    seen = []

    def fitted(name, *_):
        seen.append(name)
        return {"name": name}

    monkeypatch.setattr(tables_search, "_fit", fitted)
    monkeypatch.setattr(tables_search, "_choose", lambda records: ("linear", "the first"))
    options = SimpleNamespace(selection="best", jobs=1, kernel=None)
    y = np.arange(n_rows) % n_classes
    tables_search.search(np.zeros((n_rows, 1)), y, None, options, 5, print)
    assert seen == tried
