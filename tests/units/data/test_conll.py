"""CoNLL columns and CoNLL-U: what is read, what is refused where, and what is repaired."""

import gzip
import lzma
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argmax.data import Limits, Repairs, open_conll
from argmax.data.conll import looks_like
from argmax.data.lines import Lines
from argmax.errors import ArgmaxError, BadFile, InvalidInput, ResourceLimit

TEXT = "The DT B-NP\ncat NN I-NP\nsat VB O\n\nSo RB O\n"


def lists(source, columns=None):
    tokens = source.read(columns)
    return {name: tokens.sequences(name) for name in tokens.columns}


def joined(parts):
    return list(chain.from_iterable(part.sequences("word") for part in parts))


# What is read


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", " \t "),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\r\n").replace(" ", "\t"),
        "\ufeff" + TEXT,
        "\n\n" + TEXT.replace("\n\n", "\n \n\t\n\n") + "\n\n",
        TEXT.rstrip("\n"),
        "# newdoc\n# text = The cat sat\n" + TEXT,
        "-DOCSTART- -X- O\n\n" + TEXT,
        "-DOCSTART-\n" + TEXT.replace("So", "-DOCSTART- -X- -X- O\n\nSo"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_the_same_sentences_in_many_clothes(file, route, text, strict):
    source = open_conll(file(text), strict=strict)
    assert source.columns == ("word", "pos", "label")
    assert lists(source) == {
        "word": [["The", "cat", "sat"], ["So"]],
        "pos": [["DT", "NN", "VB"], ["RB"]],
        "label": [["B-NP", "I-NP", "O"], ["O"]],
    }
    assert not source.repairs.any
    assert source.repairs.comments == 2 * text.startswith("# newdoc")
    assert source.repairs.documents == text.count("DOCSTART")


def test_tokens_know_their_lines(file):
    tokens = open_conll(file("# text\n" + TEXT)).read()
    assert tokens.lines.tolist() == [2, 3, 4, 6]
    assert tokens.offsets.tolist() == [0, 3, 4]


def test_a_hash_can_be_a_token(file):
    text = "# # B-NP\n100 CD I-NP\n"
    assert lists(open_conll(file(text)))["word"] == [["#", "100"]]
    assert lists(open_conll(file("# # B-NP\n"), comments=False))["word"] == [["#"]]
    assert lists(open_conll(file(text), comments=True))["word"] == [["100"]]
    with pytest.raises(BadFile, match="line 3: 1 column where"):
        open_conll(file(text + "#\n"), comments=False).read()


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("a", ("word",)),
        ("a O", ("word", "label")),
        ("a b O", ("word", "pos", "label")),
        ("a b c O", ("word", "pos", "chunk", "label")),
        ("a b c d O", ("word", "column1", "column2", "column3", "label")),
    ],
)
def test_usual_names(file, row, names):
    assert open_conll(file(row + "\n")).columns == names


def test_names_and_columns_of_ones_own(file):
    source = open_conll(file(TEXT), columns=["form", "tag", "chunk"])
    assert lists(source, ["chunk", "form"]) == {
        "chunk": [["B-NP", "I-NP", "O"], ["O"]],
        "form": [["The", "cat", "sat"], ["So"]],
    }
    assert source.label == "chunk"
    with pytest.raises(InvalidInput, match="Did you mean 'chunk'"):
        source.read(["chunks"])
    with pytest.raises(BadFile, match="has 3 columns, and columns names 2"):
        open_conll(file(TEXT), columns=["word", "label"])
    with pytest.raises(InvalidInput, match="different names"):
        open_conll(file(TEXT), columns=["a", "a", "b"])


