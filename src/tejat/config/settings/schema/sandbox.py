"""Settings of the sandbox."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import project_may_tighten
from tejat.config.settings.schema.spec import SettingSpec
from tejat.core.approval.modes import SandboxMode

SANDBOX_SETTINGS = (
    SettingSpec(
        "sandbox",
        SettingKey("tools.sandbox", "sandbox"),
        parsers.parse_sandbox,
        project_may_tighten(SandboxMode.OFF, SandboxMode.AUTO, SandboxMode.REQUIRED),
        protects=True,
    ),
    SettingSpec(
        "sandbox_network",
        SettingKey("tools.sandboxNetworkAccess"),
        SettingValue.boolean,
        project_may_tighten(True, False),
        protects=True,
    ),
)
