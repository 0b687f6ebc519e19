"""The values of one setting in several files, parsed."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from tejat.config.paths import SourceTier
from tejat.config.settings.file import ReplacedValue, SettingKey, SettingsError, SettingsFile, SettingValue
from tejat.config.settings.types import Setting

ParseSetting: TypeAlias = Callable[[SettingValue], object]
HandleError: TypeAlias = Callable[[SettingsError], None]


class ParsedValue(NamedTuple):
    """A value in a file, and what the parser made of it."""

    found: SettingValue
    value: object

    @property
    def is_of_project(self) -> bool:
        return self.found.file.tier is SourceTier.WORKSPACE

    @property
    def setting(self) -> Setting[object]:
        return self.found.setting(self.value)


class SettingReader:
    """The values of one setting in several files, lowest precedence first.

    `on_error` gets the error of each wrong value, which is then left out; or it raises. Every file is read even if it
    is overridden, so that no wrong value goes unnoticed. With `is_text` an empty text counts as unset.
    """

    __slots__ = ("_files", "_is_text", "_key", "_on_error", "_parse")

    def __init__(
        self,
        files: Sequence[SettingsFile],
        key: SettingKey,
        parse: ParseSetting,
        on_error: HandleError,
        *,
        is_text: bool = False,
    ) -> None:
        self._is_text = is_text
        self._files = files
        self._key = key
        self._parse = parse
        self._on_error = on_error

    def without_project(self) -> "SettingReader":
        """The same setting without the files of the project."""
        return self._only([file for file in self._files if file.tier is not SourceTier.WORKSPACE])

    def of_project(self) -> "SettingReader":
        """The same setting in the files of the project alone."""
        return self._only([file for file in self._files if file.tier is SourceTier.WORKSPACE])

    def values(self) -> Iterator[ParsedValue]:
        """The value in each file."""
        for found in self._find():
            yield from self.parse(found)

    def members(self) -> Iterator[tuple[str, ParsedValue]]:
        """Every member of the objects in the files."""
        for name, member in self._find_members():
            yield from ((name, parsed) for parsed in self.parse(member))

    def member_items(self) -> Iterator[tuple[str, ParsedValue]]:
        """Every item of the lists that are members of the objects in the files; a single value is a list of one."""
        for name, member in self._find_members():
            for item in member.items_or_one():
                yield from ((name, parsed) for parsed in self.parse(item))

    def _find_members(self) -> Iterator[tuple[str, SettingValue]]:
        for found in self._find():
            try:
                members = found.members()
            except SettingsError as error:
                self._on_error(error)
            else:
                yield from members.items()

    def _find(self) -> Iterator[SettingValue]:
        for file in self._files:
            try:
                found = file.find(self._key)
            except SettingsError as error:
                self._on_error(error)
            else:
                if found is not None and not (self._is_text and found.is_blank):
                    yield found

    def parse(self, found: SettingValue) -> Iterator[ParsedValue]:
        """The parsed value, nothing if it is wrong."""
        try:
            value = self._parse(found)
        except ReplacedValue as error:
            self._on_error(error)
            yield ParsedValue(found, error.replacement)
        except SettingsError as error:
            self._on_error(error)
        else:
            yield ParsedValue(found, value)

    def _only(self, files: Sequence[SettingsFile]) -> "SettingReader":
        return SettingReader(files, self._key, self._parse, self._on_error, is_text=self._is_text)
