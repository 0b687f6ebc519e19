"""Watchdog process that restores the terminal if we are killed, even by `kill -9`."""

import os
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

# Reads from us whether the terminal is ours; the last state counts when we are gone. What it writes then
# does no harm to a shell that has printed its prompt already, and modes set by such a shell are kept.
_SCRIPT = r"""
exec 3<&1
trap "" HUP INT QUIT TERM TSTP TTIN TTOU PIPE
whose=ours
modes=$("$2" -g <&3 2>/dev/null)
while read -r whose_now; do
    whose=$whose_now
    [ "$whose" = ours ] && modes=$("$2" -g <&3 2>/dev/null)
done
[ "$whose" = ours ] || exit 0
printf '\033[?2026l\033[0m\033[?7h\033[?2004l\033[?1004l\033[?25h\033[J' >&2
sleep 0.1
[ "$("$2" -g <&3 2>/dev/null)" = "$modes" ] || exit 0
"$2" "$1" <&3 2>/dev/null
printf '\r\n' >&2
"""
_SHELL = "/bin/sh"
_STTY = ("/bin/stty", "/usr/bin/stty")


class Watchdog:
    """Sleeps in its own session until we are gone. Needs a shell and `stty`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, terminal: tuple[int, int], original: Sequence[int | list[bytes | int]]) -> None:
        """Start it while the terminal is ours. `original` are the modes to restore."""
        program = next((path for path in _STTY if os.access(path, os.X_OK)), None)
        if program is None:
            return
        reads, writes = terminal
        with suppress(OSError):
            self._process = subprocess.Popen(
                [_SHELL, "-c", _SCRIPT, "tejat-watchdog", _stty_settings(original), program],
                stdin=subprocess.PIPE,
                stdout=reads,
                stderr=writes,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},
                start_new_session=True,
                bufsize=0,
            )

    def set_owner(self, *, is_ours: bool) -> None:
        """Tell it who has the terminal."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(b"ours\n" if is_ours else b"theirs\n")

    def stop(self) -> None:
        """Stop it after the terminal was restored."""
        if self._process is None:
            return
        self.set_owner(is_ours=False)
        with self._process:
            pass
        self._process = None


def _stty_settings(modes: Sequence[int | list[bytes | int]]) -> str:
    """Return the modes in the format of `stty -g`."""
    flags, characters = cast("list[int]", modes[:4]), cast("list[bytes | int]", modes[6])
    numbers = [each if isinstance(each, int) else each[0] for each in characters]
    if sys.platform == "linux":
        return ":".join(f"{each:x}" for each in (*flags, *numbers))
    names = ("iflag", "oflag", "cflag", "lflag")
    parts = [f"{name}={flag:x}" for name, flag in zip(names, flags, strict=True)]
    return ":".join(("gfmt1", *parts, f"min={numbers[termios.VMIN]:x}", f"time={numbers[termios.VTIME]:x}"))
