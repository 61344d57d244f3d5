"""What `blocks.py` measures: functions of (rows, threads) that return what they have to tell."""

from __future__ import annotations

import mmap
import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

COLUMNS, PENALTIES, FOLDS, CLASSES = 100, 50, 5, 4
CHUNK = 100_000
MIDDLE = 1e-3  # one penalty for those who do one at a time


@dataclass(frozen=True)
class RowsOnDisk:
    """Rows of float64 and labels of 0 and 1, in two files."""

    folder: Path
    n: int

    @property
    def path(self) -> Path:
        return self.folder / f"{self.n}.X"

    def make(self) -> None:
        """Write autocorrelated columns by rows, and labels that twenty of them explain."""
        done = self.folder / f"{self.n}.done"
        if done.exists():
            return
        rng = np.random.default_rng(0)
        coef = np.zeros(COLUMNS)
        coef[rng.choice(COLUMNS, 20, replace=False)] = rng.normal(0, 1, 20)
        with self.path.open("wb") as X, (self.folder / f"{self.n}.y").open("wb") as y:
            for start in range(0, self.n, CHUNK):
                Z = rng.standard_normal((min(CHUNK, self.n - start), COLUMNS))
                for j in range(1, COLUMNS):
                    Z[:, j] = 0.5 * Z[:, j - 1] + np.sqrt(0.75) * Z[:, j]
                Z.tofile(X)
                (rng.random(len(Z)) < 1 / (1 + np.exp(-Z @ coef))).astype(np.int8).tofile(y)
        done.touch()

    @cached_property
    def X(self) -> np.memmap:
        return np.memmap(self.path, np.float64, "r", shape=(self.n, COLUMNS))

    @property
    def y(self) -> np.ndarray:
        return np.fromfile(self.folder / f"{self.n}.y", np.int8)

    @property
    def classes(self) -> np.ndarray:
        """Labels of several classes, each explained by twenty columns; made anew, the same."""
        rng = np.random.default_rng(1)
        coef = rng.normal(0, 1, (COLUMNS, CLASSES)) * (rng.random((COLUMNS, CLASSES)) < 0.2)
        scores = (self.chunk(start) @ coef for start in range(0, self.n, CHUNK))
        return np.concatenate([(s + rng.gumbel(size=s.shape)).argmax(axis=1) for s in scores])

    def chunk(self, start: int) -> np.ndarray:
        """Return some rows, read and not mapped."""
        count = min(CHUNK, self.n - start)
        values = np.fromfile(self.path, np.float64, count * COLUMNS, offset=8 * COLUMNS * start)
        return values.reshape(count, COLUMNS)

    def forget(self) -> None:
        """Take the rows out of the system's memory, and out of this process's map of them."""
        if "X" in self.__dict__:
            self.X._mmap.madvise(mmap.MADV_DONTNEED)
        file = os.open(self.path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def reading(rows: RowsOnDisk, threads: int) -> dict:
    X = rows.X
    return {"sum": sum(float(X[i : i + CHUNK].sum()) for i in range(0, rows.n, CHUNK))}


def block_path(rows: RowsOnDisk, threads: int, folds: int = 1, X=None, y=None) -> dict:
    """A path on all rows, with cross-validation where there are folds."""
    from clearning._blocks.checkpoint import Checkpoint
    from clearning._blocks.fit import BlockFit, Options, Reading
    from clearning._blocks.sources import make_engine, make_source
    from clearning._class_path import class_loss
    from clearning._problem import Grid, Penalty, Settings
    from clearning.losses import Logistic

    X, y = (rows.X if X is None else X), (rows.y if y is None else y)
    engine, n_threads = make_engine(make_source(X, y), threads)
    fit = BlockFit(engine, Reading(None, True, folds, 0), Checkpoint(None, None), n_threads)
    settings = Settings(1e-6, 50)
    loss = Logistic() if len(fit.measures.encoding.classes) == 2 else class_loss(Logistic())
    found = fit.solve(Options(loss, 1.0, Grid(None, PENALTIES), Penalty(), True, False, settings))
    gaps = found.state.gap / found.null.objective[:, None]
    return {
        "passes": fit.passes,
        "gap": float(gaps.max()),
        "objectives": found.state.objective[0].tolist(),
    }


def block_cv(rows: RowsOnDisk, threads: int) -> dict:
    return block_path(rows, threads, FOLDS)


def class_path(rows: RowsOnDisk, threads: int) -> dict:
    y = rows.classes
    start, work = time.perf_counter(), time.process_time()
    told = block_path(rows, threads, y=y)
    return {**told, **since(start, work)}


def class_cv(rows: RowsOnDisk, threads: int) -> dict:
    y = rows.classes
    start, work = time.perf_counter(), time.process_time()
    told = block_path(rows, threads, FOLDS, y=y)
    return {**told, **since(start, work)}


def dask_cv(rows: RowsOnDisk, threads: int) -> dict:
    """Cross-validation on as many worker processes as there are threads; memory is theirs, too."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster

    def lazy(start: int):
        count = min(CHUNK, rows.n - start)
        return da.from_delayed(delayed(rows.chunk)(start), (count, COLUMNS), np.float64)

    X = da.concatenate([lazy(start) for start in range(0, rows.n, CHUNK)])
    with (
        LocalCluster(n_workers=threads, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        told = block_path(rows, 1, FOLDS, X, da.from_array(rows.y, chunks=CHUNK))
        told["workers"] = max(client.run(largest_memory).values()) / 2**20
        told["workers_work"] = sum(client.run(time.process_time).values())
    return told


def largest_memory() -> int:
    """Return the largest memory this process ever had, in kilobytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory_path(rows: RowsOnDisk, threads: int) -> dict:
    from clearning import clearning_path

    X, y = np.asfortranarray(rows.X), rows.y
    start, work = time.perf_counter(), time.process_time()
    path = clearning_path(X, y, loss="logistic", alphas=PENALTIES, l1_ratio=1.0)
    return {**since(start, work), "objectives": path.objectives.tolist()}


def since(start: float, work: float) -> dict:
    return {"seconds": time.perf_counter() - start, "work": time.process_time() - work}


# --- One penalty ---


def one_objective(rows: RowsOnDisk, coef: np.ndarray, intercept: float) -> float:
    X, y, loss = rows.X, rows.y, 0.0
    for i in range(0, rows.n, CHUNK):
        z = np.where(y[i : i + CHUNK] > 0, 1, -1) * (X[i : i + CHUNK] @ coef + intercept)
        loss += np.logaddexp(0, -z).sum()
    return float(loss / rows.n + MIDDLE * np.abs(coef).sum())


def block_one(rows: RowsOnDisk, threads: int) -> dict:
    from clearning import BlockwiseCLearningClassifier

    model = BlockwiseCLearningClassifier(
        loss="logistic", alpha=MIDDLE, l1_ratio=1.0, n_jobs=threads
    )
    model.fit(rows.X, rows.y)
    return {"passes": model.n_iter_, "objective": model.objective_, "gap": model.dual_gap_}


def stochastic_one(rows: RowsOnDisk, threads: int) -> dict:
    from sklearn.linear_model import SGDClassifier

    X, y = rows.X, rows.y
    model = SGDClassifier(loss="log_loss", penalty="l1", alpha=MIDDLE, random_state=0)
    start, work = time.perf_counter(), time.process_time()
    for _ in range(10):
        for i in range(0, rows.n, CHUNK):
            model.partial_fit(X[i : i + CHUNK], y[i : i + CHUNK], classes=[0, 1])
    told = since(start, work)
    return {
        **told,
        "passes": 10,
        "objective": one_objective(rows, model.coef_[0], float(model.intercept_[0])),
    }


def dask_ml_one(rows: RowsOnDisk, threads: int) -> dict:
    import dask
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression

    model = LogisticRegression(
        penalty="l1", C=1 / (MIDDLE * rows.n), solver="proximal_grad", max_iter=100
    )
    lazy, labels = da.from_array(rows.X, chunks=(CHUNK, -1)), da.from_array(rows.y, chunks=CHUNK)
    start, work = time.perf_counter(), time.process_time()
    with dask.config.set(scheduler="threads", num_workers=threads):
        model.fit(lazy, labels)
    told = since(start, work)
    objective = one_objective(rows, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))
    return {**told, "objective": objective}


