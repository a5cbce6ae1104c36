"""Our side of ``tagging``, each run in a process of its own that has done the same on a few sentences.

python -m benchmarks.tagging.ours '{"loss": "log", "train": …, "tol": …, "threads": …}'
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from typing import Any

from argmax import SequenceTagger, data, features
from argmax.memory import give_back

from ..common import fresh_peak, peak

BRIEF = 20  # iterations on the few


def main(given: dict[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    os.environ["ARGMAX_COMPILED"] = "always"  # the few take the path of all
    brief = {**given, "max_iter": min(given["max_iter"], BRIEF)}
    tags(trained(brief, given["few"])[0], given, given["few"])
    del os.environ["ARGMAX_COMPILED"]
    warm = time.perf_counter() - began
    give_back(math.inf)  # nothing that the few left behind helps to hide what all take
    before = fresh_peak()
    tagger, reading, seconds = trained(given, given["train"])
    told = {"warm": warm, "reading": reading, "seconds": seconds, "grown": peak() - before}
    if given["loss"] == "log":
        return {**told, **solution(tagger, given["C"])}
    return {**told, **tagging(tagger, given)}


def read(path: str, given: dict[str, Any]) -> features.Tokens:
    return data.open_conll(path, columns=given["columns"]).read()


def trained(given: dict[str, Any], path: str) -> tuple[Any, float, float]:
    """A tagger, and the seconds from the text file on: until it was read, and in all."""
    templates = features.Templates(given["templates"], outside=given["outside"])
    options = {"loss": given["loss"], "max_iter": given["max_iter"], "n_threads": given["threads"]}
    if given["loss"] == "log":
        options |= {"C": given["C"], "tol": given["tol"], "start": False}
    tagger = SequenceTagger(features=templates, **options)
    began = time.perf_counter()
    tokens = read(path, given)
    reading = time.perf_counter() - began
    tagger.fit(tokens, tokens.column(given["columns"][-1]))
    return tagger, reading, time.perf_counter() - began


def solution(tagger: Any, C: float) -> dict[str, Any]:
    """The way to the optimum, in CRFsuite's units: F / C = Σ −log p(y|x) + c2 ‖w‖²."""
    found = tagger.solution_
    curve = [(seconds, value / C, gap / C) for seconds, value, gap in found.history]
    return {"value": found.objective / C, "curve": curve, "solver": found.solver}


def tags(tagger: Any, given: dict[str, Any], path: str) -> tuple[Any, list[list[str]]]:
    """Text to labels; the tokens come back as well."""
    tokens = read(path, given)
    return tokens, tagger.predict(tokens)


def tagging(tagger: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Seconds from text to labels, a few times over, on one thread and on all; how many labels are right."""
    taken: dict[int, list[float]] = {}
    for _ in range(given["rounds"]):
        for threads in sorted({1, given["threads"]}):
            tagger.set_params(n_threads=threads)
            began = time.perf_counter()
            tokens, answers = tags(tagger, given, given["test"])
            taken.setdefault(threads, []).append(time.perf_counter() - began)
    flat = [label for answer in answers for label in answer]
    truth = tokens.column(given["columns"][-1]).tolist()
    right = sum(a == b for a, b in zip(truth, flat, strict=True))
    return {"tagging": taken, "tokens": len(flat), "accuracy": right / len(flat)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # fits that are stopped on purpose
    print(json.dumps(main(json.loads(sys.argv[1]))))
