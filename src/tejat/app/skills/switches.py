"""Skills switched on and off by name, in the settings of the user and the project."""

import os
from collections.abc import Callable, Mapping, Sequence

from tejat.config.files.reader import AllowedWriters, path_exists
from tejat.config.jsonc import JsonNode, parse_jsonc
from tejat.config.paths import PROJECT_SETTINGS, AppPaths, same_directory
from tejat.config.settings.editor import edit_settings, set_member
from tejat.config.trust.renewal import edit_project_settings
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.core.text.str_enum import StrEnum

_KEYS = ("skills", "disabled")


class SkillScope(StrEnum):
    USER = "user"
    WORKSPACE = "workspace"


class SkillSwitches:
    """The lists of disabled skills. All methods raise UsageError and OSError for files that cannot be changed."""

    def __init__(self, paths: AppPaths, root: str, environment: Mapping[str, str]) -> None:
        self._paths = paths
        self._root = os.path.abspath(root)
        self._environment = environment

    def disable(self, name: str, scope: SkillScope) -> str:
        """Disable a skill and return the message about it."""
        path = self._path(scope)
        if any(each.casefold() == name.casefold() for each in self._names(path)):
            return _('Skill "{name}" is already disabled.', name=name)
        self._edit(scope, lambda names: [*names, name])
        return _(
            'Skill "{name}" disabled by adding it to the disabled list in {scope} ({path}) settings.',
            name=name,
            scope=scope.value,
            path=path,
        )

    def enable(self, name: str) -> str:
        """Enable a skill in both files and return the message about it."""
        changed: list[str] = []
        for scope in SkillScope:
            path = self._path(scope)
            if scope is SkillScope.WORKSPACE and self._is_home:
                continue
            if any(each.casefold() == name.casefold() for each in self._names(path)):
                self._edit(scope, lambda names: [each for each in names if each.casefold() != name.casefold()])
                changed.append(f"{scope.value} ({path})")
        if not changed:
            return _('Skill "{name}" is already enabled.', name=name)
        return _(
            'Skill "{name}" enabled by removing it from the disabled list in {places} settings.',
            name=name,
            places=_(" and ").join(changed),
        )

    @property
    def _is_home(self) -> bool:
        return any(same_directory(self._root, home) for home in self._paths.homes)

    def _path(self, scope: SkillScope) -> str:
        if scope is SkillScope.USER or self._is_home:
            return self._paths.user_settings
        return os.path.join(self._root, PROJECT_SETTINGS)

    def _names(self, path: str) -> list[str]:
        if not path_exists(path):
            return []
        with open(path, encoding="utf-8-sig") as file:
            return _names_in(file.read())

    def _edit(self, scope: SkillScope, change: Callable[[list[str]], list[str]]) -> None:
        def edit(text: str) -> str:
            names: Sequence[JsonValue] = change(_names_in(text))
            return set_member(text, _KEYS, names)

        path = self._path(scope)
        if path == self._paths.user_settings:
            edit_settings(self._paths, path, edit, writers=AllowedWriters.TRUSTED)
        else:
            edit_project_settings(self._paths, self._root, edit, environment=self._environment)


def _names_in(text: str) -> list[str]:
    """The disabled skills in the text of a settings file. Raises JsoncError."""
    node: JsonNode | None = parse_jsonc(text)
    for key in _KEYS:
        node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
    if node is None or not isinstance(node.value, list):
        return []
    return [item.value for item in node.value if isinstance(item.value, str)]
