"""Sphinx: ``python -m sphinx -W -b html docs docs/_build/html``; examples are executed."""

from importlib.metadata import version as installed

project = "tordinal"
author = copyright = "The tordinal developers"
version = release = installed("tordinal")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tordinal"
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
