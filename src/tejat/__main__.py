"""`python -m tejat`."""

import sys

from tejat.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
