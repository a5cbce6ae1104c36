"""The command line. Importing this module is cheap: each command imports what it needs.

A command is declared here and done in the module of its name, whose ``run`` takes the options by name and
a ``Console``, and returns the exit code.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Annotated

import typer

__all__ = ["app", "main"]

app = typer.Typer(
    name="argmax",
    help="Linear prediction over any set of answers: ŷ = argmax over y of ⟨w, Ψ(x, y)⟩.",
    epilog="Exit codes: 0 done, 1 findings, 2 bad input, 3 not converged, 4 resource limit, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help answers in half the time
    pretty_exceptions_enable=False,
)

Argument, Option = typer.Argument, typer.Option
TABLE = "CSV, TSV, JSON lines, Parquet, svmlight, CoNLL or CoNLL-U, plain or compressed"

Data = Annotated[str, Argument(metavar="DATA", help=f"{TABLE}; - is standard input.")]
Model = Annotated[str, Argument(metavar="MODEL", help="A file that `argmax train` wrote.")]
Target = Annotated[
    str | None,
    Option(metavar="COLUMN,…", help="The column to predict; several columns of 0 and 1: labels."),
]
Labels = Annotated[
    str,
    Option(metavar="auto|none|DELIMITER", help="What stands between several labels in --target."),
]
Kinds = Annotated[
    list[str],
    Option(metavar="COLUMN=KIND,…", help="What columns are: number, category, text, id or ignore."),
]
Read = Annotated[
    list[str],
    Option(
        metavar="NAME=VALUE",
        help="How files are read: encoding, delimiter, format, missing, names, strict, or a limit "
        "such as line_bytes.",
    ),
]
Memory = Annotated[
    str | None,
    Option(metavar="SIZE", help="How much rows may take. Default: half of what is free."),
]
Force = Annotated[bool, Option("--force", help="Replace files that exist.")]
Json = Annotated[bool, Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="No progress on stderr.")]


def _run(context: typer.Context, json: bool, quiet: bool, typed: bool = False) -> None:
    """Run the module of a command with the options that were given, and end with its exit code."""
    import shlex

    from .console import Console
    from .importing import import_quickly
    from .outcome import guarded

    options = {name: v for name, v in context.params.items() if name not in ("json", "quiet")}
    given = [name for name in options if _was_typed(context, name)]
    if typed:
        options["typed"] = shlex.join(["argmax", *sys.argv[1:]])

    def command() -> int:
        route = import_quickly(f"{__package__}.route")
        module, taken = route.chosen(str(context.info_name), options, given)
        status: int = module.run(**taken, console=Console(json, quiet))
        return status

    raise typer.Exit(guarded(command, json))


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _version(wanted: bool) -> None:
    if wanted:
        from argmax import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """What ``argmax`` starts: a command, and then the end of the process.

    Python would first take apart every module and all that Numba has built, which takes longer than many a
    command computes. Nothing depends on it: files are closed, and what is to be done at the end is done here.
    """
    try:
        app()
    except SystemExit as end:
        if not isinstance(end.code, int) or not _flushed():
            raise
        atexit._run_exitfuncs()
        os._exit(end.code)


def _flushed() -> bool:
    """Whether all output has left. If it cannot, Python says so while it ends."""
    try:
        print(end="", flush=True)
        print(end="", file=sys.stderr, flush=True)
    except OSError:
        return False
    return True


@app.callback()
def _before(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold what stands before a command."""