def test_conllu(file, route):
    text = (
        "# sent_id = 1\n# text = Al's book\n"
        "1-2\tAl's\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tAl\tAl\tPROPN\tNNP\t_\t3\tnmod\t_\t_\n"
        "2\t's\t's\tPART\t_\t_\t1\tcase\t_\t_\n"
        "2.1\tnew\tnew\tADJ\t_\t_\t_\t_\t_\t_\n"
        "3\tbook  case\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
        "1\t_\t_\tPUNCT\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n"
    )
    source = open_conll(file(text))
    assert source.format == "conllu"
    found = lists(source, ["word", "lemma", "upos", "xpos"])
    assert found["word"] == [["Al", "'s", "book  case"], ["_"]]
    assert found["lemma"] == [["Al", "'s", "_"], ["_"]]
    assert found["upos"] == [["PROPN", "PART", "NOUN"], ["PUNCT"]]
    assert found["xpos"] == [["NNP", None, "NN"], [None]]
    assert source.repairs == Repairs(comments=2, skipped=2)


@pytest.mark.parametrize(
    ("name", "sentences", "tokens"),
    [
        ("conll2000-test.txt", 2012, 47377),
        ("wnut17-dev.conll", 1009, 15733),
        ("ud_en_ewt-dev.conllu", 2001, 25147),
        ("ud_lzh_kyoto-dev.conllu", 2047, 10094),
    ],
)
def test_published_counts(shared, name, sentences, tokens):
    path = shared(f"sequence/{name}.xz")
    found = open_conll(path).read()
    assert (len(found), found.size) == (sentences, tokens)
    with lzma.open(path, "rt", encoding="utf-8") as content:
        blocks = content.read().strip().split("\n\n")
    rows = [[r for r in block.split("\n") if r] for block in blocks]
    if name.endswith("conllu"):
        cells = [[r.split("\t") for r in s if r.split("\t")[0].isdigit()] for s in rows]
        assert found.sequences("upos") == [[cell[3] for cell in s] for s in cells]
    else:
        assert found.sequences("word") == [[r.split()[0] for r in s] for s in rows]
        assert found.sequences("label") == [[r.split()[-1] for r in s] for s in rows]


def test_compressed_and_in_batches(file, route):
    text = "".join(f"w{i} O\n" + "\n" * (i % 3 == 0) for i in range(500))
    whole = open_conll(file(text)).read()
    for packed in (gzip.compress(text.encode()), lzma.compress(text.encode())):
        source = open_conll(file(packed))
        assert source.read().sequences("word") == whole.sequences("word")
        parts = list(source.batches(size=1))
        assert joined(parts) == whole.sequences("word")
        assert np.concatenate([part.lines for part in parts]).tolist() == whole.lines.tolist()


def test_pieces_end_between_sentences(file, monkeypatch):
    monkeypatch.setattr("argmax.data.blocks.BLOCK", 16)
    text = "".join(f"w{i} O\r\n" + "  \r\n" * (i % 4 == 0) for i in range(100))
    source = open_conll(file(text))
    whole, parts = source.read(), list(source.batches(size=40))
    assert len(parts) > 10
    assert joined(parts) == whole.sequences("word")
    assert np.concatenate([part.lines for part in parts]).tolist() == whole.lines.tolist()


words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5).filter(
    lambda word: not word.isspace() and word[0] not in "#-" and "\x85" not in word
)
sentences = st.lists(
    st.lists(st.tuples(words, words), min_size=1, max_size=4), min_size=1, max_size=4
)


@given(
    sentences, st.sampled_from([" ", "\t", "  "]), st.sampled_from(["\n", "\r\n"]), st.booleans()
)
def test_what_is_written_is_read(tmp_path_factory, sentences, between, end, last):
    path = tmp_path_factory.mktemp("conll") / "data"
    blocks = [end.join(between.join(token) for token in s) for s in sentences]
    text = (end * 2).join(blocks) + end * last
    path.write_bytes(text.encode("utf-8"))
    tokens = open_conll(path).read()
    assert tokens.sequences("word") == [[word for word, _ in s] for s in sentences]
    assert tokens.sequences("label") == [[label for _, label in s] for s in sentences]


