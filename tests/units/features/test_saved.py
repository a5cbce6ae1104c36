"""A table as options and tensors: comes back whole, or is refused."""

import contextlib
import copy
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import InvalidInput
from argmax.features import Table
from argmax.records import Batch, Csr

ROWS = {
    "size": [1.0, None, 3.0, 5.0],
    "plain": [0.1, 0.2, 0.4, 0.3],
    "city": ["Oslo", None, "Rome", "Oslo"],
    "kind": ["b", "a", "b", "a"],
    "note": ["so so", "good ähm", "bad", None],
    "id": ["u1", "u2", "u3", "u4"],
}
KINDS = {"note": "text", "id": "ignore"}

TABLES = {
    "plain": Table(KINDS, min_count=1),
    "hashed": Table(KINDS, hash_bits=4, signed=True, min_count=1),
    "examples": Table(KINDS, hash_bits=4, examples=2, weight="counts", min_count=1),
    "other": Table(
        KINDS, standardise=False, weight="binary", min_count=1, dtype="float32", ngrams=(1, 2)
    ),
}


@pytest.fixture(params=TABLES, scope="module")
def table(request):
    return TABLES[request.param].fit(ROWS)


def saved(table):
    return json.loads(json.dumps(table.options())), table.tensors()


def test_it_comes_back_whole(table):
    again = Table.rebuild(*saved(table))
    for name in ("kinds_", "missing_", "collisions_", "n_features_in_"):
        assert getattr(again, name) == getattr(table, name)
    assert list(again.feature_names_in_) == list(table.feature_names_in_)
    assert list(again.get_feature_names_out()) == list(table.get_feature_names_out())
    X, Y = table.transform(ROWS), again.transform(ROWS)
    np.testing.assert_array_equal(X.toarray(), Y.toarray())
    assert X.dtype == Y.dtype
    assert again.get_params() | {"kinds": None} == table.get_params() | {"kinds": None}
    assert json.dumps(again.options()) == json.dumps(table.options())


def test_tensors_are_plain_arrays(table):
    for array in table.tensors().values():
        assert array.ndim == 1
        assert array.dtype in (np.uint8, np.int64, np.float64)


def test_a_table_without_names_and_one_of_sparse_numbers():
    numbers = Table().fit(np.arange(12.0).reshape(6, 2))
    again = Table.rebuild(*saved(numbers))
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.transform([[1, 2]]), numbers.transform([[1, 2]]))
    rows = Csr(np.array([0, 1, 3]), np.array([2, 0, 1]), None, 3)
    wide = Table().fit(Batch({"features": rows}))
    assert Table.rebuild(*saved(wide)).transform(Batch({"features": rows})).shape == (2, 3)


def test_a_hashed_table_holds_no_token():
    options, tensors = saved(TABLES["hashed"].fit(ROWS))
    held = json.dumps(options) + "".join(
        array.tobytes().decode("latin-1") for array in tensors.values()
    )
    assert not any(word in held for word in ("good", "bad", "so so"))
    assert "text.0.factors" in tensors


def test_pruned_tokens_are_not_held():
    _, tensors = saved(Table(min_count=2).fit(["secret common", "common"]))
    assert tensors["text.0.data"].tobytes() == b"common"


def broken(options, tensors):
    """Every way to spoil one thing, as (what, options, tensors)."""
    for name, array in tensors.items():
        yield f"no {name}", options, {k: v for k, v in tensors.items() if k != name}
        yield f"{name} shorter", options, tensors | {name: array[:-1]}
        yield f"{name} of floats", options, tensors | {name: array.astype(np.float32)}
        yield f"{name} in 2-D", options, tensors | {name: array[None]}
        yield f"{name} a list", options, tensors | {name: array.tolist()}
        spoilt = array.copy()
        if array.dtype == np.float64 and len(array):
            spoilt[0] = np.nan
            yield f"{name} NaN", options, tensors | {name: spoilt}
        if name.endswith("offsets") and len(array) > 2:
            for value in (-1, 10**12):
                spoilt = array.copy()
                spoilt[1] = value
                yield f"{name} {value}", options, tensors | {name: spoilt}
        if name.endswith("data") and len(array) and "slots" not in str(tensors.keys()):
            spoilt = array.copy()
            spoilt[0] = 255
            yield f"{name} not UTF-8", options, tensors | {name: spoilt}
    yield "an extra tensor", options, tensors | {"more": np.zeros(1)}
    for name in options:
        yield f"no option {name}", {k: v for k, v in options.items() if k != name}, tensors
        for value in (None, 7, "x", [1], {"a": 1}):
            if name == "named" or value == options[name]:
                continue
            yield f"option {name} = {value}", options | {name: value}, tensors
    for name, value in options["parameters"].items():
        spoilt = copy.deepcopy(options)
        del spoilt["parameters"][name]
        yield f"no parameter {name}", spoilt, tensors
        spoilt = copy.deepcopy(options)
        spoilt["parameters"][name] = {"no": 1.5} if name != "kinds" or value is None else 3
        yield f"parameter {name}", spoilt, tensors


def test_what_is_spoilt_is_refused(table):
    options, tensors = saved(table)
    count = 0
    for what, wrong, arrays in broken(options, tensors):
        with pytest.raises(InvalidInput, match="saved table"):
            pytest.fail(f"{what} was accepted: {Table.rebuild(wrong, arrays)}")
        count += 1
    assert count > 50


@pytest.mark.parametrize(
    ("offsets", "data"),
    [
        ([0, 1, 2], "é"),
        ([0, 1, 2], "ba"),
        ([0, 1, 2], "aa"),
        ([1, 2], "ab"),
        ([0, 1], "ab"),
        ([], ""),
    ],
)
def test_strings_are_cut_at_characters_and_sorted(offsets, data):
    options, tensors = saved(Table(min_count=1, weight="counts").fit(["aa bb"]))
    tensors["text.0.data"] = np.frombuffer(data.encode(), np.uint8)
    tensors["text.0.offsets"] = np.array(offsets, np.int64)
    with pytest.raises(InvalidInput, match=r"text\.0"):
        Table.rebuild(options, tensors)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(data=st.data())
def test_nothing_but_invalid_input_comes_out(data):
    options, tensors = saved(TABLES["examples"].fit(ROWS))
    place = data.draw(st.sampled_from([options, options["parameters"], options["columns"][0]]))
    place[data.draw(st.sampled_from([*place, "new"]))] = data.draw(json_values)
    with contextlib.suppress(InvalidInput):
        Table.rebuild(options, tensors).transform(ROWS)


def test_claims_cost_no_memory():
    options, tensors = saved(Table(KINDS, hash_bits=20, weight="counts", min_count=1).fit(ROWS))
    options["parameters"]["hash_bits"] = 30
    options["columns"][0]["missing"] = 2**60
    tracemalloc.start()
    try:
        Table.rebuild(options, tensors)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_rebuilding_is_linear_in_the_strings():
    many = [f"{i:05} {i + 1:05}" for i in range(20000)]
    table = Table(min_count=1).fit(many)
    options, tensors = saved(table)
    size = sum(array.nbytes for array in tensors.values())
    tracemalloc.start()
    try:
        again = Table.rebuild(options, tensors)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * size
    assert again.transform(many[:2]).nnz == 4
