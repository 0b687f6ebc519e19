"""Unix sockets in private directories, also at paths that are too long for the system."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tejat.workspace.files.private_files import make_private_directory

_MAX_PATH_BYTES = 100
_BACKLOG = 16


def listen_on_socket(path: str) -> socket.socket:
    """Listen on a new socket that only this user can connect to. Its directory is created. Raises OSError."""
    make_private_directory(os.path.dirname(path))
    with suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.fchmod(listener.fileno(), 0o600)  # the mode of the file that `bind` makes
        with _short_path(path) as address:
            listener.bind(address)
        os.chmod(path, 0o600)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def connect_to_socket(path: str) -> socket.socket:
    """Connect without waiting: a socket whose owner does not accept raises BlockingIOError. Raises OSError."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        with _short_path(path) as address:
            connection.connect(address)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _short_path(path: str) -> Generator[str]:
    """A path to the same file that fits into a socket address, which has about a hundred bytes."""
    if len(os.fsencode(path)) <= _MAX_PATH_BYTES:
        yield path
        return
    directory = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{os.path.basename(path)}"
    finally:
        os.close(directory)