@pytest.mark.parametrize("compiled", ["always", "never"])
@given(text=st.text("a b\t\r\n#-", max_size=30))
def test_lines_and_fields_are_those_of_python(compiled, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGMAX_COMPILED", compiled)
        assert_cut_as_python_does(text)


def assert_cut_as_python_does(text):
    raw = text.replace("\r", "\r\n").encode()
    rows = [row.removesuffix(b"\r") for row in raw.split(b"\n")]
    rows = rows[:-1] if raw.endswith(b"\n") or not raw else rows
    blanks = Lines.of(raw, tabs=False)
    assert fields(blanks) == [row.split() for row in rows]
    assert blanks.begins.tolist() == [
        sum(len(r) + 1 for r in raw.split(b"\n")[:i]) for i in range(len(rows))
    ]
    assert fields(Lines.of(raw, tabs=True)) == [
        [cell.strip(b" ") for cell in row.split(b"\t")] if row.strip() else [] for row in rows
    ]


def fields(lines):
    """The fields of each line."""
    cells = [lines.data[a:b].tobytes() for a, b in zip(lines.starts, lines.stops, strict=True)]
    return [cells[a:b] for a, b in zip(lines.first[:-1], lines.first[1:], strict=True)]


# What is refused, and what is repaired


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            TEXT.replace("cat NN I-NP", "cat NN"),
            2,
            "2 columns where the first token has 3: 'cat NN'",
        ),
        (TEXT.replace("cat", "black cat"), 2, "4 columns"),
        (TEXT.replace("So RB O\n", "So"), 5, "cut off"),
        (TEXT.replace(" ", "\t").replace("sat\tVB", "sat VB"), 3, "2 columns"),
        (
            TEXT.replace(" ", "\t").replace("sat\tVB\tO", "sat VB O"),
            3,
            "spaces where tabs should be",
        ),
        (TEXT.replace("sat", "# comment\nsat"), 3, "2 columns"),
        (TEXT.replace(" ", "\t").replace("VB", ""), 3, "nothing between two tabs"),
        (TEXT.encode().replace(b"cat", b"c\xe9t"), 2, "not UTF-8"),
        (TEXT.replace("cat", "c\0t"), 2, "NUL"),
    ],
)
def test_strict_reading_names_the_line(file, route, text, line, says):
    with pytest.raises(BadFile) as caught:
        open_conll(file(text)).read()
    assert says in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "words", "repairs"),
    [
        (TEXT.replace("cat NN I-NP", "cat NN"), [["So"]], Repairs(dropped=1)),
        (TEXT.replace("So RB O\n", "So"), [["The", "cat", "sat"]], Repairs(dropped=1)),
        (
            TEXT.replace(" ", "\t").replace("sat\tVB\tO", "sat VB O"),
            [["The", "cat", "sat"], ["So"]],
            Repairs(recut=1),
        ),
        (
            TEXT.replace(" ", "\t").replace("sat\tVB\tO", "sat VB O").replace("So\tRB", "So"),
            [["The", "cat", "sat"]],
            Repairs(recut=1, dropped=1),
        ),
        (
            TEXT.replace("sat", "# comment\nsat"),
            [["The", "cat", "sat"], ["So"]],
            Repairs(comments=1),
        ),
        (
            TEXT.replace(" ", "\t").replace("VB", ""),
            [["The", "cat", "sat"], ["So"]],
            Repairs(empty=1),
        ),
    ],
)
def test_lenient_reading_repairs_and_counts(file, route, text, words, repairs):
    source = open_conll(file(text), strict=False)
    assert source.read().sequences("word") == words
    assert source.repairs == repairs
    parts = list(source.batches(size=1))
    assert joined(parts) == words
    assert source.repairs == repairs


def test_words_of_conllu_out_of_order(file):
    row = "{}\ta\t_\tX\t_\t_\t0\troot\t_\t_\n"
    text = row.format(1) + row.format(3)
    with pytest.raises(BadFile, match=r"line 2, column 'id': the word has number 3; .* number 2"):
        open_conll(file(text)).read()
    source = open_conll(file(text), strict=False)
    assert (source.read().size, source.repairs.numbers) == (2, 1)
    with pytest.raises(BadFile, match="'x' is no word"):
        open_conll(file(row.format(1) + row.format("x")), strict=False).read()
    with pytest.raises(BadFile, match="ten columns"):
        open_conll(file("1 a\n"), format="conllu")


