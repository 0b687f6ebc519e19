"""Prints the most frequent words of standard input."""

import argparse
import re
import sys
from collections import Counter


def frequent(text, top):
    """The most frequent words and their counts; equally frequent ones in alphabetical order."""
    counts = Counter(re.findall(r"\w+", text.lower()))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many words to print (default: 10)")
    options = parser.parse_args(arguments)
    for word, count in frequent(sys.stdin.read(), options.top):
        print(f"{count:6} {word}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
