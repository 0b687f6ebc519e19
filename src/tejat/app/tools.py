"""The built-in tools at work in some directories."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from tejat.app.ground import Ground, survey
from tejat.config.places import Places, private_directory
from tejat.config.settings import Settings
from tejat.core.confirm import Approver
from tejat.core.errors import UsageError
from tejat.core.explain import PolicyFlags
from tejat.core.tool import BaseTool
from tejat.core.value import value
from tejat.tools import session_registry
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.app.house import House
    from tejat.engine.scheduler import Scheduler
    from tejat.workspace.roots import Roots


@value
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
    ground = survey(directories, environment=environment)
    with open_workshop(ground, approver, allowed_tools=allowed_tools, mode=mode, sandbox=sandbox) as workshop:
        yield workshop.session


@value
class Workshop:
    """A session of tools, and what it stands on."""

    session: ToolSession
    house: "House"
    roots: "Roots"


@contextmanager
def open_workshop(
    ground: Ground,
    approver: Approver | None,
    *,
    allowed_tools: Sequence[str],
    mode: str | None,
    sandbox: str | None,
    tools: Sequence[BaseTool] = (),
) -> "Generator[Workshop]":
    """The tools on this ground, with some more of the caller's own. Raises UsageError."""
    from tejat.app.house import House
    from tejat.engine.facts import FactFinder
    from tejat.engine.load_policy import load_policy, save_rule
    from tejat.engine.long_output import LongOutput
    from tejat.engine.permission import Permission
    from tejat.engine.scheduler import Scheduler
    from tejat.workspace.workspace import Workspace

    places, settings = ground.places, ground.settings
    policy = load_policy(places, settings, PolicyFlags(ground.roots, tuple(allowed_tools), mode))
    with ExitStack() as stack:
        outputs = _kept_outputs(places)
        workspace = stack.enter_context(Workspace(ground.roots, for_reading=outputs))
        house = stack.enter_context(House(workspace, ground, sandbox))
        registry = session_registry(house)
        for tool in tools:
            registry.register(tool)
        _select(registry, settings)
        search_path = ground.environment.get("PATH", os.defpath)
        facts = FactFinder(workspace.roots, home=places.home, search_path=search_path)
        save = partial(save_rule, places, workspace.roots.first.real_path)
        scheduler = Scheduler(
            registry,
            Permission(policy, facts, approver, save=save),
            long_output=LongOutput(outputs[0], limit=settings.output_characters.value or 0) if outputs else None,
            undo=lambda: house.undo,
        )
        yield Workshop(ToolSession(registry, scheduler, settings), house, workspace.roots)


def _kept_outputs(places: Places) -> list[str]:
    """Where long outputs are kept, nowhere if there is no place for them: reading must work without a home."""
    with suppress(UsageError):
        return [private_directory(os.path.join(places.state, "outputs"))]
    return []


def _select(registry: ToolRegistry, settings: Settings) -> None:
    core = None if settings.core is None else settings.core.value
    registry.select(core=core, exclude=[entry.value for entry in settings.exclude])


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

    shell = memory = web = corrector = workspace
