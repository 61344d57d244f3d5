"""Local threads that pass over the blocks of a source: the compiled core lets others run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Any, Protocol

from threadpoolctl import ThreadpoolController

from clearning._blocks.rows import BlockError, Rows
from clearning._blocks.tree import Tree
from clearning._progress import progress


class Part(Protocol):
    """One block of a source, to be read when its turn comes."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    def read(self) -> Rows:
        """Its rows."""


class Source(Protocol):
    """Blocks in an order that never changes."""

    @property
    def n_parts(self) -> int | None:
        """How many blocks there are; None where nobody knows."""

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, where they have any."""

    def parts(self) -> Iterable[Part]:
        """The blocks."""


class Engine(Protocol):
    """What passes over all blocks."""

    def run(self, function: Callable, merge: Callable, plan: Any, label: str) -> Any:
        """Return ``function(rows, number, plan)`` of all blocks, merged in a fixed order."""


class LocalThreads:
    """Threads of this process; no more blocks are in memory than there are threads, and one."""

    def __init__(self, source: Source, n_threads: int) -> None:
        self.source = source
        self.n_threads = n_threads

    def run(self, function: Callable, merge: Callable, plan: Any, label: str) -> Any:
        tree: Tree[Any] = Tree(skipping(merge))
        waiting: deque[Future[Any]] = deque()
        with ONE_BLAS_THREAD, ThreadPoolExecutor(self.n_threads) as pool:
            try:
                parts = progress(self.source.parts(), self.source.n_parts, label)
                for number, part in enumerate(parts):
                    waiting.append(pool.submit(run_part, function, part, number, plan))
                    if len(waiting) > self.n_threads:
                        tree.push(waiting.popleft().result())
                while waiting:
                    tree.push(waiting.popleft().result())
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return tree.finish()


def run_part(function: Callable, part: Part, number: int, plan: Any) -> Any:
    """Read one block and return its result; None for an empty one."""
    try:
        rows = part.read()
    except Exception as error:
        raise BlockError(f"Block {number} ({part.name}) cannot be read: {error}") from error
    return run_rows(function, rows, number, part.name, plan)


def run_rows(function: Callable, rows: Rows, number: int, name: str, plan: Any) -> Any:
    """Return the result of one block's rows; None if there are none."""
    try:
        return function(rows, number, plan) if rows.X.shape[0] else None
    except (BlockError, TypeError) as error:
        raise type(error)(f"Block {number} ({name}): {error}") from error


def skipping(merge: Callable) -> Callable:
    """Return a merge to which empty blocks add nothing."""

    def merged(first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return merge(first, second)

    return merged


class _OneBlasThread:
    """One BLAS thread for as long as anybody is inside: blocks are what runs side by side.

    The number of threads is the whole process's, so the first one in sets it and the last one out
    puts it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    @cached_property
    def _libraries(self) -> ThreadpoolController:
        # NumPy's and SciPy's are loaded by now, and looking for them takes longer than a block.
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.__exit__(None, None, None)


ONE_BLAS_THREAD = _OneBlasThread()
