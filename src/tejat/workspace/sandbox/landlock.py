"""Landlock system calls: a process gives up access to files, ports and other processes."""

import errno
import posix  # not `os`: the helper of the sandbox does without
import stat
import struct
import sys

from tejat.workspace.sandbox.libc import call

WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
_CHANGE_DIRECTORY = sum(1 << bit for bit in range(4, 13))  # removing and making entries of every kind
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_DEVICE_CONTROL = 1 << 15
_ON_FILES = WRITE_FILE | READ_FILE | _TRUNCATE | _DEVICE_CONTROL

_BIND_AND_CONNECT_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every processor
_GET_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVILEGES = 38


def abi_version() -> int:
    """Return the kernel's Landlock ABI version, 0 if missing, disabled or not permitted."""
    if sys.platform != "linux":
        return 0
    try:
        return call("syscall", _CREATE_RULESET, 0, 0, _GET_VERSION)
    except OSError:
        return 0


def write_rights(abi: int) -> int:
    """Return all rights to change files in this ABI version."""
    rights = WRITE_FILE | _CHANGE_DIRECTORY
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE_CONTROL)):
        if abi >= since:
            rights |= right
    return rights


def tcp_rights(abi: int) -> int:
    """Return the rights to bind and connect TCP ports, 0 if this ABI version has none."""
    return _BIND_AND_CONNECT_TCP if abi >= 4 else 0


def scope_flags(abi: int) -> int:
    """Return the flags that confine signals and abstract sockets, 0 if this ABI version has none."""
    return _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0


def restrict_self(allowed: list[tuple[int, int]], *, files: int, ports: int = 0, scopes: int = 0) -> None:
    """Drop the rights in `files` for this thread and its children, except beneath the given descriptors.

    `allowed` pairs descriptors with the rights that stay. All rights in `ports` are dropped. Raises OSError if the
    kernel cannot do it; then nothing has changed except that programs gain no new privileges.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, posix.strerror(errno.ENOSYS))
    # An older kernel takes the longer structure as long as what it does not know is zero.
    attributes = struct.pack("=QQQ", files, ports, scopes)
    ruleset = call("syscall", _CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for descriptor, rights in allowed:
            kept = rights if stat.S_ISDIR(posix.fstat(descriptor).st_mode) else rights & _ON_FILES
            rule = struct.pack("=Qi", kept, descriptor)
            call("syscall", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        call("prctl", _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        call("syscall", _RESTRICT_SELF, ruleset, 0)
    finally:
        posix.close(ruleset)
