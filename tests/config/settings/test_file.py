"""One settings file: both names of a setting, and what is said about a wrong one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tejat.config.paths import SourceTier, same_directory
from tejat.config.settings.file import SettingKey, SettingsError, SettingsFile, SettingValue
from tejat.config.settings.loader import read_settings_file
from tejat.core.errors import UsageError

CORE = SettingKey("tools.core", "coreTools")
DEEP = SettingKey("tools.shell.inactivityTimeout")


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], SettingsFile]:
    def read_text(text: str) -> SettingsFile:
        (tmp_path / "s.json").write_text(text)
        file = read_settings_file(f"{tmp_path}/s.json", SourceTier.USER, {"SWITCH": "True", "COUNT": "7"})
        assert file is not None
        return file

    return read_text


Read = Callable[[str], SettingsFile]


def found(file: SettingsFile, key: SettingKey) -> SettingValue:
    node = file.find(key)
    assert node is not None
    return node


class TestFile:
    def test_missing(self, tmp_path: Path) -> None:
        assert read_settings_file(f"{tmp_path}/missing.json", SourceTier.USER, {}) is None

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "a value is missing at line 1, column 1"),
            ('{\n  "a": 1\n  "b": 2\n}', '"," or "}" is missing at line 3, column 3'),
            ("\n[]", "line 2: settings must be an object in {}"),
        ],
    )
    def test_broken(self, tmp_path: Path, text: str, problem: str) -> None:
        path = tmp_path / "s.json"
        path.write_text(text)
        with pytest.raises(SettingsError) as caught:
            read_settings_file(str(path), SourceTier.USER, {})
        assert str(caught.value) == f"Error in {path}: {problem}\nPlease fix {path} and try again."
        assert caught.value.path == str(path)
        assert path.read_text() == text

    @pytest.mark.parametrize("tier", [SourceTier.USER, SourceTier.ADMIN])
    def test_others_could_have_written_it(self, tmp_path: Path, tier: SourceTier) -> None:
        path = tmp_path / "s.json"
        path.write_text("{}")
        path.chmod(0o666)
        with pytest.raises(UsageError, match="writable by everyone"):
            read_settings_file(str(path), tier, {})
        assert read_settings_file(str(path), SourceTier.WORKSPACE, {}) is not None


class TestNames:
    @pytest.mark.parametrize(
        ("text", "name", "line", "value"),
        [
            ('{"tools": {"core": ["a"]}}', "tools.core", 1, ("a",)),
            ('{"coreTools":\n["a"]}', "coreTools", 2, ("a",)),
            ('{"coreTools": ["flat"], "tools": {\n"core": ["nested"]}}', "tools.core", 2, ("nested",)),
            ('{"coreTools": ["flat"], "tools": {"core": null}}', "coreTools", 1, ("flat",)),
            ('{"coreTools": ["flat"], "tools": null}', "coreTools", 1, ("flat",)),
            ('{"coreTools": ["flat"], "tools": {"other": 1}}', "coreTools", 1, ("flat",)),
            ('{"coreTools": 5, "tools": {"core": ["nested"]}}', "tools.core", 1, ("nested",)),
        ],
    )
    def test_nested_wins(self, read: Read, text: str, name: str, line: int, value: tuple[str, ...]) -> None:
        file = read(text)
        setting = found(file, CORE)
        assert (setting.name, setting.source, setting.strings()) == (name, f"{file.path}:{line}", value)

    @pytest.mark.parametrize(
        "text", ["{}", '{"coreTools": null}', '{"tools": {}}', '{"tools.core": ["a"]}', '{"core": ["a"]}']
    )
    def test_not_set(self, read: Read, text: str) -> None:
        assert read(text).find(CORE) is None

    def test_deep(self, read: Read) -> None:
        assert found(read('{"tools": {"shell": {"inactivityTimeout": 7}}}'), DEEP).seconds() == 7.0
        assert read('{"tools": {"shell": null}}').find(DEEP) is None

    def test_the_way_leads_through_a_list(self, read: Read) -> None:
        file = read('{"tools": {\n"shell": []}}')
        with pytest.raises(SettingsError) as caught:
            file.find(DEEP)
        assert "line 2: tools.shell must be an object, not a list\n" in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "others"),
        [
            ("{}", False),
            ('{"coreTools": []}', False),
            ('{"tools": {"core": []}}', False),
            ('{"tools": {"core": [], "other": 1}}', True),
            ('{"coreTools": [], "other": {"deep": 1}}', True),
            ('{"other": 1}', True),
        ],
    )
    def test_other_settings(self, read: Read, text: str, others: bool) -> None:
        assert read(text).sets_other_than((CORE,)) is others


class TestValues:
    @pytest.mark.parametrize(
        ("reader", "text", "value"),
        [
            (SettingValue.boolean, "true", True),
            (SettingValue.boolean, "false", False),
            (SettingValue.string, '" vim "', "vim"),
            (SettingValue.seconds, "300", 300.0),
            (SettingValue.seconds, "0.5", 0.5),
            (SettingValue.seconds, "0", None),
            (SettingValue.limit, "40000", 40000),
            (SettingValue.limit, "0", None),
            (SettingValue.limit, "-1", None),
            (SettingValue.count, "1", 1),
            (SettingValue.number, "0", 0.0),
            (SettingValue.number, "2.5", 2.5),
            (SettingValue.fraction, "1", 1.0),
            (SettingValue.fraction, "0", 0.0),
            (SettingValue.url, '" HTTPS://h/x "', "HTTPS://h/x"),
            (SettingValue.json, '[1, null, {"a": "$HOME"}]', [1, None, {"a": "$HOME"}]),
            (SettingValue.json_object, '{"a": [], "b": null}', {"a": []}),
            (SettingValue.boolean, '"True"', True),
            (SettingValue.boolean, '" FALSE "', False),
            (SettingValue.boolean, '"${SWITCH}"', True),
            (SettingValue.count, '"3"', 3),
            (SettingValue.count, '"$COUNT"', 7),
            (SettingValue.count, "3.0", 3),
            (SettingValue.limit, '"-1"', None),
            (SettingValue.seconds, '"0.5"', 0.5),
            (SettingValue.fraction, '"0.25"', 0.25),
            (SettingValue.strings, "[]", ()),
            (SettingValue.strings, '[" a ", "", "b", "  "]', ("a", "b")),
        ],
    )
    def test_right(self, read: Read, reader: Callable[[SettingValue], object], text: str, value: object) -> None:
        assert repr(reader(found(read(f'{{"key": {text}}}'), SettingKey("key")))) == repr(value)

    @pytest.mark.parametrize(
        ("reader", "text", "problem"),
        [
            (SettingValue.boolean, '"yes"', "line 2: key must be true or false, not 'yes'"),
            (SettingValue.boolean, "1", "line 2: key must be true or false, not the number 1"),
            (SettingValue.string, "[]", "line 2: key must be a string, not a list"),
            (SettingValue.string, '" "', "line 2: key must be a string, not ' '"),
            (SettingValue.seconds, "true", "line 2: key must be a number of seconds, or 0 for no limit, not true"),
            (
                SettingValue.seconds,
                "-1",
                "line 2: key must be a number of seconds, or 0 for no limit, not the number -1",
            ),
            (
                SettingValue.seconds,
                '"5 s"',
                "line 2: key must be a number of seconds, or 0 for no limit, not '5 s'",
            ),
            (SettingValue.limit, "1.5", "line 2: key must be an integer, or 0 for no limit, not the number 1.5"),
            (SettingValue.limit, "false", "line 2: key must be an integer, or 0 for no limit, not false"),
            (SettingValue.count, "0", "line 2: key must be an integer of at least 1, not the number 0"),
            (SettingValue.count, '"$SWITCH"', "line 2: key must be an integer of at least 1, not '$SWITCH'"),
            (SettingValue.count, "true", "line 2: key must be an integer of at least 1, not true"),
            (SettingValue.number, "-0.5", "line 2: key must be a number of at least 0, not the number -0.5"),
            (SettingValue.fraction, "1.01", "line 2: key must be a number from 0 to 1, not the number 1.01"),
            (
                SettingValue.url,
                '"ftp://h"',
                "line 2: key must be an address that starts with http:// or https://, not 'ftp://h'",
            ),
            (SettingValue.members, "[]", "line 2: key must be an object, not a list"),
            (SettingValue.json_object, '"x"', "line 2: key must be an object, not 'x'"),
            (SettingValue.strings, '"a"', "line 2: key must be a list of strings, not 'a'"),
            (SettingValue.strings, "{}", "line 2: key must be a list of strings, not an object"),
            (SettingValue.strings, '["a",\n5]', "line 3: key must be a list of strings, not the number 5"),
            (SettingValue.strings, "[null]", "line 2: key must be a list of strings, not null"),
            (SettingValue.entries_or_one, "5", "line 2: key must be a list of strings, not the number 5"),
            (
                SettingValue.strings,
                '"' + "x" * 99 + '"',
                f"line 2: key must be a list of strings, not '{'x' * 60}'...",
            ),
        ],
    )
    def test_wrong(self, read: Read, reader: Callable[[SettingValue], object], text: str, problem: str) -> None:
        file = read(f'{{"key":\n{text}}}')
        with pytest.raises(SettingsError) as caught:
            reader(found(file, SettingKey("key")))
        assert str(caught.value) == f"Error in {file.path}: {problem}\nPlease fix {file.path} and try again."

    def test_every_entry_has_its_line(self, read: Read) -> None:
        file = read('{"key": [\n"a",\n\n"b"]}')
        assert [(entry.string(), entry.source) for entry in found(file, SettingKey("key")).entries()] == [
            ("a", f"{file.path}:2"),
            ("b", f"{file.path}:4"),
        ]

    @pytest.mark.parametrize(("text", "names"), [('"a"', ["a"]), ('" "', []), ('["a", "b"]', ["a", "b"])])
    def test_one_may_stand_alone(self, read: Read, text: str, names: list[str]) -> None:
        entries = found(read(f'{{"key": {text}}}'), SettingKey("key")).entries_or_one()
        assert [entry.string() for entry in entries] == names


def test_a_directory_is_known_by_itself_not_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    assert same_directory(f"{tmp_path}/a", f"{tmp_path}/link")
    assert not same_directory(f"{tmp_path}/a", str(tmp_path))
    assert not same_directory(f"{tmp_path}/missing", f"{tmp_path}/missing")
