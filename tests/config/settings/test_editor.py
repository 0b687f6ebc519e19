"""One entry of a settings file is changed, and everything else stays as it was written."""

import json
import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.config.files.reader import AllowedWriters
from tejat.config.jsonc import JsoncError, JsonNode, parse_jsonc
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.editor import edit_settings, remove_member, set_member
from tejat.config.settings.file import SettingsError
from tejat.core.errors import UsageError

SERVER = {"command": "run", "args": ["a"]}

WRITTEN = """\
// mine
{
    "theme": "dark", // I like it
    "mcpServers": {
        /* the first } */
        "one": {"command": "x"}, // keep
        "two": {
            "command": "y"
        }
    },
    "last": [1, 2] // }
}
// the end }
"""


def plain(node: JsonNode) -> Any:
    match node.value:
        case dict(members):
            return {name: plain(member) for name, member in members.items()}
        case list(items):
            return [plain(item) for item in items]
        case value:
            return value


def test_a_new_file() -> None:
    assert set_member("{}\n", ("mcpServers", "a"), SERVER) == (
        json.dumps({"mcpServers": {"a": SERVER}}, indent=2) + "\n"
    )


def test_after_the_others_in_the_layout_of_the_file() -> None:
    expected = WRITTEN.replace(
        '            "command": "y"\n        }\n',
        '            "command": "y"\n        },\n        "three": {\n            "command": "z"\n        }\n',
    )
    assert set_member(WRITTEN, ("mcpServers", "three"), {"command": "z"}) == expected


def test_in_the_place_of_one_that_is_there() -> None:
    expected = WRITTEN.replace('{"command": "x"}', '{\n            "command": "z"\n        }')
    assert set_member(WRITTEN, ("mcpServers", "one"), {"command": "z"}) == expected


def test_at_the_outermost_level() -> None:
    expected = WRITTEN.replace('"last": [1, 2] // }', '"last": [1, 2],\n    "new": true // }')
    assert set_member(WRITTEN, ("new",), True) == expected


@pytest.mark.parametrize("name", ["one", "two", "gone"])
def test_removed_with_its_comma_only(name: str) -> None:
    left = remove_member(WRITTEN, ("mcpServers", name))
    found = plain(parse_jsonc(WRITTEN))
    found["mcpServers"].pop(name, None)
    assert plain(parse_jsonc(left)) == found
    for kept in ("// mine", "// I like it", "/* the first } */", "// keep", "// the end }"):
        assert kept in left


def test_nothing_to_remove_on_the_way() -> None:
    assert remove_member("{}", ("mcpServers", "a")) == "{}"
    assert remove_member('{"mcpServers": {"a": 1}}', ("mcpServers", "a")) == '{"mcpServers": {}}'


@pytest.mark.parametrize("text", ['{"mcpServers": []}', "[]"])
def test_something_else_is_in_the_way(text: str) -> None:
    with pytest.raises(UsageError, match="object"):
        set_member(text, ("mcpServers", "a"), {})


def test_a_broken_text_is_not_touched() -> None:
    with pytest.raises(JsoncError):
        set_member('{"a": }', ("b",), 1)


KEYS = st.sampled_from(["a", "b", "mcpServers", 'q"\\', "ключ"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=10,
)
LAYOUTS = st.sampled_from([None, 2, 4, "\t"])


@given(st.dictionaries(KEYS, VALUES, max_size=4), LAYOUTS, st.lists(KEYS, min_size=1, max_size=3), VALUES)
def test_any_entry_of_any_settings(found: dict[str, Any], layout: Any, names: list[str], given_value: Any) -> None:
    text = json.dumps(found, indent=layout)
    try:
        grown = set_member(text, names, given_value)
    except UsageError:
        return
    expected = inner = json.loads(text)
    for name in names[:-1]:
        inner = inner.setdefault(name, {})
    is_new = names[-1] not in inner
    inner[names[-1]] = given_value
    assert json.loads(grown) == expected
    shrunk = remove_member(grown, names)
    del inner[names[-1]]
    assert json.loads(shrunk) == expected
    assert not is_new or json.loads(remove_member(shrunk, names)) == expected


def paths_in(base: Path) -> AppPaths:
    return app_paths({"HOME": str(base / "home")})


class TestFiles:
    def test_nothing_else_is_left_beside_it(self, tmp_path: Path) -> None:
        path = tmp_path / "project" / "settings.json"
        edit_settings(
            paths_in(tmp_path), str(path), partial(set_member, names=("a",), given=1), writers=AllowedWriters.ANYONE
        )
        assert os.listdir(path.parent) == ["settings.json"]

    def test_made_with_its_directory_for_the_person_alone(self, tmp_path: Path) -> None:
        path = tmp_path / ".gemini" / "settings.json"
        edit_settings(
            paths_in(tmp_path), str(path), partial(set_member, names=("a",), given=1), writers=AllowedWriters.TRUSTED
        )
        assert json.loads(path.read_text()) == {"a": 1}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_that_of_a_project_keeps_who_may_read_it(self, tmp_path: Path) -> None:
        path = tmp_path / "settings.json"
        edit = partial(edit_settings, paths_in(tmp_path), str(path), writers=AllowedWriters.ANYONE)
        edit(partial(set_member, names=("a",), given=1))
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        path.chmod(0o664)
        edit(partial(set_member, names=("b",), given=1))
        assert (stat.S_IMODE(path.stat().st_mode), json.loads(path.read_text())) == (0o664, {"a": 1, "b": 1})

    def test_a_broken_file_is_named_and_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "settings.json"
        path.write_text("{,")
        with pytest.raises(SettingsError, match=str(path)):
            edit_settings(
                paths_in(tmp_path),
                str(path),
                partial(set_member, names=("a",), given=1),
                writers=AllowedWriters.TRUSTED,
            )
        assert path.read_text() == "{,"

    @pytest.mark.parametrize(("writers", "size"), [(AllowedWriters.TRUSTED, 8), (AllowedWriters.ANYONE, 1)])
    def test_one_that_nobody_could_read_again_is_not_written(
        self, tmp_path: Path, writers: AllowedWriters, size: int
    ) -> None:
        path = tmp_path / "settings.json"
        told = f"{path} would be larger than {size} MiB. Remove what you do not need."
        with pytest.raises(UsageError, match=re.escape(told)):
            edit_settings(paths_in(tmp_path), str(path), lambda _: "x" * (size * 2**20 + 1), writers=writers)
        assert not path.exists()

    def test_what_does_not_change_is_not_written(self, tmp_path: Path) -> None:
        path = tmp_path / "settings.json"
        path.write_text("{ }")
        os.utime(path, (1, 1))
        edit_settings(
            paths_in(tmp_path), str(path), partial(remove_member, names=("a",)), writers=AllowedWriters.TRUSTED
        )
        assert path.stat().st_mtime == 1

    def test_several_at_once_lose_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "settings.json"

        def add(number: int) -> None:
            edit_settings(
                paths_in(tmp_path),
                str(path),
                partial(set_member, names=("s", str(number)), given=number),
                writers=AllowedWriters.TRUSTED,
            )

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(add, range(32)))
        assert json.loads(path.read_text()) == {"s": {str(number): number for number in range(32)}}