def spark_one(rows: RowsOnDisk, threads: int) -> dict:
    """Spark's own, from Parquet; the reading and the Java machine's start are not counted."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(f"local[{threads}]")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    names = [f"x{j}" for j in range(COLUMNS)]
    frame = spark.read.parquet(str(parquet_of(rows, names)))
    frame = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
    frame = frame.select("features", "label").persist()
    frame.count()
    start, work = time.perf_counter(), java_seconds(spark)
    model = LogisticRegression(
        regParam=MIDDLE, elasticNetParam=1.0, standardization=False, maxIter=100, tol=1e-6
    ).fit(frame)
    seconds, work = time.perf_counter() - start, java_seconds(spark) - work
    passes = model.summary.totalIterations
    coef, intercept = model.coefficients.toArray(), float(model.intercept)
    spark.stop()
    objective = one_objective(rows, coef, intercept)
    return {"seconds": seconds, "work": work, "passes": passes, "objective": objective}


def java_seconds(spark) -> float:
    """Return the processor seconds of Spark's Java machine so far."""
    process = spark._jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parquet_of(rows: RowsOnDisk, names: list[str]) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    folder = rows.folder / f"{rows.n}.parquet"
    if not folder.exists():
        folder.mkdir()
        y = rows.y
        for start in range(0, rows.n, CHUNK):
            table = dict(zip(names, rows.chunk(start).T))
            table["label"] = y[start : start + CHUNK].astype(float)
            parquet.write_table(pa.table(table), folder / f"{start:012d}.parquet")
    return folder


