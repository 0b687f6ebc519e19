"""The setting that lets sandboxed commands run without asking: when it counts, and how it is switched."""

from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.types import Settings
from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import lazy
from tejat.policy.engine import SANDBOXED_SETTING
from tejat.policy.types import SandboxedCommands

SANDBOXED_ID = "sandboxed"
"""The id by which the setting is revoked, like a saved rule."""
SANDBOXED_TEXT = lazy("allow sandboxed commands that only read, test or build")


def sandboxed_commands(settings: Settings, mode: str | None, *, is_untrusted: bool) -> SandboxedCommands:
    """Return whether sandboxed commands run without asking in this run, and whether a question may offer that.

    `mode` is that of the flag, None without one. With `default` the run asks about every command, as the flag says.
    """
    setting = settings.auto_allow_sandboxed
    if is_untrusted:
        refusal = lazy("this folder is not trusted")
    elif mode == ApprovalMode.DEFAULT.value:
        refusal = lazy("--approval-mode default asks before every command")
    elif settings.always_disabled.value:
        refusal = lazy("saved approvals are disabled by {source}", source=settings.always_disabled.source)
    else:
        refusal = ""
    if setting.value:
        source = "" if refusal else f"{setting.source} ({SANDBOXED_SETTING})"
        return SandboxedCommands(source, refusal)
    can_save = settings.permanent_approval is None or settings.permanent_approval.value
    is_undecided = setting.tier is SourceTier.DEFAULT
    return SandboxedCommands(can_offer=not refusal and can_save and is_undecided)


def switch_on_sandboxed(paths: AppPaths) -> str:
    """Let sandboxed commands run without asking from now on, and return the source of the setting.

    Raises UsageError and OSError.
    """
    from tejat.config.settings.destination import UserSettings
    from tejat.config.settings.file import SettingKey

    path = UserSettings(paths).write(SettingKey(SANDBOXED_SETTING), value=True)
    return f"{path} ({SANDBOXED_SETTING})"


def switch_off_sandboxed(paths: AppPaths) -> bool:
    """Remove the setting from the files of the user, and return whether it was on. Raises UsageError and OSError."""
    from tejat.config.settings.destination import UserSettings
    from tejat.config.settings.file import SettingKey

    key, settings = SettingKey(SANDBOXED_SETTING), UserSettings(paths)
    is_on = settings.is_on(key)
    if is_on:
        settings.remove(key)
    return is_on
