"""`python -m clearning` is the `clearning` command."""

import sys

from clearning.cli import main

sys.exit(main())
