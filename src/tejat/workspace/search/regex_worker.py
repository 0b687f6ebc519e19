"""Worker program that matches lines with Python's `re`, because some patterns take forever on some lines.

It is run as a file, without the package. It reads an expression, then lines, each prefixed by its size in four bytes,
and answers each with `y` or `n`; for the expression, `y` means that it compiles.
"""

import re
import struct
import sys

SIZE = struct.Struct(">I")
YES, NO = b"y", b"n"


def main() -> None:
    """Answer until the end of the input."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer

    def read() -> str | None:
        head = incoming.read(SIZE.size)
        if len(head) < SIZE.size:
            return None
        return incoming.read(SIZE.unpack(head)[0]).decode("utf-8", "surrogatepass")

    def answer(*, yes: bool) -> None:
        outgoing.write(YES if yes else NO)
        outgoing.flush()

    expression = read()
    if expression is None:
        return
    try:
        compiled = re.compile(expression)
    except (re.error, OverflowError, RecursionError):
        answer(yes=False)
        return
    answer(yes=True)
    while (line := read()) is not None:
        answer(yes=compiled.search(line) is not None)


if __name__ == "__main__":
    main()
