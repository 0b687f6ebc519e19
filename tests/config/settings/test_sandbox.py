"""The setting of the sandbox: all its forms, and who may change it."""

import pytest

from tejat.config.jsonc import parse_jsonc
from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingsFile
from tejat.config.settings.reader import SettingReader
from tejat.config.settings.sandbox import merge_sandbox, override_sandbox, parse_sandbox, require_sandbox
from tejat.config.settings.schema.sandbox import SANDBOX_SETTINGS
from tejat.config.settings.types import Setting
from tejat.core.approval.modes import SandboxMode, SandboxRequest
from tejat.core.frozen import replace
from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonValue

ON, OFF, AUTO = (SandboxRequest(mode) for mode in (SandboxMode.REQUIRED, SandboxMode.OFF, SandboxMode.AUTO))
DOCKER = SandboxRequest(SandboxMode.REQUIRED, command="docker")
ADMIN, USER, PROJECT = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE


def settings_file(value: JsonValue, tier: SourceTier) -> SettingsFile:
    top = parse_jsonc(dump_json({"tools": {"sandbox": value}})).value
    assert isinstance(top, dict)
    return SettingsFile(f"{tier.name.lower()}.json", tier, top, str)


def merged(*values: tuple[JsonValue, SourceTier]) -> Setting[SandboxRequest]:
    def fail(error: Exception) -> None:
        raise error

    files = [settings_file(value, tier) for value, tier in values]
    reader = SettingReader(files, SANDBOX_SETTINGS[0].key, parse_sandbox, fail)
    result = merge_sandbox(reader, Setting(SandboxRequest()))
    assert isinstance(result, Setting)
    return result


@pytest.mark.parametrize(
    ("value", "request_"),
    [
        (True, ON),
        ("true", ON),
        ("TRUE", ON),
        (1, ON),
        ("1", ON),
        ("required", ON),
        (False, OFF),
        ("false", OFF),
        (0, OFF),
        ("off", OFF),
        ("auto", AUTO),
        ("docker", DOCKER),
        ("lxc", SandboxRequest(SandboxMode.REQUIRED, command="lxc")),
        ({"command": "docker"}, DOCKER),
        ({"image": "x"}, SandboxRequest(SandboxMode.REQUIRED, image="x")),
        ({"enabled": True}, ON),
        ({"command": "", "image": " "}, ON),
        ({"enabled": False, "command": "docker"}, OFF),
        (
            {"command": "podman", "image": "x", "networkAccess": True, "allowedPaths": ["/data"]},
            SandboxRequest(SandboxMode.REQUIRED, "podman", "x", network=True, allowed_paths=("/data",)),
        ),
    ],
)
def test_values(value: JsonValue, request_: SandboxRequest) -> None:
    assert merged((value, USER)).value == request_


def test_the_last_file_wins() -> None:
    assert merged((True, USER), (False, ADMIN)) == Setting(OFF, "admin.json:1", ADMIN)


def test_members_of_objects_complete_each_other() -> None:
    found = merged(({"command": "podman"}, USER), ({"image": "x"}, USER))
    assert found.value == SandboxRequest(SandboxMode.REQUIRED, "podman", "x")


@pytest.mark.parametrize(
    ("person", "project", "kept"),
    [
        (True, False, ON),
        ("auto", "off", AUTO),
        ("off", "auto", AUTO),
        ("auto", True, ON),
        (True, "docker", DOCKER),
        ("docker", True, DOCKER),
        ("docker", {"command": "podman", "image": "theirs"}, DOCKER),
    ],
)
def test_a_project_is_heard_only_if_it_asks_for_more(
    person: JsonValue, project: JsonValue, kept: SandboxRequest
) -> None:
    assert merged((person, USER), (project, PROJECT)).value == kept
    assert merged((project, PROJECT), (person, USER)).value == kept


def test_a_project_can_neither_open_the_network_nor_show_paths() -> None:
    project: JsonValue = {"command": "docker", "networkAccess": True, "allowedPaths": ["/data"]}
    assert merged((project, PROJECT)).value == DOCKER
    assert merged(({"command": "docker", "networkAccess": False}, PROJECT)).value.network is False


def test_a_project_keeps_what_the_user_says_about_network_image_and_paths() -> None:
    person: JsonValue = {"networkAccess": False, "image": "mine", "allowedPaths": ["/data"]}
    found = merged((person, USER), ("docker", PROJECT)).value
    assert found == SandboxRequest(SandboxMode.REQUIRED, "docker", "mine", network=False, allowed_paths=("/data",))


def test_a_project_can_close_the_network_of_the_same_sandbox() -> None:
    person: JsonValue = {"command": "docker", "networkAccess": True}
    assert merged((person, USER), ({"command": "docker", "networkAccess": False}, PROJECT)).value.network is False


class TestOverride:
    @pytest.mark.parametrize(("word", "found"), [("off", OFF), ("auto", AUTO), ("true", ON), ("docker", DOCKER)])
    def test_a_word_wins(self, word: str, found: SandboxRequest) -> None:
        assert override_sandbox(Setting(AUTO), word, "--sandbox") == Setting(found, "--sandbox", USER)

    def test_one_that_asks_for_some_sandbox_keeps_the_named_one(self) -> None:
        setting = Setting(SandboxRequest(SandboxMode.REQUIRED, "podman", "x"), "file:1", USER)
        assert override_sandbox(setting, "true", "--sandbox") == setting
        assert override_sandbox(setting, "docker", "--sandbox").value.command == "docker"
        assert override_sandbox(setting, "off", "--sandbox").value.mode is SandboxMode.OFF

    @pytest.mark.parametrize(
        ("admin", "word", "kept"),
        [
            (ON, "off", ON),
            (ON, "auto", ON),
            (ON, "docker", DOCKER),
            (DOCKER, "podman", DOCKER),
            (DOCKER, "off", DOCKER),
        ],
    )
    def test_what_the_administrator_requires_stays(
        self, admin: SandboxRequest, word: str, kept: SandboxRequest
    ) -> None:
        found = override_sandbox(merged((str(admin), ADMIN)), word, "--sandbox")
        assert found.value == replace(kept, floor=admin.strictness)

    def test_what_the_administrator_requires_stays_below_what_others_ask_for(self) -> None:
        by_project = merged((True, ADMIN), ("docker", PROJECT))
        by_variable = override_sandbox(merged((True, ADMIN)), "docker", "GEMINI_SANDBOX")
        for setting in (by_project, by_variable):
            assert setting.value.command == "docker"
            for word in ("off", "auto"):
                assert override_sandbox(setting, word, "--sandbox").value.mode is SandboxMode.REQUIRED
            assert override_sandbox(setting, "podman", "--sandbox").value.command == "podman"

    def test_what_the_administrator_switches_off_can_be_switched_on(self) -> None:
        assert override_sandbox(Setting(OFF, "admin:1", ADMIN), "true", "--sandbox").value == ON


def test_sandboxing_of_tools_requires_a_sandbox() -> None:
    required = Setting(value=True, source="file:3", tier=USER)
    assert require_sandbox(Setting(OFF), required) == Setting(ON, "file:3", USER)
    assert require_sandbox(Setting(DOCKER), required) == Setting(DOCKER)
    assert require_sandbox(Setting(OFF), Setting(value=False)) == Setting(OFF)
