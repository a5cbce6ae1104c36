"""What ``argmax train`` says when it is done: to people, to programs, and in the report."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from .. import losses
from ..estimators.learner import FINE
from ..report import write
from ..report.evaluation import digest
from ..report.measures import Measures
from . import scoring
from .console import Console, count
from .findings import Finding, say_how_many
from .fitting import Fitted
from .held import Held
from .material import Material
from .tried import show_choice, show_tried

if TYPE_CHECKING:
    from ..calibration import Calibrated
    from .train import Options

__all__ = ["Account", "setup"]

DIGESTED = 2**30
"""Bytes of a file up to which its digest is worth one more look at all of it."""


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
        held: Held,
        calibrated: Calibrated | None = None,
    ) -> None:
        self.calibrated = calibrated
        self.options, self.material, self.findings = options, material, findings
        self.fitted, self.model, self.held = fitted, model, held
        self.source, self.target = material.source, material.target
        self.reported = ""

    @property
    def solution(self) -> Any:
        return self.fitted.classifier.solution_

    @property
    def counts(self) -> Any:
        """Rows to learn from of each class, in the order of the model's classes."""
        codes, names = self.material.codes, self.material.classes
        counts = np.bincount(codes, minlength=len(names))
        return counts[np.argsort(names, kind="stable")].tolist()

    @cached_property
    def measures(self) -> Measures | None:
        """The scores on the rows held out, if there are any."""
        if not len(self.held):
            return None
        options, source = self.options, self.source
        digests = {"weights": digest(self.model[-1].coef_)}
        if (source.bytes or 0) <= DIGESTED and source.digest:
            digests = {os.path.basename(source.path): source.digest} | digests
        found = scoring.evaluation(
            self.model,
            self.held,
            self.fitted.classifier,
            title=f"{self.target} from {os.path.basename(source.path)}",
            columns=[column for column in source.columns if column.name != self.target],
            findings=[f"{finding.severity}: {finding.message}" for finding in self.findings],
            training_counts=self.counts,
            seconds=self.material.seconds | self.fitted.seconds,
            seed=options.seed,
            digests=digests,
            commands=[options.typed],
            setup=setup(options.output, *self._test_file(), options.read, self.held),
        )
        return Measures(found)

    def _test_file(self) -> tuple[str, str, float, int]:
        """The file of the rows to judge by, its target, the share that was held out, and the seed."""
        options = self.options
        if self.held is self.material.held:
            return options.data, self.target, float(options.test), options.seed
        return options.test, self.target, 0.0, 0

    def write_report(self, overwrite: bool, console: Console) -> None:
        """One HTML page, unless it was not wanted or there is nothing to judge by."""
        if not self.options.report or self.measures is None:
            return
        with console.stage("Writing the report") as stage:
            write(self.options.report, self.measures, overwrite=overwrite)
            self.reported = self.options.report
            stage.done = "Judged and reported"

    # For people

    def show(self, console: Console) -> None:
        """A table, why it stopped, what was written, and what to type next."""
        self._say_what(console)
        if self.fitted.choice is not None:
            show_choice(self.fitted.choice, "log-loss", console)
        self._say_calibration(console)
        if self.measures is not None:
            scoring.show(self.measures, self.held, console, " that the model has not seen")
        self._say_ending(console)
        console.result(self.as_json())

    def _say_what(self, console: Console) -> None:
        survey, learned = self.material.survey, len(self.material.codes)
        console.say(
            f"{self.source.path}: {count(survey.rows, 'row')}; {self.target!r} "
            f"({count(len(self.counts), 'class')}) from {count(len(self.material.kinds), 'column')}"
        )
        rows = [
            [name, kind, _missing(self.model[0], name)]
            for name, kind in self.material.kinds.items()
        ]
        left_out = [n for n, kind in survey.kinds.items() if kind in ("id", "ignore")]
        rows += [[name, f"{survey.kinds[name]}: left out", ""] for name in left_out]
        console.table(["column", "kind", ">missing"], rows[:30])
        if len(rows) > 30:
            console.say(f"… and {len(rows) - 30:,} more")
        where = "" if self.held is self.material.held else f" in {self.options.test}"
        console.say(f"{learned:,} rows to learn from, {self.held.met:,} to judge by{where}.")
        say_how_many(self.findings, self.options.data, self.target, console)

    @property
    def _tried(self) -> dict[str, float] | None:
        """The log loss of each way to calibrate, if one was chosen."""
        found = None if self.calibrated is None else self.calibrated.selection_
        return None if found is None else found.log_loss

    def _say_calibration(self, console: Console) -> None:
        if self._tried is None:
            return
        title = "Calibrating, on rows that were left out of a fit"
        show_tried(title, self._tried, None, console)
        if not losses.get(self.options.loss).probabilities:
            console.say(f"Scores of --loss {self.options.loss} are no probabilities until then.")

    def _say_ending(self, console: Console) -> None:
        options = self.options
        console.heading("Why it stopped")
        console.say(self.solution.message)
        if self.solution.status not in FINE:
            console.warn(
                "the certificate is not met (exit code 3). Give it more --time-limit, or a larger --tol."
            )
        console.heading("Written")
        for path in filter(None, (options.output, self.reported)):
            console.say(f"{path}  ({os.path.getsize(path) / 1024:,.0f} KiB)")
        console.heading("Next")
        console.say(shlex.join(["argmax", "predict", options.output, "NEW_FILE"]))
        path, *_ = self._test_file()
        if self.measures is not None and len(self.measures.surprising) and path != "-":
            row = int(self.held.rows[self.measures.surprising[0]])
            words = ["argmax", "explain", options.output, path, "--row", str(row)]
            console.say(f"{shlex.join(words)}    # its most confident mistake")

    # For programs

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        solution, choice = self.solution, self.fitted.choice
        told = (
            "status",
            "message",
            "solver",
            "passes",
            "seconds",
            "objective",
            "gap",
            "relative_gap",
        )
        return {
            "model": self.options.output,
            "report": self.reported or None,
            "data": self.options.data,
            "target": self.target,
            "kinds": self.material.kinds,
            "classes": dict(
                zip(self.fitted.classifier.classes_.tolist(), self.counts, strict=True)
            ),
            "rows_learned": len(self.material.codes),
            "rows_in_memory": self.material.kept,
            "features": self.fitted.classifier.n_features_in_,
            "C": self.fitted.classifier.C,
            "trials": [] if choice is None else [{"C": C, "log_loss": v} for C, v in choice.trials],
            "calibration": self._tried,
            "solution": {name: getattr(solution, name) for name in told},
            "findings": [asdict(finding) for finding in self.findings],
            "test": None if self.measures is None else scoring.as_json(self.measures, self.held),
            "seconds": self.material.seconds | self.fitted.seconds,
        }


def setup(
    model: str, data: str, target: str, test: float, seed: int, read: list[str], held: Held
) -> str:
    """Python lines that bring back the model and the rows that it was judged by."""
    more = f", test={test:g}, seed={seed}" if test else ""
    more += f", read={read!r}" if read else ""
    more += f", room={held.room!r}" if held.met > len(held) else ""
    return (
        "import argmax\n"
        "from argmax.cli.held import rows_of\n\n"
        f"model = argmax.load({model!r})\n"
        f"X, y, rows = rows_of({data!r}, {target!r}, model[0].kinds_{more})"
    )


def _missing(table: Any, name: str) -> str:
    found = table.missing_.get(name, 0)
    return f"{found:,}" if found else ""
