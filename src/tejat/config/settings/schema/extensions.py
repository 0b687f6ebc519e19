"""Settings of extensions, skills, sub-agents, plans and to-do lists."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import (
    last_wins,
    merge_agent_overrides,
    project_may_add_lists,
    project_may_lower,
    project_may_tighten,
    union,
    without_project,
)
from tejat.config.settings.schema.spec import SettingSpec

EXTENSION_SETTINGS = (
    SettingSpec(
        "allowed_extensions",
        SettingKey("security.allowedExtensions"),
        SettingValue.strings,
        project_may_add_lists,
        protects=True,
    ),
    SettingSpec(
        "block_git_extensions",
        SettingKey("security.blockGitExtensions"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    # An extension may have rules that deny: a project must not switch them off.
    SettingSpec(
        "extensions_disabled",
        SettingKey("extensions.disabled"),
        SettingValue.strings,
        without_project(union),
        protects=True,
    ),
    SettingSpec(
        "extension_config_enabled",
        SettingKey("experimental.extensionConfig"),
        SettingValue.boolean,
        without_project(last_wins),
    ),
    SettingSpec(
        "skills_switch",
        SettingKey("skills.enabled", "experimental.skills"),
        SettingValue.boolean,
        project_may_tighten(True, False),
        protects=True,
    ),
    SettingSpec(
        "skills_disabled",
        SettingKey("skills.disabled"),
        SettingValue.strings,
        union,
        protects=True,
        restricts=True,
    ),
    SettingSpec(
        "skills_confirm",
        SettingKey("skills.confirm"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    SettingSpec("skills_catalog_tokens", SettingKey("skills.catalogTokens"), SettingValue.limit, project_may_lower),
    SettingSpec(
        "agents_enabled",
        SettingKey("experimental.enableAgents"),
        SettingValue.boolean,
        project_may_tighten(True, False),
        protects=True,
    ),
    SettingSpec(
        "agent_overrides",
        SettingKey("agents.overrides", *parsers.FORMER_AGENT_SETTINGS),
        parsers.parse_agent_overrides,
        merge_agent_overrides,
        protects=True,
    ),
    SettingSpec("agents_max_parallel", SettingKey("agents.maxParallel"), SettingValue.count, project_may_lower),
    SettingSpec("agents_max_runs", SettingKey("agents.maxRuns"), SettingValue.count, project_may_lower),
    SettingSpec("agents_catalog_tokens", SettingKey("agents.catalogTokens"), SettingValue.limit, project_may_lower),
    SettingSpec("agents_claude", SettingKey("agents.claude"), SettingValue.boolean, without_project(last_wins)),
    SettingSpec(
        "plan_directory",
        SettingKey("general.plan.directory"),
        SettingValue.string,
        protects=True,
        is_text=True,
    ),
    SettingSpec("uses_write_todos", SettingKey("useWriteTodos"), SettingValue.boolean),
)
