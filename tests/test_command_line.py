"""`clearning` at a stranger's terminal: options, hostile names, closed pipes, altered files."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from tables_help import passengers, refused, run, two_classes, write_csv

from clearning._words import count, visible
from clearning.tables import FitOptions, TableError, load_model, save_model

HOSTILE = "a\x1b[31m\u202eb\nc\x9b2J"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model of a table whose names and values command a terminal."""
    folder = tmp_path_factory.mktemp("fitted")
    columns = two_classes(80)
    columns[HOSTILE] = [HOSTILE + str(i % 2) for i in range(80)]
    columns["x" + HOSTILE] = columns.pop("x")
    columns["y"] = [f"{label}\x1b[2J" for label in columns["y"]]
    write_csv(folder / "t.csv", columns)
    assert run("fit", folder / "t.csv", "--target", "y", "-o", folder, "--no-kernel") == 0
    return folder


def test_counted_nouns():
    assert count(1, "row") == "1 row"
    assert count(2000, "row") == "2,000 rows"
    assert count(0, "category", "categories") == "0 categories"


def test_what_is_visible_is_one_line_and_the_same_json():
    assert visible(HOSTILE) == "a\\u001b[31m\\u202eb\\nc\\u009b2J"
    assert visible(visible(HOSTILE)) == visible(HOSTILE)
    assert visible("naïve 数 █ …") == "naïve 数 █ …"
    text = HOSTILE + "\x7f\U000e0001\udc80"
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--seed", "-1", "--seed -1 must be a whole number in [0, 4294967295]"),
        ("--seed", str(2**32), "must be a whole number in [0, 4294967295]"),
        ("--folds", "1", "--folds 1 must be a whole number from 2 on"),
        ("--folds", "1000", "--folds 1000 is too many: {path}, column 'y' has 22 rows of class"),
        ("--jobs", "-5", "--jobs -5 must be a number of threads in [1, 1024], or -1"),
        ("--jobs", "0", "--jobs 0 must be a number of threads"),
        ("--jobs", "99999", "--jobs 99999 must be a number of threads"),
        ("--test", "1", "--test 1.0 must be a share between 0 and 1"),
        ("--test", "-0.5", "--test -0.5 must be a share between 0 and 1"),
        ("--test", "inf", "--test inf must be a share between 0 and 1"),
        ("--as", "y=number", "Column 'y' is the --target, so --as has no say in it"),
    ],
)
def test_options_out_of_range_are_refused_before_the_work(
    option, value, told, tmp_path, capsys, monkeypatch
):
    def search(*args):
        raise AssertionError("The work was begun.")

    monkeypatch.setattr("clearning.tables.fit.search", search)
    path = write_csv(tmp_path / "t.csv", two_classes())
    words = ("fit", path, "--target", "y", "-o", tmp_path, f"{option}={value}")
    assert told.format(path=path) in refused(capsys, *words)


@pytest.mark.parametrize(
    "options",
    [{"folds": 2.5}, {"seed": "1"}, {"jobs": 1.5}, {"selection": "worst"}, {"kinds": {"a": "b"}}],
)
def test_options_in_python_are_refused_in_the_same_words(options):
    with pytest.raises(TableError, match=r"--\w+ .* must "):
        FitOptions("y", **options)


def test_more_folds_than_groups_are_refused(tmp_path, capsys):
    columns = {**two_classes(), "g": [f"g{i % 12}" for i in range(60)]}
    path = write_csv(tmp_path / "t.csv", columns)
    told = refused(
        capsys, "fit", path, "--target", "y", "--group", "g", "--folds", "20", "-o", tmp_path
    )
    assert f"--folds 20 is too many: {path}, column 'g' holds 9 groups to learn from" in told


