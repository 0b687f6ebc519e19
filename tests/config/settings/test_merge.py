"""How several files become one setting."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingKey, SettingsError, SettingsFile, SettingValue
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.merge import (
    MergeSetting,
    concatenate,
    every_file,
    find_name_conflicts,
    intersection,
    last_wins,
    merge_by_name,
    merge_servers,
    project_may_add_lists,
    project_may_complete,
    project_may_lower,
    project_may_narrow,
    project_may_tighten,
    strict_value_wins,
    union,
    without_project,
)
from tejat.config.settings.reader import ParseSetting, SettingReader
from tejat.config.settings.types import Setting

ADMIN, USER, WORKSPACE = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE
KEY = SettingKey("key")


def files(directory: Path, *layers: tuple[SourceTier, object]) -> list[SettingsFile]:
    """A file for each layer, `{}` where the value is None."""
    read: list[SettingsFile] = []
    for number, (tier, value) in enumerate(layers):
        path = directory / f"{number}.json"
        path.write_text(json.dumps({"key": value} if value is not None else {}))
        file = read_settings_file(str(path), tier, {})
        assert file is not None
        read.append(file)
    return read


def reader(files: Sequence[SettingsFile], parse: ParseSetting) -> SettingReader:
    def fail(error: SettingsError) -> None:
        raise error

    return SettingReader(files, KEY, parse, fail)


class TestLast:
    def test_the_last_word(self, tmp_path: Path) -> None:
        read = files(tmp_path, (ADMIN, "a"), (USER, "b"), (WORKSPACE, "c"), (ADMIN, None))
        assert last_wins(reader(read, SettingValue.string), None) == Setting("c", f"{tmp_path}/2.json:1", WORKSPACE)
        assert without_project(last_wins)(reader(read, SettingValue.string), None) == Setting(
            "b", f"{tmp_path}/1.json:1", USER
        )

    @pytest.mark.parametrize(
        "merge",
        [
            last_wins,
            without_project(last_wins),
            project_may_tighten(False, True),
            merge_by_name,
            concatenate,
        ],
    )
    def test_nobody_says_anything(self, tmp_path: Path, merge: MergeSetting) -> None:
        default: dict[str, object] = {}
        assert merge(reader(files(tmp_path, (USER, None)), SettingValue.string), default) == default

    def test_what_a_project_may_not_say_is_not_even_checked(self, tmp_path: Path) -> None:
        assert without_project(last_wins)(reader(files(tmp_path, (WORKSPACE, 5)), SettingValue.string), None) is None
        with pytest.raises(SettingsError):
            last_wins(reader(files(tmp_path, (USER, 5), (WORKSPACE, "x")), SettingValue.string), None)


class TestStrictest:
    @pytest.mark.parametrize(
        ("layers", "value"),
        [
            ([(WORKSPACE, True)], True),
            ([(WORKSPACE, False)], False),
            ([(USER, True), (WORKSPACE, False)], True),
            ([(USER, True), (WORKSPACE, False), (ADMIN, False)], False),
            ([(USER, False), (WORKSPACE, True), (ADMIN, None)], True),
            ([(WORKSPACE, True), (USER, False)], True),
        ],
    )
    def test_a_project_is_heard_only_upwards(
        self, tmp_path: Path, layers: Sequence[tuple[SourceTier, object]], value: bool
    ) -> None:
        kept = project_may_tighten(False, True)(
            reader(files(tmp_path, *layers), SettingValue.boolean), Setting(value=False)
        )
        assert isinstance(kept, Setting)
        assert kept.value is value

    def test_a_longer_order_and_no_default(self, tmp_path: Path) -> None:
        tighten = project_may_tighten("lax", "middle", "strict")
        for word, expected in (("lax", None), ("middle", None), ("strict", "strict")):
            kept = tighten(reader(files(tmp_path, (WORKSPACE, word)), SettingValue.string), None)
            assert (kept.value if isinstance(kept, Setting) else kept) == expected
        kept = tighten(reader(files(tmp_path, (USER, "lax"), (WORKSPACE, "middle")), SettingValue.string), None)
        assert kept == Setting("middle", f"{tmp_path}/1.json:1", WORKSPACE)

    def test_the_source_of_what_holds_stays(self, tmp_path: Path) -> None:
        read = files(tmp_path, (USER, True), (WORKSPACE, True))
        kept = project_may_tighten(False, True)(reader(read, SettingValue.boolean), Setting(value=False))
        assert kept == Setting(True, f"{tmp_path}/0.json:1", USER)


class TestNarrowed:
    def test_a_project_adds_nothing(self, tmp_path: Path) -> None:
        read = files(tmp_path, (USER, ["a", "b"]), (WORKSPACE, ["c", "b", "a"]))
        assert project_may_narrow(reader(read, SettingValue.strings), None) == Setting(
            ("a", "b"), f"{tmp_path}/0.json:1", USER
        )

    def test_it_may_take_away(self, tmp_path: Path) -> None:
        read = files(tmp_path, (USER, ["a", "b"]), (WORKSPACE, ["c", "b"]))
        assert project_may_narrow(reader(read, SettingValue.strings), None) == Setting(
            ("b",), f"{tmp_path}/1.json:1", WORKSPACE
        )

    def test_where_nobody_else_says_anything_it_counts(self, tmp_path: Path) -> None:
        read = files(tmp_path, (USER, None), (WORKSPACE, ["a"]))
        assert project_may_narrow(reader(read, SettingValue.strings), None) == Setting(
            ("a",), f"{tmp_path}/1.json:1", WORKSPACE
        )

    def test_it_narrows_the_last_list_of_others_too(self, tmp_path: Path) -> None:
        read = files(tmp_path, (ADMIN, ["x"]), (USER, ["a"]), (WORKSPACE, ["a", "y"]), (ADMIN, ["y", "z"]))
        assert project_may_narrow(reader(read, SettingValue.strings), None) == Setting(
            ("y",), f"{tmp_path}/2.json:1", WORKSPACE
        )

    @pytest.mark.parametrize(
        ("user", "project", "left"),
        [
            (["a"], ["a(x)", "a(y)"], ("a(x)", "a(y)")),
            (["a(x)"], ["a", "b"], ("a(x)",)),
            (["a(x)", "b"], ["a(y)", "b(z)"], ("b(z)",)),
        ],
    )
    def test_arguments_make_an_entry_narrower(
        self, tmp_path: Path, user: list[str], project: list[str], left: tuple[str, ...]
    ) -> None:
        read = files(tmp_path, (USER, user), (WORKSPACE, project))
        kept = project_may_narrow(reader(read, SettingValue.strings), None)
        assert isinstance(kept, Setting)
        assert kept.value == left

    def test_intersection_counts_every_list(self, tmp_path: Path) -> None:
        read = files(tmp_path, (ADMIN, ["a", "b", "c"]), (USER, ["b", "a"]), (WORKSPACE, ["a", "d"]), (ADMIN, ["a"]))
        assert intersection(reader(read, SettingValue.strings), None) == Setting(
            ("a",), f"{tmp_path}/2.json:1", WORKSPACE
        )


def test_lists_unite(tmp_path: Path) -> None:
    read = files(tmp_path, (USER, ["a", "b"]), (WORKSPACE, ["b", " ", "c"]))
    assert union(reader(read, SettingValue.strings), (Setting("z"), Setting("a"))) == (
        Setting("z"),
        Setting("a", f"{tmp_path}/0.json:1", USER),
        Setting("b", f"{tmp_path}/1.json:1", WORKSPACE),
        Setting("c", f"{tmp_path}/1.json:1", WORKSPACE),
    )


def test_names_are_replaced_whole(tmp_path: Path) -> None:
    read = files(tmp_path, (USER, {"a": {"x": 1}, "b": 1}), (WORKSPACE, {"a": {"y": 2}, "c": None}))
    assert merge_by_name(reader(read, SettingValue.json), {}) == {
        "a": Setting({"y": 2}, f"{tmp_path}/1.json:1", WORKSPACE),
        "b": Setting(1, f"{tmp_path}/0.json:1", USER),
    }


class TestGathered:
    def test_no_file_drops_what_another_says(self, tmp_path: Path) -> None:
        read = files(tmp_path, (USER, {"a": [1, 2], "b": 3}), (WORKSPACE, {"a": [], "b": None}), (ADMIN, {"a": [4]}))
        assert concatenate(reader(read, SettingValue.raw_json), {}) == {
            "a": (
                Setting(1, f"{tmp_path}/0.json:1", USER),
                Setting(2, f"{tmp_path}/0.json:1", USER),
                Setting(4, f"{tmp_path}/2.json:1", ADMIN),
            ),
            "b": (Setting(3, f"{tmp_path}/0.json:1", USER),),
        }


class TestServers:
    def test_the_files_of_the_user_are_merged_field_by_field(self, tmp_path: Path) -> None:
        read = files(tmp_path, (USER, {"a": {"x": 1, "y": 1}}), (USER, {"a": {"y": 2, "z": 2}, "b": {}}))
        merged = merge_servers(reader(read, lambda found: found.members()), {})
        assert isinstance(merged, dict)
        assert {name: list(setting.value) for name, setting in merged.items()} == {"a": ["x", "y", "z"], "b": []}
        assert merged["a"].value["y"].node.value == 2
        assert merged["a"].source == f"{tmp_path}/0.json:1"

    def test_other_files_replace_or_add(self, tmp_path: Path) -> None:
        layers = ((ADMIN, {"a": {"w": 0}}), (USER, {"a": {"x": 1}}), (WORKSPACE, {"a": {}, "p": {}}))
        merged = merge_servers(reader(files(tmp_path, *layers), SettingValue.json), {})
        assert merged == {
            "p": Setting({}, f"{tmp_path}/2.json:1", WORKSPACE),
            "a": Setting({"x": 1}, f"{tmp_path}/1.json:1", USER),
        }
        conflicts = find_name_conflicts(reader(files(tmp_path, *layers), SettingValue.json))
        assert conflicts == (Setting("a", f"{tmp_path}/2.json:1", WORKSPACE),)


@pytest.mark.parametrize("tier", [ADMIN, USER, WORKSPACE])
def test_the_strict_value_of_any_file(tmp_path: Path, tier: SourceTier) -> None:
    default = Setting(value=True)
    lax = reader(files(tmp_path, (USER, True), (WORKSPACE, True)), SettingValue.boolean)
    assert strict_value_wins(strict=False)(lax, default) is default
    mixed = reader(files(tmp_path, (USER, True), (tier, False), (ADMIN, True)), SettingValue.boolean)
    assert strict_value_wins(strict=False)(mixed, default) == Setting(False, f"{tmp_path}/1.json:1", tier)


def test_a_project_counts_only_where_nobody_else_says_anything(tmp_path: Path) -> None:
    alone = reader(files(tmp_path, (WORKSPACE, "p")), SettingValue.string)
    assert project_may_complete(alone, None) == Setting("p", f"{tmp_path}/0.json:1", WORKSPACE)
    both = reader(files(tmp_path, (USER, "u"), (WORKSPACE, "p")), SettingValue.string)
    assert project_may_complete(both, None) == Setting("u", f"{tmp_path}/0.json:1", USER)


def test_a_value_for_each_file(tmp_path: Path) -> None:
    read = reader(files(tmp_path, (USER, "u"), (WORKSPACE, None), (ADMIN, "a")), SettingValue.string)
    expected = Setting("u", f"{tmp_path}/0.json:1", USER), Setting("a", f"{tmp_path}/2.json:1", ADMIN)
    assert every_file(read, ()) == expected


@pytest.mark.parametrize(
    ("layers", "value"),
    [
        ([(WORKSPACE, 3)], 3),
        ([(WORKSPACE, 5)], 4),
        ([(WORKSPACE, 0)], 4),
        ([(USER, 0), (WORKSPACE, 9)], 9),
        ([(USER, 0), (WORKSPACE, 0)], None),
        ([(WORKSPACE, 2), (ADMIN, 3)], 2),
        ([(USER, 8), (ADMIN, 6)], 6),
    ],
)
def test_a_project_only_lowers_a_limit(
    tmp_path: Path, layers: Sequence[tuple[SourceTier, object]], value: int | None
) -> None:
    kept = project_may_lower(reader(files(tmp_path, *layers), SettingValue.limit), Setting(4))
    assert isinstance(kept, Setting)
    assert kept.value == value


def test_a_project_adds_a_list_that_must_permit_too(tmp_path: Path) -> None:
    layers = (ADMIN, ["x"]), (USER, ["a", "b"]), (WORKSPACE, ["c"]), (WORKSPACE, [])
    lists = project_may_add_lists(reader(files(tmp_path, *layers), SettingValue.strings), ())
    assert lists == (
        Setting(("a", "b"), f"{tmp_path}/1.json:1", USER),
        Setting(("c",), f"{tmp_path}/2.json:1", WORKSPACE),
    )
    assert project_may_add_lists(reader(files(tmp_path, (USER, []), (ADMIN, None)), SettingValue.strings), ()) == ()