@app.command("demo")
def _demo(
    context: typer.Context,
    output: Annotated[
        str | None, Option("--output", "-o", metavar="FOLDER", help="Where files go.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The main job from end to end, on built-in data.

    Writes a table of support tickets and a file of tagged sentences into a new folder, then runs check,
    train, evaluate and explain on both; and segments a noisy picture with weights that it learns.
    """
    _run(context, json, quiet)


@app.command("check")
def _check(
    context: typer.Context,
    data: Data,
    test: Annotated[
        str | None, Argument(metavar="TEST", help="Rows to judge by: looked at for overlap.")
    ] = None,
    target: Target = None,
    labels: Labels = "auto",
    kinds: Kinds = [],  # noqa: B006, typer copies it
    read: Read = [],  # noqa: B006
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for what is wrong with a file.

    Classes, repeated rows, conflicting labels, empty texts, columns that give the class away, and with TEST
    the overlap of the two files. Of tagged sequences: labels, spans, illegal tags, ambiguous words.

    Exit code 1 if there is a finding of severity "error".
    """
    _run(context, json, quiet)


@app.command("train")
def _train(
    context: typer.Context,
    data: Data,
    target: Target = None,
    labels: Labels = "auto",
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = "model.argmax",
    report: Annotated[
        str, Option(metavar="FILE", help='Where the report goes; "" for none.')
    ] = "report.html",
    test: Annotated[
        str,
        Option(metavar="SHARE|FILE", help="Rows to judge by: a share of DATA, or another file."),
    ] = "0.2",
    kinds: Kinds = [],  # noqa: B006, typer copies it
    features: Annotated[
        list[str],
        Option(metavar="NAME=VALUE", help="How features are made: ngrams=1-2, hash_bits=18, …"),
    ] = [],  # noqa: B006
    templates: Annotated[
        str | None,
        Option(metavar="FILE", help="Sequences: templates, one a line, or those of CRF++."),
    ] = None,
    loss: Annotated[
        str,
        Option(
            metavar="NAME",
            help="log, hinge, pa1, …: any loss; without probabilities it is calibrated as well.",
        ),
    ] = "log",
    pairs: Annotated[
        str | None,
        Option(metavar="tree|none|all", help="Several labels: which of them are joined."),
    ] = None,
    decoding: Annotated[
        str | None,
        Option(metavar="argmax|hamming|f1", help="Several labels: which set is the answer."),
    ] = None,
    constraints: Annotated[
        str, Option(metavar="auto|BIO|BILOU|none", help="Sequences: which labels may follow.")
    ] = "auto",
    read: Read = [],  # noqa: B006
    C: Annotated[
        str,
        Option("--C", metavar="auto|NUMBER", help="Weight of the loss against the penalty."),
    ] = "auto",
    tol: Annotated[float, Option(help="How close to the optimum is close enough.")] = 1e-4,
    seed: Annotated[int, Option(min=0, help="Of the choice of held-out rows.")] = 0,
    time_limit: Annotated[
        float | None, Option(metavar="SECONDS", min=0, help="For choosing C and for the fit.")
    ] = None,
    checkpoint: Annotated[
        str | None, Option(metavar="FILE", help="Keep a record of the run here.")
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="Go on from --checkpoint, if it is there.")
    ] = False,
    cluster: Annotated[
        str | None, Option(metavar="ADDRESS", help="Compute on the Dask cluster of this scheduler.")
    ] = None,
    calibrate: Annotated[
        bool,
        Option("--calibrate", help="Make probabilities honest on what is left out of fits."),
    ] = False,
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model from a file and judge it.

    A table gives a classifier, of one label a row or of several; tagged sequences (CoNLL) give a tagger. Some
    rows are held out, C is chosen on a part of the others, and the model is fitted on all of those. What the
    model is worth is measured on the rows held out, and written into a report.

    Exit code 3 if the fit did not converge: the model is written and usable all the same.
    """
    _run(context, json, quiet, typed=True)


@app.command("compare")
def _compare(
    context: typer.Context,
    data: Data,
    target: Target = None,
    methods: Annotated[
        list[str], Option(metavar="NAME,…", help="Only these: log, hinge, one_vs_rest, …")
    ] = [],  # noqa: B006, typer copies it
    cost: Annotated[
        str | None,
        Option(metavar="FILE", help="Costs; a row for each truth, a column for each action."),
    ] = None,
    by: Annotated[
        str, Option(metavar="SCORE", help="The order: log-loss, accuracy, f1 or cost.")
    ] = "auto",
    test: Annotated[
        str,
        Option(metavar="SHARE|FILE", help="Rows to judge by: a share of DATA, or another file."),
    ] = "0.2",
    kinds: Kinds = [],  # noqa: B006
    features: Annotated[
        list[str],
        Option(metavar="NAME=VALUE", help="How features are made: ngrams=1-2, hash_bits=18, …"),
    ] = [],  # noqa: B006
    read: Read = [],  # noqa: B006
    seed: Annotated[int, Option(min=0, help="Of the choice of held-out rows.")] = 0,
    time_limit: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0, help="For all methods; slow ones are left out by name."),
    ] = None,
    memory: Memory = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare losses and reductions on a table.

    The same rows and features for all. Each method chooses its C, is fitted, and is judged on the rows held
    out: log-loss, accuracy, macro-F1, cost, with intervals; seconds, size; and which of them these rows
    cannot tell from the best.
    """
    _run(context, json, quiet)


@app.command("predict")
def _predict(
    context: typer.Context,
    model: Model,
    data: Data,
    proba: Annotated[
        bool, Option("--proba", help="The probability of every class as well.")
    ] = False,
    top: Annotated[
        int | None, Option(metavar="K", help="The K best classes and their probabilities.")
    ] = None,
    cost: Annotated[
        str | None,
        Option(
            metavar="FILE", help="Tables: costs; a row for each truth, a column for each action."
        ),
    ] = None,
    reject: Annotated[
        float | None,
        Option(metavar="COST", help="Tables: do not answer where it is expected to cost more."),
    ] = None,
    target: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Sequences: write labels into this column, not behind."),
    ] = None,
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="A file instead of stdout (.jsonl: JSON)."),
    ] = None,
    read: Read = [],  # noqa: B006
    force: Force = False,
    json: Annotated[bool, Option("--json", help="JSON lines instead of CSV.")] = False,
    quiet: Quiet = False,
) -> None:
    """Answer every row or token of a file.

    Rows are read, answered and written one batch at a time, in order and in flat memory. A tagger writes
    every line as it came, with the label behind it.
    """
    _run(context, json, quiet)


