"""The sandbox of a session: what was requested, what works, and how commands are wrapped."""

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import UsageError
from tejat.core.i18n import _

if TYPE_CHECKING:
    from tejat.app.tools.sandbox.options import SandboxOptions
    from tejat.config.settings.types import Setting
    from tejat.core.approval.modes import SandboxRequest
    from tejat.core.ui.status import SandboxState
    from tejat.policy.types import Enclosure
    from tejat.workspace.files.roots import Roots
    from tejat.workspace.sandbox.session_sandbox import SessionSandbox
    from tejat.workspace.sandbox.types import ProgramWrapper, SandboxedCommand, SandboxReport


class SandboxService:
    """The sandbox that commands and servers of a session run in. It is set up when it is first used.

    `word` is that of the flag. `warn` gets what the user must know, in the thread of the event loop.
    """

    def __init__(self, run_config: RunConfig, roots: "Roots", word: str | None, warn: Callable[[str], None]) -> None:
        """Raises UsageError for an unknown word."""
        self._run_config = run_config
        self._paths = run_config.paths
        self._roots = roots
        self._request = _resolve_request(word, run_config)
        self._warn = warn
        self.mode = self._request.value.mode
        self._report: SandboxReport | None = None
        self._shown: dict[str, None] = {}
        self._exit_stack = ExitStack()

    def close(self) -> None:
        self._exit_stack.close()

    def add_root(self, directory: str) -> None:
        """Let commands write in another directory. Raises UsageError."""
        if "session" in self.__dict__:
            self.session.add_roots((os.path.realpath(directory),))

    def show(self, directory: str) -> None:
        """Let commands read another directory."""
        real = os.path.realpath(directory)
        self._shown[real] = None
        if "session" in self.__dict__:
            self.session.show(real)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user must know about settings that have no effect."""
        environment, names = self._run_config.environment, ("GEMINI_SANDBOX_PROXY_COMMAND", "SEATBELT_PROFILE")
        paths = self._run_config.settings.sandbox_allowed_paths or self._request.value.allowed_paths
        if not paths and not any(environment.get(name) for name in names):
            return ()
        from tejat.app.tools.sandbox.options import sandbox_notes

        return sandbox_notes(self._run_config, self._request)

    @property
    def name(self) -> str:
        """The sandbox of commands, or the requested mode as long as it is not known what works; empty for none."""
        if self._report is not None:
            return self._report.sandbox or ""
        request = self._request.value
        return "" if request.mode is SandboxMode.OFF else request.command or request.mode.value

    @property
    def state(self) -> "SandboxState":
        """What the sandbox encloses, as far as it is known."""
        from tejat.core.ui.status import SandboxState

        report = self._report
        if self.mode is SandboxMode.OFF or (report is not None and report.sandbox is None):
            return SandboxState.NONE
        if report is None:
            return SandboxState.UNKNOWN
        is_offline = report.network.enforced and not self._has_open_network
        return SandboxState.FILES_AND_NETWORK if is_offline else SandboxState.FILES

    @cached_property
    def _has_open_network(self) -> bool:
        """Whether commands in the sandbox may always use the network."""
        return self._options.network

    def describe(self) -> str:
        """What commands run in, for the model: empty for nothing. It is not tried for this."""
        report = self._report
        if report is None:
            return "" if self.mode is SandboxMode.OFF else "a sandbox if one works on this system"
        return "" if report.sandbox is None else "a sandbox"

    async def probe(self) -> None:
        """Find out which sandbox works, so that the user is warned before the first command. Raises nothing."""
        from tejat.workspace.threads.daemon import run_detached

        if self.mode is not SandboxMode.OFF:
            with suppress(OSError, UsageError):  # raised again by the first command
                self._set_report(await run_detached(self._select))

    def wrap(self, arguments: "Sequence[str]", directory: str) -> "SandboxedCommand":
        """Wrap the command of a sandboxed server. Raises OSError if there is no sandbox."""
        if self.session.report.sandbox is None:
            message = _("It requires a sandbox, and there is none: {note}", note=self.session.warning)
            raise OSError(errno.ENOTSUP, message)
        return self.session.wrap_program(arguments, directory)

    def enclosure(self) -> "Enclosure":
        """What the sandbox keeps commands without network access from. It is tried on this system first."""
        from tejat.policy.types import Enclosure

        options = self._options
        if options.mode is SandboxMode.OFF or options.network or any(mount.is_writable for mount in options.mounts):
            return Enclosure.NONE
        report = self.session.report
        if report.sandbox is None or not (report.files.enforced and report.network.enforced):
            return Enclosure.NONE
        is_complete = report.control_files.enforced and report.secrets.enforced
        return Enclosure.EVERYTHING if is_complete else Enclosure.FILES_AND_NETWORK

    @property
    def container_wrapper(self) -> "ProgramWrapper | None":
        """The wrapper for all configured programs if commands run in a container; otherwise they run outside."""
        is_container = self.mode is SandboxMode.REQUIRED and self.session.is_container
        return self.wrap if is_container else None

    @cached_property
    def session(self) -> "SessionSandbox":
        """The sandbox itself, tried on this system. Raises SandboxUnavailable if it is required and there is none."""
        from tejat.app.tools.sandbox.paths import has_running_jobs, sandbox_paths
        from tejat.workspace.sandbox.session_sandbox import SessionSandbox

        options = self._options
        session_sandbox = SessionSandbox(
            options.mode,
            sandbox_paths(self._paths, self._roots.directories),
            network=options.network,
            is_offline=options.is_offline,
            mounts=options.mounts,
            container=options.container,
            is_in_use=lambda: has_running_jobs(self._paths),
        )
        for directory in self._shown:
            session_sandbox.show(directory)
        self._set_report(session_sandbox.report)
        return self._exit_stack.enter_context(session_sandbox)

    @property
    def _options(self) -> "SandboxOptions":
        from tejat.app.tools.sandbox.options import sandbox_options

        return sandbox_options(self._run_config, self._request)

    def _select(self) -> "SandboxReport":
        from tejat.app.tools.sandbox.paths import sandbox_paths
        from tejat.workspace.sandbox.selection import select_sandbox

        paths, options = sandbox_paths(self._paths, self._roots.directories), self._options
        return select_sandbox(
            options.mode, roots=paths.roots, state_directory=paths.state_directory, container=options.container
        )[1]

    def _set_report(self, report: "SandboxReport") -> None:
        """Warn the user, once, if there is no sandbox and they have not chosen that."""
        is_new, self._report = self._report is None, report
        if is_new and report.sandbox is None and self.mode is not SandboxMode.OFF:
            why, fix = report.files.detail, report.fix
            self._warn(_("NO SANDBOX: commands run with all your permissions. Reason: {why}. {fix}", why=why, fix=fix))


def _resolve_request(word: str | None, run_config: RunConfig) -> "Setting[SandboxRequest]":
    """The sandbox that this run asks for. Raises UsageError for an unknown word."""
    settings = run_config.settings
    if word is None and not settings.tool_sandboxing.value:
        return settings.sandbox
    from tejat.app.tools.sandbox.options import resolve_sandbox

    return resolve_sandbox(word, settings, names_arguments=run_config.names_arguments)