def biglasso_path(rows: RowsOnDisk, threads: int) -> dict:
    """A path of 50 by one who also takes a memory map, by columns; it scales them by itself."""
    from pybiglasso import biglasso

    X, y = columns_of(rows), rows.y.astype(float)
    scale = np.array([X[:, j].std() for j in range(COLUMNS)])
    alphas = np.sort(np.append(np.geomspace(0.2, 2e-5, PENALTIES - 1), MIDDLE))[::-1]
    start, work = time.perf_counter(), time.process_time()
    found = biglasso(
        X,
        y,
        lambdas=alphas,
        eps=1e-9,
        penalty_factor=1.0 / scale,
        max_iter=100_000,
        stop_on_saturation=False,
        n_threads=threads,
    )
    told = since(start, work)
    middle = alphas.tolist().index(MIDDLE)
    coef = sparse.csc_array(found.coef)[:, [middle]].toarray().ravel()
    intercept = float(np.ravel(found.intercept)[middle])
    return {**told, "objective": one_objective(rows, coef, intercept)}


def columns_of(rows: RowsOnDisk) -> np.memmap:
    """Return the rows, written once more by columns."""
    path = rows.folder / f"{rows.n}.columns"
    shape = (rows.n, COLUMNS)
    if not path.exists():
        new = np.memmap(path, np.float64, "w+", shape=shape, order="F")
        for start in range(0, rows.n, CHUNK):
            new[start : start + CHUNK] = rows.chunk(start)
        new.flush()
    return np.memmap(path, np.float64, "r", shape=shape, order="F")


MEASURES = {
    "reading, from the disk": reading,
    "reading, from memory": reading,
    "path of 50": block_path,
    "five folds": block_cv,
    "five folds on Dask": dask_cv,
    "path of 50 in memory": memory_path,
    "path of 50, four classes": class_path,
    "five folds, four classes": class_cv,
    "path of 50, pybiglasso": biglasso_path,
    "one penalty": block_one,
    "one penalty, SGDClassifier": stochastic_one,
    "one penalty, dask-ml": dask_ml_one,
    "one penalty, Spark": spark_one,
}
