"""Worker program that matches lines with Python's `re`, because some patterns take forever on some lines.

It is run as a file, without the package. It reads an expression, then lines, each prefixed by its size in four bytes,
and answers each with the index of the first match, also in four bytes, or with NO_MATCH; for the expression, any other
answer than NO_MATCH means that it compiles.
"""

import re
import struct
import sys

SIZE = struct.Struct(">I")
INDEX = struct.Struct(">i")
NO_MATCH = -1


def main() -> None:
    """Answer until the end of the input."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer

    def read() -> str | None:
        head = incoming.read(SIZE.size)
        if len(head) < SIZE.size:
            return None
        return incoming.read(SIZE.unpack(head)[0]).decode("utf-8", "surrogatepass")

    def answer(index: int) -> None:
        outgoing.write(INDEX.pack(index))
        outgoing.flush()

    expression = read()
    if expression is None:
        return
    try:
        compiled = re.compile(expression)
    except (re.error, OverflowError, RecursionError):
        answer(NO_MATCH)
        return
    answer(0)
    while (line := read()) is not None:
        found = compiled.search(line)
        answer(NO_MATCH if found is None else found.start())


if __name__ == "__main__":
    main()
