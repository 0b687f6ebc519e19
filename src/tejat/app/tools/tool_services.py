"""The services that the tools of a session use."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.run_config import RunConfig
from tejat.core.agent.session_state import SessionState
from tejat.core.agent.subagents import current_agent, current_agent_run
from tejat.core.approval.modes import SandboxMode
from tejat.core.approval.plans import PLAN_TOOLS, NoPlanMode, PlanMode
from tejat.core.approval.user_question import ASK_USER, PresetAnswers
from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.i18n import _
from tejat.core.tools.recall import RECALL, EarlierParts
from tejat.core.ui.status import SandboxState
from tejat.tools import UNDECLARED_TOOLS

if TYPE_CHECKING:
    from tejat.app.skills.service import ConversationText, SkillService
    from tejat.app.tools.sandbox_options import SandboxOptions
    from tejat.config.settings.types import Setting, Settings
    from tejat.core.agent.subagents import SubagentLauncher
    from tejat.core.approval.modes import SandboxRequest
    from tejat.core.model import AskModel, Capability
    from tejat.core.tools.edit_failure import EditCorrector
    from tejat.engine.calls.undo_recorder import UndoRecorder
    from tejat.policy.types import Enclosure
    from tejat.tools.web.access import WebAccess
    from tejat.workspace.context import Workspace
    from tejat.workspace.files.memory_file import MemoryFile
    from tejat.workspace.jobs.store import Job, JobStore
    from tejat.workspace.overlay.manager import OverlayManager
    from tejat.workspace.processes.environment import VariableLists
    from tejat.workspace.processes.shell import ShellContext
    from tejat.workspace.processes.supervisor_client import ProcessSupervisor
    from tejat.workspace.sandbox.session_sandbox import SessionSandbox
    from tejat.workspace.sandbox.types import ProgramWrapper, SandboxedCommand, SandboxReport
    from tejat.workspace.web.fetcher import Fetcher


class ModelAccess(NamedTuple):
    """Access to the model of the session and its capabilities."""

    ask: "AskModel"
    capabilities: "Callable[[], frozenset[Capability]]"


class ToolServices:
    """The services that the tools of a session use, each created on first use.

    `sandbox` is the word of the flag. With `runs_nothing`, tools are only looked at: a required sandbox is
    not tried.
    """

    def __init__(
        self, workspace: "Workspace", run_config: RunConfig, sandbox: str | None, *, runs_nothing: bool = False
    ) -> None:
        self._workspace = workspace
        self._run_config = run_config
        self._paths = run_config.paths
        self._settings = run_config.settings
        self._environment = run_config.environment
        self._sandbox_request = resolve_sandbox_request(sandbox, run_config.settings)
        self.sandbox = self._sandbox_request.value.mode
        self._model: ModelAccess | None = None
        self.launcher: Callable[[], SubagentLauncher] | None = None
        """Returns what starts agents, loaded when the first one starts."""
        self.plan_mode: Callable[[], PlanMode] = NoPlanMode
        self.session_id = ""
        """The session that current calls belong to."""
        self.state = SessionState()
        """The state of that session."""
        self.can_ask = False
        self.history: ConversationText | None = None
        self.earlier = EarlierParts()
        """The earlier parts of its conversation."""
        self.has_skills = False
        self.on_warning: Callable[[str], None] | None = None
        """Gets warnings for the user, in the thread of the event loop."""
        self.on_background: Callable[[JobStore, Job], None] | None = None
        """Gets each command that goes on in the background, in the thread of the event loop."""
        self.can_ask = False
        """Whether there is a person to ask."""
        self.answers = PresetAnswers()
        """What questions of the model are answered with before a person is asked."""
        self._sandbox_report: SandboxReport | None = None
        self._shown: dict[str, None] = {}
        self._runs_nothing = runs_nothing
        self._exit_stack = ExitStack()

    def attach_model(self, model: "ModelAccess") -> None:
        """Give tools access to a model from now on."""
        self._model = model

    def __enter__(self) -> "ToolServices":
        if self.sandbox is SandboxMode.REQUIRED and not self._runs_nothing:
            _ = self._session_sandbox  # fail now rather than in the middle of the work
        return self

    def __exit__(self, *_: object) -> None:
        self._exit_stack.close()

    def workspace(self) -> "Workspace":
        return self._workspace

    def add_root(self, directory: str) -> None:
        """Add an existing directory as a root. Raises UsageError, and then nothing has changed."""
        if "_session_sandbox" in self.__dict__:
            self._session_sandbox.add_roots((os.path.realpath(directory),))
        self._workspace.roots.add((directory,))
        if "undo" in self.__dict__:
            self.undo.add_roots((directory,))

    def show_read_only(self, directory: str) -> None:
        """Let tools and commands read an existing directory, but not write there. Raises UsageError."""
        self._workspace.roots.add_read_only(directory)
        real = os.path.realpath(directory)
        self._shown[real] = None
        if "_session_sandbox" in self.__dict__:
            self._session_sandbox.show(real)

    def shell(self) -> "ShellContext":
        return self._shell

    def memory(self) -> "MemoryFile":
        from tejat.workspace.files.memory_file import MemoryFile

        return MemoryFile(self._paths.gemini, self._settings.context_file_names.value[0])

    def web(self) -> "WebAccess":
        from tejat.tools.web.access import WebAccess
        from tejat.workspace.web.search_endpoint import open_search_endpoint

        address = self._settings.search_url
        model = self._model
        return WebAccess(
            fetcher=lambda: self._fetcher,
            ask=None if model is None else model.ask,
            capabilities=frozenset if model is None else model.capabilities,
            search=None if address is None else partial(open_search_endpoint, address.value, self._environment),
            secrets=lambda: self._run_config.secrets,
        )

    def recall(self) -> EarlierParts:
        return self.earlier

    def corrector(self) -> "EditCorrector | None":
        if self._model is None or not self._settings.llm_correction.value:
            return None
        from tejat.engine.loop.edit_correction import ModelEditCorrector

        return ModelEditCorrector(self._model.ask)

    def preset_answers(self) -> "PresetAnswers":
        return self.answers

    def session_state(self) -> SessionState:
        """The state that the present call belongs to: that of the session, or of a run of a sub-agent."""
        return self.state.of_agent(current_agent())

    def offers(self, tool: str) -> bool:
        if tool == ASK_USER:
            return self.can_ask or bool(self.answers.answers)
        if tool == RECALL:
            return self.earlier.exist()
        return tool not in UNDECLARED_TOOLS and (tool not in PLAN_TOOLS or self.plan_mode is not NoPlanMode)

    @cached_property
    def skills(self) -> "SkillService":
        """The skills of the run."""
        from tejat.app.skills.service import open_skills

        return open_skills(self._run_config, self)

    def subagents(self) -> "SubagentLauncher":
        if self.launcher is None:
            raise ToolFailure("Agents can only be started in a session.", ErrorType.EXECUTION_FAILED)
        return self.launcher()

    @cached_property
    def supervisor(self) -> "ProcessSupervisor":
        """The process supervisor of the session."""
        from tejat.workspace.processes.supervisor_client import ProcessSupervisor

        supervisor = ProcessSupervisor()
        self._exit_stack.callback(supervisor.close)
        return supervisor

    @cached_property
    def child_environment(self) -> Mapping[str, str]:
        """The environment for programs from the settings."""
        from tejat.workspace.processes.environment import child_environment

        return child_environment(self._environment, lists=self.variable_lists)

    @cached_property
    def variable_lists(self) -> "VariableLists":
        """The user's lists of variables that programs get or never get."""
        from tejat.workspace.processes.environment import VariableLists

        settings = self._settings
        blocked = tuple(entry.value for entry in settings.environment_blocked)
        return VariableLists(settings.shell_environment.value, settings.environment_allowed.value, blocked)

    @property
    def sandbox_notes(self) -> tuple[str, ...]:
        """What the user must know about settings of the sandbox that have no effect."""
        settings, names = self._settings, ("GEMINI_SANDBOX_PROXY_COMMAND", "SEATBELT_PROFILE")
        paths = settings.sandbox_allowed_paths or self._sandbox_request.value.allowed_paths
        if not paths and not any(self._environment.get(name) for name in names):
            return ()
        from tejat.app.tools.sandbox_options import sandbox_notes

        return sandbox_notes(self._run_config, self._sandbox_request)

    @property
    def sandbox_name(self) -> str:
        """The sandbox of commands, or the requested mode as long as it is not known what works; empty for none."""
        if self._sandbox_report is not None:
            return self._sandbox_report.sandbox or ""
        request = self._sandbox_request.value
        return "" if request.mode is SandboxMode.OFF else request.command or request.mode.value

    @property
    def sandbox_state(self) -> SandboxState:
        """What the sandbox of commands encloses, as far as it is known."""
        report = self._sandbox_report
        if self.sandbox is SandboxMode.OFF or (report is not None and report.sandbox is None):
            return SandboxState.NONE
        if report is None:
            return SandboxState.UNKNOWN
        is_offline = report.network.enforced and not self._has_open_network
        return SandboxState.FILES_AND_NETWORK if is_offline else SandboxState.FILES

    @cached_property
    def _has_open_network(self) -> bool:
        """Whether commands in the sandbox may always use the network."""
        return self._sandbox_options.network

    def describe_sandbox(self) -> str:
        """What commands run in, for the model: empty for nothing. It is not tried for this."""
        report = self._sandbox_report
        if report is None:
            return "" if self.sandbox is SandboxMode.OFF else "a sandbox if one works on this system"
        return "" if report.sandbox is None else "a sandbox"

    async def probe_sandbox(self) -> None:
        """Find out which sandbox works, so that the user is warned before the first command. Raises nothing."""
        from tejat.workspace.threads.daemon import run_detached

        if self.sandbox is not SandboxMode.OFF:
            with suppress(OSError, UsageError):  # raised again by the first command
                self._set_sandbox_report(await run_detached(self._select_sandbox))

    def wrap_in_sandbox(self, arguments: "Sequence[str]", directory: str) -> "SandboxedCommand":
        """Wrap the command of a sandboxed server. Raises OSError if there is no sandbox."""
        if self._session_sandbox.report.sandbox is None:
            message = _("It requires a sandbox, and there is none: {note}", note=self._session_sandbox.warning)
            raise OSError(errno.ENOTSUP, message)
        return self._session_sandbox.wrap_program(arguments, directory)

    def enclosure(self) -> "Enclosure":
        """What the sandbox keeps commands without network access from. It is tried on this system first."""
        from tejat.policy.types import Enclosure

        options = self._sandbox_options
        if options.mode is SandboxMode.OFF or options.network or any(mount.is_writable for mount in options.mounts):
            return Enclosure.NONE
        report = self._session_sandbox.report
        if report.sandbox is None or not (report.files.enforced and report.network.enforced):
            return Enclosure.NONE
        is_complete = report.control_files.enforced and report.secrets.enforced
        return Enclosure.EVERYTHING if is_complete else Enclosure.FILES_AND_NETWORK

    @property
    def container_wrapper(self) -> "ProgramWrapper | None":
        """The wrapper for all configured programs if commands run in a container; otherwise they run outside."""
        is_container = self.sandbox is SandboxMode.REQUIRED and self._session_sandbox.is_container
        return self.wrap_in_sandbox if is_container else None

    @cached_property
    def _fetcher(self) -> "Fetcher":
        from tejat.workspace.http.client import HttpClient
        from tejat.workspace.web.fetcher import Fetcher

        return Fetcher(HttpClient(environment=self._environment, use_proxies=False))

    @cached_property
    def undo(self) -> "UndoRecorder":
        from tejat.engine.calls.undo_recorder import UndoRecorder
        from tejat.policy.control_files import plantable_paths

        roots, placeholders = self._workspace.roots.paths, plantable_paths()
        journal = UndoRecorder(
            self._paths.undo,
            roots,
            placeholders=placeholders,
            session=lambda: self.session_id,
            agent=current_agent_run,
            helpers=lambda: (self.supervisor.pid,) if "supervisor" in self.__dict__ else (),
            on_warning=self._warn_user,
        )
        self._exit_stack.callback(journal.close)
        return journal

    @cached_property
    def _shell(self) -> "ShellContext":
        from tejat.workspace.jobs.store import JobStore
        from tejat.workspace.processes.environment import child_environment
        from tejat.workspace.processes.shell import ShellContext, run_without_sandbox

        session_sandbox = self._session_sandbox
        shell = ShellContext(
            supervisor=self.supervisor,
            jobs=JobStore(self._paths.jobs),
            environment=child_environment(
                self._environment, lists=self.variable_lists, extra=session_sandbox.environment
            ),
            outputs=self._paths.outputs,
            wrap=run_without_sandbox if session_sandbox.report.sandbox is None else session_sandbox.wrap,
            sandbox_note=session_sandbox.warning,
            copies=lambda: self.copies,
            idle=self._settings.shell_idle_seconds.value,
            on_background=self._report_background,
        )
        shell.remove_old_outputs()
        self._exit_stack.callback(shell.close)
        return shell

    def _report_background(self, jobs: "JobStore", job: "Job") -> None:
        if self.on_background is not None:
            self.on_background(jobs, job)

    @cached_property
    def copies(self) -> "OverlayManager":
        from tejat.workspace.overlay.manager import OverlayManager

        copies = OverlayManager(self._session_sandbox, self._paths.overlays)
        self._exit_stack.callback(copies.close)
        return copies

    @cached_property
    def _session_sandbox(self) -> "SessionSandbox":
        from tejat.app.tools.sandbox_paths import has_running_jobs, sandbox_paths
        from tejat.workspace.sandbox.session_sandbox import SessionSandbox

        options = self._sandbox_options
        session_sandbox = SessionSandbox(
            options.mode,
            sandbox_paths(self._paths, self._workspace.roots.directories),
            network=options.network,
            is_offline=options.is_offline,
            mounts=options.mounts,
            container=options.container,
            is_in_use=lambda: has_running_jobs(self._paths),
        )
        for directory in self._shown:
            session_sandbox.show(directory)
        self._set_sandbox_report(session_sandbox.report)
        return self._exit_stack.enter_context(session_sandbox)

    @property
    def _sandbox_options(self) -> "SandboxOptions":
        from tejat.app.tools.sandbox_options import sandbox_options

        return sandbox_options(self._run_config, self._sandbox_request)

    def _select_sandbox(self) -> "SandboxReport":
        from tejat.app.tools.sandbox_paths import sandbox_paths
        from tejat.workspace.sandbox.selection import select_sandbox

        paths, options = sandbox_paths(self._paths, self._workspace.roots.directories), self._sandbox_options
        return select_sandbox(
            options.mode, roots=paths.roots, state_directory=paths.state_directory, container=options.container
        )[1]

    def _warn_user(self, message: str) -> None:
        if self.on_warning is not None:
            self.on_warning(message)

    def _set_sandbox_report(self, report: "SandboxReport") -> None:
        """Warn the user, once, if there is no sandbox and they have not chosen that."""
        is_new, self._sandbox_report = self._sandbox_report is None, report
        if is_new and report.sandbox is None and self.sandbox is not SandboxMode.OFF:
            why, fix = report.files.detail, report.fix
            words = _("NO SANDBOX: commands run with all your permissions. Reason: {why}. {fix}", why=why, fix=fix)
            self._warn_user(words)


def resolve_sandbox_request(word: str | None, settings: "Settings") -> "Setting[SandboxRequest]":
    """The sandbox that this run asks for. Raises UsageError for an unknown word."""
    if word is None and not settings.tool_sandboxing.value:
        return settings.sandbox
    from tejat.app.tools.sandbox_options import resolve_sandbox

    return resolve_sandbox(word, settings)
