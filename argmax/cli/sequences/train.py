"""``argmax train`` on tagged sequences: a model, an honest account of how good it is, and a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

from ...data import Conll
from ...errors import InvalidInput
from ...estimators import SequenceTagger
from ...estimators.learner import FINE
from ...features import Templates, Tokens
from ...features.templates.language import parse_all
from ...features.templates.windows import Plan
from ...persist import save
from ..console import Console, count
from ..findings import ERROR, Finding, in_order
from ..fitting import cluster
from ..journal import Journal, check_outputs, journal_for
from ..outcome import NOT_CONVERGED, OK
from ..settings import penalty, template_options, test_share
from .account import Account
from .fitting import fit
from .parts import held_out
from .reading import columns_for, default_templates, named_templates, opened, target_of
from .scoring import judged
from .survey import Survey, scheme_of

__all__ = ["Options", "run"]

EPOCHS = 10
"""Of the perceptron, which ends when it makes no mistake or after so many."""


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """What was typed after ``argmax train``."""

    data: str
    target: str | None = None
    output: str = "model.argmax"
    report: str = "report.html"
    templates: str | None = None
    features: list[str] = field(default_factory=list)
    loss: str = "log"
    constraints: str = "auto"
    read: list[str] = field(default_factory=list)
    C: str = "auto"
    tol: float = 1e-4
    test: str = "0.2"
    seed: int = 0
    time_limit: float | None = None
    checkpoint: str | None = None
    resume: bool = False
    cluster: str | None = None
    calibrate: bool = False
    force: bool = False
    typed: str = ""
    """The whole command, for the report."""


def run(console: Console, **given: Any) -> int:
    """Read, split, choose C, fit, judge, write; the exit code is 3 if the certificate is not met."""
    options = Options(**given)
    share, C = test_share(options.test), penalty(options.C)
    source = opened(options.data, options.read)
    label = target_of(source, options.target)
    columns = columns_for(source, label)
    templates = _templates(options, source, columns, label)
    journal = _journal(options, source, label, templates)
    overwrite = options.force or journal.resumed
    check_outputs(options, overwrite, options.templates)
    journal.begin()
    survey, seconds = _read(source, columns, label, console)
    findings = _looked_through(survey, console)
    tokens = survey.tokens
    held = held_out(len(tokens), share or 0.0, options.seed)
    learn, test = tokens.take(~held), tokens.take(held)
    if share is None:
        test = opened(options.test, options.read).read([*columns, label])
    tagger = _tagger(options, templates, survey, console)
    with cluster(options.cluster) as engine:
        tagger.engine = engine
        fitted = fit(learn, label, tagger, C, options.seed, options.time_limit, journal, console)
    model: Any = fitted.tagger
    if options.calibrate:
        from .calibrating import calibrated

        model = calibrated(learn, label, fitted, options.seed, console)
    save(model, options.output, overwrite=overwrite)
    found = judged(model, test, columns[0], label, console)
    seconds |= fitted.seconds
    tried = model.selection_.log_loss if options.calibrate else None
    account = Account(options, source, survey, findings, learn, fitted, found, seconds, tried)
    account.write_report(overwrite, console)
    journal.close()
    account.show(console)
    return OK if fitted.tagger.solution_.status in FINE else NOT_CONVERGED


def _journal(options: Options, source: Conll, label: str, templates: Templates) -> Journal:
    """The record of this run, if one was asked for."""
    if options.checkpoint is None:
        return journal_for(options, "")
    told = {"data": source.digest, "target": label, "templates": list(templates.templates or ())}
    named = "features read loss constraints C tol test seed time_limit calibrate"
    return journal_for(options, named, **told)


def _templates(options: Options, source: Conll, columns: list[str], label: str) -> Templates:
    """Those of a file, or the default for these columns."""
    named = options.templates is not None
    texts = (
        named_templates(str(options.templates), source.columns)
        if named
        else default_templates(columns)
    )
    read = Plan.of(parse_all(texts), True).columns
    if label in read:
        raise InvalidInput(
            f"--templates read the column {label!r}, which is what the model is to tell. Leave them out."
        )
    if unknown := [name for name in read if name not in columns]:
        raise InvalidInput(
            f"--templates read the column {unknown[0]!r}; {source.path} has {', '.join(columns)} to learn "
            "from. Name its columns with --read names=word,…"
        )
    return Templates(texts, columns=columns, **template_options(options.features))


def _read(
    source: Conll, columns: list[str], label: str, console: Console
) -> tuple[Survey, dict[str, float]]:
    with console.stage(f"Reading {source.path}") as stage:
        tokens: Tokens = source.read([*columns, label])
        stage.done = f"Read {count(len(tokens), 'sequence')} of {source.path}"
    return Survey(tokens, columns[0], label, source.repairs), {"read": stage.seconds}


def _looked_through(survey: Survey, console: Console) -> list[Finding]:
    """What is wrong with the data; what makes a model impossible is an error here."""
    findings = in_order(survey.findings())
    for finding in findings:
        if finding.code in ("one-class", "not-classes"):
            raise InvalidInput(finding.message)
        if finding.severity == ERROR:
            console.warn(finding.message)
    return findings


def _tagger(
    options: Options, templates: Templates, survey: Survey, console: Console
) -> SequenceTagger:
    """As the options say; labels that mark spans are kept legal if those to learn from are."""
    rules: str | None = None if options.constraints == "none" else options.constraints
    if rules == "auto":
        rules = scheme_of(survey.names)
        if rules is not None and len(survey.illegal):
            console.warn(
                f"{count(len(survey.illegal), 'label')} that {rules} does not allow: the model is not kept "
                "to the scheme."
            )
            rules = None
        if rules is not None and not all(map(_is_typed, survey.names)):
            rules = None
    tagger = SequenceTagger(templates, options.loss, constraints=rules, tol=options.tol)
    tagger.random_state = options.seed
    if options.loss == "perceptron":
        tagger.max_iter = EPOCHS
    return tagger


def _is_typed(name: str) -> bool:
    """Whether a tag names a type: constraints know B-X, and not B alone."""
    return name == "O" or "-" in name
