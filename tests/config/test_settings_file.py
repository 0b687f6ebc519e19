"""One settings file: both names of a setting, and what is said about a wrong one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tejat.config.places import SourceTier
from tejat.config.settings_file import Found, Key, SettingsError, SettingsFile, is_same_directory, read_settings_file
from tejat.core.errors import UsageError

CORE = Key("tools.core", "coreTools")
DEEP = Key("tools.shell.inactivityTimeout")


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], SettingsFile]:
    def read_text(text: str) -> SettingsFile:
        (tmp_path / "s.json").write_text(text)
        file = read_settings_file(f"{tmp_path}/s.json", SourceTier.USER, {})
        assert file is not None
        return file

    return read_text


Read = Callable[[str], SettingsFile]


def found(file: SettingsFile, key: Key) -> Found:
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
            ("\n[]", "line 2: settings must be one object in {}"),
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
        with pytest.raises(UsageError, match="everybody may write to it"):
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
        assert (setting.name, setting.source, setting.texts()) == (name, f"{file.path}:{line}", value)

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
        assert "line 2: tools.shell must be an object, but is a list\n" in str(caught.value)

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
        assert read(text).has_other_than((CORE,)) is others


class TestValues:
    @pytest.mark.parametrize(
        ("reader", "text", "value"),
        [
            (Found.boolean, "true", True),
            (Found.boolean, "false", False),
            (Found.text, '" vim "', "vim"),
            (Found.seconds, "300", 300.0),
            (Found.seconds, "0.5", 0.5),
            (Found.seconds, "0", None),
            (Found.limit, "40000", 40000),
            (Found.limit, "0", None),
            (Found.limit, "-1", None),
            (Found.count, "1", 1),
            (Found.number, "0", 0.0),
            (Found.number, "2.5", 2.5),
            (Found.fraction, "1", 1.0),
            (Found.fraction, "0", 0.0),
            (Found.address, '" HTTPS://h/x "', "HTTPS://h/x"),
            (Found.json, '[1, null, {"a": "$HOME"}]', [1, None, {"a": "$HOME"}]),
            (Found.json_object, '{"a": [], "b": null}', {"a": []}),
            (Found.texts, "[]", ()),
            (Found.texts, '[" a ", "", "b", "  "]', ("a", "b")),
        ],
    )
    def test_right(self, read: Read, reader: Callable[[Found], object], text: str, value: object) -> None:
        assert repr(reader(found(read(f'{{"key": {text}}}'), Key("key")))) == repr(value)

    @pytest.mark.parametrize(
        ("reader", "text", "problem"),
        [
            (Found.boolean, '"true"', "line 2: key must be true or false, but is the text 'true'"),
            (Found.boolean, "1", "line 2: key must be true or false, but is the number 1"),
            (Found.text, "[]", "line 2: key must be a text, but is a list"),
            (Found.text, '" "', "line 2: key must be a text, but is the text ' '"),
            (Found.seconds, "true", "line 2: key must be a number of seconds, or 0 for no limit, but is true"),
            (Found.seconds, "-1", "line 2: key must be a number of seconds, or 0 for no limit, but is the number -1"),
            (Found.seconds, '"5"', "line 2: key must be a number of seconds, or 0 for no limit, but is the text '5'"),
            (Found.limit, "1.5", "line 2: key must be a whole number, or 0 for no limit, but is the number 1.5"),
            (Found.limit, "false", "line 2: key must be a whole number, or 0 for no limit, but is false"),
            (Found.count, "0", "line 2: key must be a whole number from 1, but is the number 0"),
            (Found.count, "true", "line 2: key must be a whole number from 1, but is true"),
            (Found.number, "-0.5", "line 2: key must be a number from 0, but is the number -0.5"),
            (Found.fraction, "1.01", "line 2: key must be a number from 0 to 1, but is the number 1.01"),
            (
                Found.address,
                '"ftp://h"',
                "line 2: key must be an address that begins with http:// or https://, but is the text 'ftp://h'",
            ),
            (Found.members, "[]", "line 2: key must be an object, but is a list"),
            (Found.json_object, '"x"', "line 2: key must be an object, but is the text 'x'"),
            (Found.texts, '"a"', "line 2: key must be a list of texts, but is the text 'a'"),
            (Found.texts, "{}", "line 2: key must be a list of texts, but is an object"),
            (Found.texts, '["a",\n5]', "line 3: key must be a list of texts, but is the number 5"),
            (Found.texts, "[null]", "line 2: key must be a list of texts, but is null"),
            (Found.entries_or_one, "5", "line 2: key must be a list of texts, but is the number 5"),
            (
                Found.texts,
                '"' + "x" * 99 + '"',
                f"line 2: key must be a list of texts, but is the text '{'x' * 60}'...",
            ),
        ],
    )
    def test_wrong(self, read: Read, reader: Callable[[Found], object], text: str, problem: str) -> None:
        file = read(f'{{"key":\n{text}}}')
        with pytest.raises(SettingsError) as caught:
            reader(found(file, Key("key")))
        assert str(caught.value) == f"Error in {file.path}: {problem}\nPlease fix {file.path} and try again."

    def test_every_entry_has_its_line(self, read: Read) -> None:
        file = read('{"key": [\n"a",\n\n"b"]}')
        assert [(entry.text(), entry.source) for entry in found(file, Key("key")).entries()] == [
            ("a", f"{file.path}:2"),
            ("b", f"{file.path}:4"),
        ]

    @pytest.mark.parametrize(("text", "names"), [('"a"', ["a"]), ('" "', []), ('["a", "b"]', ["a", "b"])])
    def test_one_may_stand_alone(self, read: Read, text: str, names: list[str]) -> None:
        entries = found(read(f'{{"key": {text}}}'), Key("key")).entries_or_one()
        assert [entry.text() for entry in entries] == names


def test_a_directory_is_known_by_itself_not_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    assert is_same_directory(f"{tmp_path}/a", f"{tmp_path}/link")
    assert not is_same_directory(f"{tmp_path}/a", str(tmp_path))
    assert not is_same_directory(f"{tmp_path}/missing", f"{tmp_path}/missing")
