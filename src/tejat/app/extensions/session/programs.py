"""Programs of an extension: their variables, and what keeps them from being started."""

from collections.abc import Mapping

from tejat.core.i18n import lazy


def program_environment(values: Mapping[str, str]) -> dict[str, str]:
    """The variables of the programs of an extension: its settings, and what keeps its directory unchanged."""
    # Compiled modules in its directory would be a change of the extension.
    return {"PYTHONDONTWRITEBYTECODE": "1", **values}


def missing_settings_message(missing: Mapping[str, str], variables: set[str]) -> str:
    """The reason why a program is not started. `missing` are the names of settings by variable."""
    return lazy("missing settings: {names}", names=", ".join(missing[each] for each in missing if each in variables))
