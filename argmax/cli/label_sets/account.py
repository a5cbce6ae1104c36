"""What ``argmax train`` says of a classifier of sets to people, to programs and in a report."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from ...report import write
from ...report.label_sets.measures import Measures
from ..console import Console, count
from ..findings import Finding, say_how_many
from ..tried import show_choice
from . import scoring
from .fitting import Fitted
from .material import Material, Truth
from .survey import label_counts

if TYPE_CHECKING:
    from ..train import Options

__all__ = ["Account", "setup", "strongest"]

TOLD = (
    "status", "message", "solver", "passes", "seconds", "objective", "gap", "relative_gap",
)  # fmt: skip
MOST = 10


@final
class Account:
    """The outcome of a training run."""

    def __init__(
        self,
        options: Options,
        material: Material,
        findings: list[Finding],
        fitted: Fitted,
        model: Any,
        truth: Truth,
    ) -> None:
        self.options, self.material, self.findings = options, material, findings
        self.fitted, self.model, self.truth, self.reported = fitted, model, truth, ""
        self.classifier = fitted.classifier

    @cached_property
    def found(self) -> Measures | None:
        """The scores on the rows held out, if there are any."""
        if not len(self.truth):
            return None
        options, source = self.options, self.material.source
        path, share = self._test_file()
        return scoring.judged(
            self.model,
            self.truth,
            title=f"{self.material.target.shown} from {os.path.basename(source.path)}",
            columns=[column for column in source.columns if column.name in self.material.kinds],
            findings=[f"{one.severity}: {one.message}" for one in self.findings],
            learned=self.material.matrix,
            seconds=self.material.seconds | self.fitted.seconds,
            seed=options.seed,
            commands=[options.typed],
            setup=setup(options.output, path, self.truth, share, options.seed, options.read),
        )

    def _test_file(self) -> tuple[str, float]:
        """The file of the rows to judge by, and the share of it that was held out."""
        own = self.truth.held is self.material.held
        return (self.options.data, float(self.options.test)) if own else (self.options.test, 0.0)

    def write_report(self, console: Console) -> None:
        """One HTML page, unless it was not wanted or there is nothing to judge by."""
        if not self.options.report or self.found is None:
            return
        with console.stage("Writing the report") as stage:
            write(self.options.report, self.found, overwrite=self.options.force)
            self.reported = self.options.report
            stage.done = "Judged and reported"

    # For people

    def show(self, console: Console) -> None:
        """What was learned, how good it is, why it stopped, what was written, and what to type next."""
        self._say_what(console)
        if self.fitted.choice is not None:
            show_choice(self.fitted.choice, "log-loss of a set", console)
        if self.found is not None:
            scoring.show(self.found, self.truth, console, " that the model has not seen")
        self._say_pairs(console)
        self._say_ending(console)
        console.result(self.as_json())

    def _say_what(self, console: Console) -> None:
        material = self.material
        survey, labels = material.survey, self.classifier.classes_
        console.say(
            f"{material.source.path}: {count(survey.rows, 'row')}; {count(len(labels), 'label')} of "
            f"{material.target.shown} from {count(len(material.kinds), 'column')}"
        )
        rows = [[name, kind] for name, kind in material.kinds.items()]
        left_out = [name for name, kind in survey.kinds.items() if kind in ("id", "ignore")]
        rows += [[name, f"{survey.kinds[name]}: left out"] for name in left_out]
        console.table(["column", "kind"], rows[:30])
        if len(rows) > 30:
            console.say(f"… and {len(rows) - 30:,} more")
        where = "" if self.truth.held is material.held else f" in {self.options.test}"
        met = self.truth.held.met
        console.say(f"{len(material.codes):,} rows to learn from, {met:,} to judge by{where}.")
        say_how_many(self.findings, self.options.data, str(self.options.target), console)

    def _say_pairs(self, console: Console) -> None:
        if not len(self.classifier.pairs_):
            return
        console.heading("Labels that go together, beyond what the columns say")
        console.table(
            ["label", "with", ">weight"],
            [[a, b, f"{value:+.2f}"] for a, b, value in strongest(self.classifier, MOST)],
        )

    def _say_ending(self, console: Console) -> None:
        options, solution = self.options, self.classifier.solution_
        console.heading("Why it stopped")
        console.say(solution.message)
        if not solution.converged:
            console.warn(
                "the certificate is not met (exit code 3). Give it more --time-limit, or a larger --tol."
            )
        console.heading("Written")
        for path in filter(None, (options.output, self.reported)):
            console.say(f"{path}  ({os.path.getsize(path) / 1024:,.0f} KiB)")
        console.heading("Next")
        console.say(shlex.join(["argmax", "predict", options.output, "NEW_FILE"]))
        path, _ = self._test_file()
        if self.found is not None and len(self.found.surprising) and path != "-":
            row = int(self.truth.held.rows[self.found.surprising[0]])
            words = ["argmax", "explain", options.output, path, "--row", str(row)]
            console.say(f"{shlex.join(words)}    # the set that it expected least")

    # For programs

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        material, classifier, choice = self.material, self.classifier, self.fitted.choice
        target = material.target
        return {
            "model": self.options.output,
            "report": self.reported or None,
            "data": self.options.data,
            "target": list(target.columns),
            "delimiter": target.delimiter,
            "kinds": material.kinds,
            "labels": label_counts(material.sets, material.codes),
            "rows_learned": len(material.codes),
            "features": classifier.n_features_in_,
            "pairs": [
                {"label": a, "with": b, "weight": value}
                for a, b, value in strongest(classifier, len(classifier.pairs_))
            ],
            "C": classifier.C,
            "trials": [] if choice is None else [{"C": C, "log_loss": v} for C, v in choice.trials],
            "solution": {name: getattr(classifier.solution_, name) for name in TOLD},
            "findings": [asdict(finding) for finding in self.findings],
            "test": None if self.found is None else scoring.as_json(self.found, self.truth),
            "seconds": material.seconds | self.fitted.seconds,
        }


def strongest(classifier: Any, most: int) -> list[tuple[str, str, float]]:
    """The pairs of labels with the largest weights, and these."""
    order = abs(classifier.pair_weights_).argsort(kind="stable")[::-1][:most]
    names = [str(name) for name in classifier.classes_.tolist()]
    return [
        (*(names[j] for j in classifier.pairs_[i]), float(classifier.pair_weights_[i]))
        for i in order.tolist()
    ]


def setup(model: str, data: str, truth: Truth, test: float, seed: int, read: list[str]) -> str:
    """Python lines that bring back the model and the rows that it was judged by."""
    held, target = truth.held, truth.sets.target
    more = f", test={test:g}, seed={seed}" if test else ""
    more += f", read={read!r}" if read else ""
    more += f", room={held.room!r}" if held.met > len(held) else ""
    return (
        "import argmax\n"
        "from argmax.cli.label_sets.material import rows_of\n\n"
        f"model = argmax.load({model!r})\n"
        f"X, y, rows = rows_of({data!r}, {list(target.columns)!r}, {target.delimiter!r}, model{more})"
    )
