"""How many threads the linear algebra inside one solve is worth: one, unless the work is large.

BLAS wakes its threads for every product, and lets them spin between two: on a machine that has
other work to do, a path of small products then takes many times its own time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

# Below so many entries of the design no product is worth a second thread: on two idle cores it
# saves a tenth, beside other work it costs up to fifteen times the whole (a kernel path of 2000
# samples: 0.3 s on one thread, 4.5 s on two).
WORTH_THREADS = 100_000_000


@cache
def _controller() -> ThreadpoolController:
    """All thread pools of the process; looking for them takes a millisecond, so it is done once."""
    return ThreadpoolController()


def threads_for(entries: float) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses the threads that a design of this size is worth."""
    if entries >= WORTH_THREADS:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