@app.command("evaluate")
def _evaluate(
    context: typer.Context,
    model: Model,
    data: Data,
    target: Annotated[
        str | None, Option(metavar="COLUMN", help="The column of the labels, if it is not plain.")
    ] = None,
    labels: Labels = "auto",
    report: Annotated[str | None, Option(metavar="FILE", help="Write a report here.")] = None,
    cost: Annotated[
        str | None,
        Option(metavar="FILE", help="Tables: costs, and what knowing them saves (see predict)."),
    ] = None,
    read: Read = [],  # noqa: B006
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score a model on rows with labels.

    Labels that the model does not know count as mistakes and are listed.
    """
    _run(context, json, quiet, typed=True)


@app.command("calibrate")
def _calibrate(
    context: typer.Context,
    model: Model,
    data: Data,
    target: Annotated[
        str | None, Option(metavar="COLUMN", help="The column of the labels, if it is not plain.")
    ] = None,
    method: Annotated[
        str,
        Option(
            metavar="NAME", help="auto, identity, temperature, bias_corrected, vector or matrix."
        ),
    ] = "auto",
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Where the calibrated model goes.")
    ] = "calibrated.argmax",
    read: Read = [],  # noqa: B006
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the probabilities of a model honest.

    DATA are rows or sequences with labels that the model has not learned from. The method is chosen by its
    log-loss on rows, or tokens, left out, and the calibrated model is written as a model of its own.
    """
    _run(context, json, quiet)


@app.command("bounds")
def _bounds(
    context: typer.Context,
    model: Annotated[
        str | None, Argument(metavar="MODEL", help="A file that `argmax train` wrote.")
    ] = None,
    data: Annotated[
        str | None, Argument(metavar="DATA", help="The file that it was trained on.")
    ] = None,
    test: Annotated[
        str,
        Option(metavar="SHARE|FILE", help="Rows held out: as `argmax train` was told, or a file."),
    ] = "0.2",
    seed: Annotated[int, Option(min=0, help="Of the choice of held-out rows, as in train.")] = 0,
    target: Annotated[
        str | None, Option(metavar="COLUMN", help="The column of the labels, if it is not plain.")
    ] = None,
    delta: Annotated[float, Option(help="The chance that a promise may fail.")] = 0.05,
    radius: Annotated[
        float | None, Option(help="No row of features, ever, is longer (if you know).")
    ] = None,
    rho: Annotated[
        float | None, Option(help="A margin that you fixed before you saw the rows.")
    ] = None,
    plan: Annotated[
        float | None, Option(metavar="GAP", help="How many rows make the gap this small.")
    ] = None,
    features: Annotated[
        int | None, Option(metavar="N", min=1, help="With --plan and no model: how many features.")
    ] = None,
    classes: Annotated[
        int | None, Option(metavar="K", min=2, help="With --plan and no model: how many classes.")
    ] = None,
    read: Read = [],  # noqa: B006, typer copies it
    memory: Memory = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what theory promises for a model.

    Every generalisation bound in its correct form, with its assumptions ticked, crossed or open, and
    "vacuous" where it says nothing; and a perceptron's mistakes against their bound. With --plan: how many
    rows are needed.
    """
    _run(context, json, quiet)


@app.command("shift")
def _shift(
    context: typer.Context,
    model: Model,
    new: Annotated[
        str, Argument(metavar="NEW", help="Rows from where the model is used; no labels.")
    ],
    validation: Annotated[
        str,
        Option(metavar="FILE", help="Rows with labels that the model has not learned from."),
    ],
    test: Annotated[
        float,
        Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="--validation is the file trained on: take the share that training held out.",
        ),
    ] = 0.0,
    seed: Annotated[int, Option(min=0, help="Of that share, as in training.")] = 0,
    target: Annotated[
        str | None, Option(metavar="COLUMN", help="The column of the labels, if it is not plain.")
    ] = None,
    adapt: Annotated[
        str | None,
        Option(metavar="FILE", help="Tables: write a model for the new frequencies of classes."),
    ] = None,
    report: Annotated[
        str | None, Option(metavar="FILE", help="Write the page with four drawings: HTML.")
    ] = None,
    picture: Annotated[
        str | None, Option(metavar="FILE", help="The four drawings alone: .png, .svg or .pdf.")
    ] = None,
    read: Read = [],  # noqa: B006
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say whether the world has moved, and adapt.

    Compares rows from where the model is used with rows that have labels: what moved and how sure that is,
    what the model is worth there, what to do, and what cannot be known without labels. --adapt writes an
    adapted model if that is advised; with --force, whatever is advised.

    Exit code 1 if something has moved.
    """
    _run(context, json, quiet, typed=True)


@app.command("explain")
def _explain(
    context: typer.Context,
    model: Model,
    what: Annotated[str, Argument(metavar="DATA|TEXT", help="A file (see --row), or a text.")],
    row: Annotated[
        int | None, Option(metavar="N", help="Which row (or sequence) of the file, from 0.")
    ] = None,
    against: Annotated[
        str | None, Option(metavar="CLASS", help="Compare with this class, not the runner-up.")
    ] = None,
    top: Annotated[int, Option(min=1, metavar="K", help="How many features to show.")] = 15,
    read: Read = [],  # noqa: B006
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say why a model answers what it answers.

    Contributions of the features of one row, winner against runner-up. They add up to the lead exactly. Of a
    tagger, the same for each token of one sequence.
    """
    _run(context, json, quiet)


@app.command("info")
def _info(
    context: typer.Context,
    model: Annotated[str | None, Argument(metavar="MODEL", help="A model file.")] = None,
    markdown: Annotated[bool, Option("--markdown", help="For a bug report.")] = False,
    json: Json = False,
) -> None:
    """Show what a model file holds, or versions.

    Without a model: what to write into a bug report.
    """
    _run(context, json, False)
