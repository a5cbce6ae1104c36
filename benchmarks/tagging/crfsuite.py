"""CRFsuite through python-crfsuite, each run in a process of its own.

python -m benchmarks.tagging.crfsuite '{"what": "lbfgs", "train": …, "below": …, "limit": …}'

It says f = Σ −log p(y|x) + c2 ‖w‖² after every iteration. The clock starts before the text file is opened,
and the run ends at the first value that is low enough, or at the limit.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any, NoReturn, final

import pycrfsuite

from ..common import fresh_peak, peak
from .strings import RECIPES, sentences
from .watch import NEVER, Watch


@final
class Trainer(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """Listens to what CRFsuite says while it trains."""

    watch: Watch
    before: float  # megabytes
    features, grown = 0, 0.0

    def message(self, text: str) -> None:
        if text.startswith("Loss: "):
            self.grown = peak() - self.before
            if self.watch.note(float(text[6:])):
                self.leave()
        elif text.startswith("Number of features: "):
            self.features = int(text[20:])
            self.watch.prepared = self.watch.seconds()

    def told(self) -> dict[str, Any]:
        return self.watch.told(features=self.features, grown=self.grown)

    def leave(self) -> NoReturn:
        """CRFsuite cannot be stopped; the process can."""
        print(json.dumps(self.told()), flush=True)
        os._exit(0)


def lbfgs(given: dict[str, Any]) -> dict[str, Any]:
    """L-BFGS until the objective is low enough."""
    settings = {"c1": 0.0, "c2": given["c2"], "num_memories": given["memories"]}
    patience = {"max_iterations": NEVER, "epsilon": 1e-9, "delta": 1e-9}  # the way is the same
    trainer = loaded(given, "lbfgs", {**settings, **patience})
    trainer.train(os.devnull)
    return trainer.told()


def perceptron(given: dict[str, Any]) -> dict[str, Any]:
    """The averaged perceptron, and how quickly its model tags; storing the model is not counted."""
    trainer = loaded(given, "ap", {"max_iterations": given["epochs"], "epsilon": 0.0})
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        trainer.train(model)
        told = {**trainer.told(), "seconds": trainer.watch.curve[-1][0]}
        tagger = pycrfsuite.Tagger()
        with tagger.open(model):
            return {**told, **tagging(tagger, given)}


def loaded(given: dict[str, Any], algorithm: str, settings: dict[str, Any]) -> Trainer:
    """A trainer that has read the file; the clock runs."""
    trainer = Trainer(algorithm, {**settings, "feature.possible_transitions": True})
    trainer.before = fresh_peak()
    trainer.watch = Watch(given["below"], given["limit"], given.get("most", NEVER))
    attributes = RECIPES[given["recipe"]]
    for columns in sentences(given["train"], given["separator"]):
        trainer.append(attributes(columns), columns[-1])
    return trainer


def tagging(tagger: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Seconds from text to labels, a few times over, and how many labels are right."""
    attributes, taken = RECIPES[given["recipe"]], []
    for _ in range(given["rounds"]):
        began = time.perf_counter()
        read = sentences(given["test"], given["separator"])
        answers = [(columns[-1], tagger.tag(attributes(columns))) for columns in read]
        taken.append(time.perf_counter() - began)
    pairs = [pair for answer in answers for pair in zip(*answer, strict=True)]
    right = sum(truth == label for truth, label in pairs)
    return {"tagging": {1: taken}, "tokens": len(pairs), "accuracy": right / len(pairs)}


if __name__ == "__main__":
    _given = json.loads(sys.argv[1])
    print(json.dumps({"lbfgs": lbfgs, "perceptron": perceptron}[_given["what"]](_given)))
