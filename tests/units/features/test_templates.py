"""Templates against the naive twin that works on strings, both ways through the code."""

import doctest
import json
import lzma
import pickle
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from argmax.errors import InvalidInput, Unsupported
from argmax.features import DEFAULT, Templates, Tokens, read_crfpp
from argmax.features.templates.functions import FUNCTIONS
from argmax.records import Strings
from tests import naive

SENTENCES = [
    ["The", "cat", "sat", "on", "the", "mat", "."],
    [],
    ["The", "1984", "U.S.", "election"],
    ["so"],
    ["The", "cat", "saw", "the", "cat", "."],
]


def decoded(names, rows):
    return [
        [names[a] for a in rows.indices[rows.indptr[r] : rows.indptr[r + 1]]]
        for r in range(len(rows))
    ]


# Against strings

words = st.sampled_from(["the", "The", "cat", "CAT", "a-1", "été", "", None])
sequences = st.lists(
    st.lists(st.fixed_dictionaries({"word": words, "pos": words}), max_size=5), max_size=5
)
place = st.tuples(
    st.lists(st.sampled_from(["lower", "shape", "suffix", "has_digit"]), max_size=2),
    st.sampled_from(["word", "pos"]),
    st.integers(-3, 3),
)
places = st.lists(place, min_size=1, max_size=3, unique_by=str)


def spelled(template):
    """The places of a template for the twin: with the functions and numbers."""
    return [
        ([(f, 2 * FUNCTIONS[f].sized, FUNCTIONS[f].of) for f in steps], column, offset)
        for steps, column, offset in template
    ]


def written(template):
    parts = []
    for steps, column, offset in spelled(template):
        text = f"{column}[{offset}]"
        for name, size, _ in steps:
            text = f"{name}({text},{size})" if size else f"{name}({text})"
        parts.append(text)
    return "|".join(parts)


def strings(templates, sequence, outside):
    """For each token, the attributes that the templates make."""
    found = [
        [naive.attribute(spelled(t), sequence, at, outside) for t in templates]
        for at in range(len(sequence))
    ]
    return [[name for name in row if name is not None] for row in found]


@pytest.mark.parametrize("outside", ["mark", "skip"])
@settings(max_examples=40)
@given(
    templates=st.lists(places, min_size=1, max_size=4, unique_by=written),
    learned=sequences.filter(lambda s: sum(map(len, s))),
    new=sequences,
    least=st.integers(1, 3),
)
def test_attributes_are_those_of_the_twin(route, outside, templates, learned, new, least):
    model = Templates([written(t) for t in templates], outside=outside, min_count=least)
    columns, lengths = _columns(learned)
    rows = model.fit_transform(columns, lengths=lengths).rows
    expected = list(chain.from_iterable(strings(templates, s, outside) for s in learned))
    counts = {name: 0 for row in expected for name in row}
    for name in chain.from_iterable(expected):
        counts[name] += 1
    kept = {name for name, count in counts.items() if count >= least}
    assert set(model.names()) == kept
    assert len(model.names()) == model.width == len(kept)
    assert decoded(model.names(), rows) == [[n for n in row if n in kept] for row in expected]

    columns, lengths = _columns(new)
    found = model.transform(columns, lengths=lengths)
    expected = list(chain.from_iterable(strings(templates, s, outside) for s in new))
    assert found.offsets.tolist() == np.concatenate([[0], np.cumsum(lengths)]).tolist()
    assert decoded(model.names(), found.rows) == [[n for n in r if n in kept] for r in expected]
    missed = sum(name not in kept for name in chain.from_iterable(expected))
    assert sum(model.unknown_.values()) == missed


def _columns(sequences):
    flat = list(chain.from_iterable(sequences))
    columns = {name: Strings.of([token[name] for token in flat]) for name in ("word", "pos")}
    return columns, [len(s) for s in sequences]


