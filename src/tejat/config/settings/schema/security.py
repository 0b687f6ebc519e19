"""Settings of approvals, trust, authentication and the environment."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import (
    last_wins,
    project_may_complete,
    project_may_tighten,
    strict_value_wins,
    union,
    without_project,
)
from tejat.config.settings.schema.spec import SettingSpec
from tejat.core.approval.modes import ApprovalMode

SECURITY_SETTINGS = (
    SettingSpec(
        "approval_mode",
        SettingKey("general.defaultApprovalMode", "tools.approvalMode"),
        parsers.parse_approval_mode,
        project_may_tighten(ApprovalMode.AUTO_EDIT, ApprovalMode.DEFAULT, ApprovalMode.PLAN),
        protects=True,
    ),
    SettingSpec("plan_enabled", SettingKey("general.plan.enabled", "experimental.plan"), SettingValue.boolean),
    SettingSpec("policy_paths", SettingKey("policyPaths"), SettingValue.strings, without_project(union), protects=True),
    SettingSpec(
        "admin_policy_paths",
        SettingKey("adminPolicyPaths"),
        SettingValue.strings,
        without_project(union),
        protects=True,
    ),
    SettingSpec(
        "confirmation_required",
        SettingKey("tools.confirmationRequired"),
        SettingValue.strings,
        union,
        protects=True,
    ),
    SettingSpec(
        "always_disabled",
        SettingKey("security.disableAlwaysAllow"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    SettingSpec(
        "permanent_approval",
        SettingKey("security.enablePermanentToolApproval"),
        SettingValue.boolean,
        project_may_tighten(True, False),
        protects=True,
    ),
    SettingSpec(
        "conseca",
        SettingKey("security.enableConseca"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    SettingSpec(
        "yolo_disabled",
        SettingKey("security.disableYoloMode"),
        SettingValue.boolean,
        project_may_tighten(False, True),
        protects=True,
    ),
    SettingSpec(
        "folder_trust",
        SettingKey("security.folderTrust.enabled", "folderTrust"),
        SettingValue.boolean,
        without_project(last_wins),
        protects=True,
    ),
    SettingSpec(
        "auth_type",
        SettingKey("security.auth.selectedType", "selectedAuthType"),
        SettingValue.string,
        without_project(last_wins),
        is_text=True,
    ),
    SettingSpec(
        "enforced_auth_type",
        SettingKey("security.auth.enforcedType", "enforcedAuthType"),
        SettingValue.string,
        project_may_complete,
        protects=True,
        is_text=True,
    ),
    SettingSpec(
        "environment_redaction",
        SettingKey("security.environmentVariableRedaction.enabled"),
        SettingValue.boolean,
        protects=True,
    ),
    SettingSpec(
        "environment_allowed",
        SettingKey("security.environmentVariableRedaction.allowed", "security.allowedEnvironmentVariables"),
        SettingValue.strings,
        without_project(last_wins),
        protects=True,
    ),
    SettingSpec(
        "environment_blocked",
        SettingKey("security.environmentVariableRedaction.blocked", "security.blockedEnvironmentVariables"),
        SettingValue.strings,
        union,
        protects=True,
    ),
    SettingSpec(
        "ignore_local_env",
        SettingKey("advanced.ignoreLocalEnv"),
        SettingValue.boolean,
        strict_value_wins(strict=True),
        protects=True,
    ),
    SettingSpec(
        "excluded_environment",
        SettingKey("advanced.excludedEnvVars", "excludedProjectEnvVars"),
        parsers.parse_variable_names,
        union,
        protects=True,
    ),
)
