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

extensions = ["myst_parser", "mathml"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_ext"]
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"grammeter {release}"
html_show_sourcelink = False
html_copy_source = False
