"""The rule that says what a column is."""

import numpy as np
import pytest

from argmax.features import infer_kind, is_number


def kind(values, name="", rows=None):
    return infer_kind(values, rows=len(values) if rows is None else rows, name=name)


SENTENCES = [f"the parcel number {i} has not come and I want to know why" for i in range(40)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "2", "1"], "number"),
        (["1.5", "", " ", None, "-2e3"], "number"),
        (["1", "nan", "3"], "number"),
        (["0", "1"] * 50, "number"),
        (["1", "2", "three"], "category"),
        (["1,5", "2,5", "1,5", "2,5"], "category"),
        (["yes", "no"] * 30, "category"),
        (["New York", "Los Angeles"] * 30, "category"),
        (["yes", None, None], "category"),
        ([f"c{i % 15}" for i in range(40)], "category"),
        (["Rome", "Oslo", "Bonn"], "category"),
        (SENTENCES, "text"),
        (SENTENCES * 3, "category"),  # forty templates, thrice each
        ([f"{s} {i}" for i, s in enumerate(SENTENCES * 3)], "text"),
        (["我想知道我的包裹在哪里", "请帮我重置密码谢谢"], "text"),
        ([f"A{i:03}" for i in range(40)], "id"),
        ([f"A{i:03}" for i in range(19)], "category"),
        ([], "ignore"),
        ([None, None], "ignore"),
        (["same", "same"], "ignore"),
        (["7", "7"], "ignore"),
        (["alone"], "category"),
        (["7"], "number"),
    ],
)
def test_strings(values, expected):
    assert kind(values) == expected
    assert kind(np.array(values, dtype=object)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(100), "id"),
        (np.arange(19), "number"),
        (np.arange(5000, 0, -1), "number"),
        (np.cumsum(np.arange(1, 101) % 19 + 1), "id"),
        (np.cumsum(np.full(100, 60)), "number"),  # a clock, not a counter
        (np.arange(100) / 2, "number"),
        (np.array([1.0, np.nan, 2.0]), "number"),
        (np.array([3.0, np.nan]), "number"),
        (np.array([3.0, 3.0]), "ignore"),
        (np.array([np.nan]), "ignore"),
        (np.array([True, False]), "number"),
    ],
)
def test_numbers(values, expected):
    assert kind(values) == expected


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "userId", "row.id", "uuid"])
def test_a_column_named_id_is_no_quantity(name):
    shuffled = np.random.default_rng(0).permutation(1000)
    assert kind(shuffled, name) == "id"
    assert kind(np.arange(1000) % 7, name) == "category"
    assert kind(shuffled / 3, name) == "number"


@pytest.mark.parametrize("name", ["paid", "grid", "valid", "humidity"])
def test_other_names_end_in_id_too(name):
    assert kind(np.random.default_rng(0).permutation(1000), name) == "number"


def test_rows_that_were_left_out_are_missing():
    assert kind(["a", "a"], rows=2) == "ignore"
    assert kind(["a", "a"], rows=5) == "category"


@pytest.mark.parametrize(
    "value", ["1", "-1.", ".5", "1E-5", " 3 ", "+7", "inf", "-Infinity", "NaN"]
)
def test_numbers_are_read(value):
    assert is_number(value)
    float(value)


@pytest.mark.parametrize(
    "value", ["", " ", "1_000", "0x1", "1,5", "1e", "e5", ".", "--1", "١٢", "1 2"]
)
def test_other_strings_are_no_numbers(value):
    assert not is_number(value)
