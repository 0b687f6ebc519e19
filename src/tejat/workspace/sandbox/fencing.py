"""The sandbox of one session: chosen once, then put around every command."""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from tejat.core.errors import SandboxUnavailable
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.value import replace, value
from tejat.core.words import say
from tejat.workspace.sandbox.bubblewrap import Bubblewrap
from tejat.workspace.sandbox.choose import choose
from tejat.workspace.sandbox.plan import Axis, Fence, Layer, Report, Wrapped
from tejat.workspace.sandbox.secrets import secrets_in_home

_PREFIX = "tejat-session-"
_FORGOTTEN_AFTER = 7 * 24 * 3600


@value
class Grounds:
    """What the fence runs around. All paths are real.

    `own` are directories of the program itself, `control_paths` the files in each root that commands must not change,
    `blocked` those that they must not make (see `Fence`), `state` is where the sandbox notes what it has to clean up.
    """

    roots: tuple[str, ...]
    home: str
    own: tuple[str, ...]
    control_paths: tuple[tuple[str, bool], ...]
    blocked: tuple[str, ...]
    state: str


class Fencing:
    """Open it with `with`. Raises SandboxUnavailable when one is required and none works.

    With `network` commands may always use the network. The private directory for temporary files goes away in the end,
    unless `is_in_use` says that something still runs that may need it.
    """

    def __init__(
        self,
        wanted: SandboxWish,
        grounds: Grounds,
        *,
        network: bool = False,
        is_in_use: Callable[[], bool] = lambda: False,
    ) -> None:
        self._wanted = wanted
        self._grounds = grounds
        self._network = network
        self._is_in_use = is_in_use
        self._sandbox, self.report = choose(wanted, roots=grounds.roots, state=grounds.state)
        self._temporary: str | None = None
        self._not_over: set[Callable[[], None]] = set()

    def __enter__(self) -> Self:
        if self._sandbox is not None:
            _remove_forgotten(tempfile.gettempdir())
            self._temporary = os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._not_over:  # jobs that go on, or that nobody has looked at since they ended
            self._not_over.pop()()
        if self._sandbox is not None:
            self._sandbox.sweep()
        if self._temporary is not None and not self._is_in_use():
            shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that commands need."""
        return {} if self._sandbox is None else {"SANDBOX": self._sandbox.name}

    @property
    def note(self) -> str:
        """What a person who is asked about a command should know, empty where everything is enforced."""
        return note_on(self.report)

    def widen(self, roots: Sequence[str]) -> None:
        """Let commands change what is in these real paths too.

        Raises SandboxUnavailable, and changes nothing, where the sandbox could not be kept then.
        """
        grounds = replace(self._grounds, roots=(*self._grounds.roots, *roots))
        if self._sandbox is not None:
            sandbox, report = choose(self._wanted, roots=grounds.roots, state=grounds.state)
            if sandbox is None:
                raise SandboxUnavailable(say("There would be no sandbox any more: {why}.", why=report.files.how))
            self._sandbox, self.report = sandbox, report
        self._grounds = grounds

    def wrap(self, arguments: Sequence[str], directory: str, network: bool) -> Wrapped:
        """Raises OSError when what has to be prepared cannot be."""
        if self._sandbox is None:
            return Wrapped(tuple(arguments))
        if self._temporary is None:
            raise RuntimeError("a fence that was not opened keeps nobody in")
        wrapped = self._sandbox.wrap(arguments, self._fence(self._temporary, network=network), directory=directory)
        self._not_over.add(wrapped.let_go)

        def clean_up() -> None:
            self._not_over.discard(wrapped.let_go)
            wrapped.clean_up()

        return replace(wrapped, clean_up=clean_up)

    @property
    def can_copy(self) -> bool:
        """Whether the sandbox has a way to show commands a copy. That it works here has to be tried."""
        return isinstance(self._sandbox, Bubblewrap)

    @property
    def copied(self) -> tuple[str, ...]:
        """What a copy has to have a layer over: the roots, and the directory for temporary files."""
        if self._temporary is None:
            raise RuntimeError("a fence that was not opened keeps nobody in")
        return (*self._grounds.roots, self._temporary)

    @property
    def control_paths(self) -> tuple[str, ...]:
        """The files and directories in each root that commands must not change, from there."""
        return tuple(path for path, _ in self._grounds.control_paths)

    def wrap_in_copy(
        self, arguments: Sequence[str], directory: str, layers: Sequence[Layer], *, network: bool
    ) -> Wrapped:
        """Like `wrap`, with a layer over each place in `copied`. Raises OSError where the sandbox cannot do that."""
        if not isinstance(self._sandbox, Bubblewrap):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        fence = self._fence(self.copied[-1], network=network)
        return self._sandbox.wrap_in_copy(arguments, fence, layers, directory=directory)

    def _fence(self, temporary: str, *, network: bool) -> Fence:
        grounds = self._grounds
        return Fence(
            writable=grounds.roots,
            temporary=temporary,
            read_only=grounds.control_paths,
            hidden=(*secrets_in_home(grounds.home), *filter(os.path.lexists, grounds.own)),
            network=network or self._network,
            blocked=grounds.blocked,
        )


def note_on(report: Report) -> str:
    """What is not enforced, in one line."""
    if report.sandbox is None:
        return say("No sandbox: {why}.", why=report.files.how)
    unguarded = [f"{name} ({axis.how})" for name, axis in axes_of(report).items() if not axis.enforced]
    if not unguarded:
        return ""
    return say("The sandbox ({name}) does not guard: {what}.", name=report.sandbox, what=", ".join(unguarded))


def axes_of(report: Report) -> dict[str, Axis]:
    """The axes by the names that people know them by."""
    return {
        "files": report.files,
        "network": report.network,
        "processes": report.processes,
        "control files": report.control_files,
        "secrets": report.secrets,
    }


def _remove_forgotten(directory: str) -> None:
    """Remove what sessions left for jobs that went on, once nobody has used it for days."""
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _FORGOTTEN_AFTER:
                    shutil.rmtree(entry.path, ignore_errors=True)
