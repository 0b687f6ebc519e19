"""Tools for MCP clients: opened for each of them, in the user's directories or a part of them."""

import os
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager

from tejat.app.plugins.discovery import find_plugins
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.tools.served_session import ServedSession
from tejat.app.tools.toolset import Toolset, open_toolset
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.tool_names import RECALL
from tejat.core.text.paths import is_beneath_any
from tejat.core.tools.base import BaseTool
from tejat.engine.calls.approval.serial_approver import SerialApprover
from tejat.policy.control_files import control_file_reason
from tejat.tools.registry import ToolRegistry
from tejat.workspace.threads.pool import shutdown

_DOCS_TOOL = "get_internal_docs"


class ToolHostOptions(Frozen):
    """What is served and how much of it runs without approval. `tools` are additional ones.

    `warn` gets warnings for the user, each of them once.
    """

    directories: tuple[str, ...] = (".",)
    allowed_tools: tuple[str, ...] = ()
    excluded_tools: tuple[str, ...] = ()
    mode: str | None = None
    policy_paths: tuple[str, ...] = ()
    admin_policy_paths: tuple[str, ...] = ()
    sandbox: str | None = None
    tools: tuple[BaseTool, ...] = ()
    warn: Callable[[str], None] | None = None


@asynccontextmanager
async def open_tool_host(options: ToolHostOptions) -> AsyncGenerator["ToolHost"]:
    """Open a host after a trial opening of the tools. Raises UsageError."""
    host = ToolHost(load_run_config(options.directories, excluded_tools=options.excluded_tools), options)
    with host.start_session(has_plans=False).open(None, ()):
        pass
    try:
        yield host
    finally:
        await shutdown()


class ToolHost:
    """Opens the tools of the user, under their rules. `notes` are for the user."""

    def __init__(self, run_config: RunConfig, options: ToolHostOptions) -> None:
        self._run_config = run_config
        self._options = options
        self._plugins = find_plugins(run_config)
        self.roots = run_config.roots
        self.notes = (*run_config.notes, *run_config.extension_effects.warnings, *self._plugins.problems)
        self._warnings: set[str] = set()

    def start_session(self, *, has_plans: bool) -> ServedSession:
        """Start the session of a client. `has_plans`: it can have a mode of its own."""
        return ServedSession(self._run_config, self._open_toolset, self._warn, has_plans=has_plans)

    @contextmanager
    def _open_toolset(self, approver: Approver | None, within: Sequence[str]) -> Generator[Toolset]:
        options = self._options
        with open_toolset(
            self._run_config,
            None if approver is None else SerialApprover(approver),
            policy=PolicyOptions(
                allowed_tools=options.allowed_tools,
                mode=options.mode,
                policy_paths=options.policy_paths,
                admin_policy_paths=options.admin_policy_paths,
            ),
            sandbox=options.sandbox,
            tools=options.tools,
            plugins=self._plugins,
            for_model=True,
            within=() if set(within) == set(self.roots) else within,
        ) as toolset:
            given = tuple(map(os.path.realpath, self.roots))
            if not all(is_beneath_any(root.real_path, given) for root in toolset.roots.directories):
                raise UsageError(_("A directory was replaced by a symbolic link while it was being opened."))
            if self._run_config.settings.search_url is None:
                toolset.registry.unregister("google_web_search")  # there is no search service
            toolset.registry.unregister(RECALL)  # there is no conversation
            _declare_docs(toolset.registry)
            toolset.services.on_warning = self._warn
            for note in toolset.policy_notes:
                self._warn(note)
            yield toolset

    def _warn(self, message: str) -> None:
        if self._options.warn is not None and message not in self._warnings:
            self._warnings.add(message)
            self._options.warn(message)

    def restrict_roots(self, directories: Sequence[str]) -> tuple[str, ...]:
        """The parts of these directories that lie in the roots; a whole root if it lies in one of them.

        Directories whose files decide what other programs run are left out.
        """
        found: dict[str, None] = {}
        for path in map(os.path.realpath, directories):
            for root in self.roots:
                real = os.path.realpath(root)
                if is_beneath_any(real, (path,)):
                    found[root] = None
                elif (
                    is_beneath_any(path, (real,))
                    and os.path.isdir(path)
                    and control_file_reason(path, root=real) is None
                ):
                    found[path] = None
        return tuple(found)


def _declare_docs(registry: ToolRegistry) -> None:
    """Tell clients of the documentation, which is declared to one sub-agent only in a session."""
    entry = registry.entry(_DOCS_TOOL)
    if entry is not None:
        registry.unregister(_DOCS_TOOL)
        registry.register_entry(replace(entry, is_declared=lambda: True))
