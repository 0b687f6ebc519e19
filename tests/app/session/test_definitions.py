"""Skills and agents of an interactive session: read after the first screen, and there whenever they are needed."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.approver import FakeApprover
from support.command_runner import HELLO, texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.prompter import FakePrompter
from tejat.app.session.definitions import load_definitions, preload_definitions
from tejat.app.session.lifespan import open_session_manager
from tejat.app.session.manager import SessionManager
from tejat.core.agent.events import Noticed, SessionStarted
from tejat.core.agent.options import AgentOptions

TOO_LONG = 2_000
"""More characters than the description of a skill may have."""


class Env(InteractiveEnv):
    """A home with skills and agents."""

    def skill(self, name: str, description: str = "Aligns columns.") -> None:
        path = self.home / ".agents" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nname: {name}\ndescription: {description}\n---\nBody\n")

    def agent(self, name: str) -> None:
        path = self.home / ".gemini" / "agents" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nname: {name}\ndescription: Measures things.\n---\nMeasure.\n")


@pytest.fixture
def env(tmp_path: Path) -> Env:
    env = Env(tmp_path)
    env.skill("align")
    env.agent("surveyor")
    return env


def manager_of(runner: InteractiveRunner) -> SessionManager:
    return runner.interactive.command_context.manager


def declared_names(manager: SessionManager) -> list[str]:
    return [declaration.name for declaration in manager.session.conversation.template.declarations()]


async def eager(options: AgentOptions) -> tuple[str, list[str]]:
    """System prompt and tools of a session without a screen."""
    async with open_session_manager(options, FakeApprover()) as manager:
        return manager.session.conversation.template.system, declared_names(manager)


def test_nothing_of_them_is_read_when_the_session_opens(env: Env) -> None:
    async def work(runner: InteractiveRunner) -> None:
        manager = manager_of(runner)
        assert not manager.has_definitions
        assert "skills" not in manager.toolset.services.__dict__
        assert {"activate_skill", "invoke_agent"}.isdisjoint(declared_names(manager))
        assert "align" not in manager.session.conversation.template.system

    env.run_with(work)


def test_the_first_request_is_that_of_a_session_without_a_screen(env: Env) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
        await runner.prompt("hi")
        manager = manager_of(runner)
        return manager.session.conversation.template.system, declared_names(manager)

    system, names = env.run_with(work)
    assert (system, names) == asyncio.run(eager(env.agent_options(HELLO)))
    assert {"activate_skill", "invoke_agent"} < set(names)
    assert "align" in system
    assert "surveyor" in system


async def mentioned_agents(runner: InteractiveRunner) -> list[str]:
    return [agent.name for agent in runner.interactive.agents]


async def slash_suggestions(runner: InteractiveRunner) -> list[str]:
    return texts(await runner.interactive.commands.suggestions("/ali"))


async def listed_skills(runner: InteractiveRunner) -> str:
    return await runner.command_output("/skills list")


async def listed_agents(runner: InteractiveRunner) -> str:
    return await runner.command_output("/agents list")


async def help_page(runner: InteractiveRunner) -> str:
    return await runner.command_output("/help /align")


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (mentioned_agents, "surveyor"),
        (slash_suggestions, "align"),
        (listed_skills, "align"),
        (listed_agents, "surveyor"),
        (help_page, "Aligns columns"),
    ],
)
@pytest.mark.parametrize("is_preloading", [False, True])
def test_whatever_shows_them_waits_for_them(
    env: Env, use: Callable[[InteractiveRunner], Awaitable[object]], expected: str, *, is_preloading: bool
) -> None:
    async def work(runner: InteractiveRunner) -> str:
        preloading = asyncio.create_task(runner.interactive.preload_definitions()) if is_preloading else None
        await asyncio.sleep(0)
        shown = str(await use(runner))
        if preloading is not None:
            await preloading
        return shown

    assert expected in env.run_with(work)


def test_the_exported_system_prompt_knows_their_tools(env: Env) -> None:
    environment = {**env.environment, "GEMINI_WRITE_SYSTEM_MD": str(env.home / "system.md")}

    async def work(runner: InteractiveRunner) -> str:
        await runner.interactive.offer_system_prompt(FakePrompter())
        return (env.home / "system.md").read_text()

    async def without_screen() -> str:
        options = env.agent_options(HELLO, environment=env.environment)
        async with open_session_manager(options, FakeApprover()) as manager:
            return manager.builtin_system_prompt()

    assert env.run_with(work, environment=environment) == asyncio.run(without_screen()) + "\n"


class TestPreload:
    def test_they_are_there_afterwards(self, env: Env) -> None:
        async def work(runner: InteractiveRunner) -> tuple[bool, list[str]]:
            await runner.interactive.preload_definitions()
            return manager_of(runner).has_definitions, declared_names(manager_of(runner))

        has_definitions, names = env.run_with(work)
        assert has_definitions
        assert {"activate_skill", "invoke_agent"} < set(names)

    def test_the_user_can_type_meanwhile(self, env: Env) -> None:
        for number in range(300):
            env.skill(f"skill-{number}")

        async def work(runner: InteractiveRunner) -> int:
            turns, preloading = 0, asyncio.create_task(preload_definitions(manager_of(runner)))
            while not preloading.done():
                turns += 1
                await asyncio.sleep(0.001)
            return turns

        assert env.run_with(work) > 5

    def test_a_second_time_reads_nothing(self, env: Env) -> None:
        async def work(runner: InteractiveRunner) -> str:
            await runner.interactive.preload_definitions()
            env.skill("unseen-skill")
            await runner.interactive.preload_definitions()
            return manager_of(runner).session.conversation.template.system

        assert "unseen-skill" not in env.run_with(work)

    def test_a_session_that_ends_meanwhile(self, env: Env) -> None:
        async def work(runner: InteractiveRunner) -> None:
            preloading = asyncio.create_task(preload_definitions(manager_of(runner)))
            await asyncio.sleep(0)
            preloading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await preloading

        env.run_with(work)


class TestNotes:
    def test_after_the_first_screen(self, env: Env) -> None:
        env.skill("broken", "x" * TOO_LONG)

        async def work(runner: InteractiveRunner) -> tuple[list[str], list[str], list[str]]:
            first = list(runner.interactive.take_notes())
            await runner.interactive.preload_definitions()
            return first, list(runner.interactive.take_notes()), list(runner.interactive.take_notes())

        first, later, last = env.run_with(work)
        assert [note for note in (*first, *last) if "broken" in note] == []
        assert len([note for note in later if "broken" in note]) == 1

    def test_with_a_prompt_that_comes_first(self, env: Env) -> None:
        env.skill("broken", "x" * TOO_LONG)

        async def work(runner: InteractiveRunner) -> list[str]:
            await runner.prompt("hi")
            await runner.prompt("hi")
            assert isinstance(runner.events[0], SessionStarted)
            return [event.message for event in runner.events_of(Noticed)]

        assert len([note for note in env.run_with(work) if "broken" in note]) == 1

    def test_a_system_prompt_that_is_gone_is_reported_and_kept(self, env: Env) -> None:
        prompt = env.home / "system.md"
        prompt.write_text("Be brief.")
        environment = {**env.environment, "GEMINI_SYSTEM_MD": str(prompt)}

        async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
            prompt.unlink()
            load_definitions(manager_of(runner))
            return manager_of(runner).session.conversation.template.system, list(runner.interactive.take_notes())

        system, notes = env.run_with(work, environment=environment)
        assert system.startswith("Be brief.")
        assert any("does not exist" in note for note in notes)