@given(learned=sequences.filter(lambda s: sum(map(len, s))), new=sequences, bits=st.integers(1, 12))
def test_hashes_are_the_same_in_any_batch_and_both_ways(learned, new, bits):
    templates = ["word[0]", "word[-1]|pos[0]", "suffix(word[1],2)", "bias"]
    (columns, lengths), (others, sizes) = _columns(learned), _columns(new)
    answers = []
    for way in ("never", "always"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ARGMAX_COMPILED", way)
            model = Templates(templates, hash_bits=bits).fit(columns, lengths=lengths)
            answers.append(model.transform(others, lengths=sizes).rows)
            tokens = Tokens.of(others, lengths=sizes)
            apart = [model.transform(tokens[i : i + 1]).rows.indices for i in range(len(tokens))]
            answers.append(np.concatenate([np.zeros(0, int), *apart]))
            assert sum(model.unknown_.values()) == 0
    first, alone, second, again = answers
    assert np.array_equal(first.indices, second.indices)
    assert np.array_equal(first.indices, alone)
    assert np.array_equal(first.indices, again)
    assert np.array_equal(first.indptr, second.indptr)
    assert first.indices.max(initial=0) < 2**bits


def test_collisions_are_counted_and_examples_remembered(route):
    dictionary = Templates(["word[0]", "word[-1]|word[0]"]).fit(SENTENCES)
    hashed = Templates(["word[0]", "word[-1]|word[0]"], hash_bits=4, examples=2)
    rows = hashed.fit_transform(SENTENCES).rows
    pairs = set(zip(decoded_flat(dictionary, SENTENCES), rows.indices.tolist(), strict=True))
    slots = [slot for _, slot in pairs]
    found = hashed.collisions_
    assert (found.distinct, found.used, found.exact) == (dictionary.width, len(set(slots)), True)
    assert found.shared == sum(slots.count(slot) > 1 for slot in slots)
    for name, slot in pairs:
        shown = hashed.names()[slot]
        assert shown.startswith(f"#{slot} (")
        assert name in shown or shown.count("=") == 2
    assert dictionary.collisions_ is None
    assert Templates(["word[0]"], hash_bits=4).fit(SENTENCES).names()[3] == "#3"


def decoded_flat(model, sequences):
    names = model.names()
    return [names[a] for a in model.transform(sequences).rows.indices]


# CRF++

CHUNKING = [
    *(f"U0{o + 2}:%x[{o},0]" for o in range(-2, 3)),
    "U05:%x[-1,0]/%x[0,0]",
    "U06:%x[0,0]/%x[1,0]",
    *(f"U1{o + 2}:%x[{o},1]" for o in range(-2, 3)),
    *(f"U{15 + i}:%x[{o},1]/%x[{o + 1},1]" for i, o in enumerate(range(-2, 2))),
    *(f"U{20 + i}:%x[{o},1]/%x[{o + 1},1]/%x[{o + 2},1]" for i, o in enumerate(range(-2, 1))),
]


@pytest.fixture
def chunking(tmp_path):
    path = tmp_path / "template"
    path.write_text("# words\n" + "\n".join(CHUNKING) + "\n\n# transitions\nB\n")
    return read_crfpp(path, columns=["word", "pos"])


def conll2000(shared, sentences):
    with lzma.open(shared("sequence/conll2000-train.txt.xz"), "rt", encoding="utf-8") as file:
        blocks = file.read().strip().split("\n\n")[:sentences]
    return [[tuple(row.split(" ")[:2]) for row in block.split("\n") if row] for block in blocks]


def test_crfpp_attributes_correspond_one_to_one(shared, chunking, route):
    assert len(chunking) == 19
    data = conll2000(shared, 250)
    model = Templates(chunking, columns=["word", "pos"])
    rows = model.fit_transform(data).rows
    expected = [name for s in data for row in naive.crfpp_attributes(CHUNKING, s) for name in row]
    assert len(rows.indices) == len(expected) == 19 * len(rows)
    pairs = set(zip(rows.indices.tolist(), expected, strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) == model.width


def test_the_whole_of_conll2000_has_as_many_attributes_as_tuples_of_strings(shared, chunking):
    data = conll2000(shared, None)
    padded = [
        [(mark,) * 2 for mark in ("_B-2", "_B-1")] + s + [(mark,) * 2 for mark in ("_B+1", "_B+2")]
        for s in data
    ]
    flat = list(chain.from_iterable(padded))
    centres = [t for t, (word, _) in enumerate(flat) if not word.startswith("_B")]
    inside = everything = 0
    for line in CHUNKING:
        macros = [tuple(map(int, found)) for found in re.findall(r"\[(-?\d+),(\d+)\]", line)]
        seen = set(zip(*([flat[t + row][c] for t in centres] for row, c in macros), strict=True))
        everything += len(seen)
        inside += sum(not any(value.startswith("_B") for value in found) for found in seen)
    tokens = Tokens.of(data, columns=["word", "pos"])
    assert Templates(chunking).fit(tokens).width == everything
    # CRFsuite's chunking example has nothing outside a sequence, but marks its first and last token
    crfsuite = Templates([*chunking, "first", "last"], outside="skip").fit(tokens)
    assert crfsuite.width == inside + 2 == 335_674


@pytest.mark.parametrize(
    ("lines", "templates"),
    [
        ("U00:%x[0,0]\nU01:%x[ -1 , 2 ]", ["word[0]", "column2[-1]"]),
        ("U00:%x[0,0]\nB", ["word[0]"]),
        ("U00:%x[0,0]\nB01:%x[0,1]\n*02:%x[1,0]", ["word[0]", "edge: column1[0]", "both: word[1]"]),
        ("\ufeffU\nu1:%x[0,0]\r\n", ["bias", "word[0]"]),
    ],
)
def test_crfpp_files(tmp_path, lines, templates):
    (tmp_path / "template").write_text(lines, encoding="utf-8")
    assert read_crfpp(tmp_path / "template") == templates


@pytest.mark.parametrize(
    ("lines", "at", "says"),
    [
        ("U00:%x[0,0]\nX01:%x[0,0]", 2, "begin with U or B"),
        ("U00:%x[0]", 1, "must look like %x[-1,0]"),
        ("U00:%x[0,0]%m[0,0]", 1, "'%m[0,0]'"),
        ("U00:%x[0,0]\nU01:%x[0,7]", 2, "column 7 is asked for"),
        ("U:%x[0,0]\nU:%x[1,0]", 2, "line 1"),
        ("U0:%x[0,0]\n\nU1:%x[0,0]", 3, "the same as line 1"),
    ],
)
def test_crfpp_files_that_cannot_be_read(tmp_path, lines, at, says):
    (tmp_path / "template").write_text(lines)
    with pytest.raises(InvalidInput) as caught:
        read_crfpp(tmp_path / "template", columns=["word", "pos"])
    assert caught.value.line == at
    assert says in str(caught.value)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_crfpp(tmp_path / "nothing")


# Transitions


def test_edges_have_rows_of_their_own(route):
    model = Templates(["word[0]", "edge: lower(word[-1])|lower(word[0])", "both: shape(word[0])"])
    found = model.fit_transform(SENTENCES)
    rows = decoded(model.edge_names(), found.edge_rows)
    assert len(rows) == sum(max(len(s) - 1, 0) for s in SENTENCES)
    assert rows[0] == ["bias", "lower(word[-1])|lower(word[0])=the|cat", "shape(word[0])=xxx"]
    assert model.edge_width == len(model.edge_names()) == found.edge_rows.shape[1]
    assert "shape(word[0])=dddd" in list(model.names())
    for i in range(len(SENTENCES)):
        block, alone = found[i : i + 1], model.transform(SENTENCES[i : i + 1])
        assert decoded(model.names(), block.rows) == decoded(model.names(), alone.rows)
        assert decoded(model.edge_names(), block.edge_rows) == decoded(
            model.edge_names(), alone.edge_rows
        )
    assert model.unknown_["both: shape(word[0])"] == 0
    new = model.transform([["The", "dog"]])
    assert decoded(model.edge_names(), new.edge_rows) == [["bias", "shape(word[0])=xxx"]]
    plain = Templates(["word[0]"]).fit_transform(SENTENCES)
    assert plain.edge_rows is None


def test_edges_are_counted_without_the_first_token(route):
    model = Templates(["word[0]", "edge: word[0]"]).fit([["a", "b"], ["a"]])
    assert list(model.edge_names()) == ["bias", "word[0]=b"]


# Input


def test_all_forms_of_the_same_tokens_are_the_same(route):
    templates = ["word[-1]|pos[0]", "short_shape(word[0])", "pos[1]"]
    tagged = [[(word, word[:1].upper()) for word in s] for s in SENTENCES]
    expected = Templates(templates, columns=["word", "pos"]).fit_transform(tagged)
    dicts = [[{"pos": p, "word": w} for w, p in s] for s in tagged]
    flat = [token for s in tagged for token in s]
    columns = {"word": [w for w, _ in flat], "pos": np.array([p for _, p in flat])}
    lengths = [len(s) for s in tagged]
    forms = [
        (dicts, None),
        (Tokens.of(tagged, columns=["word", "pos"]), None),
        (Tokens.of([[], *tagged], columns=["word", "pos"])[1:], None),
        (columns, lengths),
        ((tuple(s) for s in dicts), None),
    ]
    for form, sizes in forms:
        model = Templates(templates)
        found = model.fit_transform(form, lengths=sizes)
        assert np.array_equal(found.rows.indices, expected.rows.indices)
        assert np.array_equal(found.rows.indptr, expected.rows.indptr)
        assert np.array_equal(found.offsets, expected.offsets)
        assert found.rows.indices.dtype == np.int32
        assert found.rows.values is None


def test_line_ends_inside_tokens_are_kept():
    model = Templates(["word[0]"]).fit([["a\nb", "", "c"]])
    assert list(model.names()) == ["word[0]=a\nb", "word[0]=", "word[0]=c"]


@pytest.mark.parametrize(
    ("sequences", "says"),
    [
        ("the cat", "list of lists of tokens"),
        (["the cat"], "sequences[0] must be a list of tokens"),
        ([["a"], None], "sequences[1]"),
        ([["a", 7]], "sequence 0, token 1: 7 is no string"),
        ([["a"], ["b", "\ud800"]], "sequence 1, token 1: a lone surrogate"),
        ([[("a", "b")]], "columns=['word', 'pos']"),
        ([], "no tokens to learn from"),
        ([[], []], "no tokens to learn from"),
        ([[{"pos": "a"}]], "no column 'word'; they have 'pos'"),
        ([[{"word": "a"}, {"pos": "a"}]], "sequence 0, token 1 must have the columns ['word']"),
        ({"word": ["a"]}, "needs lengths"),
    ],
)
def test_input_that_is_no_sequence_of_tokens(sequences, says):
    model = Templates(["word[0]"]).fit(SENTENCES)
    before = model.names()[:]
    with pytest.raises((InvalidInput, TypeError)) as caught:
        model.fit(sequences)
    assert says in str(caught.value)
    assert model.names()[:] == before


def test_columns_and_lengths_must_fit():
    with pytest.raises(InvalidInput, match="sequence 1, token 0 must have 2 strings"):
        Templates(columns=["word", "pos"]).fit([[("a", "b")], [("a",)]])
    with pytest.raises(InvalidInput, match="2 different names"):
        Templates(columns=["word"]).fit([[("a", "b")]])
    with pytest.raises(InvalidInput, match="3 rows but lengths add up to 2"):
        Templates().fit({"word": ["a", "b", "c"]}, lengths=[1, 1])
    with pytest.raises(InvalidInput, match="0 or more"):
        Templates().fit({"word": ["a"]}, lengths=[2, -1])
    with pytest.raises(InvalidInput, match="has its own"):
        Templates().fit([["a"]], lengths=[1])


# Vectors


def test_vectors_follow_the_attributes(route):
    vectors = np.arange(36.0).reshape(18, 2).astype(np.float32)
    tokens = {"word": [w for s in SENTENCES for w in s], "vectors": vectors, "size": np.ones(18)}
    lengths = [len(s) for s in SENTENCES]
    for outside in ("mark", "skip"):
        names = ["word[0]", "word[-2]"]
        model = Templates(names, outside=outside, dense=["vectors", "size"])
        rows = model.fit_transform(tokens, lengths=lengths).rows
        plain = Templates(names, outside=outside).fit_transform(SENTENCES).rows
        assert model.width == rows.width == plain.width + 3
        assert model.names()[-3:] == ["vectors[0]", "vectors[1]", "size[0]"]
        dense = _dense(rows)
        assert np.array_equal(dense[:, : plain.width], _dense(plain))
        assert np.array_equal(dense[:, -3:], np.c_[vectors, np.ones(18)])
    again = Templates.rebuild(model.options(), model.tensors())
    assert np.array_equal(_dense(again.transform(tokens, lengths=lengths).rows), dense)
    with pytest.raises(InvalidInput, match="vectors of 1 numbers; training had 2"):
        model.transform({**tokens, "vectors": vectors[:, :1]}, lengths=lengths)
    with pytest.raises(InvalidInput, match="dense names the column 'vectors'"):
        model.fit(SENTENCES)
    with pytest.raises(InvalidInput, match="NaN"):
        model.fit({**tokens, "vectors": vectors * np.nan}, lengths=lengths)


def _dense(rows):
    table = np.zeros(rows.shape)
    where = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    np.add.at(table, (where, rows.indices), 1.0 if rows.values is None else rows.values)
    return table


# Manners


def test_scikit_learn_manners():
    model = Templates(min_count=2)
    assert model.get_params()["min_count"] == 2
    assert clone(model).set_params(outside="skip").outside == "skip"
    with pytest.raises(NotFittedError):
        model.transform(SENTENCES)
    model.fit(SENTENCES)
    with pytest.raises(NotFittedError):
        clone(model).names()
    again = pickle.loads(pickle.dumps(model))
    assert again.names()[:] == model.names()[:]
    new = [["The", "dog"]]
    assert np.array_equal(again.transform(new).rows.indices, model.transform(new).rows.indices)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 6, "examples": 1}, {"outside": "skip"}])
