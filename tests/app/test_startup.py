"""Start-up of an interactive run."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.command_runner import HELLO
from support.program import ProgramEnv, write_settings
from support.prompter import FakePrompter
from tejat.app import run_config
from tejat.app.onboarding.trust import StartupExit
from tejat.app.run_config import load_startup_config
from tejat.app.startup import open_startup_session
from tejat.config.settings import loader
from tejat.core.agent.options import AgentOptions
from tejat.core.frozen import replace

TRUST, DISTRUST = 0, 2


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def options_of(env: ProgramEnv) -> AgentOptions:
    return AgentOptions(
        directories=(str(env.project),), environment=env.environment, model=env.script(HELLO), sandbox="off"
    )


def start(env: ProgramEnv, user: FakePrompter, **more: Any) -> StartupExit | tuple[bool, str | None]:
    """What came of a start: whether the folder is trusted, and the theme that is set."""

    async def main() -> StartupExit | tuple[bool, str | None]:
        options = replace(options_of(env), **more)
        async with open_startup_session(options, load_startup_config(options), user) as session:
            if isinstance(session, StartupExit):
                return session
            config = session.command_context.run_config
            return config.trust.is_trusted, config.settings.theme and config.settings.theme.value

    return asyncio.run(main())


def test_files_are_read_once_and_trust_is_decided_once(env: ProgramEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file = write_settings(env.home, {"ui": {"theme": "dark"}})
    project_file = write_settings(env.project, {"ui": {"theme": "light"}})
    read: Counter[str] = Counter()
    decided: list[str] = []
    read_file, decide = loader.read_settings_file, run_config.decide_trust

    def count_read(path: str, *rest: object) -> object:
        read[path] += 1
        return read_file(path, *rest)  # type: ignore[arg-type]

    def count_decision(paths: object, root: str, **rest: object) -> object:
        decided.append(root)
        return decide(paths, root, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(loader, "read_settings_file", count_read)
    monkeypatch.setattr(run_config, "decide_trust", count_decision)
    assert start(env, FakePrompter(choices=[TRUST])) == (True, "light")
    assert set(read.values()) == {1}
    assert {str(user_file), str(project_file)} <= set(read)
    assert decided == [str(env.project)]


def test_a_project_not_trusted_does_not_count(env: ProgramEnv) -> None:
    write_settings(env.home, {"ui": {"theme": "dark"}})
    write_settings(env.project, {"ui": {"theme": "light"}})
    assert start(env, FakePrompter(choices=[DISTRUST])) == (False, "dark")


def test_the_user_may_quit_instead(env: ProgramEnv) -> None:
    write_settings(env.project, {})
    assert start(env, FakePrompter(choices=[None])) is StartupExit.QUIT


@pytest.mark.parametrize("answer", [0, 1, 2, None])
def test_a_cost_limit_with_an_unknown_price_is_a_question(env: ProgramEnv, answer: int | None) -> None:
    env.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    user = FakePrompter(choices=[answer])
    started = start(env, user, model="mystery", max_cost=1.0)
    assert len(user.asked) == 1
    assert (started is StartupExit.QUIT) is (answer not in (0, 1))
