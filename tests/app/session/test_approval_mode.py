"""Switching between approval modes with Shift-Tab and Ctrl-Y: which ones are offered, and why others are not."""

from pathlib import Path

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter
from tejat.app.session.approval_mode import ModeSwitcher
from tejat.core.ui.prompter import Choice
from tejat.core.ui.status import ModeChange

NEEDS_TRUST = "Auto-edit and YOLO need a trusted folder: /permissions trust."


@pytest.fixture
def env(tmp_path: Path) -> CommandEnv:
    return CommandEnv(tmp_path)


def switch(
    env: CommandEnv, times: int, user: FakePrompter, *, toggles: bool = False, **options: object
) -> list[ModeChange]:
    async def work(runner: CommandRunner) -> list[ModeChange]:
        modes = ModeSwitcher(runner.parts.manager)
        step = modes.toggle_yolo if toggles else modes.next_mode
        return [await step(user) for _ in range(times)]

    return env.run_with(work, **options)


def names(changes: list[ModeChange]) -> list[str]:
    return [change.mode for change in changes]


@pytest.mark.parametrize(
    ("settings", "mode", "modes"),
    [
        ({}, None, ["auto_edit", "plan", "yolo", "default"]),
        ({}, "yolo", ["default", "auto_edit", "plan", "yolo"]),
        ({"general": {"plan": {"enabled": False}}}, None, ["auto_edit", "yolo", "default"]),
        ({"general": {"plan": {"enabled": False}}}, "plan", ["default", "auto_edit", "yolo", "default"]),
        ({"general": {"defaultApprovalMode": "auto_edit"}}, None, ["plan", "yolo", "default", "auto_edit"]),
        ({"security": {"enableConseca": True}}, None, ["plan", "default"]),
        ({"security": {"disableYoloMode": True}}, None, ["auto_edit", "plan", "default"]),
    ],
)
def test_in_a_trusted_folder(env: CommandEnv, settings: dict[str, object], mode: str | None, modes: list[str]) -> None:
    env.write_user_settings(**settings)
    user = FakePrompter(choices=[1])
    assert names(switch(env, len(modes), user, mode=mode)) == modes


def test_yolo_is_confirmed_once(env: CommandEnv) -> None:
    user = FakePrompter(choices=[1])
    assert names(switch(env, 8, user)) == ["auto_edit", "plan", "yolo", "default"] * 2
    (question,) = user.asked
    assert isinstance(question, Choice)
    assert (question.initial, question.is_critical) == (0, True)


@pytest.mark.parametrize("answer", [0, None])
def test_yolo_that_was_declined_is_not_asked_about_again(env: CommandEnv, answer: int | None) -> None:
    user = FakePrompter(choices=[answer, 1])
    changes = switch(env, 6, user)
    assert names(changes) == ["auto_edit", "plan", "default"] * 2
    assert len(user.asked) == 1
    assert {change.note for change in changes[2:]} == {"Ctrl-Y turns YOLO on."}


def test_a_switched_off_mode_is_named_with_its_source(env: CommandEnv) -> None:
    env.write_user_settings(security={"disableYoloMode": True}, general={"plan": {"enabled": False}})
    (change,) = switch(env, 1, FakePrompter())
    assert change.mode == "auto_edit"
    assert "yolo" in change.note.lower()
    assert "Plan mode is disabled by " in change.note
    assert change.note.count("settings.json:1") == 2


def test_a_folder_without_configuration_permits_all(env: CommandEnv) -> None:
    user = FakePrompter(choices=[1])
    assert names(switch(env, 4, user, trusts_folder=False)) == ["auto_edit", "plan", "yolo", "default"]


def test_an_untrusted_folder_with_configuration(env: CommandEnv) -> None:
    (env.project / "GEMINI.md").write_text("Be brief.\n")
    changes = switch(env, 2, FakePrompter(), trusts_folder=False)
    assert changes == [ModeChange("plan", NEEDS_TRUST), ModeChange("default", NEEDS_TRUST)]
    env.write_user_settings(general={"plan": {"enabled": False}})
    assert names(switch(env, 1, FakePrompter(), trusts_folder=False)) == ["default"]


def test_ctrl_y_turns_yolo_on_and_off(env: CommandEnv) -> None:
    user = FakePrompter(choices=[0, 1])
    changes = switch(env, 5, user, toggles=True)
    assert names(changes) == ["default", "yolo", "default", "yolo", "default"]
    assert len(user.asked) == 2


def test_ctrl_y_says_why_not(env: CommandEnv) -> None:
    (env.project / "GEMINI.md").write_text("Be brief.\n")
    user = FakePrompter(choices=[1])
    assert switch(env, 1, user, toggles=True, trusts_folder=False) == [ModeChange("default", NEEDS_TRUST)]
    assert user.asked == []


def test_the_mode_counts_at_once(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> str:
        await ModeSwitcher(runner.parts.manager).next_mode(FakePrompter())
        return runner.parts.load_permission().policy.mode.value

    assert env.run_with(work) == "auto_edit"
