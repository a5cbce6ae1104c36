"""The command line. Importing this module is cheap: each command imports what it needs."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(
    name="argmax",
    help="Linear prediction over any set of answers: ŷ = argmax over y of ⟨w, Ψ(x, y)⟩.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from argmax import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Exit codes: 0 ok, 2 bad input, 3 not converged, 130 interrupted."""


@app.command()
def demo(
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Classify handwritten digits: train a path of models, compare them, say why each stopped."""
    from .demo import run

    raise typer.Exit(run(as_json=json))
