"""Values of the settings of extensions: asked for, stored and removed."""

from collections.abc import Mapping

from tejat.app.extensions.consent_dialog import ConsentDialog
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure, NotConfirmed
from tejat.config.extensions.loader import FoundExtension
from tejat.config.extensions.manifest import ExtensionManifest, ExtensionSetting
from tejat.config.extensions.settings_values import ExtensionSettingsStore, SettingScope, StoredValue, find_missing
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.text.secret_mask import MASK
from tejat.core.ui.report import Paragraph, Report, text_report


class ConfigOptions(Frozen):
    """Flags of `config`. `setting` is a name or a variable, empty for all of an extension."""

    setting: str = ""
    scope: SettingScope = SettingScope.USER
    unset: bool = False
    from_environment: bool = False


class SettingsDialog:
    """Asks for values, one after the other."""

    def __init__(self, environment: ExtensionEnvironment, dialog: ConsentDialog) -> None:
        self._environment = environment
        self._dialog = dialog

    async def ask_missing(self, found: FoundExtension) -> str:
        """Ask for the values that are missing after an install, and return what is still missing.

        Without a terminal nothing is asked. A cancelled question ends the questions.
        """
        manifest = self._environment.require_manifest(found)
        store = self._environment.settings_store(found)
        if self._dialog.can_ask:
            for setting in find_missing(manifest, store.read(manifest)):
                if not await self._ask(store, setting, SettingScope.USER, ""):
                    break
        return format_missing(manifest, store.read(manifest), found.name)

    async def configure(self, found: FoundExtension, options: ConfigOptions) -> str:
        """Set or remove values and return the message about it. Raises ExtensionFailure, NotConfirmed, UsageError."""
        manifest = self._environment.require_manifest(found)
        store = self._environment.settings_store(found)
        chosen = _choose(manifest, options.setting)
        if options.scope is SettingScope.WORKSPACE and not self._environment.run_config.trust.is_trusted:
            raise ExtensionFailure(
                _("This folder is not trusted, so its values are not used. Run `tejat trust` first.")
            )
        if options.unset:
            for setting in chosen:
                store.remove(setting, options.scope)
            return _("Removed: {names}.", names=", ".join(setting.variable for setting in chosen))
        if options.from_environment:
            return self._take_from_environment(store, chosen, options.scope)
        if not self._dialog.can_ask:
            raise NotConfirmed(_("No terminal to ask on. Use --from-env to take the values from the environment."))
        present = store.read(manifest)
        for setting in chosen:
            known = present.get(setting.variable)
            old = "" if known is None or known.scope is not options.scope else known.value
            if not await self._ask(store, setting, options.scope, old):
                raise NotConfirmed(_("Cancelled. Values entered before are kept."))
        return format_missing(manifest, store.read(manifest), found.name) or _("Settings stored.")

    def _take_from_environment(
        self, store: ExtensionSettingsStore, chosen: tuple[ExtensionSetting, ...], scope: SettingScope
    ) -> str:
        variables = self._environment.variables
        given = [setting for setting in chosen if variables.get(setting.variable)]
        if not given:
            names = ", ".join(setting.variable for setting in chosen)
            raise ExtensionFailure(_("None of these variables is set: {names}.", names=names))
        for setting in given:
            store.store(setting, variables[setting.variable], scope)
        return _("Stored: {names}.", names=", ".join(setting.variable for setting in given))

    async def _ask(
        self, store: ExtensionSettingsStore, setting: ExtensionSetting, scope: SettingScope, old: str
    ) -> bool:
        """Ask for one value and store it; whether the user answered. Enter keeps the old one."""
        lines = [f"{setting.name} ({setting.variable})"]
        if setting.description:
            lines.append(f"> {setting.description}")
        if setting.is_sensitive:
            location = store.secret_location(scope)
            lines.append(
                _("Stored in plain text in {path}, which only you can read.", path=location)
                if location
                else _("Stored in the secret service of the system.")
            )
            if old:
                lines.append(_("A value is stored. Press Enter to keep it."))
        self._dialog.user.show(Report(blocks=(Paragraph("\n".join(lines)),)))
        label = _("Value")
        shown = "" if setting.is_sensitive else old
        value = await self._dialog.user.enter(label, initial=shown, is_secret=setting.is_sensitive)
        if value is None:
            return False
        if value and value != old:
            store.store(setting, value.strip(), scope)
        return True


def format_missing(manifest: ExtensionManifest, values: Mapping[str, object], name: str) -> str:
    """What is missing and how to give it, empty if nothing is."""
    missing = [setting.name for setting in find_missing(manifest, values)]
    if not missing:
        return ""
    command = f"tejat extensions config {name}"
    return _("missing settings: {names}. Set them with `{command}`.", names=", ".join(missing), command=command)


def show_values(environment: ExtensionEnvironment, found: FoundExtension) -> Report:
    """The settings of an extension with their values; secrets only as set or not."""
    manifest = environment.require_manifest(found)
    values = environment.settings_store(found).read(manifest)
    lines = [f"  {format_value(setting, values)}" for setting in manifest.settings]
    if not lines:
        return text_report(_('Extension "{name}" has no settings.', name=found.name))
    return Report(found.name, (Paragraph("\n".join(lines)),))


def format_value(setting: ExtensionSetting, values: Mapping[str, StoredValue]) -> str:
    """A setting with its value as lists show it."""
    found = values.get(setting.variable)
    if setting.refusal:
        return f"{setting.name} ({setting.variable}): {setting.refusal}"
    if found is None:
        not_set = _("[not set]")
        return f"{setting.name} ({setting.variable}): {not_set}"
    shown = MASK if setting.is_sensitive else found.value
    return f"{setting.name} ({setting.variable}): {shown} ({found.scope.value})"


def _choose(manifest: ExtensionManifest, wanted: str) -> tuple[ExtensionSetting, ...]:
    settings = manifest.effective_settings
    if not settings:
        raise ExtensionFailure(_('Extension "{name}" has no settings.', name=manifest.name))
    if not wanted:
        return settings
    named = tuple(setting for setting in settings if wanted.lower() in (setting.name.lower(), setting.variable.lower()))
    if not named:
        names = ", ".join(setting.variable for setting in settings)
        raise ExtensionFailure(_("Unknown setting {name!r}. Known: {names}.", name=wanted, names=names))
    return named
