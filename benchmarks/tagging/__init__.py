"""Sequence tagging: from a text file to the optimum of a CRF, to an averaged perceptron, and to labels.

Quality is (f − f*)/f*, f = Σ −log p(y|x) + c2 ‖w‖² and f* the lowest value that anybody finds. Every run is
a fresh process; the clock starts before the text file is opened.

compare      what is compared, in words
contest      one corpus: who runs, and in which order
entrants     those who run, as seen from outside
ours         a process of ours
crfsuite     a process of CRFsuite
wapiti       a process of Wapiti
strings      attributes as strings, for these two
watch        their clock
data         the corpora and their templates
tables       what is printed and promised
"""

from __future__ import annotations

from ..common import Options, Outcome


def run(options: Options) -> Outcome:
    from .compare import compare  # only now: the processes of the peers do without argmax

    return compare(options)
