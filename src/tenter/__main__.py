"""`python -m tenter` is the command `tenter`."""

import sys

from tenter.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
