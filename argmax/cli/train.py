"""``argmax train``: from a table to a model, an honest account of how good it is, and a report."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from sklearn.pipeline import Pipeline

from .. import losses
from ..errors import InvalidInput
from ..estimators.learner import FINE
from ..features import Table
from ..persist import save
from ..report.page import prepare
from .account import Account
from .console import Console, count
from .fitting import Fitted, cluster, fit
from .held import Held, read_held
from .importing import meanwhile
from .journal import Journal, check_outputs, journal_for
from .label_sets.reading import target_of as several_labels
from .material import Material, gathered, looked_through
from .models import folded
from .outcome import NOT_CONVERGED, OK
from .reading import opened, target_of
from .rows import InFiles, InMemory, Rows
from .settings import feature_options, memory_limit, penalty, test_share
from .splitting import HeldOut

__all__ = ["Options", "run"]

DECIDING = "kinds features read loss C tol test seed time_limit calibrate"
"""The options that decide which model comes out."""


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """What was typed after ``argmax train``."""

    data: str
    target: str | None = None
    output: str = "model.argmax"
    report: str = "report.html"
    kinds: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    loss: str = "log"
    C: str = "auto"
    tol: float = 1e-4
    test: str = "0.2"
    seed: int = 0
    time_limit: float | None = None
    checkpoint: str | None = None
    resume: bool = False
    cluster: str | None = None
    calibrate: bool = False
    labels: str = "auto"
    pairs: str | None = None
    decoding: str | None = None
    memory: str | None = None
    force: bool = False
    typed: str = ""
    """The whole command, for the report."""


def run(console: Console, **given: Any) -> int:
    """Read, split, choose C, fit, judge, write; the exit code is 3 if the certificate is not met."""
    options = Options(**given)
    source = opened(options.data, options.kinds, options.read)
    if (several := several_labels(source, options.target, options.labels)) is not None:
        from .label_sets.train import run as run_on_sets

        return run_on_sets(source, several, options, console)
    _check_one_label(options)
    share, C, loss = test_share(options.test), penalty(options.C), losses.get(options.loss)
    table = feature_options(options.features)
    target = target_of(source, options.target)
    told = {"data": source.digest, "target": target} if options.checkpoint else {}
    journal = journal_for(options, DECIDING, **told)
    overwrite = options.force or journal.resumed
    check_outputs(options, overwrite)
    journal.begin()
    limit = memory_limit(options.memory)
    material = gathered(source, target, HeldOut(share or 0.0, options.seed), limit, console)
    findings = looked_through(material, console)
    held = material.held if share is not None else _test_rows(options, material, console)
    with ExitStack() as stack:
        engine = stack.enter_context(cluster(options.cluster))
        rows = _prepared(material, Table(material.kinds, **table), options, journal, stack, console)
        parameters = {"loss": loss.name, "tol": options.tol, "random_state": options.seed}
        parameters["engine"] = engine
        if options.report:
            stack.enter_context(meanwhile(prepare))
        fitted = fit(rows, C, parameters, journal, options.time_limit, console)
        calibrate = options.calibrate or not loss.probabilities
        honest = _calibrated(rows, fitted, console) if calibrate else None
    model = Pipeline([("table", rows.table), ("classifier", honest or fitted.classifier)])
    save(model, options.output, overwrite=overwrite)
    account = Account(options, material, findings, fitted, folded(model), held, honest)
    account.write_report(overwrite, console)
    journal.close()
    account.show(console)
    return OK if fitted.classifier.solution_.status in FINE else NOT_CONVERGED


def _check_one_label(options: Options) -> None:
    for name in ("pairs", "decoding"):
        if getattr(options, name) is not None:
            raise InvalidInput(
                f"--{name} is for several labels a row, and {options.target!r} has one. Leave it out, or say "
                "what stands between labels with --labels."
            )


def _calibrated(rows: Rows, fitted: Fitted, console: Console) -> Any:
    from .calibrating import calibrated

    return calibrated(rows, fitted, console)


def _test_rows(options: Options, material: Material, console: Console) -> Held:
    """The rows of ``--test FILE``."""
    source = opened(options.test, read=options.read)
    return read_held(source, material.target, material.kinds, material.held.room, console)


def _prepared(
    material: Material,
    table: Table,
    options: Options,
    journal: Journal,
    stack: ExitStack,
    console: Console,
) -> Rows:
    """Rows of numbers: in memory, or in files that are removed at the end."""
    seed = options.seed + 1  # C is chosen on a part that has nothing to do with the rows held out
    with console.stage("Making features") as stage:
        if material.kept:
            rows: Rows = InMemory(material, table, seed)
        else:
            limit = f"{material.memory / 2**20:,.0f} MiB"
            console.note(f"The rows do not fit into {limit} (--memory): they go to files.")
            rows = InFiles(material, table, seed, _folder(options, journal, stack), stage)
        stage.done = f"Made {rows.features:,} features of {count(len(material.kinds), 'column')}"
    material.seconds["features"] = stage.seconds
    return rows


def _folder(options: Options, journal: Journal, stack: ExitStack) -> Path:
    """Where rows go: beside the checkpoint, which may need them again, or for a while beside the model."""
    if journal.rows is not None:
        return journal.rows
    beside = os.path.dirname(os.path.abspath(options.output))  # a disk that the user has chosen
    temporary = tempfile.TemporaryDirectory(prefix=".argmax-", dir=beside)
    return Path(stack.enter_context(temporary))
