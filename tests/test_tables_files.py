"""Tables are read in every format, and bad files are told in one sentence each."""

import bz2
import gzip
import os
from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pyarrow as pa
import pytest
from tables_help import passengers, two_classes, write_csv

from clearning.tables import TableError, read_table, write_table
from clearning.tables import files as files_module


def one_sentence(message: str) -> bool:
    return "\n" not in message and message.endswith((".", "?")) and len(message) < 400


def refused(path) -> str:
    with pytest.raises(TableError) as caught:
        read_table(path)
    assert one_sentence(str(caught.value)), str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "csv.bz2", "csv.zst"])
def test_text_in_every_packing(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    text = passengers(30).write_csv(separator="\t" if ending == "tsv" else ",").encode()
    pack = {
        "csv.gz": gzip.compress,
        "csv.bz2": bz2.compress,
        "csv.zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    }
    path.write_bytes(pack.get(ending, bytes)(text))
    frame = read_table(path)
    assert frame.columns == passengers(30).columns
    assert frame["sex"].to_list() == passengers(30)["sex"].to_list()
    assert frame["age"].null_count() == passengers(30)["age"].null_count() > 0


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "csv", "csv.gz", "tsv"])
def test_what_is_written_is_read(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write_table(passengers(30), path)
    frame = read_table(path)
    assert frame["fare"].cast(pl.Float64).to_list() == passengers(30)["fare"].to_list()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text(f"a{separator}b\n1{separator}2\n")
    assert read_table(path).rows() == [("1", "2")]


def test_quotes_byte_order_marks_and_columns_without_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbf"a, with ""quotes""",\n"two\nlines",NA\n')
    frame = read_table(path)
    assert frame.columns == ['a, with "quotes"', "column 2"]
    assert frame.rows() == [("two\nlines", None)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("\n\n", "row 1 must hold the names"),
        ("a\n1\n2\n", "has one column, 'a'"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n1,2,3\n", "row 3 has 3 cells, but row 1 names 2 columns"),
        ("a,b\n1,2\n\n1\n", "row 4 has 1 cell, but"),
        ("a,b,a\n1,2,3\n", "columns 1 and 3 are both named 'a'"),
        ("1.5,2\n1,2\n", "row 1 holds numbers only"),
        ("a\0,b\n1,2\n", "row 1 holds a zero byte"),
        ("a,b\n1,2\n1,x\0y\n", "row 3 holds a zero byte"),
        ("PAR1,b\n", "no rows"),
    ],
)
def test_bad_text(tmp_path, text, told):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert told in refused(path)


def test_bad_letters_name_their_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\ncaf\xe9,2\n")
    assert "row 3 holds bytes that are no UTF-8" in refused(path)
    path.write_bytes(b"caf\xe9,b\n1,2\n")
    assert "row 1 holds bytes" in refused(path)
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    assert "UTF-16" in refused(path)


def test_a_million_columns_are_refused_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{i}" for i in range(1_000_000)) + "\n" + "0," * 999_999 + "0\n")
    told = refused(path)
    assert "1,000,000 columns" in told
    assert "CLearningClassifierCV" in told


def test_cut_off_files(tmp_path):
    for ending, told in (("parquet", "no whole Parquet"), ("arrow", "no whole Arrow")):
        path = tmp_path / f"t.{ending}"
        write_table(passengers(50), path)
        path.write_bytes(path.read_bytes()[:-40])
        assert told in refused(path)
        path.write_bytes(b"\1nonsense" * 10)
        assert told in refused(path)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(passengers(500).write_csv().encode())[:-500])
    refused(path)


def test_files_that_are_not_what_their_names_tell(tmp_path):
    frame = passengers(50)
    frame.write_parquet(tmp_path / "p.csv")
    frame.write_ipc(tmp_path / "a.tsv")
    frame.write_csv(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "t.arrow")
    (tmp_path / "g.csv").write_bytes(gzip.compress(frame.write_csv().encode()))
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress((tmp_path / "p.csv").read_bytes()))
    (tmp_path / "u.csv").write_bytes(frame.write_csv().encode("utf-16"))
    frame.write_parquet(tmp_path / "p.arrow")
    with ZipFile(tmp_path / "z.csv", "w") as packed:
        packed.writestr("sheet.xml", "<a/>")
    for name, told in {
        "p.csv": "holds Parquet, not text as its name tells: name it .parquet.",
        "p.csv.gz": "holds Parquet, not text",
        "p.arrow": "holds Parquet, not Arrow",
        "a.tsv": "holds Arrow, not text as its name tells: name it .arrow.",
        "t.parquet": "holds text, not Parquet as its name tells: name it .csv or .tsv.",
        "t.arrow": "holds text, not Arrow",
        "g.csv": "holds gzip, not text as its name tells: name it .csv.gz.",
        "u.csv": "holds UTF-16, not text as its name tells: save it as UTF-8.",
        "z.csv": "holds a spreadsheet or a zip archive, not text",
    }.items():
        assert told in refused(tmp_path / name)


def test_zero_bytes_are_named_by_row_and_column(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{'x' * 100}" for i in range(40_000)]
    rows[30_000] = "7,a\0b"
    path.write_text("\n".join(["a,b", *rows]))
    assert "t.csv, row 30002, column 'b' holds a zero byte" in refused(path)


def test_what_is_no_file(tmp_path):
    assert "is not there" in refused(tmp_path / "t.csv")
    (tmp_path / "d.csv").mkdir()
    assert "is a folder" in refused(tmp_path / "d.csv")
    for address in ("https://example.org/t.csv", Path("https://example.org/t.csv")):
        with pytest.raises(TableError, match="is a URL"):
            read_table(address)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a pipe or device" in refused(tmp_path / "pipe.csv")
    path = tmp_path / "t.xlsx"
    path.write_text("a,b\n1,2\n")
    assert "no ending that tells its format" in refused(path)


def test_a_file_that_cannot_be_written_is_known_at_once(tmp_path):
    for name in ("t.xlsx", "t.csv.bz2", "t"):
        with pytest.raises(TableError):
            files_module.check_writable(tmp_path / name)


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    path = write_csv(tmp_path / "t.csv", two_classes())
    before = path.read_bytes()
    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    with pytest.raises(OSError, match="No space"):
        write_table(passengers(30), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
