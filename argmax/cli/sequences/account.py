"""What ``argmax train`` says of a tagger when it is done: to people, to programs, and in the report."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from ...data import Conll
from ...estimators.learner import FINE
from ...features import Tokens
from ...report import write
from ..console import Console, count
from ..findings import SEVERITIES, Finding
from ..tried import show_tried
from . import scoring
from .fitting import Fitted
from .reporting import evaluation
from .scoring import Judged
from .survey import Survey

if TYPE_CHECKING:
    from .train import Options

__all__ = ["Account", "setup"]

TOLD = (
    "status", "message", "solver", "passes", "seconds", "objective", "gap", "relative_gap",
)  # fmt: skip


@final
class Account:
    """The outcome of a training run."""

    def __init__(
        self,
        options: Options,
        source: Conll,
        survey: Survey,
        findings: list[Finding],
        learned: Tokens,
        fitted: Fitted,
        found: Judged | None,
        seconds: dict[str, float],
        tried: dict[str, float] | None = None,
    ) -> None:
        self.options, self.source, self.survey, self.findings = options, source, survey, findings
        self.learned, self.fitted, self.found, self.seconds = learned, fitted, found, seconds
        self.tagger, self.label, self.reported = fitted.tagger, survey.label, ""
        self.tried = tried  # the log loss of each way to calibrate, if one was chosen

    @property
    def templates(self) -> list[str]:
        return [str(one) for one in self.tagger.features_.templates or ()]

    @cached_property
    def baseline(self) -> float | None:
        """Accuracy of giving each word its most frequent label in training, and others the most frequent."""
        if self.found is None:
            return None
        words, labels = (self.learned.column(n).tolist() for n in (self.survey.word, self.label))
        pairs = Counter(zip(words, labels, strict=True))
        best: dict[Any, Any] = {}
        for (word, label), _ in sorted(pairs.items(), key=lambda item: item[1]):
            best[word] = label
        common = Counter(labels).most_common(1)[0][0]
        tokens = self.found.tokens
        answers = [best.get(word, common) for word in tokens.column(self.survey.word).tolist()]
        truth = tokens.column(self.label).tolist()
        right = sum(bool(a == t) for a, t in zip(answers, truth, strict=True))
        return right / max(len(truth), 1)

    def _test_file(self) -> tuple[str, float]:
        """The file of the sequences to judge by, and the share of it that was held out."""
        share = "" if os.path.exists(self.options.test) else self.options.test
        return (self.options.data, float(share)) if share else (self.options.test, 0.0)

    def write_report(self, overwrite: bool, console: Console) -> None:
        """One HTML page, unless it was not wanted or there is nothing to judge by."""
        options = self.options
        if not options.report or self.found is None:
            return
        with console.stage("Writing the report") as stage:
            path, share = self._test_file()
            page = evaluation(
                self.found,
                title=f"{self.label} of {os.path.basename(self.source.path)}",
                findings=[f"{one.severity}: {one.message}" for one in self.findings],
                learned=(len(self.learned), self.learned.size),
                baseline=self.baseline,
                seconds=self.seconds,
                seed=options.seed,
                commands=[options.typed],
                setup=setup(options.output, path, self.label, share, options.seed, options.read),
            )
            write(options.report, page, overwrite=overwrite)
            self.reported = options.report
            stage.done = "Judged and reported"

    # For people

    def show(self, console: Console) -> None:
        """What was learned, how good it is, why it stopped, what was written, and what to type next."""
        self._say_what(console)
        if self.fitted.choice is not None:
            self._say_choice(console)
        if self.tried is not None:
            title = "Calibrating, on tokens of sequences that were left out of a fit"
            show_tried(title, self.tried, None, console)
        if self.found is not None:
            scoring.show(self.found, console, " that the model has not seen", self.baseline)
        self._say_ending(console)
        console.result(self.as_json())

    def _say_what(self, console: Console) -> None:
        tokens, tagger = self.survey.tokens, self.tagger
        console.say(
            f"{self.source.path}: {count(len(tokens), 'sequence')}, {count(tokens.size, 'token')}; "
            f"{self.label!r} ({count(len(tagger.classes_), 'label')}) from "
            f"{', '.join(tagger.features_.used_columns)}"
        )
        console.say(
            f"{count(len(self.templates), 'template')} make "
            f"{count(tagger.features_.width, 'attribute')}; {count(tagger.coef_.nnz, 'pair')} of attribute "
            "and label have a weight."
        )
        judged = 0 if self.found is None else self.found.scores.sequences
        path, share = self._test_file()
        where = "" if share or not judged else f" in {path}"
        console.say(
            f"{len(self.learned):,} sequences to learn from, {judged:,} to judge by{where}."
        )
        if tagger.constraints is not None:
            console.say(f"Answers are kept to the scheme {tagger.constraints}.")
        if self.findings:
            kinds = [finding.severity for finding in self.findings]
            listed = [count(kinds.count(s), s) for s in SEVERITIES if s in kinds]
            told = shlex.join(["argmax", "check", self.options.data])
            console.say(f"Findings in the data: {', '.join(listed)}. See {told}")

    def _say_choice(self, console: Console) -> None:
        choice = self.fitted.choice
        assert choice is not None
        console.heading("Choosing C, on sequences that the trial did not learn from")
        rows = [
            [f"{C:g}", f"{score:.4f}", "chosen" if choice.C == C else ""]
            for C, score in choice.trials
        ]
        console.table([">C", f">{choice.measure}", ""], rows)
        console.say("The model is then fitted on all sequences to learn from.")

    def _say_ending(self, console: Console) -> None:
        options, solution = self.options, self.tagger.solution_
        console.heading("Why it stopped")
        console.say(solution.message)
        if solution.status not in FINE:
            console.warn(
                "the certificate is not met (exit code 3). Give it more --time-limit, or a larger --tol."
            )
        console.heading("Written")
        for path in filter(None, (options.output, self.reported)):
            console.say(f"{path}  ({os.path.getsize(path) / 1024:,.0f} KiB)")
        console.heading("Next")
        console.say(shlex.join(["argmax", "predict", options.output, "NEW_FILE"]))
        path, share = self._test_file()
        if self.found is not None and self.found.surprises and path != "-":
            words = ["argmax", "explain", options.output, path, "--row", str(self._row(share))]
            console.say(f"{shlex.join(words)}    # its most confident mistake")

    def _row(self, share: float) -> int:
        """The number in its file of the sequence with the most confident mistake."""
        from .parts import held_out

        assert self.found is not None
        worst = self.found.surprises[0]
        if not share:
            return worst
        held = held_out(len(self.survey.tokens), share, self.options.seed)
        return int(held.nonzero()[0][worst])

    # For programs

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        tagger, choice = self.tagger, self.fitted.choice
        return {
            "model": self.options.output,
            "report": self.reported or None,
            "data": self.options.data,
            "target": self.label,
            "columns": list(tagger.features_.used_columns),
            "templates": self.templates,
            "labels": self.survey.counts,
            "sequences_learned": len(self.learned),
            "tokens_learned": self.learned.size,
            "attributes": tagger.features_.width,
            "pairs": int(tagger.coef_.nnz),
            "loss": tagger.loss,
            "constraints": tagger.constraints,
            "C": tagger.C,
            "calibration": self.tried,
            "measure": None if choice is None else choice.measure,
            "trials": [] if choice is None else [{"C": C, "score": v} for C, v in choice.trials],
            "solution": {name: getattr(tagger.solution_, name) for name in TOLD},
            "findings": [asdict(finding) for finding in self.findings],
            "baseline": self.baseline,
            "test": None if self.found is None else scoring.as_json(self.found),
            "seconds": self.seconds,
        }


def setup(model: str, data: str, label: str, test: float, seed: int, read: list[str]) -> str:
    """Python lines that bring back the model and the sequences that it was judged by."""
    more = f", test={test:g}, seed={seed}" if test else ""
    more += f", read={read!r}" if read else ""
    return (
        "import argmax\n"
        "from argmax.cli.sequences.held import sequences_of\n\n"
        f"tagger = argmax.load({model!r})\n"
        f"X, y = sequences_of({data!r}, {label!r}, tagger{more})"
    )
