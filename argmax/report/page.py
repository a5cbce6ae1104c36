"""One self-contained HTML file: the template, its style and script, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import ResourceLimit
from . import safe, sections
from .evaluation import Evaluation
from .limits import Limits
from .measures import Measures

if TYPE_CHECKING:
    from .label_sets.evaluation import LabelSets
    from .label_sets.measures import Measures as SetMeasures
    from .shifted import Shifted
    from .tagging.evaluation import Tagging

__all__ = ["LARGEST", "prepare", "render", "write"]

HERE = Path(__file__).parent
LARGEST = 1_000_000
"""Bytes that a report may have; it shows fewer rows, weights and names rather than exceed them."""


Reported: TypeAlias = "Evaluation | Measures | Tagging | LabelSets | SetMeasures | Shifted"
"""What there is a page for; measures are an evaluation whose numbers are already computed."""


def render(evaluation: Reported) -> str:
    """The report as one HTML page that needs nothing else: no file, no network, no script.

    Whatever the data hold, the page is under a megabyte: where it would be larger it shows less of
    everything. Measures are an evaluation whose numbers are already computed, and are not computed again.

    >>> from argmax import report, SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> page = report.render(report.of(SoftmaxRegression().fit(X, y), X, y, title="Iris"))
    >>> "<title>Iris" in page, "https://" in page
    (True, False)
    """
    name, context = _page(evaluation)
    limits = Limits()
    while True:
        text: str = _template(name).render(context(limits), **_frame())
        if len(text.encode("utf-8")) < LARGEST:
            return text
        if limits == limits.smaller():
            raise ResourceLimit(
                "the report would exceed 1 MB even at its smallest. Pass fewer columns or parameters."
            )
        limits = limits.smaller()


def _page(
    evaluation: Reported,
) -> tuple[str, Callable[[Limits], dict[str, Any]]]:
    """The template, and what it is filled with."""
    if isinstance(evaluation, Evaluation | Measures):
        measures = evaluation if isinstance(evaluation, Measures) else Measures(evaluation)
        return "page.html", lambda limits: sections.context(measures, limits)
    return _other_page(evaluation)


def _other_page(
    evaluation: Tagging | LabelSets | SetMeasures | Shifted,
) -> tuple[str, Callable[[Limits], dict[str, Any]]]:
    """``_page`` of what is no classifier: imported here, as most reports need none of it."""
    from . import shifted
    from .label_sets import measures as of_sets
    from .label_sets import sections as for_sets
    from .tagging import measures as of_tagging
    from .tagging import sections as for_tagging
    from .tagging.evaluation import Tagging

    if isinstance(evaluation, shifted.Shifted):
        return "shift.html", lambda limits: shifted.context(evaluation, limits)
    if isinstance(evaluation, Tagging):
        found = of_tagging.Measures(evaluation)
        return "tagging.html", lambda limits: for_tagging.context(found, limits)
    own = evaluation if isinstance(evaluation, of_sets.Measures) else of_sets.Measures(evaluation)
    return "label_sets.html", lambda limits: for_sets.context(own, limits)


def write(
    path: str | os.PathLike[str],
    evaluation: Reported,
    *,
    overwrite: bool = False,
) -> Path:
    """Render the report into a file, all or nothing, and return its path.

    A file that is already there is replaced only with ``overwrite=True``.

    >>> import tempfile
    >>> from argmax import report, SoftmaxRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report.write(
    ...         f"{folder}/iris.html", report.of(SoftmaxRegression().fit(X, y), X, y)
    ...     )
    ...     path.stat().st_size < 200_000
    True
    """
    from ..persist.atomic import replace_file

    page = render(evaluation).encode("utf-8")
    replace_file(path, lambda stream: stream.write(page), overwrite=overwrite)
    return Path(path)


def prepare(name: str = "page.html") -> None:
    """Compile the template of a page and all that it includes, before the first report needs them."""
    environment = _template(name).environment
    for part in environment.list_templates(extensions=["html"]):
        environment.get_template(part)


@cache
def _template(name: str) -> Any:
    """A compiled template. Every value passes ``_shown``, and then Jinja's escaping."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment.get_template(name)


def _shown(value: Any) -> Any:
    """What is printed for a value: control characters written out, line by line; drawings as they are."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return "\n".join(safe.visible(line) for line in value.split("\n"))
    return value


@cache
def _frame() -> dict[str, Any]:
    """Style, script, and the policy that allows these two by their digests and nothing else."""
    from markupsafe import Markup

    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = (HERE / "script.js").read_text(encoding="utf-8")
    allowed = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"
    policy = f"{allowed}; base-uri 'none'; form-action 'none'"
    return {"style": Markup(style), "script": Markup(script), "policy": policy}


def _digest(text: str) -> str:
    found = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{found}'"
