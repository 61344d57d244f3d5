"""Dask collections on a cluster of two worker processes: the same bits, whatever happens."""

import _thread
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

from clearning import BlockwiseCLearningClassifier, BlockwiseCLearningClassifierCV

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

N, P, ROWS = 12_000, 8, 3000
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, P))
Y = np.where(X[:, 0] - 0.5 * X[:, 1] + RNG.logistic(size=N) > 0, "yes", "no")
TOLD = {"alphas": 6, "cv": 3}


@pytest.fixture(scope="module", autouse=True)
def _scheduler_is_given_back():
    """A client that closes beside another one leaves itself as the scheduler of later tests."""
    yield
    dask.config.set(scheduler=None)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def here():
    """The fit that local threads make of the same blocks."""
    return BlockwiseCLearningClassifierCV(**TOLD).fit(
        lambda: [(X[i : i + ROWS], Y[i : i + ROWS]) for i in range(0, N, ROWS)]
    )


def collections(delay=0.0):
    def slow(block):
        time.sleep(delay)
        return block

    lazy = da.from_array(X, chunks=(ROWS, 5))
    if delay:
        lazy = lazy.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    return lazy, da.from_array(Y, chunks=4000)


def bits(model):
    return model.coef_.tobytes(), model.intercept_.tobytes(), model.dual_gap_, model.n_iter_


def test_arrays_and_frames_on_a_cluster(client, here):
    lazy, labels = collections()
    model = BlockwiseCLearningClassifierCV(**TOLD).fit(lazy, labels)
    assert bits(model) == bits(here)
    probabilities = model.predict_proba(lazy)
    assert isinstance(probabilities, da.Array)
    np.testing.assert_allclose(probabilities.compute(), here.predict_proba(X), rtol=1e-12)
    assert np.array_equal(model.predict(lazy).compute(), here.predict(X))

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)]).assign(label=Y, weight=1.0)
    table = dd.from_pandas(frame, npartitions=4)
    empty = table.map_partitions(lambda part: part[part["x0"] > part["x0"].max()])
    both = dd.concat([empty, table])
    model = BlockwiseCLearningClassifier().fit(both, "label", sample_weight="weight")
    assert list(model.feature_names_in_) == [f"x{j}" for j in range(P)]
    told = model.predict_proba(table)
    assert isinstance(told, dd.DataFrame)
    known = frame[model.feature_names_in_.tolist()]
    np.testing.assert_allclose(told.compute(), model.predict_proba(known), rtol=1e-12)
    assert list(told.columns) == ["no", "yes"]


def test_many_classes_on_a_cluster(client):
    labels = np.digitize(X[:, 0] - 0.5 * X[:, 1] + RNG.logistic(size=N), [-1.0, 0.5])
    offset = 0.1 * RNG.normal(size=(N, 3))
    cuts = [slice(i, i + ROWS) for i in range(0, N, ROWS)]
    here = BlockwiseCLearningClassifierCV(**TOLD).fit(
        lambda: [(X[cut], labels[cut], np.ones(ROWS), offset[cut]) for cut in cuts]
    )
    lazy, _ = collections()
    columns = (da.from_array(each, chunks=4000) for each in (labels, np.ones(N), offset))
    model = BlockwiseCLearningClassifierCV(**TOLD).fit(lazy, *columns)
    assert bits(model) == bits(here)
    probabilities = model.predict_proba(lazy)
    assert probabilities.shape == (N, 3)
    np.testing.assert_allclose(probabilities.compute(), here.predict_proba(X), rtol=1e-12)
    assert np.array_equal(model.predict(lazy).compute(), here.predict(X))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)]).assign(label=labels)
    names = [f"o{k}" for k in range(3)]
    frame[names] = offset
    table = dd.from_pandas(frame, npartitions=4)
    told = BlockwiseCLearningClassifierCV(**TOLD).fit(table, "label", offset=names)
    assert bits(told) == bits(here)
    assert told.decision_function(table).compute().shape == (N, 3)


