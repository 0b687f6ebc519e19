"""The built-in tools at work in some directories."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from tejat.app.ground import Ground, survey
from tejat.app.plugins import Plugins, add_plugins, find_plugins
from tejat.config.places import Places, private_directory
from tejat.config.policy_files import policy_texts
from tejat.config.settings import Settings, lists_of_tools
from tejat.core.confirm import Approver
from tejat.core.errors import UsageError
from tejat.core.explain import PolicyFlags
from tejat.core.tool import BaseTool
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.tools import session_registry
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.foreign import ForeignTools
    from tejat.app.house import House
    from tejat.engine.facts import FactFinder
    from tejat.engine.hooks.session_events import SessionHooks
    from tejat.engine.scheduler import Scheduler
    from tejat.policy.engine import Policy
    from tejat.workspace.roots import Roots


class ToolSession:
    """The tools of a session, and what runs their calls.

    `foreign` are tools that are not there yet, and only come if they are looked for. `notes` tell the person
    why tools that could be expected are not there.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        settings: Settings,
        make_scheduler: "Callable[[], Scheduler]",
        foreign: "ForeignTools | None" = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.foreign = foreign
        self.notes = notes
        self._make_scheduler = make_scheduler
        self._scheduler: Scheduler | None = None

    async def look_for_tools(self) -> list[str]:
        """Run the discovery command, start the MCP servers, and wait for both; returns what went wrong, in words.

        `close` ends what this starts, and must be called in the same event loop.
        """
        if self.foreign is None:
            return []
        self.foreign.begin()
        await self.foreign.ready()
        return self.foreign.news()

    def why_missing(self, name: str) -> str | None:
        """Why a tool is not there whose server is known and was not started, None if that is not the reason."""
        alias, separator, _ = name.partition("__")
        if not separator or self.foreign is None or self.foreign.servers is None:
            return None
        return self.foreign.servers.why_not_started(alias)

    async def close(self) -> None:
        """End what `look_for_tools` started."""
        if self.foreign is not None:
            await self.foreign.close()

    @property
    def scheduler(self) -> "Scheduler":
        """Made when it is first asked for: judging calls takes much code, and many runs have none."""
        if self._scheduler is None:
            self._scheduler = self._make_scheduler()
        return self._scheduler

    @property
    def policy(self) -> "Policy | None":
        """The rules, as soon as a call was to be judged."""
        return None if self._scheduler is None else self._scheduler.permission.policy

    def is_forbidden(self, tool_name: str, server: str | None = None) -> bool:
        """Whether a rule forbids every call of the tool. As long as there is no scheduler, there is no such rule."""
        return self.policy is not None and self.policy.hides(tool_name, server)


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
    ground = survey(directories, environment=environment)
    with open_workshop(ground, approver, allowed_tools=allowed_tools, mode=mode, sandbox=sandbox) as workshop:
        yield workshop.session


@value
class Workshop:
    """A session of tools, and what it stands on."""

    session: ToolSession
    house: "House"
    roots: "Roots"
    hooks: "SessionHooks | None" = None


