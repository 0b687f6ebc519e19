"""The tools of a session, for programs with a loop of their own."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, TypedDict, get_args

from tejat.app.run_config import load_run_config
from tejat.app.tools.toolset import Toolset, open_toolset
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.approver import ApproverLike, as_approver
from tejat.core.approval.confirmation import Approver
from tejat.core.approval.modes import ModeName, SandboxName
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.garbage import PausedCollections
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.core.text.one_or_many import OnePathOrMany, describe_wrong_mapping, list_names, list_paths
from tejat.core.tools.base import BaseTool
from tejat.core.tools.given_tools import list_tools
from tejat.engine.calls.approval.serial_approver import SerialApprover


class ToolSettings(TypedDict, total=False):
    """The settings of `open_tools`, which documents them."""

    tools: BaseTool | Iterable[BaseTool]
    allowed_tools: str | Iterable[str]
    excluded_tools: str | Iterable[str]
    mode: ModeName | None
    sandbox: SandboxName | None
    trusts_folder: bool
    mcp_servers: Mapping[str, JsonObject] | None
    policy_paths: OnePathOrMany
    admin_policy_paths: OnePathOrMany
    environment: Mapping[str, str] | None


def open_tools(
    directories: OnePathOrMany = ".",
    approver: ApproverLike | None = None,
    *,
    tools: BaseTool | Iterable[BaseTool] = (),
    allowed_tools: str | Iterable[str] = (),
    excluded_tools: str | Iterable[str] = (),
    mode: ModeName | None = None,
    sandbox: SandboxName | None = None,
    trusts_folder: bool = False,
    mcp_servers: Mapping[str, JsonObject] | None = None,
    policy_paths: OnePathOrMany = (),
    admin_policy_paths: OnePathOrMany = (),
    environment: Mapping[str, str] | None = None,
) -> "ToolsContext":
    """Open the tools in these directories, under the user's rules and settings, as a context manager of a `Toolset`.

    `async with` also finds the tools of MCP servers and of the discovery command, and closes them at the end; plain
    `with` has the built-in tools, plug-ins and `tools` only.

    The approver is an object with `ask` or a function; without one every call that needs approval is refused. `tools`
    are added to the built-in ones. `allowed_tools` need no approval, and `excluded_tools` are removed. `mode` is an
    approval mode, `sandbox` a word of `--sandbox`. `trusts_folder` uses the folder's own settings. `mcp_servers` are
    more MCP servers, in the format of the settings. `policy_paths` and `admin_policy_paths` are files or directories
    with rules. `environment` replaces the environment variables.

    Raises TypeError and ValueError at once for a wrong argument. Entering raises UsageError for a missing directory, a
    broken settings or policy file, or a required sandbox that does not work.
    """
    _check_switch("trusts_folder", trusts_folder)
    _check_word("mode", mode, get_args(ModeName))
    _check_word("sandbox", sandbox, get_args(SandboxName))
    _check_mapping("mcp_servers", mcp_servers, Mapping, "a mapping from names to servers")
    _check_mapping("environment", environment, str, "a mapping of strings to strings")
    options = _Options(
        list_paths(directories, "directories"),
        as_approver(approver),
        PolicyOptions(
            allowed_tools=list_names(allowed_tools, "allowed_tools"),
            mode=mode,
            policy_paths=list_paths(policy_paths, "policy_paths"),
            admin_policy_paths=list_paths(admin_policy_paths, "admin_policy_paths"),
        ),
        list_tools(tools),
        list_names(excluded_tools, "excluded_tools"),
        sandbox,
        trusts_folder,
        mcp_servers or {},
        environment,
    )
    if not options.directories:
        raise ValueError("directories is empty. The tools need a directory to work in.")
    if "" in options.directories:
        raise ValueError('directories has an empty path. Use "." for the current directory.')
    for name in ("policy_paths", "admin_policy_paths"):
        if "" in getattr(options.policy, name):
            raise ValueError(f"{name} must be a path or several paths, not ''.")
    return ToolsContext(options)


def _check_switch(name: str, given: object) -> None:
    """Raises TypeError. What is no truth value must not trust a folder: "no" is true in Python."""
    if not isinstance(given, bool):
        raise TypeError(f"{name} must be True or False, not {given!r}.")


def _check_word(name: str, given: object, words: tuple[str, ...]) -> None:
    """Raises TypeError and ValueError."""
    if given is not None and given not in words:
        wrong = ValueError if isinstance(given, str) else TypeError
        raise wrong(f"{name} must be one of {', '.join(map(repr, words))}, not {given!r}.")


def _check_mapping(name: str, given: object, values: type, expected: str) -> None:
    """Raises TypeError."""
    if given is not None and (wrong := describe_wrong_mapping(given, values)):
        raise TypeError(f"{name} must be {expected}, not {wrong}.")


class _Options(Frozen):
    directories: tuple[str, ...]
    approver: Approver | None
    policy: PolicyOptions
    tools: tuple[BaseTool, ...]
    excluded_tools: tuple[str, ...]
    sandbox: str | None
    trusts_folder: bool
    mcp_servers: Mapping[str, JsonObject]
    environment: Mapping[str, str] | None


class ToolsContext:
    """Opens and closes a `Toolset`, once. `names_arguments`: messages name the arguments of a program, not flags."""

    def __init__(self, options: _Options, *, names_arguments: bool = True) -> None:
        self._options = options
        self._names_arguments = names_arguments
        self._was_entered = False
        self._close: Callable[[], None] = lambda: None
        self._aclose: Callable[[], Awaitable[None]] | None = None

    def renew(self) -> "ToolsContext":
        """Return a context with the same settings that was not entered yet."""
        return ToolsContext(self._options)

    def for_command_line(self) -> "ToolsContext":
        """Return a context with the same settings whose messages name flags."""
        return ToolsContext(self._options, names_arguments=False)

    def __repr__(self) -> str:
        return f"<Tools in {', '.join(self._options.directories)}, {'opened' if self._was_entered else 'not open'}>"

    if not TYPE_CHECKING:  # type checkers know the attributes of both classes

        def __getattr__(self, name: str) -> object:
            if not name.startswith("_"):
                raise AttributeError(
                    f"These tools are not open, so they have no {name!r}. "
                    "Use them inside of `with open_tools() as tools`."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __enter__(self) -> Toolset:
        """Raises UsageError."""
        with ExitStack() as stack:
            with PausedCollections():
                toolset = self._open(stack)
            self._close = stack.pop_all().close
        return toolset

    def __exit__(self, *_: object) -> None:
        self._close()

    async def __aenter__(self) -> Toolset:
        """Raises UsageError."""
        async with AsyncExitStack() as stack:
            with PausedCollections():
                toolset = self._open(stack)
            stack.push_async_callback(toolset.close)
            toolset.notes += tuple(await toolset.discover_tools())
            self._aclose = stack.pop_all().aclose
        return toolset

    async def __aexit__(self, *_: object) -> None:
        if self._aclose is not None:
            await self._aclose()

    def _open(self, stack: ExitStack | AsyncExitStack) -> Toolset:
        if self._was_entered:
            raise UsageError(lazy("These tools were opened already. Call open_tools again."))
        self._was_entered = True
        given = self._options
        run_config = load_run_config(
            given.directories,
            environment=given.environment,
            trusts_folder=given.trusts_folder,
            excluded_tools=given.excluded_tools,
            mcp_servers=given.mcp_servers,
            names_arguments=self._names_arguments,
        )
        approver = None if given.approver is None else SerialApprover(given.approver)
        toolset = stack.enter_context(
            open_toolset(run_config, approver, policy=given.policy, sandbox=given.sandbox, tools=given.tools)
        )
        toolset.start_scheduler()
        return toolset
