"""Discovery of policy files. An unreadable or missing file stops the run: no rule is ever skipped."""

import os
from collections.abc import Iterator, Sequence

from tejat.config.files.reader import (
    AllowedWriters,
    allowed_writers,
    list_config_directory,
    path_exists,
    read_config_file,
)
from tejat.config.paths import POLICY_DIRECTORY, AppPaths, SourceTier
from tejat.config.settings.types import DEFAULT_SETTINGS, Setting, Settings
from tejat.core.agent.options import PolicyOptions, option_name
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath_any

GEMINI_SAVED_RULES = "auto-saved.toml"
"""The file in which Gemini CLI saves answers."""
_SUFFIX = ".toml"
_NOT_RULES = (".#", "._")
"""Beginnings of files that Emacs and macOS create beside others. Other hidden files count, as in Gemini CLI."""
_MAX_FILES = 1000
_MAX_CHARACTERS = 8 * 2**20


class PolicyFile(Frozen):
    """A policy file.

    `is_saved` marks a file of saved answers. `allows_nothing` is the reason why its rules that allow do not count, None
    if they do. `entry` is the policy path that led to it, None in the standard directories.
    """

    path: str
    text: str
    tier: SourceTier
    is_saved: bool = False
    allows_nothing: str | None = None
    entry: Setting[str] | None = None


def read_policy_files(
    paths: AppPaths,
    roots: Sequence[str],
    settings: Settings = DEFAULT_SETTINGS,
    options: PolicyOptions = PolicyOptions(),  # noqa: B008 -- immutable
    *,
    is_trusted: bool = True,
) -> list[PolicyFile]:
    """Read every `*.toml` in the policy directories, those of the administrator first, and the policy paths given.

    If the folder is not trusted, a policy path of the settings that leads into it allows nothing.
    Raises UsageError that names a file or directory that cannot be read, is too large, is not UTF-8, or (unless it
    belongs to the project) that others can write; ConfigurationError for a policy path that does not exist.
    """
    return _PolicyReader(paths, roots, settings, options, is_trusted=is_trusted).read()


