"""Program that restricts its own process with Landlock and seccomp, then execs the sandboxed command.

It is started for every command, so it imports next to nothing: not even `os`.
"""

import posix
import stat
import struct
from _signal import SIG_DFL, SIGPIPE, SIGXFSZ, signal  # pyright: ignore[reportMissingModuleSource]

from tejat.workspace.sandbox.landlock import (
    READ_FILE,
    abi_version,
    restrict_self,
    scope_flags,
    tcp_rights,
    write_rights,
)
from tejat.workspace.sandbox.libc import call
from tejat.workspace.sandbox.seccomp import INET_FAMILIES, build_filter, install_filter

# The surrounding sandbox: none, or namespaces with their own /dev, /proc and network.
STANDALONE, IN_NAMESPACES = "alone", "in-namespaces"

NETWORK, WRITABLE, READABLE, HIDDEN, TEMPORARY = "network", "writable", "readable", "hidden", "temporary"

RESTRICTION_FAILED = 125
NOT_EXECUTABLE = 126
NOT_FOUND = 127
START_ERROR = "tejat: the command could not be started: "
"""The beginning of the only line on standard error after an exit with NOT_EXECUTABLE or NOT_FOUND."""

# Devices that belong to nobody. /dev/pts is left out: it holds other users' terminals.
_HARMLESS_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_NAMESPACE_DIRECTORIES = ("/dev", "/run", "/var/run")

_CAPABILITIES = 64
_DROP_FROM_BOUND, _AMBIENT, _CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION = 0x20080522


def main(words: list[str]) -> None:
    """Restrict this process and exec the command after `--`. Never returns."""
    try:
        mode, restrictions, command = _parse_words(words)
        environment = _original_environment()
        for name, value in restrictions:
            if name == TEMPORARY:
                environment[b"TMPDIR"] = value.encode("utf-8", "surrogateescape")
        restrict_process(mode, restrictions)
    except (OSError, ValueError) as error:
        _print_error(f"tejat: the command could not be locked in: {error}")
        raise SystemExit(RESTRICTION_FAILED) from None
    try:
        posix.execve(command[0], command, environment)
    except (OSError, ValueError) as error:
        _print_error(f"{START_ERROR}{error}")
        raise SystemExit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE) from None


def restrict_process(mode: str, restrictions: list[tuple[str, str]]) -> None:
    """Apply the given restrictions to this process. Raises OSError if one cannot be applied."""
    network = (NETWORK, "on") in restrictions
    _restore_signals()
    if mode == STANDALONE:
        _drop_capabilities()
    _restrict_files(
        mode,
        network=network,
        writable=[path for name, path in restrictions if name in (WRITABLE, TEMPORARY)],
        readable=[path for name, path in restrictions if name == READABLE],
        hidden=[path for name, path in restrictions if name == HIDDEN],
    )
    # In namespaces the network is private.
    families = INET_FAMILIES if network or mode == IN_NAMESPACES else ()
    owner = (posix.geteuid(), posix.getegid()) if mode == STANDALONE else None
    instructions = build_filter(posix.uname().machine, families, owner=owner)
    if instructions is not None:
        install_filter(instructions)
    elif mode == STANDALONE:
        raise OSError(f"no filter of system calls is known for {posix.uname().machine}")


def _parse_words(words: list[str]) -> tuple[str, list[tuple[str, str]], list[str]]:
    mode, *rest = words
    end = rest.index("--")
    restrictions = [(name, value) for name, _, value in (word.partition("=") for word in rest[:end])]
    command = rest[end + 1 :]
    if mode not in (STANDALONE, IN_NAMESPACES) or not command:
        raise ValueError("it was asked for in a way that is not understood")
    return mode, restrictions, command


def _restrict_files(mode: str, *, network: bool, writable: list[str], readable: list[str], hidden: list[str]) -> None:
    known = abi_version()
    if known < 2 and mode == IN_NAMESPACES:
        # ABI 1 forbids moving files between directories, so the mounts alone have to suffice.
        return
    # Reading is restricted only to hide paths; namespaces hide them by mounts.
    handled = write_rights(known) | (READ_FILE if hidden else 0)
    allowed: list[tuple[int, int]] = []
    for path in (*writable, *(_NAMESPACE_DIRECTORIES if mode == IN_NAMESPACES else _HARMLESS_DEVICES)):
        _allow(allowed, path, handled)
    _allow_output(allowed, handled)
    if hidden:
        _allow_reading_except(allowed, "/", hidden)
        for path in readable:
            _allow(allowed, path, READ_FILE)
    # Namespaces without a network still have a private loopback, for tests that serve and connect.
    watched_ports = tcp_rights(known) if mode == STANDALONE and not network else 0
    try:
        restrict_self(allowed, files=handled, ports=watched_ports, scopes=scope_flags(known))
    finally:
        for descriptor, _ in allowed:
            posix.close(descriptor)


def _allow(allowed: list[tuple[int, int]], path: str, rights: int) -> None:
    try:
        allowed.append((posix.open(path, posix.O_PATH | posix.O_CLOEXEC), rights))
    except OSError:
        return  # a missing path needs no rule


def _allow_output(allowed: list[tuple[int, int]], rights: int) -> None:
    """Allow reopening the current output as /dev/stdout and /dev/stderr. Pipes need no rule."""
    for stream in (1, 2):
        try:
            if not stat.S_ISFIFO(posix.fstat(stream).st_mode):
                _allow(allowed, f"/proc/self/fd/{stream}", rights)
        except OSError:
            continue  # closed


def _allow_reading_except(allowed: list[tuple[int, int]], directory: str, hidden: list[str]) -> None:
    """Allow reading everything in the directory except hidden paths: Landlock can only allow, never deny."""
    try:
        names = posix.listdir(directory)
    except OSError:
        return  # not listable: denying it is the safe side
    for name in names:
        path = f"{directory.removesuffix('/')}/{name}"
        if path in hidden or _is_link(path):
            continue
        if any(place.startswith(f"{path}/") for place in hidden):
            _allow_reading_except(allowed, path, hidden)
        else:
            _allow(allowed, path, READ_FILE)


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(posix.lstat(path).st_mode)
    except OSError:
        return False


def _restore_signals() -> None:
    # Python ignores these two, and programs inherit ignored signals.
    for number in (SIGPIPE, SIGXFSZ):
        signal(number, SIG_DFL)


def _drop_capabilities() -> None:
    for capability in range(_CAPABILITIES):
        _try_prctl(_DROP_FROM_BOUND, capability)
    _try_prctl(_AMBIENT, _CLEAR_ALL)
    call("capset", struct.pack("=Ii", _CAPABILITY_VERSION, 0), struct.pack("=6I", *(0,) * 6))


def _try_prctl(option: int, argument: int) -> None:
    try:
        call("prctl", option, argument, 0, 0, 0)
    except OSError:
        return  # no such capability, or not ours


def _original_environment() -> dict[bytes, bytes]:
    # Python sets variables of its own in the C locale, which the command must not see.
    try:
        with open("/proc/self/environ", "rb", buffering=0) as file:
            entries = file.readall().split(b"\0")
    except OSError:
        return dict(posix.environ)
    return {name: value for name, equals, value in (entry.partition(b"=") for entry in entries) if equals}


def _print_error(why: str) -> None:
    posix.write(2, f"{why}\n".encode("utf-8", "backslashreplace"))
