"""Names of tools, themes and sandboxes in the settings that do not exist."""

import sys
from collections.abc import Iterable, Iterator

from tejat.app.plugins.discovery import find_plugins
from tejat.app.run_config import RunConfig
from tejat.app.session.preferences import find_theme
from tejat.app.tools.listed_tools import builtin_registry
from tejat.config.settings.inspection import SettingFinding, SettingStatus
from tejat.config.settings.types import Setting, configured_servers
from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.policy.tool_names import TOOL_ALIASES, parse_tool_name
from tejat.workspace.sandbox.container.options import ENGINES

SANDBOX_KEY = "tools.sandbox"
_EXCLUDE = "tools.exclude"


def unknown_tools(run_config: RunConfig) -> Iterator[str]:
    """A line for each tool in a list of the settings that does not exist.

    Which tools a discovery command will find is not known before it runs.
    """
    settings = run_config.settings
    if settings.discovery_command is not None:
        return
    servers = configured_servers(settings)
    known = {*TOOL_ALIASES, *(name for entry in builtin_registry().entries() for name in entry.settings_names), "*"}
    plugins: set[str] | None = None
    for key, entry in _tool_lists(run_config):
        name = entry.value.partition("(")[0].strip()
        tool, server = parse_tool_name(name)
        if server is not None:
            is_known = server == "*" or server in servers
        else:
            # A tool of a server is excluded by its own name, too.
            is_known = tool in known or (key == _EXCLUDE and bool(servers))
            is_known = is_known or any(tool.startswith(f"mcp_{each}_") for each in servers)
        if not is_known:
            if plugins is None:
                plugins = {plugin.tool.name for plugin in find_plugins(run_config).tools}
            if name not in plugins:
                yield lazy("{source} {key}: unknown tool {name!r}", source=entry.source, key=key, name=name)


def _tool_lists(run_config: RunConfig) -> Iterator[tuple[str, Setting[str]]]:
    """The entries of the lists of tools, each with the name of its list."""
    settings = run_config.settings
    for key, given in (("tools.core", settings.core), ("tools.allowed", settings.allowed)):
        if given is not None:
            yield from ((key, Setting(entry, given.source, given.tier)) for entry in given.value)
    yield from ((_EXCLUDE, entry) for entry in settings.exclude if not entry.source.startswith("--"))
    yield from (("tools.confirmationRequired", entry) for entry in settings.confirmation_required)


def mark_unusable(run_config: RunConfig, findings: Iterable[SettingFinding]) -> Iterator[SettingFinding]:
    """The findings, in which a theme that does not exist and a sandbox that is not supported have a wrong value."""
    for finding in findings:
        reason = None
        if finding.status is SettingStatus.OBEYED:
            reason = _unknown_theme(run_config, finding) or _unsupported_sandbox(run_config, finding)
        yield finding if reason is None else replace(finding, status=SettingStatus.WRONG, reason=reason)


def _unknown_theme(run_config: RunConfig, finding: SettingFinding) -> str | None:
    theme = run_config.settings.theme
    if theme is None or (finding.present_name or finding.key) != "ui.theme" or theme.source != finding.source:
        return None
    if find_theme(theme.value, run_config.settings) is not None:
        return None
    return lazy("ui.theme must be a known theme, not {name!r}", name=theme.value)


def _unsupported_sandbox(run_config: RunConfig, finding: SettingFinding) -> str | None:
    sandbox = run_config.settings.sandbox
    name, supported = sandbox.value.command, ENGINES if sys.platform != "darwin" else (*ENGINES, "sandbox-exec")
    if (finding.present_name or finding.key) != SANDBOX_KEY or sandbox.source != finding.source:
        return None
    if not name or name in supported:
        return None
    return lazy("{key} must be a supported sandbox, not {name!r}; no run starts", key=SANDBOX_KEY, name=name)
