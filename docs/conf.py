"""Sphinx's configuration: `make docs` builds the site into build/docs/html, offline."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
with open(DOCS.parent / "pyproject.toml", "rb") as file:
    _project = tomllib.load(file)["project"]

project = _project["name"]
author = "the clearning developers"
copyright = author
release = version = _project["version"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# What the gallery writes beside its pages are no pages.
exclude_patterns = [
    "examples",
    *(f"gallery/*.{ending}" for ending in ("ipynb", "json", "md5", "py", "zip")),
]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}
default_role = "literal"
language = "en-GB"

# Pages: Markdown whose `{code-cell}` blocks run at every build.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# The reference: what the package itself says about its public names.
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator, ClassifierMixin, MetaEstimatorMixin, OSError, tuple",
    "member-order": "bysource",
}
autosummary_generate = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "image_scrapers": ("matplotlib",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "parallel": 2,
    "within_subsection_order": "ExampleTitleSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "clearning"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "logo": {"text": "clearning"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "icon_links": [
        {"name": "Source", "url": _project["urls"]["Source"], "icon": "fa-solid fa-code-branch"}
    ],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn's metadata routing adds to every estimator."""
    routing = name == "get_metadata_routing" or name.endswith("_request")
    return True if routing else None


def setup(app: Any) -> None:
    """Connect what is decided here."""
    # It adds one script to each page, and does not say that pages may then be read in parallel.
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
    app.connect("autodoc-skip-member", _skip)
