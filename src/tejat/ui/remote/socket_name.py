"""File names of the sockets of sessions."""

import os

from tejat.core.errors import UsageError
from tejat.core.i18n import _

SOCKET_SUFFIX = ".sock"


def make_socket_name() -> str:
    """A new name for the socket of this process. Front ends connect only if the process in the name listens."""
    return f"{os.getpid()}-{os.urandom(4).hex()}{SOCKET_SUFFIX}"


def socket_pid(path: str) -> int:
    """The process that listens at the path, by its name. Raises UsageError."""
    pid, _separator, _rest = os.path.basename(path).partition("-")
    if not (pid.isascii() and pid.isdigit()):
        raise UsageError(_("Not the socket of a session: {path}", path=path))
    return int(pid)
