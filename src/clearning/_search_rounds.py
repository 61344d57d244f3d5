"""Rounds of fits: trials walked down their penalties together, on the folds of one problem.

In a round every trial that has not ended gets its next penalties on every fold, each fold beginning
where it stands. A job is one trial's stretch on one fold. The solution of all samples at the same
penalty is no better place to begin: without the samples left out, a kernel's coefficients have to
be found anew among nearly collinear columns, in four times the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from clearning._designs import Array, Indices
from clearning._problem import Grid, Problem, Settings
from clearning._search_calibration import Calibration
from clearning._search_folds import Crew, Fold, FoldPart
from clearning._search_scoring import Metric
from clearning._search_trial import Trial
from clearning._search_watch import Watch
from clearning.path import RegularizationPath, solve_path

Asked = tuple[Trial, Array]
Answer = tuple[RegularizationPath, Array]


@dataclass
class Work:
    """How trials are fitted and judged.

    Attributes
    ----------
    folds : sequence of Fold
        Training and test samples.
    settings : Settings
        When a solve ends.
    metric : callable
        The judge of a fold's scores.
    calibration : Calibration or None
        How probabilities are made of scores, where the loss's own link does not.
    n_jobs : int or None
        Number of threads.
    watch : Watch
        Told of what is done.
    """

    folds: Sequence[Fold]
    settings: Settings
    metric: Metric
    calibration: Calibration | None
    n_jobs: int | None
    watch: Watch
    _parts: list[FoldPart] = field(default_factory=list, init=False)

    @property
    def tests(self) -> list[Indices]:
        """Each fold's test samples."""
        return [test for _, test in self.folds]

    @cached_property
    def null_scores(self) -> Array | None:
        """What the metric says of each fold if all samples get the rates of the classes."""
        if self.calibration is None or self.calibration.offset is None:
            return None
        nothing = [np.zeros((len(test), 1)) for test in self.calibration.tests]
        return self.calibration.judge(self.metric, nothing)[0]

    def walk(self, problem: Problem, trials: Sequence[Trial], cost: float) -> None:
        """Walk trials on one problem, each of that cost, down to where its schedule ends."""
        parts = self._parts_of(problem)
        while asked := [
            (trial, stretch)
            for trial in trials
            if (stretch := trial.schedule.next(trial)) is not None
        ]:
            self._round(parts, asked, cost)
        self.watch.passed(
            sum(cost * (1.0 - each.schedule.part(len(each.alphas))) for each in trials)
        )

    def add(self, problem: Problem, trial: Trial, alphas: Array) -> None:
        """Give one trial more penalties, of which some may lie between others."""
        if len(alphas):
            self._round(self._parts_of(problem), [(trial, alphas)], 0.0)

    def _parts_of(self, problem: Problem) -> list[FoldPart]:
        """Return the folds' parts; small ones are kept while the problem stays the same."""
        if not self._parts or self._parts[0].whole is not problem:
            self._parts = []
            parts = [FoldPart(problem, fold) for fold in self.folds]
            if parts[0].is_large:
                return parts
            self._parts = parts
        return self._parts

    def _round(self, parts: list[FoldPart], asked: list[Asked], cost: float) -> None:
        answers = self._answers(parts, asked, cost)
        for k, (trial, stretch) in enumerate(asked):
            mine = answers[k :: len(asked)]
            held_out = [scores for _, scores in mine]
            table = self._judge(mine)
            kept = held_out if self.calibration is not None else []
            trial.add(stretch, table, kept, [path for path, _ in mine])

    def _judge(self, answers: list[Answer]) -> Array:
        """Return the metric of one trial's stretch, (alphas, folds)."""
        if self.calibration is not None:
            return self.calibration.judge(self.metric, [scores for _, scores in answers])
        return np.stack(
            [
                self.metric(path.loss, scores, test)
                for (path, scores), test in zip(answers, self.tests)
            ],
            axis=1,
        )

    def _answers(self, parts: list[FoldPart], asked: list[Asked], cost: float) -> list[Answer]:
        """Return what each job found, fold by fold.

        The jobs are threads: the solver releases the interpreter's lock, and no design is copied to
        another process.
        """
        crew = Crew()

        def job(number: int, trial: Trial, stretch: Array) -> Answer:
            part, chosen = parts[number], trial.combination
            with crew, part as training:
                start = trial.start(number, stretch[0])
                grid = Grid.of(stretch)
                path = solve_path(
                    training, chosen.loss, chosen.l1_ratio, grid, self.settings, start
                )
                return path, part.scores(path)

        for part in parts:
            part.expect(len(asked))
        jobs = [delayed(job)(number, *each) for number in range(len(parts)) for each in asked]
        parallel = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")
        answers: list[Answer] = []
        try:
            for answer in parallel(jobs):
                answers.append(answer)
                trial, stretch = asked[(len(answers) - 1) % len(asked)]
                done = len(trial.alphas)
                share = trial.schedule.part(done + len(stretch)) - trial.schedule.part(done)
                self.watch.passed(cost * share / len(parts))
        except BaseException as error:
            crew.call_off(at_once=isinstance(error, KeyboardInterrupt))
            raise
        return answers
