"""Adapters, one class a solver: who is measured beside us."""

from __future__ import annotations

from peers.base import CLOCK, OutOfTime, Peer, Solution, Unavailable, clock
from peers.fits import Lbfgs, Liblinear, ScikitLearn, SnapML
from peers.glmnet import GlmnetR, PythonGlmnet
from peers.ours import Clearning
from peers.paths import Adelie, Celer, Glum, Pybiglasso, Pycasso, Skglm

__all__ = [
    "CLOCK",
    "ON_PATHS",
    "OURS",
    "PEERS",
    "GlmnetR",
    "OutOfTime",
    "Peer",
    "Solution",
    "Unavailable",
    "clock",
]

OURS = Clearning.name
_ON_PATHS = (
    GlmnetR,
    Adelie,
    PythonGlmnet,
    Skglm,
    Celer,
    Pybiglasso,
    Pycasso,
    Glum,
    Liblinear,
    SnapML,
    ScikitLearn,
    Clearning,
)
ON_PATHS = [peer.name for peer in _ON_PATHS]
PEERS = {peer.name: peer for peer in (*_ON_PATHS, Lbfgs)}