def test_folds_are_shuffled_by_the_seed_and_told(tmp_path):
    # Sorted by the one column that matters: in the order of the file each fold would be a range.
    columns = pl.DataFrame(two_classes(120)).sort("x").to_dict(as_series=False)
    columns["g"] = [f"g{i % 15}" for i in range(120)]
    path = write_csv(tmp_path / "t.csv", columns)
    found = {}
    for name, words in {
        "0": (),
        "again": (),
        "7": ("--seed", "7"),
        "time": ("--time", "z"),
        "group": ("--group", "g"),
    }.items():
        out = tmp_path / name
        assert run("fit", path, "--target", "y", "-o", out, "--no-kernel", *words) == 0
        found[name] = load_model(out / "model.skops")
        page = (out / "report.html").read_text()
        assert f"Cross-validated in 5 folds {found[name].record['folds']['how']}" in page.replace(
            "&#x27;", "'"
        )
    scores = {name: model.record["candidates"][0]["folds"] for name, model in found.items()}
    assert scores["0"] == scores["again"]
    cv = found["7"].classifier.cv
    assert (cv.shuffle, cv.random_state, cv.n_splits) == (True, 7, 5)
    assert found["7"].record["folds"]["how"] == "shuffled by the seed 7"
    assert found["time"].record["folds"]["how"] == "in the order of the file"
    assert found["group"].record["folds"]["how"] == "of whole groups of 'g'"
    assert not found["time"].classifier.cv.shuffle


def test_no_name_or_value_commands_the_terminal(fitted, tmp_path, capsys):
    table, model, out = fitted / "t.csv", fitted / "model.skops", tmp_path / "o.csv"
    unseen = pl.read_csv(table).with_columns(pl.lit("\x1b[0m").alias(HOSTILE))
    unseen.write_csv(tmp_path / "unseen.csv")
    for words in (
        ("fit", table, "--target", "y", "-o", tmp_path, "--no-kernel"),
        ("explain", model, table),
        ("explain", model, tmp_path / "unseen.csv"),
        ("explain", model, table, "--json"),
        ("predict", model, tmp_path / "unseen.csv", "-o", out),
        ("predict", model, table, "-o", out, "--json"),
        ("report", model, table, "-o", tmp_path / "r.html"),
        ("report", model, tmp_path / "no\x1b[31msuch.csv", "-o", tmp_path / "r.html"),
    ):
        run(*words)
        told = capsys.readouterr()
        shown = told.out + told.err
        assert shown
        assert not set(shown) & set("\x1b\x9b\u202e")
    assert json.loads(shell("explain", model, table, "--json").stdout)["rows"]


def test_explain_keeps_its_columns_in_line(fitted, capsys):
    assert run("explain", fitted / "model.skops", fitted / "t.csv") == 0
    bars = [line for line in capsys.readouterr().out.splitlines() if "█" in line]
    assert bars
    assert len({line.index("█") for line in bars}) == 1


def shell(*words, script='"$@"', **env):
    command = ["bash", "-c", script, "clearning", sys.executable, "-m", "clearning", *words]
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        # Buffered, as it is for most: what is left to be written at the end must find its way, too.
        env={**os.environ, "PYTHONUNBUFFERED": "", **env},
    )


def test_an_end_that_knows_few_letters_gets_the_message_all_the_same(fitted):
    done = shell("explain", fitted / "model.skops", fitted / "t.csv", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2588" in done.stdout


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("fit", "--help"), ()])
def test_help_into_a_closed_pipe(words):
    for script in ('"$@" | true; exit ${PIPESTATUS[0]}', '"$@" >&-'):
        done = shell(*words, script=script)
        assert (done.returncode, done.stderr) == (0, "")


def test_warnings_into_a_closed_pipe(fitted, tmp_path):
    out = tmp_path / "o.csv"
    pl.read_csv(fitted / "t.csv").with_columns(pl.lit("new").alias(HOSTILE)).write_csv(
        tmp_path / "t.csv"
    )
    words = ("predict", fitted / "model.skops", tmp_path / "t.csv", "-o", out)
    done = shell(*words, script='"$@" 2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}')
    assert done.returncode == 0
    assert out.exists()


