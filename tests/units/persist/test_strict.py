"""JSON that leaves no doubt, of a size that is known beforehand."""

import pytest

from argmax.errors import Unsupported
from argmax.persist.strict import parsed, written

VALUES = [
    None,
    True,
    0,
    -3,
    2**64 - 1,
    1.5,
    1e-300,
    "",
    'é"\\\n😀',
    [],
    {},
    [1, [2, {"a": [3.0]}]],
    {"": None},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_written_is_read_back(value):
    text = written(value)
    assert text.isascii()
    assert parsed(text) == value
    assert type(parsed(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1,]", "{'a': 1}", "NaN", "Infinity", "[-Infinity]", "1e999", "01", '"\t"', '"a',
        '{"a": 1, "a": 1}', '{"x": {"a": 1, "b": 2, "a": 3}}', '"\\ud800"', '{"\\udc00": 1}',
        "[" * 40 + "]" * 40, "[" * 10**6, '"' + '\\"' * 10**6, '"\\', "1" * 5000, "18446744073709551616",
        "[0" + ",0" * 200_000 + "]",
        "[" + "[]," * 200_000 + "0]",
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_anything_else_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"."):
        parsed(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [0] * 200_000])
def test_what_could_not_be_read_back_is_not_written(value):
    with pytest.raises(Unsupported, match="do not fit into a model file"):
        written(value)


def test_the_number_of_tokens_can_be_raised():
    many = [0] * 200_000
    assert parsed(written(many, 2**20), 2**20) == many
