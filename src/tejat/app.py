"""The composition root: puts the rooms together for whoever runs them."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NoReturn

from tejat.config.load import load_settings
from tejat.config.places import Places, places_of, private_directory
from tejat.config.settings import Settings, is_required_by_admin
from tejat.core.confirm import Approver
from tejat.core.errors import UsageError
from tejat.core.explain import Check, PolicyFlags
from tejat.core.sandbox_wish import SandboxWish
from tejat.tools import session_registry
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.engine.policy_book import PolicyBook
    from tejat.engine.scheduler import Scheduler
    from tejat.engine.undo import UndoJournal
    from tejat.tools.web import Web
    from tejat.workspace.fetch.fetch import Fetcher
    from tejat.workspace.fetch.search_endpoint import SearchEndpoint
    from tejat.workspace.jobs import Jobs
    from tejat.workspace.memory_file import MemoryFile
    from tejat.workspace.processes.shell import Shell
    from tejat.workspace.roots import Root
    from tejat.workspace.sandbox.fencing import Fencing, Grounds
    from tejat.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ToolSession:
    registry: ToolRegistry
    scheduler: "Scheduler"
    settings: Settings


@contextmanager
def open_tools(
    directories: Sequence[str],
    approver: Approver | None,
    *,
    allowed_tools: Sequence[str] = (),
    mode: str | None = None,
    sandbox: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> "Generator[ToolSession]":
    """The built-in tools at work in some directories, under the rules and settings of this user.

    Without an approver whatever needs an answer is refused. `sandbox` is `auto`, `required` or `off`. Raises UsageError
    when a directory is missing, a settings or policy file is wrong, or the sandbox that is required does not work.
    """
    from tejat.engine.facts import FactFinder
    from tejat.engine.load_policy import load_policy, save_rule
    from tejat.engine.long_output import LongOutput
    from tejat.engine.permission import Permission
    from tejat.engine.scheduler import Scheduler
    from tejat.workspace.workspace import Workspace

    flags = PolicyFlags(tuple(map(os.path.abspath, directories)), tuple(allowed_tools), mode)
    around = dict(os.environ if environment is None else environment)
    places = places_of(around)
    settings = load_settings(places, flags.roots, trusted=False, environment=around)
    policy = load_policy(places, settings, flags)
    with ExitStack() as stack:
        outputs = _kept_outputs(places)
        workspace = stack.enter_context(Workspace(flags.roots, for_reading=outputs))
        house = stack.enter_context(_House(workspace, places, settings, around, sandbox))
        registry = session_registry(house)
        _select(registry, settings)
        facts = FactFinder(workspace.roots, home=places.home, search_path=around.get("PATH", os.defpath))
        save = partial(save_rule, places, workspace.roots.first.real_path)
        scheduler = Scheduler(
            registry,
            Permission(policy, facts, approver, save=save),
            long_output=LongOutput(outputs[0], limit=settings.output_characters.value or 0) if outputs else None,
            undo=lambda: house.undo,
        )
        yield ToolSession(registry, scheduler, settings)


def _kept_outputs(places: Places) -> list[str]:
    """Where long outputs are kept, nowhere if there is no place for them: reading must work without a home."""
    with suppress(UsageError):
        return [private_directory(os.path.join(places.state, "outputs"))]
    return []


def _select(registry: ToolRegistry, settings: Settings) -> None:
    core = None if settings.core is None else settings.core.value
    registry.select(core=core, exclude=[entry.value for entry in settings.exclude])


class _House:
    """What the tools of one session stand on, each part made when it is first needed."""

    def __init__(
        self,
        workspace: "Workspace",
        places: Places,
        settings: Settings,
        environment: Mapping[str, str],
        sandbox: str | None,
    ) -> None:
        self._workspace = workspace
        self._places = places
        self._settings = settings
        self._environment = environment
        self._sandbox = _sandbox_mode(sandbox, settings)
        self._closing = ExitStack()

    def __enter__(self) -> "_House":
        if self._sandbox is SandboxWish.REQUIRED:
            _ = self._fencing  # refuse now rather than in the middle of the work
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def workspace(self) -> "Workspace":
        return self._workspace

    def shell(self) -> "Shell":
        return self._shell

    def memory(self) -> "MemoryFile":
        from tejat.workspace.memory_file import MemoryFile

        return MemoryFile(self._places.gemini, self._settings.context_file_names.value[0])

    def web(self) -> "Web":
        from tejat.tools.web import Web

        address = self._settings.search_url
        return Web(
            fetcher=lambda: self._fetcher,
            search=None if address is None else partial(_search_endpoint, address.value, self._environment),
        )

    @cached_property
    def _fetcher(self) -> "Fetcher":
        from tejat.workspace.fetch.fetch import Fetcher
        from tejat.workspace.http.client import HttpClient

        return Fetcher(HttpClient(environment=self._environment, use_proxies=False))

    @cached_property
    def undo(self) -> "UndoJournal":
        from tejat.engine.undo import UndoJournal
        from tejat.policy.control_files import planted_paths

        directory = _undo_directory(self._places)
        journal = UndoJournal(directory, self._workspace.roots.paths, stand_ins=planted_paths())
        self._closing.callback(journal.close)
        return journal

    @cached_property
    def _shell(self) -> "Shell":
        from tejat.workspace.jobs import Jobs
        from tejat.workspace.processes.environment import child_environment
        from tejat.workspace.processes.keeping import Keeper
        from tejat.workspace.processes.shell import Shell

        fencing = self._fencing
        shell = Shell(
            keeper=Keeper(),
            jobs=Jobs(_jobs_directory(self._places)),
            environment=child_environment(
                self._environment, allow=self._settings.shell_environment.value, extra=fencing.environment
            ),
            outputs=os.path.join(self._places.state, "outputs"),
            wrap=fencing.wrap,
            sandbox_note=fencing.note,
            idle=self._settings.shell_idle_seconds.value,
        )
        shell.tidy()
        self._closing.callback(shell.close)
        return shell

    @cached_property
    def _fencing(self) -> "Fencing":
        from tejat.workspace.sandbox.fencing import Fencing

        fencing = Fencing(
            self._sandbox,
            _grounds(self._places, self._workspace.roots.directories),
            network=self._settings.sandbox_network.value,
            is_in_use=lambda: _has_running_jobs(self._places),
        )
        return self._closing.enter_context(fencing)


def _search_endpoint(url: str, environment: Mapping[str, str]) -> "SearchEndpoint":
    from tejat.workspace.fetch.search_endpoint import SearchEndpoint
    from tejat.workspace.http.client import HttpClient

    return SearchEndpoint(url, lambda: HttpClient(environment=environment))


def _sandbox_mode(wish: str | None, settings: Settings) -> SandboxWish:
    """A flag wins over the settings, unless whoever runs the machine requires a sandbox."""
    if wish is not None and wish not in list(SandboxWish):
        raise UsageError(f"The sandbox must be one of {', '.join(SandboxWish)}, but is {wish!r}.")
    is_settled = is_required_by_admin(settings.sandbox)
    return settings.sandbox.value if wish is None or is_settled else SandboxWish(wish)


def _grounds(places: Places, roots: "Sequence[Root]") -> "Grounds":
    from tejat.policy.control_files import control_paths, planted_paths
    from tejat.workspace.sandbox.fencing import Grounds

    return Grounds(
        roots=tuple(root.real_path for root in roots),
        home=os.path.realpath(places.home),
        own=(os.path.realpath(places.config), os.path.realpath(places.state)),
        control_paths=control_paths(),
        blocked=planted_paths(),
        state=private_directory(os.path.join(places.state, "sandbox")),
    )


def _has_running_jobs(places: Places) -> bool:
    from tejat.workspace.jobs import Jobs, JobState

    return any(job.state is JobState.RUNNING for job in Jobs(_jobs_directory(places)).found().jobs)


def _jobs_directory(places: Places) -> str:
    return os.path.join(places.state, "jobs")


def _undo_directory(places: Places) -> str:
    return os.path.join(places.state, "undo")


@contextmanager
def open_policy(flags: PolicyFlags) -> "Generator[PolicyBook]":
    """The rules of a run with these flags, to be asked about. Raises UsageError."""
    from tejat.engine.policy_book import Judge, PolicyBook

    with ExitStack() as stack:

        def open_judge() -> Judge:
            opened = open_tools(flags.roots, None, allowed_tools=flags.allowed_tools, mode=flags.mode, sandbox="off")
            session = stack.enter_context(opened)
            session.registry.select()  # what is switched off can be asked about too
            return Judge(session.settings, session.registry, session.scheduler.permission)

        yield PolicyBook(places_of(os.environ), open_judge)


def open_undo(directories: Sequence[str]) -> "UndoJournal":
    """The journal of what was changed in these directories. Raises UsageError when one is missing."""
    from tejat.engine.undo import UndoJournal

    return UndoJournal(_undo_directory(places_of(os.environ)), directories)


def open_jobs() -> "Jobs":
    """The background jobs of this user."""
    from tejat.workspace.jobs import Jobs

    return Jobs(_jobs_directory(places_of(os.environ)))


def examine(directories: Sequence[str], wish: str | None) -> list[Check]:
    """What works here, tried for real. Raises UsageError, SandboxUnavailable among them."""
    from tejat.workspace.processes.shell import find_shell
    from tejat.workspace.ripgrep import program_path, ripgrep_path
    from tejat.workspace.roots import Roots
    from tejat.workspace.sandbox.choose import choose
    from tejat.workspace.sandbox.fencing import axes_of

    places = places_of(os.environ)
    settings = load_settings(places, list(map(os.path.abspath, directories)), trusted=False, environment=os.environ)
    wanted = _sandbox_mode(wish, settings)
    with Roots(directories) as roots:
        grounds = _grounds(places, roots.directories)
    _, report = choose(wanted, roots=grounds.roots, state=grounds.state)
    in_use = Check("sandbox", "in use", report.sandbox is not None, report.sandbox or report.files.how)
    return [
        in_use,
        *(Check("sandbox", name, axis.enforced, axis.how) for name, axis in axes_of(report).items()),
        _program("shell", find_shell(grounds.roots, os.environ.get("PATH", os.defpath))[0]),
        _program("git", program_path("git")),
        _program("rg", ripgrep_path()),
        *(Check("files", "settings", works=True, how=path) for path in settings.files),
        *(Check("files", "not trusted", works=False, how=path) for path in settings.ignored),
    ]


def _program(name: str, path: str | None) -> Check:
    return Check("programs", name, path is not None, path or "not found")


@contextmanager
def one_call_at_a_time() -> "Generator[None]":
    """Tools do their blocking work in place meanwhile: quicker, where the loop has nothing else to do."""
    from tejat.workspace.offload import one_at_a_time

    token = one_at_a_time.set(True)
    try:
        yield
    finally:
        one_at_a_time.reset(token)


def describe_tools() -> ToolRegistry:
    """The built-in tools to look at, without a workspace."""
    return session_registry(_Nowhere())


class _Nowhere:
    def workspace(self) -> NoReturn:
        raise UsageError("These tools are for looking at; open_tools makes ones that work.")

    shell = memory = web = workspace