@pytest.mark.parametrize(
    ("labels", "scheme", "line", "says", "repaired"),
    [
        ("O I-A I-A O", "BIO", 2, "'I-A' cannot follow 'O' in the scheme BIO", "O B-A I-A O"),
        ("I-A O O O", "BIO", 1, "'I-A' cannot begin a sequence", "B-A O O O"),
        ("B-A I-B O O", "BIO", 2, "'I-B' cannot follow 'B-A'", "B-A B-B O O"),
        ("B-A O O O", "BILOU", 2, "'O' cannot follow 'B-A'", "U-A O O O"),
        ("O O O B-A", "BILOU", 4, "'B-A' cannot end a sequence", "O O O U-A"),
        ("B-A I-A I-A E-A", "BIOES", 0, "", ""),
        ("O B-A I-A B-A", "BIO", 0, "", ""),
    ],
)
def test_tags_that_the_scheme_does_not_allow(file, labels, scheme, line, says, repaired):
    text = "".join(f"w {label}\n" for label in labels.split())
    if not line:
        source = open_conll(file(text), scheme=scheme)
        assert source.read().sequences("label") == [labels.split()]
        assert source.repairs == Repairs()
        return
    with pytest.raises(BadFile) as caught:
        open_conll(file(text), scheme=scheme).read()
    assert says in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, "label")
    source = open_conll(file(text), scheme=scheme, strict=False)
    assert source.read().sequences("label") == [repaired.split()]
    assert source.repairs.tags == sum(
        a != b for a, b in zip(labels.split(), repaired.split(), strict=True)
    )
    assert source.read(["word"]).sequences("word") == [["w"] * 4]


def test_a_missing_label_says_nothing_about_its_neighbours(file):
    source = open_conll(file("a\tB-A\nb\t\nc\tI-A\n"), scheme="BIO", strict=False)
    assert source.read().sequences("label") == [["B-A", None, "B-A"]]
    assert source.repairs == Repairs(empty=1, tags=1)


def test_labels_that_are_no_tags(file):
    with pytest.raises(BadFile, match="'NN' marks no span"):
        open_conll(file("a NN\n"), scheme="BIO").read()
    with pytest.raises(InvalidInput, match="names the column 'tag'"):
        open_conll(file(TEXT), scheme="BIO", label="tag")
    with pytest.raises(ArgmaxError, match="'U-A' is none of the scheme BIO"):
        open_conll(file("a U-A\n"), scheme="BIO").read()
    with pytest.raises(ArgmaxError, match="must be one of"):
        open_conll(file("a B-A\n"), scheme="XYZ").read()


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "-DOCSTART- O\n\n"])
def test_nothing_to_read(file, text):
    with pytest.raises(BadFile, match=r"empty|no token"):
        open_conll(file(text)).read()


def test_limits(file, tmp_path):
    with pytest.raises(ResourceLimit, match="line_bytes"):
        open_conll(file("a" * 5000 + " O\n"), limits=Limits(line_bytes=1000)).read()
    with pytest.raises(BadFile, match="cannot be read"):
        open_conll(tmp_path / "nothing.conll")
    with pytest.raises(InvalidInput, match="format must be one of"):
        open_conll(file(TEXT), format="csv")


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (TEXT, "columns"),
        (TEXT.replace(" ", "\t"), "columns"),
        ("# sent_id = 1\n1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n", "conllu"),
        ("a,b\n1,2\n", None),
        ("a\tb\n1\t2\n", None),
        ("one\n\ntwo\n", None),
        ("", None),
        ("a b\n\nc\n", None),
    ],
)
def test_which_files_look_like_it(text, format):
    assert looks_like(text.encode()) == format