def test_options_and_tensors_make_it_again(route, options):
    model = Templates([*DEFAULT, "both: word[0]|word[1]"], **options).fit(SENTENCES)
    saved = json.loads(json.dumps(model.options())), model.tensors()
    again = Templates.rebuild(*saved)
    assert again.names()[:] == model.names()[:]
    assert again.edge_names()[:] == model.edge_names()[:]
    assert again.get_params() == {
        **model.get_params(),
        "templates": [*DEFAULT, "both: word[0]|word[1]"],
    }
    new = [*SENTENCES, ["Dogs", "sat"]]
    one, other = model.transform(new), again.transform(new)
    assert np.array_equal(one.rows.indices, other.rows.indices)
    assert np.array_equal(one.edge_rows.indices, other.edge_rows.indices)
    assert again.collisions_ == model.collisions_


def test_what_was_tampered_with_is_refused():
    model = Templates(["word[0]", "word[0]|word[1]"]).fit(SENTENCES)
    options, tensors = model.options(), model.tensors()
    for name, array in tensors.items():
        wrong = np.full_like(array, 255) if array.dtype == np.uint8 else array + 1000
        changed = (array[:-1], wrong) if len(array) else ()
        for broken in (*changed, array.astype(float), array[None]):
            with pytest.raises(InvalidInput, match="not valid"):
                Templates.rebuild(options, {**tensors, name: broken})
        with pytest.raises(InvalidInput, match="not valid"):
            Templates.rebuild(options, {k: v for k, v in tensors.items() if k != name})
    repeated = tensors["tuples.1"].copy()
    repeated[2:4] = repeated[:2]
    with pytest.raises(InvalidInput, match="must differ"):
        Templates.rebuild(options, {**tensors, "tuples.1": repeated})
    for name, value in (("format", 2), ("vectors", {"v": -1}), ("parameters", {}), ("x", 1)):
        with pytest.raises(InvalidInput, match="not valid"):
            Templates.rebuild({**options, name: value}, tensors)
    for name, value in (("templates", ["word["]), ("outside", "x"), ("hash_bits", 99)):
        changed = {**options["parameters"], name: value}
        with pytest.raises(InvalidInput, match="not valid"):
            Templates.rebuild({**options, "parameters": changed}, tensors)
    with pytest.raises(InvalidInput, match="unknown tensors"):
        Templates.rebuild(options, {**tensors, "extra": np.zeros(1)})


