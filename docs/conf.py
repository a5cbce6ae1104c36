"""Sphinx settings. Warnings are errors (`make docs`), and nothing is fetched from the network."""

import os
import sys

os.environ.setdefault("MPLBACKEND", "agg")
sys.path.insert(0, os.path.abspath(".."))

import argmax

project = "argmax"
author = "The argmax developers"
copyright = f"2026, {author}"
version = release = argmax.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "member-order": "bysource", "show-inheritance": True}
autodoc_typehints = "description"
napoleon_google_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10**6,
    "remove_config_comments": True,
}

html_theme = "furo"
html_title = f"argmax {release}"
html_show_sphinx = False


def keep_layout(app, what, name, obj, options, lines):
    """Show an indented block of a docstring as it was typed: it is a formula, a tree or a table."""
    shown, owner, previous = [], "", ""
    for line in lines:
        indented = line.startswith("    ")
        plain_text = owner and not owner.startswith(("..", ":", "-", "*", ">>>"))
        if indented and not previous and plain_text and not owner.endswith("::"):
            shown += ["::", ""]
            owner = "::"
        if line and not line[0].isspace():
            owner = line.strip()
        shown.append(line)
        previous = line.strip()
    lines[:] = shown


def skip_borrowed(app, what, name, obj, skip, options):
    """Leave members that come from scikit-learn to scikit-learn's own documentation."""
    return True if (getattr(obj, "__module__", "") or "").startswith("sklearn.") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_borrowed)
    app.connect("autodoc-process-docstring", keep_layout, priority=900)  # after napoleon
