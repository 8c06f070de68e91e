"""How the documentation is built: ``sphinx-build -W -b html docs docs/_build/html``, offline."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from grammeter.version import __version__  # noqa: E402

project = "grammeter"
author = "The grammeter authors"
project_copyright = "2026, The grammeter authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml"]
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_ext"]
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"grammeter {release}"
html_show_sourcelink = False
html_copy_source = False
