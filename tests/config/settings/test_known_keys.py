"""The table of Gemini CLI's settings is complete, and agrees with the schema and with docs/settings.md."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.program import write_settings
from support.settings_examples import OWN_EXAMPLES, default_settings, put
from support.source_tree import ROOT
from tejat.config.paths import app_paths
from tejat.config.settings.known_keys import KeyAction, KnownKey, load_known_keys
from tejat.config.settings.loader import load_settings
from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.schema.spec import SettingSpec
from tejat.config.settings.types import Settings

SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "settings-table"), run_name="settings-table")
KNOWN = load_known_keys()
KEYS = {key.name: key for key in KNOWN.gemini_keys}
ROWS = {name: row for row in SETTINGS for name in row.key.names}


def rows_of(key: KnownKey) -> Iterator[SettingSpec]:
    """The rows that read a key: its own, that of an object it is in, or those of its members."""
    for name, row in ROWS.items():
        if name == key.name or (key.name.startswith(f"{name}.") and name != "model") or name.startswith(f"{key.name}."):
            yield row


def table() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(SCRIPT["TABLE"].read_text(encoding="utf-8"))
    return content


class TestActions:
    def test_all_keys_are_there(self) -> None:
        assert len(KEYS) == 220
        assert table()["version"] == "0.61.0"

    def test_every_key_has_an_action_and_a_reason(self) -> None:
        entries = table()["keys"]
        assert [name for name, entry in entries.items() if entry.get("action") not in list(KeyAction)] == []
        assert [name for name, entry in entries.items() if not entry.get("text")] == []

    def test_reasons_are_short_sentences(self) -> None:
        """They are shown after the key, and translated."""
        reasons = {key.text for key in KEYS.values() if key.action is not KeyAction.OBEY} | set(KNOWN.retired.values())
        assert [reason for reason in reasons if not reason.endswith(".") or len(reason) > 120] == []

    def test_every_obeyed_key_is_read(self) -> None:
        assert [name for name, key in KEYS.items() if key.action is KeyAction.OBEY and not list(rows_of(key))] == []

    def test_no_key_without_effect_is_read(self) -> None:
        ineffective = (KeyAction.NONE, KeyAction.LATER)
        read = [name for name, key in KEYS.items() if key.action in ineffective and name in ROWS]
        assert read == []

    def test_what_protects_is_what_the_schema_protects(self) -> None:
        wrong = {
            name: [row.field for row in rows_of(key)]
            for name, key in KEYS.items()
            if name in ROWS and key.protects != ROWS[name].protects
        }
        assert wrong == {}

    def test_every_member_that_protects_is_in_an_object_that_protects(self) -> None:
        keys = [key for name, key in KEYS.items() if name not in ROWS and key.protects]
        assert [
            key.name for key in keys if (rows := list(rows_of(key))) and not any(row.protects for row in rows)
        ] == []

    def test_no_protection_is_lost_in_silence(self) -> None:
        """Except for a hook that is not run, which is reported at every start."""
        lost = [name for name, key in KEYS.items() if key.protects and key.action in (KeyAction.NONE, KeyAction.LATER)]
        assert lost == []

    def test_every_setting_is_known(self) -> None:
        names = {*KEYS, *KNOWN.own_names, *KNOWN.former_names, *KNOWN.retired, *KNOWN.groups}
        assert [name for name in ROWS if name not in names and name.rpartition(".")[0] not in names] == []

    def test_no_own_key_is_one_of_gemini_cli(self) -> None:
        assert set(KNOWN.own_names) & set(KEYS) == set()
        assert [name for name in KNOWN.own_names if name not in ROWS] == []


class TestScope:
    """A project can set what the table says."""

    @pytest.fixture
    def of_project(self, tmp_path: Path) -> Settings:
        (tmp_path / "home").mkdir()
        write_settings(tmp_path, default_settings())
        environment = {"HOME": str(tmp_path / "home")}
        return load_settings(app_paths(environment), [str(tmp_path)], trusted=True, environment=environment)

    def fields(self, project: str | None) -> dict[str, str]:
        obeyed = {name: key for name, key in KEYS.items() if key.action is KeyAction.OBEY and name in ROWS}
        return {name: ROWS[name].field for name, key in obeyed.items() if key.project == project}

    def test_nothing_that_is_for_the_person(self, of_project: Settings) -> None:
        fields = self.fields("person")
        assert len(fields) > 10
        del fields["tools.sandboxAllowedPaths"]  # kept, and reported as not used
        assert [name for name, field in fields.items() if "WORKSPACE" in repr(getattr(of_project, field))] == []

    def test_everything_that_is_not_restricted(self, of_project: Settings) -> None:
        empty = {
            *("mcpServers", "tools.allowed", "ui.customThemes"),
            *("modelConfigs.customAliases", "modelConfigs.customOverrides"),
        }
        fields = {name: field for name, field in self.fields(None).items() if name not in empty}
        assert len(fields) > 20
        assert [name for name, field in fields.items() if "WORKSPACE" not in repr(getattr(of_project, field))] == []

    @pytest.mark.parametrize("name", sorted(KNOWN.own_names))
    def test_our_own_settings(self, tmp_path: Path, name: str) -> None:
        content: dict[str, Any] = {}
        put(content, name, OWN_EXAMPLES[name])
        (tmp_path / "home").mkdir()
        write_settings(tmp_path, content)
        environment = {"HOME": str(tmp_path / "home")}
        loaded = load_settings(app_paths(environment), [str(tmp_path)], trusted=True, environment=environment)
        key = KNOWN.find(name)
        assert key is not None
        assert ("WORKSPACE" in repr(getattr(loaded, ROWS[name].field))) == (key.project != "person")


class TestFormerNames:
    def test_every_former_name_has_a_present_one(self) -> None:
        former = {name: KNOWN.find_former(name) for name in KNOWN.former_names}
        assert [name for name, found in former.items() if found is None or found.present not in KEYS] == []

    def test_every_former_name_of_an_obeyed_key_is_read(self) -> None:
        missing: list[str] = []
        for name in KNOWN.former_names:
            found = KNOWN.find_former(name)
            assert found is not None
            key = KEYS[found.present]
            read = {each for row in rows_of(key) for each in row.key.names} | {"hooks"}
            if key.action is KeyAction.OBEY and not any(
                each == name or name.startswith(f"{each}.") or each.startswith(f"{name}.") for each in read
            ):
                missing.append(name)
        assert missing == []

    def test_the_present_name_comes_first_in_its_row(self) -> None:
        """So that it takes precedence where a file has both."""
        wrong: list[str] = []
        for name in KNOWN.former_names:
            found = KNOWN.find_former(name)
            row = ROWS.get(name)
            if found is not None and row is not None and found.present in row.key.names:
                names = row.key.names
                wrong += [name] if names.index(found.present) > names.index(name) else []
        assert wrong == []

    def test_no_retired_name_is_known_otherwise(self) -> None:
        assert set(KNOWN.retired) & {*KEYS, *KNOWN.own_names, *KNOWN.former_names} == set()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("general.vimmode", "general.vimMode"),
        ("GENERAL.VIMMODE", "general.vimMode"),
        ("tools.vimMode", "general.vimMode"),
        ("vimmode", "general.vimMode"),
        ("general.tools.core", "tools.core"),
        ("genral.vimMode", "general.vimMode"),
        ("model.nmae", "model.name"),
        ("ui.them", "ui.theme"),
        ("excludetools", "tools.exclude"),
        ("mcpservers", "mcpServers"),
        ("telemetry.enable", "telemetry.enabled"),
        ("tools.sandbox.imgae", "tools.sandbox.image"),
        ("mcpServer.docs.command", "mcpServers"),
        ("ui.customTheme.Mine.background", "ui.customThemes"),
        ("foo.enabled", None),
        ("abc", None),
        ("x" * 10_000, None),
    ],
)
def test_nearest(name: str, nearest: str | None) -> None:
    assert KNOWN.nearest(name) == nearest


def test_a_group_is_suggested_for_an_object_only() -> None:
    assert KNOWN.nearest("genral") is None
    assert KNOWN.nearest("genral", is_object=True) == "general"


class TestScript:
    def test_the_document_is_up_to_date(self) -> None:
        assert SCRIPT["DOCUMENT"].read_text(encoding="utf-8") == SCRIPT["render_document"](table()), (
            "run scripts/settings-table"
        )

    def test_the_document_has_every_key(self) -> None:
        text = SCRIPT["DOCUMENT"].read_text(encoding="utf-8")
        names = [*KEYS, *KNOWN.own_names, *KNOWN.former_names, *KNOWN.retired]
        assert [name for name in names if f"`{name}`" not in text] == []

    def test_the_table_is_written_as_it_is(self) -> None:
        assert SCRIPT["TABLE"].read_text(encoding="utf-8") == SCRIPT["render_table"](table())

    def test_facts_are_refreshed_and_decisions_kept(self) -> None:
        keys = {
            "a.kept": {"type": "string", "default": "old", "action": "obey", "text": "Does it", "protects": True},
            "a.gone": {"type": "boolean", "action": "none", "text": "No."},
        }
        facts = {"a.kept": {"type": "enum", "words": ["x"]}, "a.new": {"type": "number", "default": 3}}
        assert SCRIPT["refresh"](keys, facts) == {
            "a.kept": {"type": "enum", "words": ["x"], "action": "obey", "text": "Does it", "protects": True},
            "a.new": {"type": "number", "default": 3},
        }

    def test_the_leaves_of_a_schema(self) -> None:
        schema = {
            "general": {
                "type": "object",
                "properties": {
                    "mode": {"type": "enum", "default": "a", "options": [{"value": "a"}, {"value": "b"}]},
                    "lists": {"type": "array", "default": [], "mergeStrategy": "union"},
                    "replaced": {"type": "object", "mergeStrategy": "replace"},
                    "names": {"type": "string", "ref": "StringOrStringArray"},
                },
            },
        }
        assert dict(SCRIPT["leaves"](schema, "")) == {
            "general.mode": {"type": "enum", "words": ["a", "b"], "default": "a"},
            "general.lists": {"type": "array", "default": [], "merge": "union"},
            "general.replaced": {"type": "object"},
            "general.names": {"type": "string|array"},
        }