def test_selected_attributes_and_nothing_else_are_kept(route):
    model = Templates(["word[0]", "word[0]|word[1]", "edge: word[0]"]).fit(SENTENCES)
    keep = np.array([name.startswith("word[0]|word[1]=The") for name in model.names()])
    fewer = model.select(keep, np.zeros(model.edge_width, bool))
    assert list(fewer.names()) == ["word[0]|word[1]=The|cat", "word[0]|word[1]=The|1984"]
    assert fewer.edge_width == 0
    kept = fewer.tensors()["values.0.data"].tobytes()
    assert sorted(kept.decode()) == sorted("Thecat1984")
    assert [name[-3:] for name in decoded_flat(fewer, SENTENCES)] == ["cat", "984", "cat"]
    assert clone(fewer).fit(SENTENCES).width == model.width
    with pytest.raises(InvalidInput, match="keep must be"):
        model.select(keep[:-1])
    with pytest.raises(Unsupported, match="dictionary"):
        Templates(hash_bits=4).fit(SENTENCES).select(keep)


def test_options_that_cannot_be(route):
    with pytest.raises(InvalidInput, match="outside must be one of"):
        Templates(outside="pad").fit(SENTENCES)
    with pytest.raises(InvalidInput, match="min_count must be at least 1"):
        Templates(min_count=0).fit(SENTENCES)
    with pytest.raises(InvalidInput, match="hash_bits must be"):
        Templates(hash_bits=31).fit(SENTENCES)
    with pytest.raises(Unsupported, match="min_count needs a dictionary"):
        Templates(hash_bits=8, min_count=2).fit(SENTENCES)


def test_unknown_things_are_counted_since_the_fit():
    model = Templates(["word[0]", "word[-1]"]).fit([["a", "b"]])
    for _ in range(2):
        model.transform([["a", "x", "a"]])
    assert model.unknown_ == {"word[0]": 2, "word[-1]": 2}
    assert model.fit([["a"]]).unknown_ == {"word[0]": 0, "word[-1]": 0}


def test_constants(route):
    model = Templates(["bias", "first", "last", "first|word[0]"])
    found = model.fit_transform([["a", "b", "c"], ["d"], []])
    assert decoded(model.names(), found.rows) == [
        ["bias", "first", "first|word[0]=|a"],
        ["bias"],
        ["bias", "last"],
        ["bias", "first", "last", "first|word[0]=|d"],
    ]


def test_the_page_in_the_documentation_is_true():
    page = Path(__file__).resolve().parents[3] / "docs" / "templates.md"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(page), module_relative=False, optionflags=flags).failed == 0


def test_little_text_does_without_a_compiler():
    code = (
        "import sys; from argmax.features import Templates; "
        "Templates().fit([['so', 'it', 'is']]).transform([['it', 'was']]); "
        "print('numba' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
