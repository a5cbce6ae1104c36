"""Bounds of a model -> what people and programs see of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import bounds, checks
from ..bounds import Bound, Mistakes, Report
from ..errors import InvalidInput
from .console import Console, count
from .held import Held

__all__ = ["as_json", "show", "show_plan"]

# For people


def show(title: str, learned: Held, held: Held, found: Report, console: Console) -> None:
    """A table of bounds, what they assume, a perceptron's mistakes, and how to read it all."""
    wrong = round(found["VC dimension"].terms["training mistakes"] * len(learned))
    console.say(title)
    console.say(f"{_share(wrong, learned)} that it learned from are answered wrongly.")
    if held:
        missed = int(found["test set"].facts["mistakes"])
        console.say(f"{_share(missed, held)} that it did not learn from are answered wrongly.")
    level = 100 * (1 - found.bounds[0].delta)
    console.heading(f"At most this share of new rows, each with probability {level:g} %")
    console.table(
        ["bound", ">at most", "verdict", "made of"],
        [[bound.name, bound.shown, bound.verdict, _made_of(bound)] for bound in found],
    )
    _show_assumptions(found, console)
    _show_mistakes(found.mistakes, console)
    _show_reading(found, console)


def _share(wrong: int, held: Held) -> str:
    n = len(held)
    looked_at = f", one of every {round(held.met / n):,}," if held.met > n else ""
    return f"{wrong:,} of {count(n, 'row')}{looked_at} ({wrong / n:.1%})"


def _made_of(bound: Bound) -> str:
    if bound.name == "PAC-Bayes":
        return f"twice the {bound.facts['gibbs']:.3f} of weights drawn around these"
    return " + ".join(f"{name} {value:.3f}" for name, value in bound.terms.items())


def _show_assumptions(found: Report, console: Console) -> None:
    needed: dict[str, list[str]] = {}
    for bound in found:
        for assumption in bound.assumptions:
            needed.setdefault(str(assumption), []).append(bound.name)
    console.heading("If: ✓ it is so, ✗ it is not, ? the data cannot tell")
    for text, names in needed.items():
        console.say(f"{text} ({_whose(names, [bound.name for bound in found])})", indent=2)


def _whose(names: list[str], every: list[str]) -> str:
    """Those that need it, or those that do not, whichever is shorter."""
    others = [name for name in every if name not in names]
    if len(others) < len(names):
        return "all but " + " and ".join(others) if others else "all"
    return "; ".join(names)


def _show_mistakes(found: Mistakes, console: Console) -> None:
    console.heading("Mistakes of a perceptron on the rows learned from")
    console.say(f"{found}.".removeprefix("perceptron: "), indent=2)


def _show_reading(found: Report, console: Console) -> None:
    console.heading("How to read it")
    best = found.best
    if best is None:
        console.say(
            "Nothing is promised: no bound is below 1 with none of its assumptions crossed. Hold rows out "
            "(--test) to get one that is.",
            indent=2,
        )
    else:
        console.say(
            f"The one to quote is the {best.name} bound: at most {best.shown} of new rows are answered "
            "wrongly, if what is marked ? is so.",
            indent=2,
        )
    console.say(
        "Vacuous does not mean bad: it means that this argument, which holds for the worst distribution and "
        "the worst way of choosing weights, cannot tell from so few rows.",
        indent=2,
    )


# Plans


def show_plan(
    gap: float, delta: float, known: Mapping[str, Any], console: Console
) -> list[dict[str, Any]]:
    """How many rows make the gap so small: to judge by, and to learn from what is ``known`` of the model."""
    gap = checks.number("--plan", gap, 0.0, 1.0, open_low=True)
    found = [
        {"to": to, "how": how, "rows": bounds.sample_size(kind, gap, delta=delta, **of_class)}
        for to, how, kind, of_class in _ways(**known)
    ]
    console.heading(f"Rows for a gap of {gap:g} with probability {100 * (1 - delta):g} %")
    rows = [[way["to"], way["how"], f"{way['rows']:,}"] for way in found]
    console.table(["to", "how", ">rows"], rows)
    return found


def _ways(
    features: int | None,
    classes: int | None,
    radius: float | None,
    rho: float | None,
    error: float | None = None,
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """To what end, by which argument, and what ``sample_size`` needs to know for it."""
    k = 2 if classes is None else classes
    yield "judge by", "whatever the mistakes", "test", {}
    if error is not None:
        yield "judge by", f"if {error:.1%} are mistakes", "test", {"error": error}
    if rho is not None:
        if radius is None:
            raise InvalidInput("--rho says nothing of a plan without --radius. Pass both.")
        of_ball = {"radius": radius, "rho": rho, "classes": k}
        yield "learn from", f"with a margin of {rho:g}", "margin", of_ball
    if features is not None:
        of_class = {"dimension": (k - 1) * (features + 1), "classes": k}
        yield "learn from", "by Rademacher", "rademacher", of_class
        yield "learn from", "by VC dimension", "vc", of_class
    elif classes is not None and rho is None:
        raise InvalidInput("--classes says nothing without --features. Pass both, or neither.")


# For programs


def as_json(learned: Held, held: Held, found: Report) -> dict[str, Any]:
    """The same for programs."""
    mistakes = found.mistakes
    return {
        "rows": {"learned_from": len(learned), "held_out": len(held)},
        "bounds": [_entry(bound) for bound in found],
        "best": None if found.best is None else found.best.name,
        "perceptron": {
            "bound": mistakes.bound,
            "bound_first_pass": mistakes.first_pass,
            "mistakes": mistakes.made,
            "mistakes_first_pass": mistakes.made_first,
            "margin": mistakes.margin,
            "radius": mistakes.radius,
            "separable": mistakes.separable,
        },
    }


def _entry(bound: Bound) -> dict[str, Any]:
    return {
        "name": bound.name,
        "value": bound.value,
        "verdict": bound.verdict,
        "terms": dict(bound.terms),
        "facts": dict(bound.facts),
        "assumptions": [{"text": a.text, "holds": a.holds} for a in bound.assumptions],
        "reference": bound.reference,
    }