def test_the_demo_goes_on_without_a_reader(tmp_path, monkeypatch):
    """Its lines are said as those of every command are; the whole of it takes a minute."""
    code = (
        "import sys, clearning.demo as demo\n"
        "from clearning import cli\n"
        "demo.run = lambda args: demo._show('a', 'b', ['c'] * 6, [['d'] * 6] * 9000) or 0\n"
        f"sys.exit(cli.main(['demo', '--out', {str(tmp_path)!r}]))"
    )
    script = '"$1" -c "$4" | head -1; exit ${PIPESTATUS[0]}'
    done = shell(code, script=script)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A model of two numbers."""
    folder = tmp_path_factory.mktemp("plain")
    path = write_csv(folder / "t.csv", two_classes())
    assert run("fit", path, "--target", "y", "-o", folder, "--no-kernel") == 0
    return folder / "model.skops"


@pytest.mark.parametrize("missing", ["rows", "candidates", "problems", "options", "seconds"])
def test_a_record_that_was_altered_is_told(missing, plain, tmp_path, capsys):
    model, other = load_model(plain), tmp_path / "other.skops"
    del model.record[missing]
    save_model(model, other)
    told = refused(capsys, "report", other, "-o", tmp_path / "r.html")
    assert f"{other} holds a record that no page can be made of" in told
    assert not (tmp_path / "r.html").exists()


def test_a_record_of_the_test_that_cannot_be_is_told(plain, tmp_path, capsys):
    for key, change in {
        "actual": lambda values: values + 5,
        "probability": lambda values: values[:, :1],
        "weight": lambda values: values * np.nan,
        "row": lambda values: values[:-1],
    }.items():
        model = load_model(plain)
        model.record["test"][key] = change(np.asarray(model.record["test"][key]))
        save_model(model, tmp_path / "other.skops")
        told = refused(capsys, "report", tmp_path / "other.skops", "-o", tmp_path / "r.html")
        assert "holds a record of its test that was altered or is damaged" in told


def test_a_model_that_is_cut_off_is_told(tmp_path, fitted, capsys):
    whole = (fitted / "model.skops").read_bytes()
    cut = tmp_path / "cut.skops"
    for size in (0, 10, len(whole) // 2, len(whole) - 30):
        cut.write_bytes(whole[:size])
        assert f"{cut} " in refused(capsys, "report", cut, "-o", tmp_path / "r.html")


def test_text_without_words_is_refused_where_it_was_asked_for(tmp_path, capsys):
    columns = two_classes(200)
    columns["word"] = [f"{i}x{i}" for i in range(200)]
    columns["mark"] = ["!?" * (1 + i % 7) for i in range(200)]
    path = write_csv(tmp_path / "t.csv", columns)
    for name in ("word", "mark"):
        told = refused(capsys, "fit", path, "--target", "y", "--as", f"{name}=text", "-o", tmp_path)
        assert f"{path}, row 2, column '{name}': '{columns[name][0]}' is taken as text" in told
        assert "take the column as number, category, date, ignore" in told


def test_text_without_repeated_words_is_left_out_and_told(tmp_path):
    columns = two_classes(200)
    columns["hashes"] = [" ".join(f"h{i}w{k}" for k in range(5)) for i in range(200)]
    path = write_csv(tmp_path / "t.csv", columns)
    assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel") == 0
    model = load_model(tmp_path / "model.skops")
    assert "Column 'hashes' was left out: text" in " ".join(model.record["problems"])
    only = write_csv(tmp_path / "only.csv", {"t": columns["hashes"], "y": columns["y"]})
    assert run("fit", only, "--target", "y", "-o", tmp_path, "--no-kernel") == 1


@pytest.mark.parametrize("stored", ["true", "True", "1", "parquet", "ints"])
@pytest.mark.parametrize("fitted_as", ["true", "True", "parquet"])
def test_truth_values_are_the_same_however_they_are_stored(fitted_as, stored, tmp_path, capsys):
    frame = pl.DataFrame(two_classes(100))
    truth = frame["x"] > 0.2

    def written(how, name):
        words = {"true": ("true", "false"), "True": ("True", "False"), "1": ("1", "0")}
        path = tmp_path / f"{name}.{'parquet' if how in ('parquet', 'ints') else 'csv'}"
        yes, no = words.get(how, ("", ""))
        values = {
            "parquet": truth,
            "ints": truth.cast(pl.Int64),
        }.get(how, pl.Series([yes if one else no for one in truth]))
        table = frame.select("z", "y").with_columns(values.alias("b"))
        table.write_parquet(path) if path.suffix == ".parquet" else table.write_csv(path)
        return path

    path = written(fitted_as, "fit")
    assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel") == 0
    model, told = tmp_path / "model.skops", {}
    for how in (fitted_as, stored):
        capsys.readouterr()
        assert run("predict", model, written(how, how), "-o", tmp_path / "o.csv") == 0
        assert capsys.readouterr().err == ""
        told[how] = pl.read_csv(tmp_path / "o.csv").drop("row")
    assert told[stored].equals(told[fitted_as])


def test_a_truth_value_that_is_none_is_named(tmp_path, capsys):
    columns = {**two_classes(100), "b": ["true", "false"] * 50}
    path = write_csv(tmp_path / "t.csv", columns)
    assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel") == 0
    for values in (["2"] * 100, ["maybe"] * 100):
        other = write_csv(tmp_path / "other.csv", {**columns, "b": values})
        told = refused(capsys, "predict", tmp_path / "model.skops", other, "-o", tmp_path / "o.csv")
        assert f"{other}, row 2, column 'b': '{values[0]}' is no truth value" in told


def test_rows_are_named_by_their_place_in_the_file(tmp_path, capsys):
    """Rows without a target are left out, and count all the same."""
    columns = two_classes(60)
    columns["y"][:3] = [None, None, None]
    columns["day"] = [f"2024-01-{1 + i % 28:02d}" for i in range(60)]
    columns["day"][10] = None
    path = write_csv(tmp_path / "t.csv", columns)
    told = refused(capsys, "fit", path, "--target", "y", "--time", "day", "-o", tmp_path)
    assert f"{path}, row 12, column 'day' has no time" in told


def test_one_of_anything_is_not_many(tmp_path, capsys):
    table = passengers(60).with_columns(pl.lit("y").alias("ship"))
    table = table.with_columns(pl.Series("survived", [None, *table["survived"][1:]]))
    table.write_csv(tmp_path / "t.csv")
    assert run("fit", tmp_path / "t.csv", "--target", "survived", "-o", tmp_path) == 0
    one = tmp_path / "one.csv"
    table[1:2].write_csv(one)
    assert run("predict", tmp_path / "model.skops", one, "-o", tmp_path / "o.csv") == 0
    told = capsys.readouterr().out + (tmp_path / "report.html").read_text()
    assert "1 row: " in told
    assert "1 row has no target and was left out." in told
    assert "1 rows" not in told


@pytest.mark.parametrize("command", ["demo", "reproduce"])
def test_a_folder_that_is_none_is_refused_before_the_work(command, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    told = refused(capsys, command, "--quick", "--out", tmp_path / "file" / "sub")
    assert f"{tmp_path / 'file'} is no folder" in told


def test_what_the_system_refuses_is_told_with_the_file(tmp_path, plain, capsys, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device", str(tmp_path / "m.onnx"))

    monkeypatch.setattr("clearning.export.save_onnx", full)
    told = refused(capsys, "export", plain, "-o", tmp_path / "m.onnx")
    assert told == f"clearning: {tmp_path / 'm.onnx'}: No space left on device.\n"


def test_a_name_that_is_no_utf8_is_told(tmp_path, capsys):
    path = tmp_path / os.fsdecode(b"t\xff.csv")
    path.write_text("x,y\n1,a\n")
    told = refused(capsys, "fit", path, "--target", "y", "-o", tmp_path)
    assert "t\\udcff.csv has a name that is no UTF-8: rename it." in told


@pytest.mark.parametrize("moment", [0.5, 1.5, 3.0])
def test_an_interrupt_ends_with_130_and_one_line(moment, tmp_path):
    path = write_csv(tmp_path / "t.csv", two_classes(4000))
    command = [
        sys.executable,
        "-m",
        "clearning",
        "fit",
        path,
        "--target",
        "y",
        "-o",
        tmp_path / "o",
    ]
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1]
    # Where the interrupt was met in an `exec`, Python ends by the signal: to a shell both are 130.
    assert process.returncode in (130, -signal.SIGINT)
    assert error == b"clearning: interrupted\n"
