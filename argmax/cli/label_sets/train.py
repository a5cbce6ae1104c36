"""``argmax train`` on a table with several labels a row."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from ...data import Source
from ...errors import InvalidInput
from ...features import Table
from ...persist import check_writable, save
from ..console import Console, count
from ..outcome import NOT_CONVERGED, OK
from ..reading import opened
from ..settings import feature_options, memory_limit, penalty, test_share
from .account import Account
from .fitting import Rows, fit
from .material import Material, Truth, gathered, looked_through, read_truth
from .reading import Target

if TYPE_CHECKING:
    from ..train import Options

__all__ = ["run"]

REFUSED = {
    "cluster": "fits run on this machine",
    "checkpoint": "there is no record to go on from",
    "resume": "there is no record to go on from",
    "calibrate": "probabilities of labels are not calibrated",
}
"""Options of tables with one label a row, and why they mean nothing here."""


def run(source: Source, target: Target, options: Options, console: Console) -> int:
    """Read, split, choose C, fit, judge, write; the exit code is 3 if the certificate is not met."""
    share, C = test_share(options.test), penalty(options.C)
    table = feature_options(options.features)
    _check_options(options)
    _check_outputs(options)
    say_target(target, console)
    limit = memory_limit(options.memory)
    material = gathered(source, target, share or 0.0, options.seed, limit, console)
    findings = looked_through(material, console)
    with console.stage("Making features") as stage:
        rows = Rows(material, Table(material.kinds, **table), options.seed + 1)
        stage.done = f"Made {rows.features:,} features of {count(len(material.kinds), 'column')}"
    material.seconds["features"] = stage.seconds
    fitted = fit(rows, C, _parameters(options, material), options.time_limit, console)
    model = Pipeline([("table", rows.table), ("classifier", fitted.classifier)])
    save(model, options.output, overwrite=options.force)
    truth = material.truth if share is not None else _test_rows(options, material, console)
    account = Account(options, material, findings, fitted, model, truth)
    account.write_report(console)
    account.show(console)
    return OK if fitted.classifier.solution_.converged else NOT_CONVERGED


def say_target(target: Target, console: Console) -> None:
    """How the labels stand in the file: recognised, so it can be wrong."""
    if target.delimiter is None:
        console.note(f"Several labels a row: columns of 0 and 1 ({target.shown}).")
    else:
        console.note(
            f"Several labels a row: {target.shown!r} lists them with {target.delimiter!r} between. If it "
            "does not, pass --labels none, or what stands between them."
        )


def _check_options(options: Options) -> None:
    for name, why in REFUSED.items():
        if getattr(options, name):
            raise InvalidInput(
                f"--{name} is for one label a row: of several labels {why}. Leave it out."
            )
    if options.loss != "log":
        raise InvalidInput(
            f"--loss {options.loss} is for one label a row: sets are learned with log. Leave it out."
        )


def _check_outputs(options: Options) -> None:
    """Refuse, before any work, paths that could not be written to after it."""
    paths = [options.data, options.output, options.report, options.test]
    given = [os.path.abspath(path) for path in paths if path and path != "-"]
    if len(set(given)) < len(given):
        raise InvalidInput("data, test, model and report must be different files.")
    for path in filter(None, (options.output, options.report)):
        check_writable(path, overwrite=options.force)


def _parameters(options: Options, material: Material) -> dict[str, Any]:
    return {
        "pairs": options.pairs or "tree",
        "decoding": options.decoding or "argmax",
        "labels": material.sets.labels,
        "tol": options.tol,
        "random_state": options.seed,
    }


def _test_rows(options: Options, material: Material, console: Console) -> Truth:
    """The rows of ``--test FILE``, whose labels stand there as in the data."""
    source = opened(options.test, read=options.read)
    labels, room = material.sets.labels, material.held.room
    return read_truth(source, material.target, material.kinds, labels, room, console)
