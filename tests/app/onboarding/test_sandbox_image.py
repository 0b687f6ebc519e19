"""Fetching the image of a sandbox: only after a yes, and with the command shown."""

import asyncio
from pathlib import Path

import pytest

from support.container_engine import ContainerStandIn
from support.prompter import FakePrompter
from tejat.app.onboarding.sandbox_image import offer_image_pull
from tejat.app.onboarding.trust import StartupExit
from tejat.core.errors import SandboxUnavailable
from tejat.core.ui.prompter import Choice


@pytest.fixture
def stand_in(tmp_path: Path) -> ContainerStandIn:
    return ContainerStandIn(tmp_path)


def offer(stand_in: ContainerStandIn, user: FakePrompter) -> StartupExit | None:
    command = (str(stand_in.path / "docker"), "pull", "far/away:1")
    refused = SandboxUnavailable("It is not there.", pull_command=command)
    environment = {"PATH": "/usr/bin:/bin", "HTTPS_PROXY": "http://proxy", "GEMINI_API_KEY": "secret"}
    return asyncio.run(offer_image_pull(refused, user, environment))


def test_yes(stand_in: ContainerStandIn) -> None:
    user = FakePrompter(choices=[0])
    assert offer(stand_in, user) is None
    call = stand_in.calls("pull")[0]
    assert call["argv"] == ["pull", "far/away:1"]
    assert {"PATH", "HTTPS_PROXY"} <= set(call["environment"])
    assert "GEMINI_API_KEY" not in call["environment"]
    question = user.asked[0]
    assert isinstance(question, Choice)
    assert question.options[0].label == f"Yes, run: {stand_in.path}/docker pull far/away:1"
    assert (question.initial, question.is_critical) == (1, True)


@pytest.mark.parametrize("answer", [1, None])
def test_no(stand_in: ContainerStandIn, answer: int | None) -> None:
    assert offer(stand_in, FakePrompter(choices=[answer])) is StartupExit.QUIT
    assert stand_in.calls("pull") == []


def test_one_that_cannot_be_fetched(stand_in: ContainerStandIn) -> None:
    stand_in.configure(dead=True)
    with pytest.raises(SandboxUnavailable, match="pull far/away:1: Cannot connect to the service"):
        offer(stand_in, FakePrompter(choices=[0]))


def test_nothing_to_fetch() -> None:
    refused = SandboxUnavailable("There is no sandbox.")
    user = FakePrompter()
    with pytest.raises(SandboxUnavailable, match="There is no sandbox"):
        asyncio.run(offer_image_pull(refused, user, None))
    assert user.asked == []
