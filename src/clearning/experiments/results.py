"""Results kept as they come: one small JSON file a task, written whole or not at all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from clearning._progress import progress
from clearning._whole import whole_file


@dataclass(frozen=True)
class Task:
    """A piece of work that can be done anywhere: its name, a function and the function's arguments.

    The outcome depends on the arguments alone and is made of JSON's types.
    """

    key: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class ResultStore:
    """A folder of finished tasks; what is in it need not be done again."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, key: str) -> Path:
        return self.folder / f"{key.replace('/', '--').replace(' ', '-')}.json"

    def read(self, key: str) -> Any | None:
        """Return a task's outcome, or None where it is not there or is damaged."""
        path = self.path(key)
        if not path.is_file():
            return None
        try:
            return json.loads(path.read_bytes())
        except ValueError as error:
            warnings.warn(f"{path} is damaged ({error}); its task is done again.", stacklevel=2)
            return None

    def write(self, key: str, outcome: Any) -> None:
        write_text(self.path(key), json.dumps(outcome))


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())


def run(tasks: Sequence[Task], store: ResultStore, jobs: int, label: str = "") -> dict[str, Any]:
    """Do the tasks that are not done yet, in `jobs` processes, and return every outcome by key."""
    outcomes = {task.key: store.read(task.key) for task in tasks}
    missing = [task for task in tasks if outcomes[task.key] is None]
    for key, outcome in progress(_do(missing, jobs), total=len(missing), label=label):
        store.write(key, outcome)
        outcomes[key] = outcome
    return outcomes


def _do(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[str, Any]]:
    if jobs == 1 or len(tasks) <= 1:
        yield from map(_do_one, tasks)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        # One task a batch, or finished tasks would wait in a worker and be lost on interruption.
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        done: Iterable[tuple[str, Any]] = parallel(delayed(_do_one)(task) for task in tasks)
    yield from done


def _do_one(task: Task) -> tuple[str, Any]:
    # One thread everywhere: sums are then added in the same order whatever the number of jobs.
    with threadpool_limits(1):
        return task.key, task.function(*task.arguments)
