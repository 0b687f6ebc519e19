"""What the tools of one session stand on."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from tejat.app.ground import Ground
from tejat.config.places import Places, private_directory
from tejat.config.settings import Settings, is_required_by_admin
from tejat.core.errors import UsageError
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.words import say

if TYPE_CHECKING:
    from tejat.core.model import Ability, Ask
    from tejat.engine.undo import UndoJournal
    from tejat.tools.edit.correction import Corrector
    from tejat.tools.web import Web
    from tejat.workspace.copies.copies import Copies
    from tejat.workspace.fetch.fetch import Fetcher
    from tejat.workspace.fetch.search_endpoint import SearchEndpoint
    from tejat.workspace.memory_file import MemoryFile
    from tejat.workspace.processes.keeping import Keeper
    from tejat.workspace.processes.shell import Shell
    from tejat.workspace.roots import Root
    from tejat.workspace.sandbox.fencing import Fencing, Grounds
    from tejat.workspace.sandbox.plan import Wrapped
    from tejat.workspace.workspace import Workspace


class ModelSide(NamedTuple):
    """How tools ask the model of their session, and what it can do by itself."""

    ask: "Ask"
    abilities: "Callable[[], frozenset[Ability]]"


class House:
    """What the tools of one session stand on, each part made when it is first needed. `sandbox` is what is wished."""

    def __init__(self, workspace: "Workspace", ground: Ground, sandbox: str | None) -> None:
        self._workspace = workspace
        self._ground = ground
        self._places = ground.places
        self._settings = ground.settings
        self._environment = ground.environment
        self.sandbox = sandbox_mode(sandbox, ground.settings)
        self._model: ModelSide | None = None
        self.session_id = ""
        """The session that calls belong to now."""
        self._closing = ExitStack()

    def attach(self, model: "ModelSide") -> None:
        """Let tools ask a model from now on."""
        self._model = model

    def __enter__(self) -> "House":
        if self.sandbox is SandboxWish.REQUIRED:
            _ = self._fencing  # refuse now rather than in the middle of the work
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def workspace(self) -> "Workspace":
        return self._workspace

    def add_root(self, directory: str) -> None:
        """Let tools work in one more directory, which exists. Raises UsageError, and then nothing has changed."""
        if "_fencing" in self.__dict__:
            self._fencing.widen((os.path.realpath(directory),))
        self._workspace.roots.add((directory,))
        if "undo" in self.__dict__:
            self.undo.add_roots((directory,))

    def shell(self) -> "Shell":
        return self._shell

    def memory(self) -> "MemoryFile":
        from tejat.workspace.memory_file import MemoryFile

        return MemoryFile(self._places.gemini, self._settings.context_file_names.value[0])

    def web(self) -> "Web":
        from tejat.tools.web import Web

        address = self._settings.search_url
        model = self._model
        return Web(
            fetcher=lambda: self._fetcher,
            ask=None if model is None else model.ask,
            abilities=frozenset if model is None else model.abilities,
            search=None if address is None else partial(_search_endpoint, address.value, self._environment),
            secrets=lambda: self._ground.secrets,
        )

    def corrector(self) -> "Corrector | None":
        if self._model is None or not self._settings.llm_correction.value:
            return None
        from tejat.engine.edit_correction import EditCorrection

        return EditCorrection(self._model.ask)

    @cached_property
    def keeper(self) -> "Keeper":
        """Whoever starts programs for the session."""
        from tejat.workspace.processes.keeping import Keeper

        keeper = Keeper()
        self._closing.callback(keeper.close)
        return keeper

    @cached_property
    def child_environment(self) -> Mapping[str, str]:
        """What programs of the settings see of the environment."""
        from tejat.workspace.processes.environment import child_environment

        return child_environment(self._environment, allow=self._settings.shell_environment.value)

    @property
    def sandbox_name(self) -> str:
        """What commands run in: the sandbox, or the wish for one while it was not needed yet; empty for none."""
        fencing = self.__dict__.get("_fencing")
        if fencing is not None:
            return self._fencing.report.sandbox or ""
        return "" if self.sandbox is SandboxWish.OFF else self.sandbox.value

    def fence_in(self, arguments: "Sequence[str]", directory: str) -> "Wrapped":
        """Put the sandbox around a server that is to have one. Raises OSError where there is none."""
        if self._fencing.report.sandbox is None:
            told = say("It is to run in a sandbox, and there is none: {note}", note=self._fencing.note)
            raise OSError(errno.ENOTSUP, told)
        return self._fencing.wrap(arguments, directory, False)

    @cached_property
    def _fetcher(self) -> "Fetcher":
        from tejat.workspace.fetch.fetch import Fetcher
        from tejat.workspace.http.client import HttpClient

        return Fetcher(HttpClient(environment=self._environment, use_proxies=False))

    @cached_property
    def undo(self) -> "UndoJournal":
        from tejat.engine.undo import UndoJournal
        from tejat.policy.control_files import planted_paths

        directory = undo_directory(self._places)
        journal = UndoJournal(
            directory, self._workspace.roots.paths, stand_ins=planted_paths(), session=lambda: self.session_id
        )
        self._closing.callback(journal.close)
        return journal

    @cached_property
    def _shell(self) -> "Shell":
        from tejat.workspace.jobs import Jobs
        from tejat.workspace.processes.environment import child_environment
        from tejat.workspace.processes.shell import Shell

        fencing = self._fencing
        shell = Shell(
            keeper=self.keeper,
            jobs=Jobs(jobs_directory(self._places)),
            environment=child_environment(
                self._environment, allow=self._settings.shell_environment.value, extra=fencing.environment
            ),
            outputs=os.path.join(self._places.state, "outputs"),
            wrap=fencing.wrap,
            sandbox_note=fencing.note,
            copies=lambda: self._copies,
            idle=self._settings.shell_idle_seconds.value,
        )
        shell.tidy()
        self._closing.callback(shell.close)
        return shell

    @cached_property
    def _copies(self) -> "Copies":
        from tejat.workspace.copies.copies import Copies

        copies = Copies(self._fencing, os.path.join(self._places.state, "copies"))
        self._closing.callback(copies.close)
        return copies

    @cached_property
    def _fencing(self) -> "Fencing":
        from tejat.workspace.sandbox.fencing import Fencing

        fencing = Fencing(
            self.sandbox,
            grounds_of(self._places, self._workspace.roots.directories),
            network=self._settings.sandbox_network.value,
            is_in_use=lambda: _has_running_jobs(self._places),
        )
        return self._closing.enter_context(fencing)


def _search_endpoint(url: str, environment: Mapping[str, str]) -> "SearchEndpoint":
    from tejat.workspace.fetch.search_endpoint import SearchEndpoint
    from tejat.workspace.http.client import HttpClient

    return SearchEndpoint(url, lambda: HttpClient(environment=environment))


def sandbox_mode(wish: str | None, settings: Settings) -> SandboxWish:
    """A flag wins over the settings, unless whoever runs the machine requires a sandbox."""
    if wish is not None and wish not in list(SandboxWish):
        known = ", ".join(SandboxWish)
        raise UsageError(say("The sandbox must be one of {known}, but is {wish!r}.", known=known, wish=wish))
    is_settled = is_required_by_admin(settings.sandbox)
    return settings.sandbox.value if wish is None or is_settled else SandboxWish(wish)


def grounds_of(places: Places, roots: "Sequence[Root]") -> "Grounds":
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

    return any(job.state is JobState.RUNNING for job in Jobs(jobs_directory(places)).found().jobs)


def jobs_directory(places: Places) -> str:
    return os.path.join(places.state, "jobs")


def undo_directory(places: Places) -> str:
    return os.path.join(places.state, "undo")
