"""``python -m grammeter``: the command line where the script is not on the path."""

import sys

from grammeter.cli.main import main

sys.exit(main())
