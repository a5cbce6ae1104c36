"""What is compared, in words, and over which corpora."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..common import Neighbours, Options, Outcome, no_peaks, say
from . import data
from .contest import LARGE, LIMITS, ROUNDS, SLOW, hold
from .entrants import C2, EPOCHS, LEAN, MEMORIES, C
from .tables import figures, promises, show

QUICK = ("conll2000", "ewt-upos")

EXPLANATION = f"""\
CoNLL-2000 has the 19 templates of CRF++'s chunking example (word and part of speech at −2 … 2, two pairs of
words, four pairs and three triples of parts of speech) and marks for the two ends; the others have the
default templates for words. Weights for the observed pairs of an attribute and a label, and for all
transitions; c2 = {C2:g}, C = {C:g}. Seconds from the opening of the text file, one token a line, on: reading,
attributes, training. Kernels are compiled before, and our processes have learned from {data.FEW_SENTENCES}
sentences and tagged them, so that the kernels are loaded.
  argmax     whole fits, stopping rule included, at the loosest tol found whose result meets the target.
  CRFsuite   through python-crfsuite; a list of strings for each token, with as little Python as we could,
             what depends on one word made once a word, and nothing kept. Its L-BFGS has one thread. It is
             charged the time to the first iteration at the target, by its own log. num_memories =
             {MEMORIES}, which is faster than the default, {LEAN}; memory is that of the default.
  Wapiti     its L-BFGS on the same threads, charged likewise. It takes all pairs of an attribute and a
             label, and marks for positions beyond the ends: more weights, hence a lower optimum, but it is
             only asked for the same values of f. Its development set is one sentence, so that its counting
             of errors costs nothing.
The averaged perceptron: {EPOCHS} epochs, storing the model not counted. Tagging: from the text file to lists
of labels, with the model of the perceptron (of mac_morpho, sentences that it knows); we on one thread and on
all of them, CRFsuite on one: it holds Python's lock, so that more threads would wait for each other. Memory:
the peak over what the process had before it opened the file. Medians of {ROUNDS} processes in turn; a peer's
L-BFGS that takes more than {SLOW:.0f} s runs once (--full: as often). Peers are cut at a limit, Wapiti also
at twice CRFsuite's time (--full: not). On {", ".join(LARGE)} everybody runs L-BFGS once, to 1e-3 only, and
f* is known to some 1e-5."""


def compare(options: Options) -> Outcome:
    """All corpora that were asked for."""
    outcome = Outcome("tagging")
    if why := data.missing() or no_peaks():
        say(f"Left out: {why}")
        return outcome
    say(f"{EXPLANATION}\n")
    asked = [name for name in options.data if name in LIMITS]
    for name in asked or (QUICK if options.quick else LIMITS):
        with tempfile.TemporaryDirectory() as folder, Neighbours() as company:
            contest = hold(data.prepare(name, Path(folder), options.quick), options)
        contest.notes.append(str(company))
        show(contest)
        outcome.figures.append(figures(contest))
        outcome.checks += promises(contest)
    return outcome
