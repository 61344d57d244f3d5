"""Columns are told apart, every decision can be overruled, and what is odd is told."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tables_help import passengers

from clearning.tables import TableError
from clearning.tables.kinds import Column, asked_for, decide, decide_all
from clearning.tables.problems import leaks
from clearning.tables.schema import Source, decide_columns, odd_cells, prepare, read_target
from clearning.tables.values import all_numbers, numbers
from clearning.tables.values import strings as words


def kind_of(values, name="c"):
    return decide(name, pl.Series(values), lambda index: index + 2)


def strings(values):
    return [str(value) for value in values]


def test_a_table_with_everything():
    text = passengers().with_columns(pl.col("*").cast(pl.String))
    found = {name: column.kind for name, column in decide_all(text, lambda i: i + 2).items()}
    assert found == {
        "passenger_id": "ignore",
        "name": "ignore",
        "age": "number",
        "sex": "category",
        "port": "category",
        "fare": "number",
        "booked": "date",
        "note": "text",
        "ship": "ignore",
        "survived": "category",
    }


@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        (strings(np.linspace(0, 1, 30)), "number", "numbers"),
        ([f"{i},5" for i in range(30)], "number", "written as 1.000,5"),
        ([f"{i},500" for i in range(30)], "number", "written as 1,000.5"),
        (strings(range(1, 31)), "ignore", "counts the rows"),
        (["1"] * 30, "ignore", "every value is '1'"),
        ([None] * 30, "ignore", "missing"),
        ([f"2024-01-{1 + i % 28:02d}" for i in range(30)], "date", "%Y-%m-%d"),
        ([f"{1 + i % 28:02d}.12.2023" for i in range(30)], "date", "%d.%m.%Y"),
        ([f"{1 + i % 12:02d}/{13 + i % 10}/2023" for i in range(30)], "date", "%m/%d/%Y"),
        ([f"2024-01-05T10:{i:02d}:30Z" for i in range(30)], "date", "%Y-%m-%dT%H:%M:%S"),
        (["red", "green", "blue"] * 10, "category", "3 categories"),
        ([f"u{i}@example.org" for i in range(30)], "ignore", "identifier"),
        ([f"the {i} quick brown foxes jump" for i in range(30)], "text", "free text"),
        ([[1, 2]] * 30, "ignore", "not learnt from"),
    ],
)
def test_kinds(values, kind, why):
    column = kind_of(values)
    assert column.kind == kind
    assert why in column.why


def test_whole_numbers_that_are_called_identifiers_are():
    values = strings(np.arange(30) * 17 % 1009)
    assert kind_of(values, "customer_id").kind == kind_of(values, "userID").kind == "ignore"
    assert kind_of(values, "amount").kind == kind_of(values, "paid").kind == "number"


def test_a_few_odd_cells_count_as_missing_and_are_told():
    values = strings(np.linspace(0, 1, 40))
    values[7] = "n.a."
    column = kind_of(values)
    assert column.kind == "number"
    assert "1 cell is no number" in column.odd
    assert "row 9: 'n.a.'" in column.odd
    assert column.values(pl.Series(values)).is_nan().sum() == 1
    values[:10] = ["words"] * 10
    assert kind_of(values).kind == "category"


def test_ways_to_write_numbers():
    assert numbers(pl.Series(["1,234", "12.5", "x"]), "1,000.5").to_list() == [1234.0, 12.5, None]
    assert numbers(pl.Series(["1.234,5", "7", "1.2.3"]), "1.000,5").to_list() == [1234.5, 7.0, None]


def test_codes_are_the_same_words_however_they_are_stored():
    for values in ([1, 2, None], [1.0, 2.0, None], ["1", " 2 ", None]):
        assert words(pl.Series(values)).to_list() == ["1", "2", None]
    assert words(pl.Series([1.5, 2.0])).to_list() == ["1.5", "2.0"]


def test_all_at_once_is_one_by_one():
    text = passengers().with_columns(pl.col("*").cast(pl.String))
    together = all_numbers(text)
    for name in text.columns:
        assert together[name].equals(numbers(text[name]), null_equal=True)


def test_names_that_polars_reads_as_patterns():
    frame = pl.DataFrame({"*": ["1", "2"] * 15, "^.*$": ["3", "5"] * 15, "a": ["x", "y"] * 15})
    found = decide_all(frame, lambda i: i)
    assert {name: column.kind for name, column in found.items()} == {
        "*": "number",
        "^.*$": "number",
        "a": "category",
    }
    prepared = prepare(Source(frame, Path("t.csv")), list(found.values()))
    assert prepared["^.*$"].to_list()[:2] == [3.0, 5.0]


def test_overruling():
    series = pl.Series("c", ["1", "2", "3", "x"])
    with pytest.raises(TableError, match=r"t.csv, row 5, column 'c': 'x' is not a number"):
        asked_for("c", series, "number", "t.csv", lambda i: i + 2)
    with pytest.raises(TableError, match=r"row 2, column 'c': '1' is not a date such as"):
        asked_for("c", series, "date", "t.csv", lambda i: i + 2)
    assert asked_for("c", series, "category", "t.csv", lambda i: i + 2).values(
        series
    ).to_list() == [
        "1",
        "2",
        "3",
        "x",
    ]


def test_a_date_that_does_not_parse_is_named():
    dates = [f"2024-01-{1 + i:02d}" for i in range(25)]
    dates[3] = "2024-02-31"
    with pytest.raises(TableError, match="row 5, column 'd': '2024-02-31' is not a date"):
        asked_for("d", pl.Series(dates), "date", "t.csv", lambda i: i + 2)
    assert "row 5: '2024-02-31'" in kind_of(dates, "d").odd


def target_of(values, fewest=4):
    source = Source(pl.DataFrame({"y": values}), Path("t.csv"))
    return read_target(source, "y", fewest)


def test_targets():
    assert target_of(["1", "0", "1.0", None] * 4).labels.tolist() == [1, 0, 1] * 4
    assert target_of(["yes", " no", "yes"] * 4).labels.tolist() == ["yes", "no", "yes"] * 4
    assert target_of([True, False] * 4).counts == {"false": 4, "true": 4}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([None, None], "every value is missing"),
        (["a"] * 9, "one value, 'a'"),
        (["a"] * 9 + [None] * 3, "one value, 'a': .* 3 rows have no target"),
        (strings(np.linspace(0, 1, 500)), "an amount rather than a class"),
        ([f"w{i}" for i in range(500)], "few classes"),
        (
            strings(np.linspace(0, 1, 30)),
            "30 different numbers in 30 rows, an amount",
        ),
        ([f"w{i}" for i in range(30)], "30 different values in 30 rows, names or text"),
        (["a"] * 9 + [None], "one value, 'a': .* 1 row has no target"),
        (["a"] * 9 + ["b"], "the class 'b' in 1 row only"),
    ],
)
def test_bad_targets(values, told):
    with pytest.raises(TableError, match=told) as caught:
        target_of(values)
    assert str(caught.value).startswith("t.csv, column 'y'")


def test_a_missing_target_is_told_with_the_nearest_name():
    source = Source(pl.DataFrame({"target": ["a"], "x": ["1"]}), Path("t.csv"))
    with pytest.raises(TableError, match=r"no column 'Target' .* did you mean 'target'\?"):
        read_target(source, "Target", 1)


def test_new_data_without_a_column_or_of_another_kind():
    columns = decide_columns(
        Source(pl.DataFrame({"a": strings(np.linspace(0, 1, 30))}), Path("t.csv")), {}, {}
    )
    with pytest.raises(TableError, match=r"new.csv lacks the column 'a', which the model needs"):
        prepare(Source(pl.DataFrame({"b": ["1"]}), Path("new.csv")), columns)
    odd = Source(pl.DataFrame({"a": ["1", "2", "x"]}), Path("new.csv"))
    assert prepare(odd, columns)["a"].is_nan().to_list() == [False, False, True]
    assert odd_cells(odd, columns) == [
        "new.csv, row 4, column 'a': 'x' is no number and counts as missing."
    ]
    with pytest.raises(TableError, match="row 2, column 'a': 'x' is no number, and most"):
        prepare(Source(pl.DataFrame({"a": ["x", "y", "3"]}), Path("new.csv")), columns)


def test_nothing_to_learn_from():
    source = Source(pl.DataFrame({"y": ["a", "b"], "c": ["1", "1"]}), Path("t.csv"))
    with pytest.raises(TableError, match="no column left to learn from"):
        decide_columns(source, {"target": "y"}, {})


def test_leaks_are_found_and_only_leaks():
    labels = np.array(["a", "b", "c"] * 10)
    codes = {"a": 2.0, "b": 0.5, "c": 9.0}
    frame = pl.DataFrame(
        {
            "leak": [codes[label] + 0.01 * i for i, label in enumerate(labels)],
            "noise": np.random.default_rng(0).normal(size=30),
            "word": [label.upper() for label in labels],
            "half": ["x" if label == "a" else "y" for label in labels],
        }
    )
    columns = [decide(name, frame[name], lambda i: i) for name in ("leak", "noise", "word", "half")]
    assert leaks(frame, columns, labels) == ["leak", "word"]


def test_leaks_by_gaps_and_by_two_cuts():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(["a", "b"], [700, 60]))
    rare, noise, sign = labels == "b", rng.random(760), rng.choice([-1, 1], 760)
    words = np.array([f"the {i} quick brown foxes jump" for i in range(760)])
    frame = pl.DataFrame(
        {
            "gap": np.where(rare, np.nan, noise),
            "mark": np.where(rare, "", words),
            "outside": np.where(rare, sign * (4 + noise), noise),
            "outside or gap": np.where(rare & (noise < 0.5), np.nan, np.where(rare, 5, noise)),
            "some gaps": np.where(noise < 0.1, np.nan, noise),
            "some marks": np.where(noise < 0.1, "", words),
            "touching": np.where(rare, sign, np.round(noise)),
            "stripes": np.where(rare, 2, 0) + rng.integers(0, 3, 760) * 4,
        }
    )
    columns = [decide(name, frame[name], lambda i: i) for name in frame.columns]
    assert leaks(frame, columns, labels) == ["gap", "mark", "outside", "outside or gap"]
    few = np.r_[0:30]
    assert leaks(frame[few].select("outside"), [columns[2]], labels[few]) == []


def test_leaks_by_numbers_that_are_sometimes_missing():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(["a", "b"], 200))
    code = np.where(labels == "b", 5.0, 1.0) + rng.random(400)
    some, few = rng.random(400) < 0.3, np.arange(400) >= 10
    frame = pl.DataFrame(
        {
            "some gaps": np.where(some, np.nan, code),
            "few values": np.where(few, np.nan, code),
            "one class": np.where(some | (labels == "b"), np.nan, code),
        }
    )
    columns = [Column(name, "number", "numbers") for name in frame.columns]
    assert leaks(frame, columns, labels) == ["some gaps"]


def test_leaks_by_a_word():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(["a", "b", "c"], 100))
    words = np.array(["ship", "deck", "boat", "night", "cold", "calm", "band", "crew"])
    notes = [[*rng.choice(words, 5), f"w{i}"] for i in range(300)]
    own = {"a": "Approved!", "b": "denied", "c": ""}
    last = f"w{np.flatnonzero(labels == 'a')[-1]}"
    two = {"a": "sent", "b": "sent", "c": "kept"}
    frame = pl.DataFrame(
        {
            "leak": [" ".join([*note, own[c]]) for note, c in zip(notes, labels)],
            "half": [" ".join([*note, two[c]]) for note, c in zip(notes, labels)],
            "most": [
                " ".join([*n, "" if n[-1] == last else own[c]]) for n, c in zip(notes, labels)
            ],
            "none": [" ".join(note) for note in notes],
        }
    )
    columns = [decide(name, frame[name], lambda i: i) for name in frame.columns]
    assert {column.kind for column in columns} == {"text"}
    assert leaks(frame, columns, labels) == ["leak"]
    assert leaks(frame, columns, np.where(labels == "c", "c", "ab")) == ["half"]


def test_looking_for_a_word_that_leaks_is_cheap(monkeypatch):
    """Rows are read until no word is left, not all of them."""
    from clearning.tables import problems

    read = []
    words_of = problems.words_of

    def counted():
        words = words_of()
        return lambda cell: read.append(cell) or words(cell)

    monkeypatch.setattr(problems, "words_of", counted)
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 5000)
    common = [f"report on case {i} of {rng.integers(9)}, all well" for i in range(10_000)]
    frame = pl.DataFrame({"note": common})
    assert leaks(frame, [Column("note", "text", "free text")], labels) == []
    assert len(read) < 200


def test_no_end_to_a_number_is_told_however_it_is_stored():
    for values in ([0.5, float("nan"), float("inf"), *range(40)], [*"12345", "inf", *"6789" * 10]):
        odd = kind_of(values).odd
        assert odd.startswith("1 cell is no number and counts as missing, the first in row ")
        assert odd.endswith("'inf'")
    assert kind_of([0.5, float("nan"), *range(40)]).odd is None
