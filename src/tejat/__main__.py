"""Entry point of `tejat` and `python -m tejat`."""

import sys


def main() -> int:
    print("tejat")
    return 0


if __name__ == "__main__":
    sys.exit(main())
