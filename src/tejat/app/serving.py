"""The tools for other agents: opened for each of them, in the directories that the person gave or in a part of them."""

import os
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager

from tejat.app.ground import Ground, survey
from tejat.app.plugins import find_plugins
from tejat.app.tools import open_workshop
from tejat.core.confirm import Approver
from tejat.core.errors import UsageError
from tejat.core.tool import BaseTool
from tejat.core.value import value
from tejat.core.words import say
from tejat.engine.scheduler import Scheduler
from tejat.policy.control_files import is_control_file
from tejat.policy.places import is_inside
from tejat.workspace.crew import dismiss


@value
class ServingOptions:
    """What may be served, and how much of it runs without asking. `tools` are more of the caller's own."""

    directories: tuple[str, ...] = (".",)
    allowed_tools: tuple[str, ...] = ()
    excluded_tools: tuple[str, ...] = ()
    mode: str | None = None
    sandbox: str | None = None
    tools: tuple[BaseTool, ...] = ()


@asynccontextmanager
async def open_tool_host(options: ServingOptions) -> AsyncGenerator["ToolHost"]:
    """Raises UsageError, also for what would go wrong when the tools are opened."""
    host = ToolHost(survey(options.directories, excluded_tools=options.excluded_tools), options)
    with host.open(None, ()):
        pass
    try:
        yield host
    finally:
        await dismiss()


class ToolHost:
    """Has the tools of one person, under their rules. `notes` are for that person."""

    def __init__(self, ground: Ground, options: ServingOptions) -> None:
        self._ground = ground
        self._options = options
        self._plugins = find_plugins(ground)
        self.roots = ground.roots
        self.notes = (*ground.notes, *self._plugins.problems)

    @contextmanager
    def open(self, approver: Approver | None, within: Sequence[str]) -> Generator[Scheduler]:
        """The tools at work in these directories, or (none given) in all. Raises UsageError."""
        options = self._options
        with open_workshop(
            self._ground,
            approver,
            allowed_tools=options.allowed_tools,
            mode=options.mode,
            sandbox=options.sandbox,
            tools=options.tools,
            plugins=self._plugins,
            for_model=True,
            within=() if set(within) == set(self.roots) else within,
        ) as workshop:
            given = tuple(map(os.path.realpath, self.roots))
            if not all(is_inside(root.real_path, given) for root in workshop.roots.directories):
                raise UsageError(say("A directory has become a link to another place while it was opened."))
            if self._ground.settings.search_url is None:
                workshop.session.registry.unregister("google_web_search")  # nobody could search
            yield workshop.session.scheduler

    def narrowed(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """What of these directories lies in the roots: all of a root where it is inside one of them.

        A directory whose files decide what other programs run is none to work in.
        """
        found: dict[str, None] = {}
        for path in map(os.path.realpath, wanted):
            for root in self.roots:
                real = os.path.realpath(root)
                if is_inside(real, (path,)):
                    found[root] = None
                elif is_inside(path, (real,)) and os.path.isdir(path) and is_control_file(path, root=real) is None:
                    found[path] = None
        return tuple(found)
