"""Processes in which problems are judged, so that one that dies or hangs is only a finding."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

from judge import Failure, Verdict, judge
from kinds import draw
from problems import Problem

# A worker that has worked on one problem for so long is ended.
PATIENCE = 40.0
# The solvers that look for points below a certificate are asked about one problem in so many.
THOROUGH = 16
_FORK = multiprocessing.get_context("fork")


class Judged(NamedTuple):
    index: int
    kind: str
    verdict: Verdict


def judge_index(seed: int, index: int) -> Judged:
    problem = draw(seed, index)
    return Judged(index, problem.family, judge(problem, thorough=index % THOROUGH == 0))


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
    """Judge the indices that come in."""
    while (index := queue.recv()) is not None:
        queue.send(judge_index(seed, index))


class Worker:
    """A process that judges one problem at a time."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.start()

    def start(self) -> None:
        self.connection, there = _FORK.Pipe()
        self.process = _FORK.Process(target=_work, args=(self.seed, there), daemon=True)
        self.process.start()
        there.close()
        self.index = -1

    def give(self, index: int) -> None:
        self.index, self.since = index, time.monotonic()
        self.connection.send(index)

    def take(self) -> Judged:
        """The verdict that has come, or that the process has died."""
        try:
            return self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            return self._lost("crash", f"exit code {self.process.exitcode}")

    def hangs(self) -> bool:
        return time.monotonic() - self.since > PATIENCE

    def abandon(self) -> Judged:
        self.process.kill()
        self.process.join()
        return self._lost("slow", f"no answer in {PATIENCE:g} s")

    def _lost(self, failure: str, message: str) -> Judged:
        family = draw(self.seed, self.index).family
        lost = Judged(self.index, family, Verdict([Failure(failure, message)]))
        self.start()
        return lost

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def judge_all(seed: int, count: int, minutes: float, jobs: int) -> Iterator[Judged]:
    """Judge problems 0, 1, … until there are `count`, or the time is over."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    deadline = time.monotonic() + 60 * minutes
    workers = [Worker(seed) for _ in range(min(jobs, count))]
    indices = iter(range(count))
    try:
        busy = [worker for worker in workers if _next(worker, indices, deadline)]
        while busy:
            ready = wait([worker.connection for worker in busy], timeout=1.0)
            for worker in list(busy):
                if worker.connection in ready:
                    yield worker.take()
                elif worker.hangs():
                    yield worker.abandon()
                else:
                    continue
                if not _next(worker, indices, deadline):
                    busy.remove(worker)
    finally:
        for worker in workers:
            worker.stop()


def _next(worker: Worker, indices: Iterator[int], deadline: float) -> bool:
    index = next(indices, None) if time.monotonic() < deadline else None
    if index is not None:
        worker.give(index)
    return index is not None
