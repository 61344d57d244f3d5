"""Processes in which problems are judged, so that one that dies or hangs is only a finding."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

import numpy as np
from judge import Failure, Verdict, judge
from kinds import draw
from problems import Problem

# A worker that has worked on one problem for so long, by the processor's clock, is ended.
PATIENCE = 40.0
# And one that has not answered for so long at all: it waits for something that does not come.
STANDSTILL = 900.0
# A worker is given so many problems at once, so that it need not wait for more.
AT_ONCE = 20
# The solvers that look for points below a certificate are asked about one problem in so many, and
# wherever coefficients without a penalty may go far.
THOROUGH = 16
_FORK = multiprocessing.get_context("fork")


class Judged(NamedTuple):
    index: int
    kind: str
    verdict: Verdict


def judge_index(seed: int, index: int) -> Judged:
    problem = draw(seed, index)
    free = np.count_nonzero(problem.columns.get("penalty_factor", 1.0) == 0)
    thorough = free > 1 or index % THOROUGH == 0
    return Judged(index, problem.family, judge(problem, thorough=thorough))


def judge_apart(problem: Problem, seconds: float = 20.0) -> list[Failure]:
    """Judge one problem in a process of its own."""
    here, there = _FORK.Pipe()
    process = _FORK.Process(target=lambda: there.send(judge(problem).failures), daemon=True)
    process.start()
    there.close()
    try:
        if here.poll(seconds):
            return here.recv()
        process.kill()
        return [Failure("slow", f"no answer in {seconds:g} s")]
    except EOFError:
        process.join()
        return [Failure("crash", f"exit code {process.exitcode}")]
    finally:
        process.join()


def _work(seed: int, queue: Connection) -> None:
    """Judge the indices that come in, some at a time, and answer each as soon as it is judged."""
    gc.freeze()  # nothing that was imported goes away
    while True:
        for index in queue.recv():
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            queue.send(judge_index(seed, index))


class Worker:
    """A process that judges problems; of those it was given, the first has no verdict yet."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.given: list[int] = []
        self.start()

    def start(self) -> None:
        self.connection, there = _FORK.Pipe()
        self.process = _FORK.Process(target=_work, args=(self.seed, there), daemon=True)
        self.process.start()
        there.close()
        if self.given:
            self.give(self.given)

    def give(self, indices: list[int]) -> None:
        self.given, self.since = indices, time.monotonic()
        self.connection.send(indices)

    def take(self) -> Judged:
        """The verdict that has come, or that the process has died."""
        try:
            judged = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            if self.process.exitcode == -signal.SIGPROF:
                return self._lost("slow", f"no answer in {PATIENCE:g} s of processor time")
            return self._lost("crash", f"exit code {self.process.exitcode}")
        self.given, self.since = self.given[1:], time.monotonic()
        return judged

    def hangs(self) -> bool:
        return time.monotonic() - self.since > STANDSTILL

    def abandon(self) -> Judged:
        self.process.kill()
        self.process.join()
        return self._lost("slow", f"no answer in {STANDSTILL:g} s")

    def _lost(self, failure: str, message: str) -> Judged:
        index, *self.given = self.given
        family = draw(self.seed, index).family
        self.start()
        return Judged(index, family, Verdict([Failure(failure, message)]))

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def judge_all(seed: int, count: int, minutes: float, jobs: int, start: int = 0) -> Iterator[Judged]:
    """Judge problems start, start + 1, … until there are `count`, or the time is over."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    deadline = time.monotonic() + 60 * minutes
    workers = [Worker(seed) for _ in range(min(jobs, count))]
    indices = iter(range(start, start + count))
    try:
        busy = [worker for worker in workers if _next(worker, indices, deadline)]
        while busy:
            ready = wait([worker.connection for worker in busy], timeout=1.0)
            for worker in list(busy):
                if worker.connection in ready:
                    yield worker.take()
                elif worker.hangs():
                    yield worker.abandon()
                if not worker.given and not _next(worker, indices, deadline):
                    busy.remove(worker)
    finally:
        for worker in workers:
            worker.stop()


def _next(worker: Worker, indices: Iterator[int], deadline: float) -> bool:
    some = list(islice(indices, AT_ONCE)) if time.monotonic() < deadline else []
    if some:
        worker.give(some)
    return bool(some)
