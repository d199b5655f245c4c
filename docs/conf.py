"""Sphinx: ``python -m sphinx -W -b html docs docs/_build/html``; examples are executed.

With ``-D plot_gallery=0 -D nb_execution_mode=off`` nothing is executed, and pages are built in
seconds.
"""

import os
import sys
import warnings
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from architecture import diagram

(HERE / "contributing" / "architecture.svg").write_text(diagram())
# The walk-throughs for contributors use helpers of the tests.
TESTS = HERE.parent / "tests"
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(TESTS), str(TESTS / "engines"), os.environ.get("PYTHONPATH", "")]
)

project = "tordinal"
author = copyright = "The tordinal developers"
version = release = installed("tordinal")
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# Files beside an example page that Sphinx would take for pages of their own.
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
html_theme = "furo"
pygments_dark_style = "github-dark"  # furo's own underlines modules as if they were links
html_title = "tordinal"
html_css_files = ["tordinal.css"]
html_static_path = ["_static"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
# What a page prints to standard error is a warning to its reader, and with -W fails the build.
nb_output_stderr = "warn"
warnings.filterwarnings("error", category=RuntimeWarning, module="tordinal")  # in the gallery
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings have them; a signature would spell out what ArrayLike is
# A name in single backquotes is a link where it can be resolved, and code elsewhere.
default_role = "py:obj"
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "doc_module": ("tordinal",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"tordinal": None},
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "download_all_examples": False,
    "show_signature": False,
    "thumbnail_size": (400, 280),
    "min_reported_time": 0,
    "write_computation_times": False,
    "abort_on_example_error": True,
}
