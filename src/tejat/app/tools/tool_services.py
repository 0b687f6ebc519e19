"""The services that the tools of a session use."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.app.tools.sandbox.service import SandboxService
from tejat.core.agent.session_state import SessionState
from tejat.core.agent.subagents import current_agent, current_agent_run
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.messages.tool_names import ASK_USER, PLAN_TOOLS, RECALL
from tejat.core.tools.recall import EarlierParts
from tejat.tools import UNDECLARED_TOOLS

if TYPE_CHECKING:
    from tejat.app.skills.service import ConversationText, SkillService
    from tejat.core.agent.editor import EditorTerminals
    from tejat.core.agent.subagents import SubagentLauncher
    from tejat.core.approval.plans import PlanMode
    from tejat.core.approval.user_question import PresetAnswers
    from tejat.core.model import AskModel, Capability
    from tejat.core.tools.edit_failure import EditCorrector
    from tejat.engine.calls.undo_recorder import UndoRecorder
    from tejat.tools.web.access import WebAccess
    from tejat.workspace.context import Workspace
    from tejat.workspace.files.memory_file import MemoryFile
    from tejat.workspace.jobs.store import Job, JobStore
    from tejat.workspace.overlay.manager import OverlayManager
    from tejat.workspace.processes.environment import VariableLists
    from tejat.workspace.processes.shell import ShellContext
    from tejat.workspace.processes.supervisor_client import ProcessSupervisor
    from tejat.workspace.processes.terminals.displays import TerminalDisplays
    from tejat.workspace.web.fetcher import Fetcher


class ModelAccess(Frozen):
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
        self.sandbox = SandboxService(run_config, workspace.roots, sandbox, self._warn_user)
        self._model: ModelAccess | None = None
        self.launcher: Callable[[], SubagentLauncher] | None = None
        """Returns what starts agents, loaded when the first one starts."""
        self.plan_mode: Callable[[], PlanMode] = _no_plan_mode
        self.session_id = ""
        """The session that current calls belong to."""
        self.state = SessionState()
        """The state of that session."""
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
        self.answers: PresetAnswers | None = None
        """What questions of the model are answered with before a person is asked."""
        self.terminals: EditorTerminals | None = None
        """The terminals of the editor that the session runs in."""
        self._runs_nothing = runs_nothing
        self._exit_stack = ExitStack()

    def attach_model(self, model: "ModelAccess") -> None:
        """Give tools access to a model from now on."""
        self._model = model

    def __enter__(self) -> "ToolServices":
        self._exit_stack.callback(self.sandbox.close)
        if self.sandbox.mode is SandboxMode.REQUIRED and not self._runs_nothing:
            _ = self.sandbox.session  # fail now rather than in the middle of the work
        return self

    def __exit__(self, *_: object) -> None:
        self._exit_stack.close()

    def workspace(self) -> "Workspace":
        return self._workspace

    def add_root(self, directory: str) -> None:
        """Add an existing directory as a root. Raises UsageError, and then nothing has changed."""
        self.sandbox.add_root(directory)
        self._workspace.roots.add((directory,))
        if "undo" in self.__dict__:
            self.undo.add_roots((directory,))

    def show_read_only(self, directory: str) -> None:
        """Let tools and commands read an existing directory, but not write there. Raises UsageError."""
        self._workspace.roots.add_read_only(directory)
        self.sandbox.show(directory)

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
        from tejat.core.approval.user_question import PresetAnswers

        return self.answers or PresetAnswers()

    def session_state(self) -> SessionState:
        """The state that the present call belongs to: that of the session, or of a run of a sub-agent."""
        return self.state.of_agent(current_agent())

    def offers(self, tool: str) -> bool:
        if tool == ASK_USER:
            return self.can_ask or bool(self.answers and self.answers.answers)
        if tool == RECALL:
            return self.earlier.exist()
        return tool not in UNDECLARED_TOOLS and (tool not in PLAN_TOOLS or self.plan_mode is not _no_plan_mode)

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
        """The process supervisor of the session. One that was started already may be put here before it is used."""
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

        with suppress(OSError):  # the first command tries again, and reports it
            self.supervisor.prepare()  # it starts while the sandbox is set up and the command is judged
        session_sandbox = self.sandbox.session
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
            displays=self._open_displays(),
        )
        shell.remove_old_outputs()
        self._exit_stack.callback(shell.close)
        return shell

    def _open_displays(self) -> "TerminalDisplays | None":
        if self.terminals is None or not self._settings.editor_terminals.value:
            return None
        from tejat.workspace.processes.terminals.displays import TerminalDisplays

        return TerminalDisplays(self.terminals, self._warn_user)

    def _report_background(self, jobs: "JobStore", job: "Job") -> None:
        if self.on_background is not None:
            self.on_background(jobs, job)

    @cached_property
    def copies(self) -> "OverlayManager":
        from tejat.workspace.overlay.manager import OverlayManager

        copies = OverlayManager(self.sandbox.session, self._paths.overlays)
        self._exit_stack.callback(copies.close)
        return copies

    def _warn_user(self, message: str) -> None:
        if self.on_warning is not None:
            self.on_warning(message)


def _no_plan_mode() -> "PlanMode":
    from tejat.core.approval.plans import NoPlanMode

    return NoPlanMode()