class _PolicyReader:
    def __init__(
        self, paths: AppPaths, roots: Sequence[str], settings: Settings, options: PolicyOptions, *, is_trusted: bool
    ) -> None:
        self._paths = paths
        self._roots = roots
        user, admin = (
            option_name(name, names_arguments=options.names_arguments)
            for name in ("policy_paths", "admin_policy_paths")
        )
        self._user = _resolve(options.policy_paths, user, settings.policy_paths, paths, roots)
        self._admin = _resolve(options.admin_policy_paths, admin, settings.admin_policy_paths, paths, roots)
        self._option_names = user, admin
        self._untrusted = () if is_trusted else tuple(map(os.path.realpath, roots))
        self._known: set[tuple[int, int]] = set()

    def read(self) -> list[PolicyFile]:
        files = [file for path in self._paths.admin for file in self._read_standard(path, SourceTier.ADMIN)]
        files += self._read_given(self._admin, SourceTier.ADMIN, self._reason_against_admin(files))
        files += self._read_given(self._user, SourceTier.USER)
        files += self._read_standard(self._paths.gemini, SourceTier.USER, self._reason_against_default())
        files += self._read_standard(self._paths.config, SourceTier.USER)
        for root in self._roots:
            files += self._read_standard(os.path.join(root, ".gemini"), SourceTier.WORKSPACE)
        return files

    def _reason_against_admin(self, files: Sequence[PolicyFile]) -> str | None:
        """Why added rules of the administrator cannot allow anything, None if they can."""
        if not files or not self._admin:
            return None
        directory = os.path.dirname(files[0].path)
        return lazy("{directory} has rules, so additional rules can only restrict", directory=directory)

    def _reason_against_default(self) -> str | None:
        """Why the rules in `~/.gemini/policies` cannot allow anything, None if they can."""
        if not self._user:
            return None
        return lazy("{source} replaces this directory, so its rules can only restrict", source=self._user[0].source)

    def _read_standard(
        self, directory: str, tier: SourceTier, allows_nothing: str | None = None
    ) -> Iterator[PolicyFile]:
        """Read a policy directory unless it was read: in the home directory, the project's rules are the user's own."""
        path = os.path.join(directory, POLICY_DIRECTORY)
        if self._is_new(path):
            yield from self._read_directory(path, tier, allows_nothing)

    def _read_given(
        self, locations: Sequence[Setting[str]], tier: SourceTier, allows_nothing: str | None = None
    ) -> Iterator[PolicyFile]:
        for location in locations:
            path = location.value
            if not path_exists(path):
                raise ConfigurationError(
                    lazy(
                        "{source}: the policy file or directory {path} does not exist. Create it, or remove the entry.",
                        source=location.source,
                        path=path,
                    )
                )
            if not self._is_new(path):
                continue
            reason = allows_nothing or self._reason_against_folder(location)
            if os.path.isdir(path):
                files = self._read_directory(path, tier, reason)
                yield from (replace(file, entry=location) for file in files)
            elif path.endswith(_SUFFIX):
                text = read_config_file(path, writers=AllowedWriters.TRUSTED)
                is_saved = self._is_saved(path)
                yield PolicyFile(path, text or "", tier, is_saved=is_saved, allows_nothing=reason, entry=location)
            else:
                message = lazy(
                    "{source}: {path} is neither a .toml file nor a directory.", source=location.source, path=path
                )
                raise ConfigurationError(message)

    def _reason_against_folder(self, location: Setting[str]) -> str | None:
        """Why a policy path allows nothing: the files of a folder that is not trusted are somebody else's."""
        if location.source in self._option_names:
            return None
        is_inside = self._untrusted and is_beneath_any(os.path.realpath(location.value), self._untrusted)
        return lazy("this folder is not trusted, so its rules can only restrict") if is_inside else None

    def _is_new(self, path: str) -> bool:
        """Whether a file or directory was not read yet, by whatever name."""
        try:
            status = os.stat(path)
        except OSError:
            return True
        identity = status.st_dev, status.st_ino
        is_new = identity not in self._known
        self._known.add(identity)
        return is_new

    def _read_directory(self, directory: str, tier: SourceTier, allows_nothing: str | None) -> Iterator[PolicyFile]:
        writers = allowed_writers(directory, tier)
        room = _MAX_CHARACTERS
        for name in _list_names(directory, writers):
            path = os.path.join(directory, name)
            text = read_config_file(path, writers=writers) if self._is_new(path) else None
            if text is None:
                continue  # read already, or removed since it was listed
            room -= len(text)
            if room < 0:
                raise UsageError(
                    lazy(
                        "Could not read {directory}: its policy files are longer than {most} characters. Remove "
                        "rules you do not need.",
                        directory=directory,
                        most=_MAX_CHARACTERS,
                    )
                )
            yield PolicyFile(path, text, tier, is_saved=self._is_saved(path), allows_nothing=allows_nothing)

    def _is_saved(self, path: str) -> bool:
        """Whether the rules in a file are saved answers, by whatever name the file is reached."""
        real = os.path.realpath(path)
        return os.path.basename(real) == GEMINI_SAVED_RULES or real == os.path.realpath(self._paths.saved_rules)


def _list_names(directory: str, writers: AllowedWriters) -> list[str]:
    listed = list_config_directory(directory, writers=writers)
    names = [name for name in listed if name.endswith(_SUFFIX) and not name.startswith(_NOT_RULES)]
    if len(names) > _MAX_FILES:
        raise UsageError(
            lazy(
                "Could not read {directory}: it contains more than {most} policy files.",
                directory=directory,
                most=_MAX_FILES,
            )
        )
    return names


def _resolve(
    given: Sequence[str], flag: str, configured: Sequence[Setting[str]], paths: AppPaths, roots: Sequence[str]
) -> list[Setting[str]]:
    """Make paths absolute. Those of a flag replace those of the settings; relative ones start from the first root."""
    entries = [Setting(path, flag, SourceTier.USER) for path in given] or configured
    base = roots[0] if roots else "."
    resolved: list[Setting[str]] = []
    for entry in entries:
        start, slash, rest = entry.value.partition("/")
        path = f"{paths.home}{slash}{rest}" if start == "~" else entry.value
        resolved.append(Setting(os.path.abspath(os.path.join(base, path)), entry.source, entry.tier))
    return resolved
