"""No key of a settings file is silent: unknown, wrong, old and without effect."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.model_servers.gemini import ModelServer, error_reply
from support.program import ProgramEnv, text_script, write_settings
from support.settings_examples import EXAMPLES, default_settings, put
from tejat.config.settings.known_keys import load_known_keys

HEADINGS = {"obeyed", "mapped", "no effect"}


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def reported(machine: ProgramEnv) -> Iterator[dict[str, Any]]:
    done = machine.run("doctor", "--setup", "--json")
    assert (done.code, done.stderr) == (0, "")
    yield from done.json["settings"]


class TestUnknownKeys:
    """Two typing mistakes and a key without effect."""

    def test_named_once_at_start_and_always_by_doctor(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(general={"vimmode": True}, genral={}, ui={"hideContextSummary": True})
        model = machine.script(text_script("Hello."))
        first, second = (machine.run("-p", "hi", "-m", model) for _ in range(2))
        assert (first.code, first.stdout) == (second.code, second.stdout) == (0, "Hello.\n")
        assert "2 settings are unknown (general.vimmode, genral). Run `tejat doctor` for details." in first.stderr
        assert second.stderr == ""
        doctor = machine.run("doctor")
        assert doctor.code == 0
        assert f"{path}:1 general.vimmode: unknown setting. Did you mean general.vimMode?" in doctor.stdout
        assert f"{path}:1 genral: unknown setting" in doctor.stdout
        assert f"{path}:1 ui.hideContextSummary: read, has no effect: " in doctor.stdout

    @pytest.mark.parametrize("how", ["flag", "variable", "setting"])
    def test_strict(self, machine: ProgramEnv, how: str) -> None:
        content: dict[str, Any] = {"general": {"vimmode": True}, "genral": {}, "ui": {"hideContextSummary": True}}
        path = write_settings(machine.home, content | ({"strictSettings": True} if how == "setting" else {}))
        model = machine.script(text_script("Hello."))
        words = ["--strict-settings"] if how == "flag" else []
        variable = "1" if how == "variable" else None
        done = machine.run("-p", "hi", "-m", model, *words, TEJAT_STRICT_SETTINGS=variable)
        assert (done.code, done.stdout) == (52, "")
        assert f"{path}:1 general.vimmode: unknown setting" in done.stderr
        assert f"{path}:1 genral: unknown setting" in done.stderr
        assert "hideContextSummary" not in done.stderr
        assert machine.run("doctor", *words, TEJAT_STRICT_SETTINGS=variable).code == 52

    def test_a_project_cannot_ask_for_strictness(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(genral={})
        machine.write_project_settings(strictSettings=True)
        done = machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")), "--trust")
        assert (done.code, done.stdout) == (0, "Hello.\n")


class TestEveryKey:
    def test_with_its_default(self, machine: ProgramEnv) -> None:
        write_settings(machine.home, default_settings())
        machine.environment["GEMINI_API_KEY"] = "a-key-of-a-test"
        found = list(reported(machine))
        names = [key.name for key in load_known_keys().gemini_keys]
        assert sorted(each["key"] for each in found) == sorted(names)
        assert {each["status"] for each in found} <= HEADINGS
        doctor = machine.run("doctor", "--json")
        assert (doctor.code, doctor.stderr) == (0, "")
        assert [check["how"] for check in doctor.json if check["group"] == "settings" and not check["works"]] == []

    def test_starts(self, machine: ProgramEnv) -> None:
        content = default_settings()
        del content["mcp"], content["tools"]["discoveryCommand"], content["security"]["auth"]["enforcedType"]
        write_settings(machine.home, content)
        done = machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")))
        assert (done.code, done.stdout) == (0, "Hello.\n")
        assert "unknown" not in done.stderr
        assert "cannot be used" not in done.stderr

    def test_under_its_old_name(self, machine: ProgramEnv) -> None:
        known = load_known_keys()
        names = sorted(set(known.former_names) - {"model"})
        content: dict[str, Any] = {}
        for name in names:
            former = known.find_former(name)
            assert former is not None
            key = known.find(former.present)
            assert key is not None
            value = EXAMPLES.get(key.name) if key.default is None else key.default
            put(content, name, not value if former.is_negated else value)
        write_settings(machine.home, content)
        found = {each["key"]: each for each in reported(machine)}
        assert sorted(found) == names
        assert {each["status"] for each in found.values()} <= HEADINGS
        assert all("present_name" in each for each in found.values())


def test_values_of_other_kinds(machine: ProgramEnv) -> None:
    """Texts for numbers and switches count; a wrong value is said once, and the run goes on."""
    path = write_settings(
        machine.home,
        {"telemetry": True, "general": {"maxAttempts": "3", "vimMode": "true"}, "ui": {"theme": 7}},
    )
    with ModelServer([error_reply(503, "busy")] * 9) as server:
        variables = {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": server.address}
        done = machine.run("-p", "hi", "-m", "gemini-2.5-pro", **variables)
        assert (done.code, len(server.requests)) == (61, 3)
    assert done.stderr.count("1 setting has a value that cannot be used.") == 1
    doctor = machine.run("doctor")
    assert doctor.code == 0
    assert f"{path}:1 ui.theme must be a string, not the number 7" in doctor.stdout


def test_a_broken_file_does_not_end_doctor(machine: ProgramEnv) -> None:
    path = write_settings(machine.home, '{"general": {\n')
    doctor = machine.run("doctor", "--json")
    assert doctor.code == 52
    (fault,) = [check for check in doctor.json if check["group"] == "settings"]
    assert fault["how"].startswith(f"Error in {path}: ")
    assert not fault["works"]
    assert {"sandbox", "programs", "model", "trust"} <= {check["group"] for check in doctor.json}
    assert machine.run("doctor", "--setup").code == 52
    assert json.loads(machine.run("doctor", "--setup", "--json").stdout)["faults"] == [fault["how"]]
