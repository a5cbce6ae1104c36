# Every target builds what it needs: python3, pip and make are enough to start.
#
#   make demo PYTHON=python3.13      choose the interpreter
#   make test ARGS="-k chain -x"     pass options on to the tool

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: demo test check check-mutations bench docs clean help

demo: $(VENV)/.stamp-base  ## the main job on data that the library carries
	$(BIN)/argmax demo $(ARGS)

# Two files of tests side by side; a file stays in one process, whose kernels are loaded once.
test: $(VENV)/.stamp-dev  ## all tests and doctests, warnings as errors
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

check: $(VENV)/.stamp-dev  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check-mutations: $(VENV)/.stamp-dev  ## small mistakes in a copy of the source, and which of them no test notices
	$(BIN)/python -m tests.mutations $(ARGS)

bench: $(VENV)/.stamp-bench  ## every speed figure, as a ratio to a peer measured in the same run
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.stamp-docs  ## the documentation, warnings as errors, into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:  ## remove the virtual environment and everything built
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/generated docs/sg_execution_times.rst
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find argmax benchmarks docs examples tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# A stamp stands for "this extra is installed"; it is older than pyproject.toml when it is not.

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-base: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.stamp-%: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[$*]'
	@touch $@
