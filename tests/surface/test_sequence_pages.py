"""The pages about sequences keep their word: their code prints what they show, and the picture is right."""

import doctest
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from argmax import CRFTagger
from tests.surface.test_docs import DOCS

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", ["sequences.md", "lattice.md", "from-crfsuite.md"])
def test_the_code_prints_what_the_page_shows(page):
    found = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=FLAGS)
    assert found.attempted > 10
    assert found.failed == 0


def test_the_picture_shows_the_numbers_of_viterbi():
    """Column by column, and which steps lead to the best path."""
    node = np.array([[2.0, 0.0], [2.0, 1.0], [2.0, 0.0]])
    edge = np.array([[0.0, 1.0], [1.0, -1.0]])
    best = [node[0]]
    for own in node[1:]:
        best.append(own + (best[-1][:, None] + edge).max(axis=0))
    picture = ElementTree.parse(DOCS / "viterbi.svg").getroot()
    shown = [text for text in picture.iter("{http://www.w3.org/2000/svg}text") if text.get("class")]
    shown.sort(key=lambda text: (int(text.get("x")), int(text.get("y"))))
    assert [float(text.text) for text in shown] == np.concatenate(best).tolist()


def test_the_formula_for_c1_and_c2_is_that_of_crfsuite(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    rng, c1, c2 = np.random.default_rng(0), 0.2, 0.15
    X = [[[f"w{w}"] for w in rng.integers(0, 8, 6)] for _ in range(40)]
    y = [[f"L{(int(w[0][1:]) + rng.integers(0, 2)) % 3}" for w in x] for x in X]
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, labels in zip(X, y, strict=True):
        trainer.append(x, labels)
    options = {"c1": c1, "c2": c2, "epsilon": 1e-9, "delta": 1e-12, "max_iterations": 5000}
    trainer.set_params({**options, "feature.possible_transitions": True})
    trainer.train(str(tmp_path / "model"))
    C = 1.0 / (c1 + 2.0 * c2)
    ours = CRFTagger(C=C, penalty="elasticnet", l1_ratio=c1 * C, start=False, tol=1e-7).fit(X, y)
    theirs = trainer.logparser.last_iteration["loss"]
    assert ours.solution_.objective / C == pytest.approx(theirs, rel=1e-4)
