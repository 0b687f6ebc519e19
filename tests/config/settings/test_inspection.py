"""What becomes of each key of a settings file."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.settings_examples import put
from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingsFile
from tejat.config.settings.inspection import SettingFinding, SettingStatus, inspect_settings
from tejat.config.settings.known_keys import load_known_keys
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.schema.names import leaf_names
from tejat.config.settings.types import SettingProblem

Write = Callable[[object], SettingsFile]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(content: object) -> SettingsFile:
        path = tmp_path / "settings.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        path.chmod(0o600)
        file = read_settings_file(str(path), SourceTier.USER, {"NUMBER": "3"})
        assert file is not None
        return file

    return written


def by_key(findings: list[SettingFinding]) -> dict[str, SettingStatus]:
    assert len({finding.key for finding in findings}) == len(findings)
    return {finding.key: finding.status for finding in findings}


class TestStatus:
    def test_one_of_each(self, write: Write) -> None:
        given = {
            "$schema": "https://example.com/schema.json",
            "$version": 3,
            "general": {"vimMode": True, "vimmode": True, "maxAttempts": None},
            "genral": {},
            "ui": {"hideContextSummary": True, "showSpinner": False},
            "tools": {"usePty": True, "coer": ["x"]},
            "vimMode": True,
        }
        assert by_key(inspect_settings([write(given)])) == {
            "general.vimMode": SettingStatus.OBEYED,
            "general.vimmode": SettingStatus.UNKNOWN,
            "genral": SettingStatus.UNKNOWN,
            "ui.hideContextSummary": SettingStatus.NO_EFFECT,
            "ui.showSpinner": SettingStatus.MAPPED,
            "tools.usePty": SettingStatus.RETIRED,
            "tools.coer": SettingStatus.UNKNOWN,
            "vimMode": SettingStatus.NO_EFFECT,
        }

    def test_every_finding_has_its_line(self, write: Write) -> None:
        (first, second) = inspect_settings(
            [write('{\n  // a comment\n  "vimmode": true,\n\n  "ui": {"theme": "x"}\n}\n')]
        )
        assert (first.source.rpartition(":")[2], first.suggestion) == ("3", "general.vimMode")
        assert (second.source.rpartition(":")[2], second.suggestion) == ("5", None)

    def test_objects_with_free_names(self, write: Write) -> None:
        given = {
            "mcpServers": {"any": {"command": "x"}},
            "ui": {"customThemes": {"Mine": {"type": "custom"}}},
            "modelConfigs": {"customAliases": {"mine": {"modelConfig": {}}}},
            "agents": {"overrides": {"some": {"enabled": False}}},
            "admin": {"mcp": {"config": {"a": {}}, "requiredConfig": {"b": {}}}},
            "model": {"summarizeToolOutput": {"run_shell_command": {"tokenBudget": 1}}},
            "hooks": {"PreToolUse": [], "BeforeTool": [], "Nonsense": []},
        }
        findings = inspect_settings([write(given)])
        assert SettingStatus.UNKNOWN not in by_key(findings).values()
        assert {finding.key for finding in findings} == {
            *("mcpServers", "ui.customThemes", "modelConfigs.customAliases", "agents.overrides", "admin.mcp.config"),
            *("admin.mcp.requiredConfig", "model.summarizeToolOutput"),
            *("hooks.PreToolUse", "hooks.BeforeTool", "hooks.Nonsense"),
        }
        assert by_key(findings)["hooks.Nonsense"] is SettingStatus.NO_EFFECT

    def test_objects_with_known_members(self, write: Write) -> None:
        given = {
            "tools": {"sandbox": {"enabled": True, "imgae": "x"}},
            "telemetry": {"enabled": True, "sink": 1},
            "general": {"sessionRetention": {"maxAge": "30d", "nonsense": 1}},
        }
        statuses = by_key(inspect_settings([write(given)]))
        unknown = {key for key, status in statuses.items() if status is SettingStatus.UNKNOWN}
        assert unknown == {"tools.sandbox.imgae", "telemetry.sink", "general.sessionRetention.nonsense"}
        assert {"tools.sandbox", "telemetry", "general.sessionRetention.maxAge"} <= set(statuses) - unknown

    def test_a_number_for_an_object_that_may_be_one(self, write: Write) -> None:
        assert by_key(inspect_settings([write({"general": {"sessionRetention": 7}})])) == {
            "general.sessionRetention": SettingStatus.OBEYED
        }

    def test_null_is_not_given(self, write: Write) -> None:
        assert inspect_settings([write({"nonsense": None, "ui": {"hideContextSummary": None}, "general": {}})]) == []


class TestScope:
    def test_a_project_cannot_set_everything(self, tmp_path: Path) -> None:
        path = tmp_path / "settings.json"
        path.write_text(json.dumps({"general": {"preferredEditor": "vim", "vimMode": True}, "preferredEditor": "vim"}))
        file = read_settings_file(str(path), SourceTier.WORKSPACE, {})
        assert file is not None
        assert [(finding.key, finding.status, finding.reason) for finding in inspect_settings([file])][::2] == [
            ("general.preferredEditor", SettingStatus.NO_EFFECT, "A project cannot set it."),
            ("preferredEditor", SettingStatus.NO_EFFECT, "A project cannot set it."),
        ]

    def test_only_the_administrator_requires_servers(self, write: Write) -> None:
        (finding,) = inspect_settings([write({"admin": {"mcp": {"requiredConfig": {}}}})])
        assert (finding.status, finding.reason) == (SettingStatus.NO_EFFECT, "Only the administrator can set it.")


class TestOldNames:
    def test_it_has_the_status_of_the_new_name(self, write: Write) -> None:
        given = {"hideContextSummary": True, "usageStatisticsEnabled": False, "model": "gemini-2.5-pro", "theme": "x"}
        findings = inspect_settings([write(given)])
        assert [(finding.key, finding.status, finding.present_name) for finding in findings] == [
            ("hideContextSummary", SettingStatus.NO_EFFECT, "ui.hideContextSummary"),
            ("usageStatisticsEnabled", SettingStatus.MAPPED, "privacy.usageStatisticsEnabled"),
            ("model", SettingStatus.OBEYED, "model.name"),
            ("theme", SettingStatus.OBEYED, "ui.theme"),
        ]

    def test_the_new_name_takes_precedence(self, write: Write) -> None:
        findings = {
            finding.key: finding
            for finding in inspect_settings([write({"vimMode": True, "general": {"vimMode": False}})])
        }
        assert findings["vimMode"].is_overridden
        assert not findings["general.vimMode"].is_overridden

    def test_every_old_name_with_the_default_of_the_new_one(self, write: Write) -> None:
        known = load_known_keys()
        given: dict[str, object] = {}
        names = set(known.former_names) - {"model"}  # an object in the same file
        for name in sorted(names):
            former = known.find_former(name)
            key = None if former is None else known.find(former.present)
            assert former is not None
            assert key is not None
            default = not key.default if former.is_negated else key.default
            value = ({"boolean": True, "array": [], "object": {}, "number": 1}).get(key.types[0], "text")
            put(given, name, value if default is None else default)
        findings = inspect_settings([write(given)])
        assert {finding.key for finding in findings} == names
        assert [finding.key for finding in findings if finding.present_name is None] == []
        assert {finding.status for finding in findings} <= {
            SettingStatus.OBEYED,
            SettingStatus.MAPPED,
            SettingStatus.NO_EFFECT,
        }


class TestWrongValues:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("ui.hideContextSummary", 7),
            ("ui.hideContextSummary", "yes"),
            ("ui.loadingPhrases", "funny"),
            ("ui.terminalBackgroundPollingInterval", "soon"),
            ("ui.terminalBackgroundPollingInterval", True),
            ("ui.customWittyPhrases", "one"),
            ("agents.browser.visualModel", 1),
            ("hideContextSummary", 7),
            ("general.disableAutoUpdate", "perhaps"),
            ("experimental.voice", True),
        ],
    )
    def test_of_keys_without_effect(self, write: Write, key: str, value: object) -> None:
        given: dict[str, object] = {}
        put(given, key, value)
        (finding,) = inspect_settings([write(given)])
        assert (finding.key, finding.status) == (key, SettingStatus.WRONG)
        assert finding.reason.startswith(f"{key} must be ")

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("ui.hideContextSummary", "True"),
            ("ui.terminalBackgroundPollingInterval", "$NUMBER"),
            ("ui.terminalBackgroundPollingInterval", "2.5"),
            ("ui.loadingPhrases", "off"),
            ("disableAutoUpdate", True),
        ],
    )
    def test_texts_for_booleans_and_numbers_are_right(self, write: Write, key: str, value: object) -> None:
        given: dict[str, object] = {}
        put(given, key, value)
        (finding,) = inspect_settings([write(given)])
        assert finding.status is SettingStatus.NO_EFFECT

    def test_of_other_keys_as_they_were_loaded(self, write: Write) -> None:
        file = write({"ui": {"theme": 7}, "model": {"prices": {"m": {"input": "x"}}}})
        problems = (
            SettingProblem(file.path, 1, "ui.theme", "a string", "the number 7"),
            SettingProblem(file.path, 1, "model.prices.m.input", "a number", "a string"),
            SettingProblem("/another/file", 1, "general.vimMode", "true or false", "a string"),
        )
        findings = inspect_settings([file], problems)
        assert [(finding.key, finding.status, finding.reason) for finding in findings] == [
            ("ui.theme", SettingStatus.WRONG, "ui.theme must be a string, not the number 7"),
            ("model.prices", SettingStatus.WRONG, "model.prices.m.input must be a number, not a string"),
        ]


NAMES = st.sampled_from(
    ["general", "vimMode", "model", "name", "tools", "sandbox", "hooks", "telemetry", "ui", "x", "$schema"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "true", "$NUMBER", "text"]) | st.just([]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_is_passed_over(write: Write, content: dict[str, object]) -> None:
    """Every value is a finding, or in an object that is one."""
    file = write(content)
    found = {finding.key for finding in inspect_settings([file])}
    values = [name for name in leaf_names(file.members) if not name.startswith("$schema")]
    groups = load_known_keys().groups
    passed_over = [
        name
        for name in values
        if not any(name == key or name.startswith(f"{key}.") for key in found)
        if name not in groups  # an empty object
    ]
    assert passed_over == []
