"""Runs one measurement in a process of its own, so that threads are fixed and limits are kept."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import multiprocessing as mp
import os
import signal
import site
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from report import note

# While developing: time the editable install of another environment of the same Python.
if "CLEARNING_SITE" in os.environ:
    site.addsitedir(os.environ["CLEARNING_SITE"])

CACHE = Path(__file__).with_name("cache")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "BLIS_NUM_THREADS",
)
SLEEPING = 10.0  # times its limit, on the wall: a process that waits uses no processor


class TimedOut(Exception):
    """A measurement took longer than its limit and was ended."""


class Failed(Exception):
    """A measurement raised; the message is the original one."""


def set_threads(count: int) -> None:
    """Takes effect in processes started afterwards."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(count)


@contextlib.contextmanager
def _temporary_files_in(folder: str) -> Iterator[None]:
    """Of processes that are started meanwhile; the folder may not outlive them."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = folder
    yield
    if before is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before


def wall_seconds(group: int) -> float:
    """Of the clock on the wall, whatever the processes of the group do."""
    return time.monotonic()


def processor_seconds(group: int) -> float:
    """Of all processes of the group that are running."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Worker:
    """A fresh process that answers calls of one function; replaced after a time-out."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        threads: int,
        clock: Callable[[int], float] = wall_seconds,
    ):
        self.function, self.threads, self.clock = function, threads, clock
        self.process: Any = None
        self.scratch = tempfile.TemporaryDirectory(prefix="bench-")

    def __call__(self, *args, limit: float, **kwargs):
        if self.process is None:
            self._start()
        start, wall = self.clock(self.process.pid), time.monotonic()
        self.connection.send((args, kwargs))
        while not self.connection.poll(min(limit, 1.0)):
            sleeps = time.monotonic() - wall > SLEEPING * limit
            if sleeps or self.clock(self.process.pid) - start > limit:
                self.close()
                raise TimedOut(f"over {limit:.0f} s")
        try:
            kind, value = self.connection.recv()
        except EOFError as error:
            self.close()
            raise Failed("the process ended") from error
        if kind == "error":
            raise Failed(value)
        return value

    def _start(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers end with us
        atexit.register(self.close)
        set_threads(self.threads)
        context = mp.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.function), daemon=True)
        with _temporary_files_in(self.scratch.name):
            self.process.start()
        theirs.close()

    def close(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.join()
            self.connection.close()
            self.process = None
            atexit.unregister(self.close)


def _serve(connection, function):
    os.setpgrp()  # so that what it starts (Rscript) ends with it
    while True:
        try:
            args, kwargs = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            connection.send(("value", function(*args, **kwargs)))
        except KeyboardInterrupt:
            return
        except Exception as error:
            connection.send(("error", f"{type(error).__name__}: {error}"))


# ---------------------------------------------------------------- results kept on disk


def recall(kind: str, /, **key) -> Any | None:
    path = _record(kind, key)
    return json.loads(path.read_text())["value"] if path.exists() else None


def remember(value: Any, kind: str, /, **key) -> None:
    path = _record(kind, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".part").write_text(json.dumps({"key": key, "value": value}))
    path.with_suffix(".part").replace(path)


def _record(kind: str, key: dict) -> Path:
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    return CACHE / kind / f"{digest}.json"


def ask(function: Callable[..., dict], *args: Any, limit: float) -> dict:
    """What the function answers in a process of its own on one thread, or why it does not."""
    note(f"{function.__name__} {args}")
    worker = Worker(function, threads=1)
    try:
        return worker(*args, limit=limit)
    except (Failed, TimedOut) as error:
        return {"failure": str(error)}
    finally:
        worker.close()
