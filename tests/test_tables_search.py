"""Which candidates are tried unasked."""

import numpy as np
import pytest

from clearning.tables.search import is_small_enough


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "small"),
    [(5000, 2, True), (5001, 2, False), (2500, 3, True), (2501, 3, False), (1300, 10, False)],
)
def test_every_class_after_the_second_counts_like_the_rows_again(n_rows, n_classes, small):
    assert is_small_enough(n_rows, np.arange(n_rows) % n_classes) is small
