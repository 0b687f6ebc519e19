"""Reads the settings of a run: what system, person and project say, merged."""

import os
from collections.abc import Iterable, Mapping, Sequence

from tejat.config.merging import not_taken_over
from tejat.config.places import Places, SourceTier
from tejat.config.settings import Setting, Settings, is_required_by_admin
from tejat.config.settings_file import SettingsFile, is_same_directory, read_settings_file
from tejat.config.settings_table import MCP_SERVERS, ROWS, TIGHTENING
from tejat.config.settings_values import SANDBOX_WANTED, SANDBOX_WORDS
from tejat.core.errors import UsageError
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.value import replace
from tejat.core.words import phrase


def load_settings(places: Places, roots: Sequence[str], *, trusted: bool, environment: Mapping[str, str]) -> Settings:
    """The settings for these root directories; the first is the project, of the others only exclude lists count.

    Raises SettingsError for a file that is broken or holds a wrong value, UsageError for one that cannot be read.
    """
    files = _Files(places, environment)
    obeyed = files.of_projects(roots[:1] if trusted else [])
    partly = files.of_projects(roots[1:] if trusted else roots)
    whole = [
        *files.of_admin("system-defaults.json", environment.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")),
        *files.read([os.path.join(places.gemini, _FILE_NAME)], SourceTier.USER),
        *obeyed,
        *files.of_admin(_FILE_NAME, environment.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")),
    ]
    read = _merged(whole, partly) if whole or partly else Settings()
    return replace(
        read,
        model_name=_model_of(environment) or read.model_name,
        sandbox=_sandbox_of(environment, read.sandbox),
        include_directories=tuple(_absolute(read.include_directories, places, roots)),
    )


class _Files:
    def __init__(self, places: Places, environment: Mapping[str, str]) -> None:
        self._places = places
        self._environment = environment

    def of_admin(self, name: str, added: str | None) -> list[SettingsFile]:
        """Those of whoever runs the machine, the one with the last word last. One named by a variable only adds."""
        paths = [os.path.join(directory, name) for directory in reversed(self._places.admin)]
        if added:
            paths.insert(0, os.path.abspath(added))
        return self.read(paths, SourceTier.ADMIN)

    def of_projects(self, roots: Sequence[str]) -> list[SettingsFile]:
        """Those of the projects. In the home directory it would be the person's own, whatever it is called there."""
        directories = (os.path.join(root, ".gemini") for root in dict.fromkeys(roots))
        others = [directory for directory in directories if not is_same_directory(directory, self._places.gemini)]
        return self.read([os.path.join(directory, _FILE_NAME) for directory in others], SourceTier.WORKSPACE)

    def read(self, paths: list[str], tier: SourceTier) -> list[SettingsFile]:
        files = (read_settings_file(path, tier, self._environment) for path in paths)
        return [file for file in files if file is not None]


def _merged(whole: Sequence[SettingsFile], partly: Sequence[SettingsFile]) -> Settings:
    default = Settings()
    values = {row.field: row.merge(whole, row.key, row.read, getattr(default, row.field)) for row in ROWS}
    for row in TIGHTENING:
        values[row.field] = row.merge([*partly, *whole], row.key, row.read, ())
    known = tuple(row.key for row in TIGHTENING)
    return replace(
        default,
        **values,
        mcp_not_taken_over=not_taken_over(whole, MCP_SERVERS),
        files=tuple(file.path for file in [*partly, *whole]),
        ignored=tuple(file.path for file in partly if file.has_other_than(known)),
    )


def _model_of(environment: Mapping[str, str]) -> Setting[str] | None:
    name = environment.get("GEMINI_MODEL", "").strip()
    return Setting(name, "GEMINI_MODEL", SourceTier.USER) if name else None


def _sandbox_of(environment: Mapping[str, str], otherwise: Setting[SandboxWish]) -> Setting[SandboxWish]:
    word = environment.get("GEMINI_SANDBOX", "").strip().lower()
    if not word:
        return otherwise
    if word not in SANDBOX_WORDS:
        raise UsageError(
            phrase(
                "The environment variable GEMINI_SANDBOX must be {wanted}, but is {word!r}.",
                wanted=SANDBOX_WANTED,
                word=word,
            )
        )
    if is_required_by_admin(otherwise):
        return otherwise
    return Setting(SANDBOX_WORDS[word], "GEMINI_SANDBOX", SourceTier.USER)


def _absolute(directories: Iterable[Setting[str]], places: Places, roots: Sequence[str]) -> Iterable[Setting[str]]:
    """Relative to the project; `~` is the home directory."""
    base = roots[0] if roots else "."
    for entry in directories:
        start, slash, rest = entry.value.partition("/")
        path = f"{places.home}{slash}{rest}" if start == "~" else entry.value
        yield replace(entry, value=os.path.abspath(os.path.join(base, path)))


_FILE_NAME = "settings.json"
