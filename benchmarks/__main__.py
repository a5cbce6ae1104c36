"""The command line of ``make bench``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module

from .common import (
    Neighbours,
    Options,
    Outcome,
    cores,
    machine,
    say,
    summary,
    thread_variables,
    write_json,
)

COMPARISONS = (
    "main_job", "softmax", "svm", "online", "reductions", "tagging", "predict", "features", "memory",
    "larger", "cold_start", "calibration", "probabilities", "shift", "multilabel", "graphs", "segmentation",
    "threads", "zoo",
)  # fmt: skip
SETS = (
    "mnist", "20news", "clinc150", "letter", "satimage", "letter-scaled", "satimage-scaled", "tickets",
    "conll2000", "ewt-upos", "ewt-xpos", "wnut17", "mac_morpho",
    "emotions", "scene", "yeast", "enron", "bibtex", "delicious",
)  # fmt: skip
OF_ZOO = "seed", "sets", "losses", "draws", "minutes", "cpu", "all", "others", "peers", "kinds"
CORES_FOR_SCALING = 4


def parser() -> argparse.ArgumentParser:
    about = "Every figure is a ratio to a peer, measured in the same run, in turn, as a median."
    result = argparse.ArgumentParser(prog="python -m benchmarks", description=about)
    result.add_argument("comparison", nargs="?", default="all", choices=[*COMPARISONS, "all"])
    result.add_argument(
        "--quick", action="store_true", help="tiny data: shows that it runs, no more"
    )
    result.add_argument(
        "--full", action="store_true", help="repeat slow peers too, with full limits"
    )
    result.add_argument("--threads", type=int, help="for everybody (default: all cores)")
    result.add_argument(
        "--data", nargs="+", default=[], choices=SETS, metavar="SET", help=f"of {', '.join(SETS)}"
    )
    result.add_argument(
        "--limit", type=float, help="seconds for one run of a peer (default: by set)"
    )
    result.add_argument("--json", metavar="FILE", help="write all figures here as well")
    zoo = result.add_argument_group("of zoo alone")
    zoo.add_argument("--seed", type=int, help="of all draws (default: drawn and printed)")
    zoo.add_argument("--sets", metavar="A,B", help="sets, families, or draws such as scales#12")
    zoo.add_argument("--losses", metavar="A,B", help="losses (default: all that are minimised)")
    zoo.add_argument("--kinds", metavar="A,B", help="of rows, sequences, graphs (default: all)")
    zoo.add_argument("--draws", type=int, help="rounds, with one draw of each family (default: 6)")
    zoo.add_argument("--minutes", type=float, help="end after so many")
    zoo.add_argument(
        "--cpu",
        action="store_true",
        help="count processor seconds; for a machine that is not quiet",
    )
    zoo.add_argument(
        "--others", type=float, metavar="SHARE", help="of rows that all our solvers fit (0.3)"
    )
    zoo.add_argument("--peers", type=float, metavar="SHARE", help="of rows that peers fit (0.3)")
    zoo.add_argument("--all", action="store_true", help="print every row")
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    threads = given.threads or cores()
    os.environ.update(thread_variables(threads))  # before NumPy is imported
    own = {name: getattr(given, name) for name in OF_ZOO}
    options = Options(given.quick, given.full, threads, tuple(given.data), given.limit, own)
    about = machine(threads)
    say(about)
    if given.quick:
        say("--quick: the data are cut to a few hundred rows. The figures below mean nothing.")
    outcomes = [run(name, options) for name in chosen(given.comparison)]
    summary(outcomes)
    if given.json:
        write_json(given.json, about, outcomes)


def chosen(comparison: str) -> list[str]:
    """The comparisons to run; scaling over threads says nothing where there are few cores."""
    if comparison != "all":
        return [comparison]
    names = list(COMPARISONS)
    if cores() < CORES_FOR_SCALING:
        say(f"Left out: threads (only {cores()} cores to scale over). Ask for it by name.")
        names.remove("threads")
    return names


def run(name: str, options: Options) -> Outcome:
    from threadpoolctl import threadpool_limits

    say(f"\n── {name} ──")
    comparison = import_module(f".{name}", __package__)
    with threadpool_limits(options.threads), Neighbours() as others:
        outcome: Outcome = comparison.run(options)
    say(str(others))
    return outcome


if __name__ == "__main__":
    main()