def test_a_worker_that_is_killed_changes_no_bit(client, here):
    lazy, labels = collections(delay=0.05)
    victim = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
    timer.start()
    model = BlockwiseCLearningClassifierCV(**TOLD).fit(lazy, labels)
    timer.join()
    assert victim not in client.run(os.getpid).values()
    assert bits(model) == bits(here)


def test_bad_partitions_are_named(client):
    lazy, labels = collections()

    def spoil(block, block_info=None):
        third = block_info is not None and block_info[0]["chunk-location"][0] == 3
        return np.where(third, np.nan, block)

    def fail(block, block_info=None):
        if block_info is not None and block_info[0]["chunk-location"][0] == 2:
            raise OSError("the disk is gone")
        return block

    nan = lazy.map_blocks(spoil, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"Block 3 \(partition 3\).*X contains NaN"):
        BlockwiseCLearningClassifier().fit(nan, labels)
    gone = lazy.map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"Block 2.*cannot be read.*the disk is gone"):
        BlockwiseCLearningClassifier().fit(gone, labels)
    with pytest.raises(TypeError, match="y must be a Dask array"):
        BlockwiseCLearningClassifier().fit(lazy, Y)
    with pytest.raises(ValueError, match="y has 2 chunks, but X has 4"):
        BlockwiseCLearningClassifier().fit(lazy, labels[: N - 5].rechunk(10_000))


def test_ctrl_c_leaves_the_workers_usable(client, here):
    lazy, labels = collections(delay=0.3)
    timer = threading.Timer(1.0, _thread.interrupt_main)
    # A shell's background jobs ignore interrupts, and the tests may be one.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            BlockwiseCLearningClassifierCV(**TOLD).fit(lazy, labels)
    finally:
        signal.signal(signal.SIGINT, inherited)
    assert bits(BlockwiseCLearningClassifierCV(**TOLD).fit(*collections())) == bits(here)


def test_without_a_client_partitions_are_read_by_threads(here, monkeypatch):
    from clearning._blocks import sources

    monkeypatch.setattr(sources, "active_client", lambda: None)
    assert bits(BlockwiseCLearningClassifierCV(**TOLD).fit(*collections())) == bits(here)


def test_a_lost_scheduler_is_told():
    import dask

    lazy, labels = collections(delay=0.1)
    quick = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    told = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with (
        quick,
        distributed.LocalCluster(**told) as cluster,
        distributed.Client(cluster) as client,
        client.as_current(),
    ):
        timer = threading.Timer(0.5, cluster.close)
        timer.start()
        with pytest.raises(ConnectionError, match=r"scheduler was lost in pass \d"):
            BlockwiseCLearningClassifier().fit(lazy, labels)
        timer.join()


def test_a_scheduler_that_is_lost_between_passes_is_told():
    from clearning._blocks.dask_source import DaskCluster, dask_source

    lazy, labels = collections()
    told = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**told) as cluster, distributed.Client(cluster) as client:
        passes = DaskCluster(client, dask_source(lazy, {"y": labels}))
    with pytest.raises(ConnectionError, match="scheduler was lost in pass 2"):
        passes.run(max, max, None, "pass 2")


def test_a_scheduler_that_is_lost_while_the_block_of_an_error_is_looked_for_is_told():
    from clearning._blocks.dask_source import DaskCluster, dask_source

    class Erred:
        status = "error"

        def result(self):
            raise RuntimeError("a worker that was killed")

    class Closing:
        status = "running"

        def compute(self, task):
            if self.status == "closed":
                raise RuntimeError("Client is closed.")
            self.status = "closed"
            return Erred()

    passes = DaskCluster(Closing(), dask_source(collections()[0], {}))
    with pytest.raises(ConnectionError, match="scheduler was lost in pass 3"):
        passes.run(max, max, None, "pass 3")
