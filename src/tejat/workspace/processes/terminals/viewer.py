"""Program in a terminal of the editor that prints the output of a command and ends as the command did.

The output arrives at a socket, in parts of known length; an empty part precedes the exit code. It is started for every
command, so it imports next to nothing.
"""

import os
import signal
import socket
import sys
from contextlib import suppress

LENGTH_BYTES = 4

_LOST = 1
"""The exit code if the agent is gone. It has stopped the command then, or its supervisor has."""


def main(path: str) -> None:
    """Print what the socket at `path` sends. Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _LOST
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        while size := int.from_bytes(_receive(connection, LENGTH_BYTES), "big"):
            rest = memoryview(_receive(connection, size))
            while rest:
                rest = rest[os.write(1, rest) :]
        code = _receive(connection, 1)[0]
    os._exit(code)


def _receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise ConnectionError
        received += part
    return received


if __name__ == "__main__":
    main(sys.argv[1])
