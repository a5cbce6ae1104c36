"""The language of templates: what it says, and what it says about mistakes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.errors import InvalidInput, WrongType
from argmax.features.templates.forms import Forms
from argmax.features.templates.functions import FUNCTIONS, Step
from argmax.features.templates.language import CONSTANTS, Place, Source, Template, parse, parse_all
from argmax.features.templates.windows import Plan
from argmax.records import Strings

steps = st.lists(
    st.sampled_from(sorted(FUNCTIONS)).flatmap(
        lambda name: st.builds(
            Step, st.just(name), st.integers(1, 9) if FUNCTIONS[name].sized else st.just(0)
        )
    ),
    max_size=3,
)
columns = st.builds(
    lambda name, steps, offset: Place(Source(name, tuple(steps)), offset),
    st.sampled_from(["word", "pos", "edge", "both", "bias", "été", "x_1"]),
    steps,
    st.integers(-100, 100),
)
constants = st.sampled_from(CONSTANTS).map(lambda name: Place(Source(None, constant=name)))
templates = st.builds(
    lambda places, uses: Template(tuple(places), *uses),
    st.lists(columns | constants, min_size=1, max_size=4, unique=True),
    st.sampled_from([(True, False), (False, True), (True, True)]),
)


@given(templates)
def test_a_template_is_what_it_is_written_as(template):
    assert parse(str(template)) == template
    loose = str(template).replace("|", " | ").replace(",", " , ").replace("[", " [ ")
    assert parse(f"  {loose}  ") == template


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("word", 5, "expected '[' and a distance after 'word', as in word[0]"),
        ("word[", 6, "expected a whole number"),
        ("word[one]", 6, "expected a whole number"),
        ("word[0", 7, "expected ']' after the distance, found the end"),
        ("word[0,1]", 7, "expected ']' after the distance, found ','"),
        ("word[101]", 6, "at most 100 tokens"),
        ("word[0]word[1]", 8, "expected '|' or the end, found 'word'"),
        ("word[0]|", 9, "found the end"),
        ("|word[0]", 1, "found '|'"),
        ("", 1, "expected a column (word[0]) or a function (lower(word[0])), found the end"),
        ("%x[0,0]", 1, "'%' has no meaning here"),
        ("word[0] & pos[0]", 9, "'&' has no meaning here"),
        ("loewr(word[0])", 1, "Did you mean 'lower'?"),
        ("zzz(word[0])", 1, "There are lower, prefix"),
        ("suffix(word[0])", 15, "expected ',' after the first argument of suffix"),
        ("suffix(word[0],)", 16, "between 1 and 100"),
        ("suffix(word[0],0)", 16, "between 1 and 100"),
        ("suffix(word[0],3", 17, "expected ')' after the number"),
        ("lower(word[0],3)", 14, "expected ')' after the argument"),
        ("lower(bias)", 11, "lower needs a column inside, not 'bias'"),
        ("word[0]|word[0]", 16, "there twice"),
        ("edge:", 6, "found the end"),
        ("node: word[0]", 5, "expected '['"),
    ],
)
def test_a_mistake_is_shown_where_it_is(text, at, says):
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"template {text!r}, character {at}: ")
    assert says in message


def test_what_is_no_template_at_all():
    with pytest.raises(WrongType, match="must be a string"):
        parse(7)
    with pytest.raises(WrongType, match="list of strings"):
        parse_all(7)
    with pytest.raises(InvalidInput, match="is empty"):
        parse_all([])
    with pytest.raises(InvalidInput, match="names 'word\\[0\\]' twice"):
        parse_all(["word[0]", "both: word[0]"])
    with pytest.raises(InvalidInput, match="transitions only"):
        parse_all(["edge: word[0]"])
    with pytest.raises(InvalidInput, match="at most 1000 characters"):
        parse("lower(" * 300 + "word[0]" + ")" * 300)
    assert parse_all(["word[0]", "edge: word[0]"])


def test_a_text_has_a_template_a_line_and_comments():
    text = "\n# words\nword[0]\n\n  word[1]  \n"
    assert parse_all(text) == parse_all(["word[0]", "word[1]"])


def test_windows_are_shared():
    plan = Plan.of(parse_all([f"pos[{o}]|pos[{o + 1}]" for o in range(-2, 2)]), marks=True)
    assert len(plan.windows) == 1
    assert (plan.windows[0].low, plan.windows[0].extra) == (-2, 3)
    assert (plan.left, plan.right) == (2, 2)
    assert Plan.of(plan.templates, marks=False).marks == 0


# Functions


@pytest.mark.parametrize(
    ("step", "given", "expected"),
    [
        (Step("lower"), "ÉTÉ", "été"),
        (Step("prefix", 2), "été", "ét"),
        (Step("suffix", 2), "été", "té"),
        (Step("suffix", 9), "été", "été"),
        (Step("shape"), "F-16s ÉÉ中9.", "X-ddx XXxd."),
        (Step("short_shape"), "F-16sss  !", "X-dx !"),
        (Step("length"), "été", "3"),
        (Step("is_capitalised"), "Élan", "yes"),
        (Step("is_capitalised"), "élan", "no"),
        (Step("is_capitalised"), "", "no"),
        (Step("is_upper"), "U.S.1", "yes"),
        (Step("is_upper"), "12", "no"),
        (Step("is_number"), "-1,234.5", "yes"),
        (Step("is_number"), "1e5", "no"),
        (Step("is_punctuation"), "--", "yes"),
        (Step("is_punctuation"), "", "no"),
        (Step("has_digit"), "٣", "yes"),
        (Step("has_hyphen"), "a–b", "yes"),
    ],
)
def test_functions_do_what_they_say(step, given, expected):
    assert step.of(given) == expected


text = st.text(st.sampled_from("aZ09-., !_é中ßİ"), max_size=6) | st.text("abX1-", max_size=9)


@given(steps.filter(bool), st.lists(text, min_size=1, max_size=8))
def test_a_function_of_a_column_is_the_function_of_each_string(steps, texts):
    expected = texts
    for step in steps:
        expected = [step.of(value) for value in expected]
    many = Strings.of([*texts, *["filler"] * 100])  # so many that NumPy is used
    for strings in (Strings.of(texts), many, Strings.of(["in front", *many.tolist()])[1:]):
        forms, places = Forms.of(strings)
        found = forms.strings(tuple(steps)).tolist()
        assert [found[i if places is None else places[i]] for i in range(len(texts))] == expected
        assert forms.strings(tuple(steps)).tolist() == found
