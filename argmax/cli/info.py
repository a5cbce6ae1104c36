"""``argmax info``: what a model file holds; without one, what to write into a bug report."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from typing import Any

from ..checks import available_memory
from ..data.limits import readable
from ..persist import describe
from ..report.evaluation import versions
from .console import Console
from .outcome import OK

__all__ = ["run"]

OPTIONAL = ("pyarrow", "dask", "distributed", "typer", "rich", "jinja2", "safetensors")


def run(model: str | None, markdown: bool, console: Console) -> int:
    """Show a model, or this machine."""
    found = None if model is None else describe(model)
    facts = _machine() if found is None else _model(found)
    if markdown and not console.as_json:
        for name, value in facts.items():
            console.say(f"- **{name}**: {value}")
    else:
        console.facts(facts)
    console.result(found or facts)
    return OK


def _machine() -> dict[str, Any]:
    from ..kernels.compile import cache_folder

    return {
        **versions(),
        **{name: _version(name) for name in OPTIONAL},
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "free memory": readable(available_memory()),
        "compile cache": str(cache_folder() or "none: kernels are compiled in every process"),
        "executable": sys.executable,
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _model(found: dict[str, Any]) -> dict[str, Any]:
    """The facts of a model file that people ask for."""
    facts: dict[str, Any] = {
        "file": found["path"],
        "size": readable(found["bytes"]),
        "sha256": found["sha256"],
        "holds": found["kind"],
        "written by": f"argmax {found['version']}, schema {found['schema']}",
    }
    if found["kind"] != "model":
        return facts
    parameters, solution = found["parameters"], found["solution"]
    classes = found["classes"]
    facts |= {
        "estimator": f"{found['estimator']}, loss {parameters.get('loss', 'log')}, C = {parameters['C']:g}",
        **_classes(classes, found["estimator"] == "MultiLabelClassifier"),
        **(
            {"joined": f"{found['tensors']['pairs'][1]:,} pairs"}
            if "pairs" in found["tensors"]
            else {}
        ),
        "features": f"{found['features']:,}",
        **_calibration(found["calibration"]),
        "why it stopped": "learned piece by piece" if solution is None else solution["message"],
        **({} if solution is None else {"passes": solution["passes"]}),
    }
    if found["tokens"] is not None and "parameters" in found["tokens"]:
        facts["templates"] = ", ".join(found["tokens"]["parameters"]["templates"])
    if found["table"] is not None:
        columns = found["table"]["columns"]
        facts |= {f"column {column['name']}": column["kind"] for column in columns}
    return facts


def _classes(classes: list[Any], several: bool) -> dict[str, str]:
    more = ", …" if len(classes) > 8 else ""
    told = f"{len(classes):,}: {', '.join(map(str, classes[:8]))}{more}"
    return {"labels" if several else "classes": told}


def _calibration(told: dict[str, Any] | None) -> dict[str, str]:
    if told is None:
        return {}
    noted = told["options"].get("note")
    return {"calibrated by": told["method"]} | ({"adapted": noted} if noted else {})
