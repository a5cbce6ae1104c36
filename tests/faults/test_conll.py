"""Faults 15, 17 and 19 where sequences come in: CoNLL files and templates."""

import os
import tempfile

import numpy as np

from argmax.data import open_conll
from argmax.errors import ArgmaxError, BadFile
from argmax.features import Given, Templates
from tests.faults.cases import refuses, routes
from tests.faults.harness import GIB, alone

TEXT = b"The\tDT\tB-NP\ncat\tNN\tI-NP\nsat\tVB\tO\n\nSo\tRB\tO\n"
WORDS = [["The", "cat", "sat"], ["So"]]


def written(content):
    path = os.path.join(tempfile.mkdtemp(), "data.conll")
    with open(path, "wb") as file:
        file.write(content)
    return path


@alone
def test_19_what_a_strict_reader_accepts():
    for _ in routes():
        for content in (
            TEXT,
            TEXT.replace(b"\t", b" "),
            TEXT.replace(b"\n", b"\r\n"),
            b"\xef\xbb\xbf" + TEXT,
            b"# text = The cat sat\n" + TEXT,
            b"-DOCSTART- -X- O O\n\n" + TEXT,
            TEXT.rstrip(b"\n"),
            b"\n\n" + TEXT + b"\n \n\n",
        ):
            assert open_conll(written(content)).read().sequences("word") == WORDS


@alone
def test_19_what_a_strict_reader_refuses_with_the_line_and_a_lenient_one_counts():
    broken = {
        TEXT.replace(b"cat\tNN", b"cat"): (2, "2 columns"),
        TEXT.replace(b"cat", b"black\tcat"): (2, "4 columns"),
        TEXT.replace(b"sat\tVB\tO", b"sat VB O"): (3, "spaces where tabs"),
        TEXT.replace(b"\tVB\t", b"\t\t"): (3, "nothing between"),
        TEXT.replace(b"B-NP", b"O"): (2, "'I-NP' cannot follow 'O'"),
        TEXT[:-3]: (5, "cut off"),
    }
    for _ in routes():
        for content, (line, says) in broken.items():
            path = written(content)
            refuses(open_conll(path, scheme="BIO").read, says=(f"line {line}", says), error=BadFile)
            source = open_conll(path, scheme="BIO", strict=False)
            source.read()
            assert source.repairs.any


@alone
def test_19_what_nobody_can_read_is_refused():
    for content, says in (
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"# nothing\n", "no token"),
        (b"-DOCSTART-\n", "no token"),
        (TEXT.replace(b"cat", b"c\xe9t"), "UTF-8"),
        (TEXT.replace(b"cat", b"c\0t"), "NUL"),
        (TEXT.decode().encode("utf-16"), "UTF-16"),
    ):
        for strict in (True, False):
            refuses(
                lambda p, s: open_conll(p, strict=s).read(), written(content), strict, says=(says,)
            )


@alone(memory=3 * GIB)
def test_19_mutated_files_are_read_or_refused():
    rng = np.random.default_rng(0)
    bases = [TEXT, b"# id\n1-2\ta\t_\tX\t_\t_\t_\t_\n1\ta\tb\tX\t_\t_\t0\troot\n\n" * 2]
    pieces = [
        b"\t",
        b"\n",
        b"\r",
        b" ",
        b"#",
        b"-DOCSTART-",
        b"\xff",
        b"1",
        b"I-NP",
        b"\xef\xbb\xbf",
        b"-",
    ]
    path, read = written(b""), 0
    for case in range(400):
        content = bytearray(bases[case % 2])
        for _ in range(rng.integers(1, 6)):
            at = int(rng.integers(0, len(content)))
            content[at : at + int(rng.integers(0, 3))] = pieces[int(rng.integers(len(pieces)))]
        with open(path, "wb") as file:
            file.write(bytes(content))
        os.environ["ARGMAX_COMPILED"] = ("never", "always")[case // 2 % 2]
        for strict in (True, False):
            try:
                tokens = open_conll(path, strict=strict, scheme="BIO" if case % 3 else None).read()
            except ArgmaxError:
                continue
            read += 1
            assert tokens.offsets[-1] == tokens.size == len(tokens.lines)
            assert all(len(column) == tokens.size for column in tokens.columns.values())
            assert np.all(np.diff(tokens.offsets) > 0)
    assert read > 50


@alone
def test_15_and_17_no_sequences_and_unknown_features():
    for _ in routes():
        for features in (Templates(), Given()):
            for nothing in ([], [[]], [[], []]):
                refuses(features.fit, nothing, says=("no tokens",))
        fitted = Templates().fit(WORDS)
        for nothing in ([], [[]], [[], []]):
            assert fitted.transform(nothing).rows.shape == (0, fitted.width)
        assert fitted.transform([["So"], [], ["The"]]).offsets.tolist() == [0, 1, 1, 2]
        fitted = Templates(["word[0]", "word[-1]|word[0]"]).fit(WORDS)
        assert fitted.transform([["Dogs", "bark"]]).rows.entries == 0
        assert fitted.unknown_ == {"word[0]": 2, "word[-1]|word[0]": 2}
        given = Given().fit([[["a"]]])
        assert given.transform([[["a", "b"]]]).rows.entries == 1
        assert given.unknown_ == 1


@alone(memory=3 * GIB)
def test_18_one_sequence_of_a_million_tokens():
    words = [f"w{i % 5000}" for i in range(1_000_000)]
    stack = Templates(["word[0]", "word[-1]|word[0]", "shape(word[2])"]).fit_transform([words])
    assert stack.rows.shape[0] == 1_000_000
    assert stack.offsets.tolist() == [0, 1_000_000]
