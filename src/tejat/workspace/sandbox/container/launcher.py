"""Program that starts one container and waits for it.

It is started for every command, so it imports next to nothing. Its environment is the one of the command; the client
passes each variable on by name, so that no value appears in a command line. It holds a lock on the container's record
while the container runs, and removes the record if the container has ended by itself.
"""

import fcntl
import os
import signal
import sys

RECORD, CLIENT, REMOVED, VISIBLE = "record", "client", "removed", "visible"

_ENGINE_FAILED = 125
_FIRST_SIGNAL_CODE = 128


def main(words: list[str]) -> None:
    """Run the client after `--` and exit with its code. Never returns.

    The words before it are `record=PATH`, `client=NAME` for each variable of the client itself, `removed=NAME` for
    those that it must not see, and `visible=PATH` for each directory that the container shows. The first words after it
    are the client's path and `run`.
    """
    end = words.index("--")
    options = [(name, value) for name, _, value in (word.partition("=") for word in words[:end])]
    record = next(value for name, value in options if name == RECORD)
    removed = {value for name, value in options if name == REMOVED}
    passed = passed_variables(
        own={value for name, value in options if name == CLIENT} | removed,
        visible=[value for name, value in options if name == VISIBLE],
    )
    program, run, *others = words[end + 1 :]
    command = [program, run, *(word for name in passed for word in ("--env", name)), *others]
    lock = os.open(record, os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_SH)
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    try:
        pid = os.posix_spawn(program, command, environment, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    except OSError as error:
        os.write(2, f"tejat: {program}: {os.strerror(error.errno or 0)}\n".encode("utf-8", "backslashreplace"))
        os._exit(_ENGINE_FAILED)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if 0 <= code != _ENGINE_FAILED:
        os.unlink(record)
    os._exit(code if code >= 0 else _FIRST_SIGNAL_CODE - code)


def passed_variables(*, own: set[str], visible: list[str]) -> list[str]:
    """Return the names of the variables that mean something in the container.

    Those of the client do not, nor paths of the host that the container does not show.
    """
    return sorted(
        name
        for name, value in _original_variables().items()
        if name not in own and _is_meaningful(value, [*visible, "/tmp", "/dev"])
    )


def _is_meaningful(value: str, visible: list[str]) -> bool:
    if not value.startswith("/"):
        return True
    return all(any(f"{entry}/".startswith(f"{path}/") for path in visible) for entry in value.split(":"))


def _original_variables() -> dict[str, str]:
    # Python sets variables of its own in the C locale, which the command must not see.
    try:
        with open("/proc/self/environ", "rb") as file:
            names = {os.fsdecode(entry.partition(b"=")[0]) for entry in file.read().split(b"\0")}
    except OSError:
        names = set(os.environ)
    return {name: value for name, value in os.environ.items() if name in names}


if __name__ == "__main__":
    main(sys.argv[1:])
