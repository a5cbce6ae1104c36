"""What all tests share: where the data is, the two paths, and how long hypothesis may try."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile(
    "argmax",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("argmax")


@pytest.fixture(scope="session")
def shared():
    """shared("flat/usps.npz"): the path of a real data set, or a skip that names it."""
    folder = Path(os.environ.get("ARGMAX_DATA", ROOT.parent / "shared" / "data"))

    def find(name):
        path = folder / name
        if not path.exists():
            pytest.skip(f"{name} is not in {folder}; set ARGMAX_DATA")
        return path

    return find


@pytest.fixture(params=["never", "always"], ids=["numpy", "compiled"])
def route(request, monkeypatch):
    """Both ways through the code: "never" compiled and "always" compiled."""
    monkeypatch.setenv("ARGMAX_COMPILED", request.param)
    return request.param
