"""Extensions turned on and off."""

from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.config.extensions.enablement import EVERYWHERE, set_extension_enabled
from tejat.config.extensions.settings_values import SettingScope
from tejat.config.mcp.enablement import disabled_servers, is_disabled
from tejat.core.i18n import _


def switch_extension(environment: ExtensionEnvironment, name: str, scope: SettingScope, *, on: bool) -> str:
    """Turn an extension on or off and return the message about it.

    Raises ExtensionFailure, UsageError and OSError.
    """
    found = environment.find(name)
    directory = EVERYWHERE if scope is SettingScope.USER else environment.root
    set_extension_enabled(environment.paths, found.name, directory, enabled=on)
    where = _("everywhere") if scope is SettingScope.USER else _("in {path} and below", path=directory)
    if not on:
        return _(
            'Extension "{name}" successfully disabled for scope "{scope}": {where}.',
            name=found.name,
            scope=scope.value,
            where=where,
        )
    message = _(
        'Extension "{name}" successfully enabled for scope "{scope}": {where}.',
        name=found.name,
        scope=scope.value,
        where=where,
    )
    names = () if found.manifest is None else found.manifest.server_names
    disabled = disabled_servers(environment.paths)
    off = [alias for alias in names if is_disabled(alias, disabled)]
    if off:
        hint = _("These servers stay disabled, because you disabled them by name: {names}.", names=", ".join(off))
        return f"{message} {hint}"
    return message
