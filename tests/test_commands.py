"""`clearning fit` and the commands after it, from files to files."""

import json
import os
import signal
import subprocess
import sys
import time
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest
from tables_help import passengers, refused, run, two_classes, write_csv

from clearning.tables import load_model, read_table

OUTPUTS = {"model.skops", "predictions.parquet", "report.html"}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table with everything, and what `fit` made of it."""
    folder = tmp_path_factory.mktemp("fitted")
    passengers().write_csv(folder / "t.csv")
    status = run("fit", folder / "t.csv", "--target", "survived", "-o", folder, "--no-kernel")
    assert status == 0
    return folder


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Two rings that only a kernel tells apart."""
    folder = tmp_path_factory.mktemp("kernel")
    rng = np.random.default_rng(0)
    angle, y = rng.uniform(0, 6.28, 160), rng.integers(0, 2, 160)
    radius = 1 + 2 * y + 0.4 * rng.normal(size=160)
    columns = {"x": radius * np.cos(angle), "z": radius * np.sin(angle), "y": y}
    write_csv(folder / "t.csv", columns)
    assert run("fit", folder / "t.csv", "--target", "y", "-o", folder) == 0
    return folder


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three fates of unequal number, with gaps, categories, dates and text in the table."""
    folder = tmp_path_factory.mktemp("three")
    table = passengers()
    fate = pl.when(pl.col("fare") > 60).then(pl.lit("lost")).otherwise(pl.col("survived"))
    table.with_columns(fate=fate.fill_null("no")).drop("survived").write_csv(folder / "t.csv")
    assert run("fit", folder / "t.csv", "--target", "fate", "-o", folder, "--no-kernel") == 0
    return folder


def test_three_classes_from_a_file_to_a_decision(three, tmp_path, capsys):
    model = load_model(three / "model.skops")
    assert model.classes.tolist() == ["lost", "no", "yes"]
    assert model.classifier.coef_.shape[0] == 3
    given = [f"probability of {label}" for label in model.classes]
    told = pl.read_parquet(three / "predictions.parquet")
    sums = told.select(pl.sum_horizontal(given)).to_series()
    assert (sums - 1.0).abs().max() < 1e-12
    likeliest = model.classes[told.select(given).to_numpy().argmax(axis=1)]
    assert told["predicted"].to_list() == likeliest.tolist()
    assert (told["predicted"] == told["actual"]).mean() > 0.6

    new = tmp_path / "new.csv"
    passengers(40, seed=3).drop("survived").write_csv(new)
    assert run("predict", three / "model.skops", new, "-o", tmp_path / "o.csv") == 0
    assert pl.read_csv(tmp_path / "o.csv").columns == ["row", "predicted", *given]
    assert run("explain", three / "model.skops", new, "-o", tmp_path / "e.parquet") == 0
    parts = pl.read_parquet(tmp_path / "e.parquet").group_by("row", "class")
    parts = parts.agg(pl.col("contribution").sum(), pl.col("score").first())
    assert len(parts) == 3 * 40
    assert (parts["contribution"] - parts["score"]).abs().max() < 1e-9
    capsys.readouterr()
    page = tmp_path / "r.html"
    assert run("report", three / "model.skops", three / "t.csv", "-o", page, "--json") == 0
    assert json.loads(capsys.readouterr().out)["test"]["area"].keys() == {"lost", "no", "yes"}
    assert page.read_text().count("<option") == 3


def test_a_kernel_of_three_classes_from_a_file_to_a_decision(tmp_path, capsys):
    rng = np.random.default_rng(0)
    angle, y = rng.uniform(0, 6.28, 150), rng.integers(0, 3, 150)
    radius = 1 + 2 * y + 0.3 * rng.normal(size=150)
    columns = {"x": radius * np.cos(angle), "z": radius * np.sin(angle)}
    table, model = tmp_path / "t.csv", tmp_path / "model.skops"
    write_csv(table, {**columns, "ring": np.array(["in", "mid", "out"])[y]})
    assert run("fit", table, "--target", "ring", "-o", tmp_path, "--kernel") == 0
    assert load_model(model).classifier.dual_coef_.shape[0] == 3
    told = pl.read_parquet(tmp_path / "predictions.parquet")
    assert (told["predicted"] == told["actual"]).mean() > 0.85
    new = tmp_path / "new.csv"
    write_csv(new, columns)
    assert run("predict", model, new, "-o", tmp_path / "o.csv") == 0
    assert pl.read_csv(tmp_path / "o.csv").columns[-3:] == [
        f"probability of {label}" for label in ("in", "mid", "out")
    ]
    assert run("explain", model, new, "-o", tmp_path / "e.parquet") == 0
    assert pl.read_parquet(tmp_path / "e.parquet")["class"].n_unique() == 3
    assert run("report", model, table, "-o", tmp_path / "r.html") == 0
    assert "A kernel model compares rows with" in (tmp_path / "r.html").read_text()
    onnx = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    assert run("export", model, "-o", tmp_path / "m.onnx") == 0
    session = onnx.InferenceSession(tmp_path / "m.onnx")
    given = {name: np.reshape(values, (-1, 1)) for name, values in columns.items()}
    probabilities = session.run(None, given)[1]
    here = pl.read_csv(tmp_path / "o.csv").select("^probability.*$")
    np.testing.assert_allclose(probabilities, here.to_numpy(), atol=1e-9)


def test_fit_writes_three_files_and_nothing_else(fitted):
    assert {path.name for path in fitted.iterdir()} >= OUTPUTS
    assert not list(fitted.glob("*.part"))
    model = load_model(fitted / "model.skops")
    assert [column.name for column in model.columns if column.used] == [
        "age",
        "sex",
        "port",
        "fare",
        "booked",
        "note",
    ]
    assert model.classes.tolist() == ["no", "yes"]


def test_predictions_are_those_of_the_test_rows(fitted):
    told = pl.read_parquet(fitted / "predictions.parquet")
    assert len(told) == 100
    table = read_table(fitted / "t.csv")
    rows = told["row"].to_numpy() - 2
    assert told["actual"].to_list() == table["survived"][rows].to_list()
    model = load_model(fitted / "model.skops")
    again = model.predict_proba(table[rows])
    np.testing.assert_array_equal(told["probability of yes"].to_numpy(), again[:, 1])
    assert (told["predicted"] == told["actual"]).mean() > 0.65


def test_predict_takes_gaps_unseen_categories_and_columns_in_any_order(fitted, tmp_path, capsys):
    new = passengers(50, seed=9).drop("survived", "ship", "name", "passenger_id")
    new = new.with_columns(port=pl.lit("Atlantis")).select(*reversed(new.columns))
    new = new.with_columns(age=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("age"))
    new.write_csv(tmp_path / "new.csv")
    assert (
        run("predict", fitted / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "o.tsv") == 0
    )
    told = pl.read_csv(tmp_path / "o.tsv", separator="\t")
    assert told.columns == ["row", "predicted", "probability of no", "probability of yes"]
    assert told["row"].to_list() == list(range(2, 52))
    assert (told["probability of no"] + told["probability of yes"] - 1).abs().max() < 1e-12
    shown = capsys.readouterr()
    assert "50 rows: " in shown.out
    assert "row 2, column 'port': 'Atlantis' was not met in training" in shown.err
    assert shown.err.count("\n") == 1


def test_explanations_add_up(fitted, kernel, tmp_path):
    for folder in (fitted, kernel):
        out = tmp_path / "e.parquet"
        assert run("explain", folder / "model.skops", folder / "t.csv", "-o", out) == 0
        told = pl.read_parquet(out)
        sums = told.group_by("row", "class").agg(
            pl.col("contribution").sum(), pl.col("score").first(), pl.col("probability").first()
        )
        assert (sums["contribution"] - sums["score"]).abs().max() < 1e-9
        assert len(sums) == len(read_table(folder / "t.csv"))
        first = told.filter(pl.col("row") == 2)["column"].to_list()
        assert first[0] == "(average row)"
        assert first[-1] == "(columns together)"


def test_explain_shows_the_first_rows(fitted, capsys):
    assert run("explain", fitted / "model.skops", fitted / "t.csv") == 0
    shown = capsys.readouterr().out
    assert shown.count("yes with probability") == 5
    assert "sex" in shown
    assert "395 more rows" in shown


def test_a_kernel_is_chosen_where_only_a_kernel_works(kernel):
    model = load_model(kernel / "model.skops")
    assert type(model.classifier).__name__ == "KernelCLearningClassifierCV"
    assert model.record["influence"].keys() == {"x", "z"}
    assert [one["name"] for one in model.record["candidates"]] == ["linear", "kernel"]


def test_report_is_made_again_and_on_new_rows(fitted, tmp_path, capsys):
    page = tmp_path / "again.html"
    assert run("report", fitted / "model.skops", "-o", page) == 0
    assert page.read_text() == (fitted / "report.html").read_text()
    passengers(80, seed=5).write_csv(tmp_path / "new.csv")
    assert run("report", fitted / "model.skops", tmp_path / "new.csv", "-o", page) == 0
    assert "of 80 rows wrong" in capsys.readouterr().out
    assert "of <bdi>new.csv</bdi>" in page.read_text()
    passengers(80, seed=5).with_columns(survived=pl.lit("perhaps")).write_csv(tmp_path / "bad.csv")
    assert run("report", fitted / "model.skops", tmp_path / "bad.csv", "-o", page) == 1
    assert "row 2, column 'survived': 'perhaps' is no class" in capsys.readouterr().err


def test_json_is_for_machines(tmp_path, capsys):
    path = write_csv(tmp_path / "t.csv", two_classes())
    words = ("fit", path, "--target", "y", "-o", tmp_path, "--json", "--no-kernel")
    assert run(*words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == ["a", "b"]
    assert told["test"]["rows"] == 15
    assert told["dual_gap"] <= 1e-6 * told["objective"] * 2
    assert run("predict", tmp_path / "model.skops", path, "-o", tmp_path / "o.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 60
    assert run("explain", tmp_path / "model.skops", path, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 60 * 4


def test_held_out_by_time_and_by_group(tmp_path):
    columns = two_classes(120)
    columns["day"] = [f"2024-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(120)]
    columns["house"] = [f"h{i // 4}" for i in range(120)]
    path = write_csv(tmp_path / "t.csv", columns)
    assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel", "--time", "day") == 0
    assert load_model(tmp_path / "model.skops").record["test"]["row"].tolist() == list(
        range(92, 122)
    )
    model = load_model(tmp_path / "model.skops")
    assert "day" not in [column.name for column in model.columns]
    assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel", "--group", "house") == 0
    model = load_model(tmp_path / "model.skops")
    held = {columns["house"][row - 2] for row in model.record["test"]["row"].tolist()}
    assert len(model.record["test"]["row"]) == 4 * len(held)
    assert "house" not in [column.name for column in model.columns]
    assert "day" in [column.name for column in model.columns]


def test_weights_count(tmp_path):
    columns = two_classes(80)
    columns["w"] = [0.0 if label == "a" and i % 2 else 1.0 for i, label in enumerate(columns["y"])]
    path = write_csv(tmp_path / "t.csv", columns)
    coefs = []
    for options in ((), ("--weight", "w")):
        assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel", *options) == 0
        coefs.append(load_model(tmp_path / "model.skops").classifier.intercept_[0])
    assert coefs[1] > coefs[0]


def test_rows_without_weight_are_left_out_and_told(tmp_path, capsys):
    columns = two_classes(200)
    columns["w"] = [0.0] * 50 + [1.0] * 150
    path = write_csv(tmp_path / "t.csv", columns)
    words = ("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel", "--weight", "w")
    assert run(*words) == 0
    record = load_model(tmp_path / "model.skops").record
    assert "50 rows have no weight and were left out." in record["problems"]
    assert record["rows"] == {"read": 200, "train": 112, "test": 38}
    assert min(record["test"]["row"]) >= 52
    columns["w"] = [1.0 if label == "a" else 0.0 for label in columns["y"]]
    write_csv(path, columns)
    assert "every sample of class 'b' has weight zero" in refused(capsys, *words)


def test_kinds_can_be_overruled(tmp_path):
    path = write_csv(tmp_path / "t.csv", {**two_classes(), "code": [1, 2, 3] * 20})
    words = ("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel")
    assert run(*words, "--as", "code=category", "--as", "z=ignore") == 0
    model = load_model(tmp_path / "model.skops")
    assert {c.name: c.kind for c in model.columns} == {
        "x": "number",
        "z": "ignore",
        "code": "category",
    }
    assert "--as code=category --as z=ignore" in model.record["command"]


def test_a_leak_is_pointed_out(tmp_path, capsys):
    columns = two_classes()
    columns["outcome_code"] = [1 if label == "b" else 0 for label in columns["y"]]
    path = write_csv(tmp_path / "t.csv", columns)
    assert run("fit", path, "--target", "y", "-o", tmp_path, "--no-kernel") == 0
    assert "outcome_code" in load_model(tmp_path / "model.skops").record["problems"][0]
    assert "gives the answer away" in (tmp_path / "report.html").read_text()


def test_failures_are_one_sentence(tmp_path, fitted, capsys):
    path = write_csv(tmp_path / "t.csv", two_classes())
    out = ("-o", tmp_path / "out")
    assert "did you mean 'y'" in refused(capsys, "fit", path, "--target", "Y", *out)
    assert "share between 0 and 1" in refused(capsys, "fit", path, "--target", "y", "--test", "3")
    assert "Column 'y' cannot be both --target and --weight." in refused(
        capsys, "fit", path, "--target", "y", "--weight", "y"
    )
    assert "cannot both" in refused(
        capsys, "fit", path, "--target", "y", "--time", "x", "--group", "z"
    )
    assert "lacks the columns" in refused(
        capsys, "predict", fitted / "model.skops", path, "-o", tmp_path / "o.csv"
    )
    assert "no ending" in refused(
        capsys, "predict", fitted / "model.skops", path, "-o", tmp_path / "o.docx"
    )
    (tmp_path / "bad.skops").write_bytes(b"PK nothing")
    for command in ("predict", "explain"):
        assert "is no skops file" in refused(
            capsys, command, tmp_path / "bad.skops", path, "-o", tmp_path / "o.csv"
        )
    assert not (tmp_path / "o.csv").exists()


@pytest.fixture
def at_work(monkeypatch):
    """Any fitting fails the test: what is refused is refused before the work."""

    def fit_table(*args):
        raise AssertionError("The work was begun.")

    monkeypatch.setattr("clearning.tables.fit.fit_table", fit_table)


@pytest.mark.usefixtures("at_work")
def test_outputs_are_looked_at_before_the_work(tmp_path, fitted, capsys):
    path = write_csv(tmp_path / "t.csv", two_classes())
    fit = ("fit", path, "--target", "y", "-o")
    for out in (path, path / "sub"):
        assert f"{path} is no folder" in refused(capsys, *fit, out)
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    assert "report.html is a folder" in refused(capsys, *fit, tmp_path / "out")
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["report.html"]
    predict = ("predict", fitted / "model.skops", fitted / "t.csv", "-o")
    assert f"{path} is no folder" in refused(capsys, *predict, path / "o.csv")
    (tmp_path / "o.csv").mkdir()
    assert "o.csv is a folder" in refused(capsys, *predict, tmp_path / "o.csv")
    own = tmp_path / "own" / "predictions.parquet"
    own.parent.mkdir()
    pl.DataFrame(two_classes()).write_parquet(own)
    words = ("fit", own, "--target", "y", "-o", own.parent)
    assert "predictions.parquet is read by this command" in refused(capsys, *words)


def test_a_file_that_is_no_model_or_was_altered_is_told(tmp_path, fitted, capsys):
    skops_io = pytest.importorskip("skops.io")
    (tmp_path / "dict.skops").write_bytes(skops_io.dumps({"a": 1}))
    out = ("-o", tmp_path / "o.csv")
    for words in (("predict", fitted / "t.csv"), ("export",), ("report",)):
        told = refused(capsys, words[0], tmp_path / "dict.skops", *words[1:], *out)
        assert "dict.skops holds a dict, not a model that `clearning fit` wrote." in told
    for before, after in ((b"no", b"xx"), (b"handle_unknown", b"handle_unkxxwn")):
        altered = tmp_path / "altered.skops"
        with ZipFile(fitted / "model.skops") as whole, ZipFile(altered, "w") as other:
            for name in whole.namelist():
                other.writestr(name, whole.read(name).replace(before, after))
        for words in (("predict", fitted / "t.csv"), ("export",), ("report",)):
            told = refused(capsys, words[0], altered, *words[1:], *out)
            assert f"clearning: {altered} " in told


def test_no_input_is_written_over(tmp_path, fitted, capsys):
    table, model = tmp_path / "t.csv", tmp_path / "m.csv"
    table.write_bytes((fitted / "t.csv").read_bytes())
    model.write_bytes((fitted / "model.skops").read_bytes())
    (tmp_path / "link.csv").symlink_to(table)
    before = table.read_bytes(), model.read_bytes()
    for command in ("predict", "explain", "report"):
        for out in (table, model, tmp_path / "link.csv"):
            told = refused(capsys, command, model, table, "-o", out)
            assert f"{out} is read by this command: write to another file." in told
    assert "is read by" in refused(capsys, "export", model, "-o", model)
    assert before == (table.read_bytes(), model.read_bytes())


def in_a_shell(script, *words):
    """Run `clearning` with the words where the script says `$@`."""
    command = ["bash", "-c", script, "clearning", sys.executable, "-m", "clearning", *words]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def test_a_reader_who_has_gone_ends_the_printing_not_the_work(tmp_path):
    path = write_csv(tmp_path / "t.csv", two_classes())
    for k, script in enumerate(
        ['"$@" >&-', '"$@" 2>&-', '"$@" | true; exit ${PIPESTATUS[0]}', '"$@" --json >&-']
    ):
        out = tmp_path / str(k)
        done = in_a_shell(script, "fit", path, "--target", "y", "--no-kernel", "-o", out)
        assert (done.returncode, done.stderr) == (0, "")
        assert {one.name for one in out.iterdir()} == OUTPUTS
    if os.path.exists("/dev/full"):
        words = ("fit", path, "--target", "y", "--no-kernel", "-o", tmp_path / "full", "--json")
        done = in_a_shell('"$@" >/dev/full', *words)
        assert done.returncode == 1
        assert done.stderr.startswith("clearning: Standard output cannot be written: No space")
        assert done.stderr.count("\n") == 1
        assert {one.name for one in (tmp_path / "full").iterdir()} == OUTPUTS


def test_more_than_two_classes_are_the_estimators_affair(tmp_path, capsys):
    columns = {**two_classes(90), "y": ["a", "b", "c"] * 30}
    path = write_csv(tmp_path / "t.csv", columns)
    if run("fit", path, "--target", "y", "-o", tmp_path / "out", "--no-kernel") == 0:
        assert len(load_model(tmp_path / "out" / "model.skops").classes) == 3
    else:
        assert capsys.readouterr().err.count("\n") == 1


def test_wrong_use_ends_with_two(capsys):
    for words in (
        ("fit", "t.csv"),
        ("fit", "t.csv", "--target", "y", "--as", "x=colour"),
        ("fly",),
    ):
        with pytest.raises(SystemExit) as ended:
            run(*words)
        assert ended.value.code == 2


def test_a_model_of_another_version_is_told(fitted, tmp_path, capsys, monkeypatch):
    from clearning.tables import model as module

    table = passengers(30)
    table.write_csv(tmp_path / "t.csv")
    monkeypatch.setattr(module, "__version__", "9.9.9")
    words = (fitted / "model.skops", tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    assert run("predict", *words) == 0
    error = capsys.readouterr().err
    assert "made by clearning" in error
    assert "read by 9.9.9" in error
    monkeypatch.setattr(module, "FORMAT", 0)
    assert "newer clearning" in refused(capsys, "predict", *words)


def test_help_is_light():
    code = (
        "import sys\nfrom clearning.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'polars', 'pyarrow', 'matplotlib', 'skops'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for command in ("fit", "predict", "explain", "report", "export", "demo", "reproduce"):
        assert command in done.stdout


def test_python_runs_the_package():
    done = subprocess.run(
        [sys.executable, "-m", "clearning", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("0.")


@pytest.mark.parametrize("moment", [0.3, 1.2, 2.0])
def test_killed_in_the_middle_it_leaves_nothing_half_written(tmp_path, moment):
    path = write_csv(tmp_path / "t.csv", two_classes(3000))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "clearning", "fit", str(path), "--target", "y", "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = set(os.listdir(out)) if out.exists() else set()
    assert not left & OUTPUTS or left >= OUTPUTS