@contextmanager
def open_workshop(
    ground: Ground,
    approver: Approver | None,
    *,
    allowed_tools: Sequence[str],
    mode: str | None,
    sandbox: str | None,
    tools: Sequence[BaseTool] = (),
    plugins: Plugins | None = None,
    for_model: bool = False,
    within: Sequence[str] = (),
) -> "Generator[Workshop]":
    """The tools on this ground, with some more of the caller's own. Raises UsageError.

    `plugins` are those that were found already. `for_model` keeps the person's keys out of the results, which go to
    somebody else then. `within` are directories in those of the ground: only there is worked then, under the rules of
    the whole.
    """
    from tejat.app.house import House
    from tejat.engine.one_question import OneQuestionAtATime
    from tejat.workspace.workspace import Workspace

    settings = ground.settings
    texts = policy_texts(ground.places, ground.roots)
    flags = PolicyFlags(ground.roots, tuple(allowed_tools), mode)
    with ExitStack() as stack:
        outputs = _kept_outputs(ground.places)
        workspace = stack.enter_context(Workspace(within or ground.roots, for_reading=outputs))
        house = stack.enter_context(House(workspace, ground, sandbox))
        plugins = find_plugins(ground) if plugins is None else plugins
        registry, problems = _registry(house, settings, tools, plugins)
        approver = None if approver is None else OneQuestionAtATime(approver)
        hooks = _hooks(ground, approver, house) if settings.hooks else None

        def make_scheduler() -> "Scheduler":
            from tejat.engine.load_policy import load_policy, save_rule
            from tejat.engine.long_output import LongOutput
            from tejat.engine.permission import Permission
            from tejat.engine.scheduler import Scheduler
            from tejat.engine.secret_mask import SecretMask

            limit = settings.output_characters.value or 0
            save = partial(save_rule, ground.places, workspace.roots.first.real_path)
            around = tuple(map(os.path.realpath, ground.roots)) if within else ()
            policy, facts = load_policy(texts, settings, flags), _facts(ground, workspace.roots)
            return Scheduler(
                registry,
                Permission(policy, facts, approver, save=save, around=around),
                long_output=LongOutput(outputs[0], limit=limit) if outputs else None,
                mask=SecretMask(ground.named_secrets) if for_model else None,
                undo=lambda: house.undo,
                hooks=None if hooks is None else hooks.calls,
            )

        foreign = _foreign(ground, house, registry, approver) if has_foreign_tools(settings) else None
        session = ToolSession(registry, settings, make_scheduler, foreign, (*ground.notes, *problems))
        if texts or allowed_tools or any(lists_of_tools(settings)) or not _is_plain(mode, settings):
            _ = session.scheduler  # what somebody said about calls is looked at before there are any
        yield Workshop(session, house, workspace.roots, hooks)


def has_foreign_tools(settings: Settings) -> bool:
    return bool(settings.discovery_command or settings.mcp_servers or settings.mcp_server_command)


def _foreign(ground: Ground, house: "House", registry: ToolRegistry, approver: Approver | None) -> "ForeignTools":
    from tejat.app.foreign import ForeignTools, Surroundings

    return ForeignTools(Surroundings(ground, house, registry, None if approver is None else approver.ask))


def _hooks(ground: Ground, approver: Approver | None, house: "House") -> "SessionHooks | None":
    from tejat.app.hooks import start_hooks

    return start_hooks(ground, approver, house)


def _is_plain(mode: str | None, settings: Settings) -> bool:
    """Whether nothing can be wrong with the mode, and it forbids no tool altogether."""
    return mode in (None, "default", "auto_edit", "yolo") and not settings.yolo_disabled.value


def _facts(ground: Ground, roots: "Roots") -> "FactFinder":
    from tejat.engine.facts import FactFinder

    return FactFinder(roots, home=ground.places.home, search_path=ground.environment.get("PATH", os.defpath))


def _kept_outputs(places: Places) -> list[str]:
    """Where long outputs are kept, nowhere if there is no place for them: reading must work without a home."""
    with suppress(UsageError):
        return [private_directory(os.path.join(places.state, "outputs"))]
    return []


def _registry(
    house: "House", settings: Settings, tools: Sequence[BaseTool], plugins: Plugins
) -> tuple[ToolRegistry, list[str]]:
    """Every tool that is there at once, and what is wrong with those that are not. Raises UsageError."""
    registry = session_registry(house)
    for tool in tools:
        registry.register(tool)
    problems = [*plugins.problems, *add_plugins(registry, plugins.tools)]
    core = None if settings.core is None else settings.core.value
    registry.select(core=core, exclude=[entry.value for entry in settings.exclude])
    return registry, problems


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
        raise UsageError(phrase("These tools are for looking at; open_tools makes ones that work."))

    shell = memory = web = corrector = workspace
