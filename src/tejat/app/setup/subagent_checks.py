"""Checks of `tejat doctor` about sub-agents."""

import os
from collections.abc import Iterator

from tejat.app.run_config import RunConfig
from tejat.app.subagents.definitions import load_subagents
from tejat.app.tools.listed_tools import builtin_registry
from tejat.config.paths import AGENT_DIRECTORIES
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.i18n import lazy, lazy_plural

_CLAUDE_DIRECTORY = AGENT_DIRECTORIES[1]


def subagent_checks(run_config: RunConfig) -> Iterator[DoctorCheck]:
    """Agent files that cannot be used, and agents of Claude Code that are not read. Raises nothing."""
    settings = run_config.settings
    if not settings.agents_enabled.value:
        return
    for problem in load_subagents(run_config, builtin_registry()).problems:
        yield DoctorCheck(lazy("agents"), lazy("file"), passed=False, detail=problem, fix="tejat agents list")
    if settings.agents_claude.value:
        return
    for directory in (run_config.paths.claude_agents, os.path.join(run_config.roots[0], _CLAUDE_DIRECTORY)):
        count = _count_agents(directory)
        if count:
            detail = lazy_plural(
                "{count} agent in {directory} is not used. Set agents.claude to true to use it",
                "{count} agents in {directory} are not used. Set agents.claude to true to use them",
                count,
                directory=directory,
            )
            yield DoctorCheck(lazy("agents"), lazy("Claude Code"), passed=True, detail=detail)


def _count_agents(directory: str) -> int:
    try:
        return sum(name.endswith(".md") and not name.startswith((".", "_")) for name in os.listdir(directory))
    except OSError:
        return 0
