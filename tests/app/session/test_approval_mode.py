"""Switching between approval modes: which ones Shift-Tab offers."""

from pathlib import Path

import pytest

from support.command_runner import CommandEnv, CommandRunner
from tejat.app.session.approval_mode import cycle_mode


@pytest.fixture
def env(tmp_path: Path) -> CommandEnv:
    return CommandEnv(tmp_path)


def cycle(env: CommandEnv, times: int, **options: object) -> list[str]:
    async def work(runner: CommandRunner) -> list[str]:
        return [cycle_mode(runner.parts.manager) for _ in range(times)]

    return env.run_with(work, **options)


@pytest.mark.parametrize(
    ("settings", "mode", "modes"),
    [
        ({}, None, ["auto_edit", "plan", "default"]),
        ({}, "yolo", ["default", "auto_edit", "plan", "yolo"]),
        ({"general": {"plan": {"enabled": False}}}, None, ["auto_edit", "default"]),
        ({"general": {"plan": {"enabled": False}}}, "plan", ["default", "auto_edit", "default"]),
        ({"general": {"defaultApprovalMode": "auto_edit"}}, None, ["plan", "default", "auto_edit"]),
        ({"security": {"enableConseca": True}}, None, ["plan", "default"]),
    ],
)
def test_in_a_trusted_folder(env: CommandEnv, settings: dict[str, object], mode: str | None, modes: list[str]) -> None:
    env.write_user_settings(**settings)
    assert cycle(env, len(modes), mode=mode) == modes


def test_in_an_untrusted_folder(env: CommandEnv) -> None:
    assert cycle(env, 2, trusts_folder=False) == ["plan", "default"]
    env.write_user_settings(general={"plan": {"enabled": False}})
    assert cycle(env, 1, trusts_folder=False) == ["default"]
