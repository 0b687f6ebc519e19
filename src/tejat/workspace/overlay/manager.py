"""Creation and removal of a session's overlay copies, including those of dead sessions."""

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cached_property

from tejat.workspace.files.file_lock import acquire_lock, try_lock
from tejat.workspace.files.private_files import make_private_directory
from tejat.workspace.files.regular_file import open_fd
from tejat.workspace.files.roots import Roots
from tejat.workspace.overlay.copy import OverlayCopy
from tejat.workspace.sandbox.session_sandbox import SessionSandbox
from tejat.workspace.sandbox.types import OverlayLayer, SandboxedCommand

_PROBE_TIMEOUT_SECONDS = 20
_SECOND = 1_000_000_000
# File timestamps lag behind the clock by a tick (nanoseconds).
_TICK = 20_000_000
_OWNER_ALL = 0o700
_LOCK_TIMEOUT_SECONDS = 60.0


class OverlayManager:
    """The overlay copies of one session, each in its own directory below the private `directory`.

    A copy is locked by the process that created it. Stale copies are removed when the next one is created.
    """

    def __init__(self, session_sandbox: SessionSandbox, directory: str) -> None:
        self._sandbox = session_sandbox
        self._directory = directory
        self._open_copies: dict[str, ExitStack] = {}

    @cached_property
    def is_supported(self) -> bool:
        """Whether overlay copies work here, tested with a small one. Blocks; cached."""
        if not self._sandbox.supports_overlay:
            return False
        try:
            copy = self.open()
        except OSError:
            return False
        try:
            directory = self._sandbox.overlay_targets[0]
            wrapped = self.wrap(copy, ["/bin/sh", "-c", _PROBE_SCRIPT], directory, network=False)
            ended = subprocess.run(
                wrapped.arguments,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PROBE_TIMEOUT_SECONDS,
                start_new_session=True,
                check=False,
            )
            return ended.returncode == 0 and os.path.isdir(os.path.join(copy.layers[0].upper, _PROBE_DIRECTORY))
        except (OSError, subprocess.SubprocessError):
            return False
        finally:
            copy.discard()

    def open(self) -> OverlayCopy:
        """Create a copy of the current roots. Blocks. Raises OSError."""
        make_private_directory(self._directory)
        with open_fd(self._directory, os.O_RDONLY | os.O_DIRECTORY) as directory_lock, ExitStack() as closing:
            acquire_lock(directory_lock, timeout=_LOCK_TIMEOUT_SECONDS)
            self._remove_stale()
            copy_path = os.path.join(self._directory, os.urandom(8).hex())
            os.mkdir(copy_path, _OWNER_ALL)
            closing.callback(_remove_tree, copy_path)
            try_lock(closing.enter_context(open_fd(copy_path, os.O_RDONLY | os.O_DIRECTORY)))
            *roots, _ = copied = self._sandbox.overlay_targets
            layers = [_make_layer(copy_path, number, over) for number, over in enumerate(copied)]
            opened = closing.enter_context(Roots(roots)).directories
            self._open_copies[copy_path] = closing.pop_all()
        time.sleep(_TICK / _SECOND)  # so that earlier writes are certainly older
        return OverlayCopy(
            copy_path,
            opened,
            layers,
            started=time.time_ns() - _TICK,
            control_paths=self._sandbox.control_paths,
            remove=lambda: self._close(copy_path),
        )

    def wrap(self, copy: OverlayCopy, arguments: Sequence[str], directory: str, *, network: bool) -> SandboxedCommand:
        """Return how to start a command in the copy. Raises OSError."""
        return self._sandbox.wrap_in_overlay(arguments, directory, copy.layers, network=network)

    def close(self) -> None:
        """Discard undecided copies."""
        for copy_path in list(self._open_copies):
            self._close(copy_path)

    def _close(self, copy_path: str) -> None:
        closing = self._open_copies.pop(copy_path, None)
        if closing is not None:
            closing.close()

    def _remove_stale(self) -> None:
        """Remove copies of dead processes. The directory must be locked."""
        with suppress(OSError), os.scandir(self._directory) as entries:
            for entry in entries:
                if entry.path in self._open_copies or not entry.is_dir(follow_symlinks=False):
                    continue
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                with suppress(OSError), open_fd(entry.path, flags) as lock:
                    if try_lock(lock):
                        _remove_tree(entry.path)


_PROBE_DIRECTORY = ".tejat-attempt"
# An existing directory is left alone, and the probe fails.
_PROBE_SCRIPT = f"mkdir {_PROBE_DIRECTORY} && cd {_PROBE_DIRECTORY} && echo attempt > file && mv file other && rm other"


def _make_layer(copy_path: str, number: int, over: str) -> OverlayLayer:
    upper, work = (os.path.join(copy_path, f"{kind}-{number}") for kind in ("upper", "work"))
    status = os.stat(over)
    os.mkdir(upper, _OWNER_ALL)
    os.mkdir(work, _OWNER_ALL)
    # The root of the copy has the permissions of its upper layer.
    os.chmod(upper, stat.S_IMODE(status.st_mode))
    return OverlayLayer(over, upper, work)


def _remove_tree(copy_path: str) -> None:
    """Remove a copy whatever its permissions. Raises nothing."""
    with suppress(OSError):
        os.chmod(copy_path, _OWNER_ALL)
    for directory, directories, _ in os.walk(copy_path):
        for name in directories:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, _OWNER_ALL)
    shutil.rmtree(copy_path, ignore_errors=True)
