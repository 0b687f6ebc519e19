"""The official Python package as the client: many sessions, stored sessions, modes and options."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp.exceptions import RequestError

from support.acp.message_log import Json
from support.acp.scripts import call_topic, text_topic
from support.acp.sdk_client import Agent, SdkClient, choose, run_agent
from support.program import ProgramEnv

EDIT = {"file_path": "${root}/price.py", "old_string": "cost = 1", "new_string": "cost = 2"}
SCRIPT = (
    text_topic("Hello", "Good day.", think="Who is it?")
    + call_topic("Edit", "replace", EDIT)
    + call_topic("Run", "run_shell_command", {"command": "echo out"})
)


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    env = ProgramEnv(tmp_path)
    (env.project / "price.py").write_text("cost = 1\nprint(cost)\n")
    return env


def run(
    env: ProgramEnv,
    scenario: Callable[[Agent], Awaitable[Any]],
    *,
    script: str = SCRIPT,
    client: SdkClient | None = None,
) -> Agent:
    """Run a scenario with a new agent."""

    async def main() -> Agent:
        async with run_agent(env, "-m", env.script(script), client=client) as agent:
            await agent.initialize()
            await scenario(agent)
        return agent

    return asyncio.run(main())


def store_session(env: ProgramEnv, *prompts: str) -> str:
    """A stored session with these prompts; its id."""
    ids: list[str] = []

    async def scenario(agent: Agent) -> None:
        ids.append(await agent.new_session())
        for prompt in prompts:
            assert await agent.prompt(ids[0], prompt) == "end_turn"

    run(env, scenario)
    return ids[0]


async def refused(work: Awaitable[Any]) -> str:
    with pytest.raises(RequestError) as caught:
        await work
    return str(caught.value)


class TestStored:
    def test_a_loaded_session_shows_its_history_before_the_answer(self, env: ProgramEnv) -> None:
        session = store_session(env, "Hello?", "Edit.", "Run.")

        async def scenario(agent: Agent) -> None:
            response = await agent.connection.load_session(cwd=str(env.project), session_id=session, mcp_servers=[])
            assert response.modes is not None
            assert response.config_options
            (answered,) = [
                place for place, message in enumerate(agent.log.received) if "modes" in (message.get("result") or {})
            ]
            updates = [message["params"]["update"] for message in agent.log.received[:answered] if "method" in message]
            assert told(updates) == [
                ("user_message_chunk", "Hello?"),
                ("agent_thought_chunk", "Who is it?"),
                ("agent_message_chunk", "Good day."),
                ("user_message_chunk", "Edit."),
                ("agent_message_chunk", "I do it."),
                ("agent_message_chunk", "Done."),
                ("user_message_chunk", "Run."),
                ("agent_message_chunk", "I do it."),
                ("agent_message_chunk", "Done."),
            ]
            edit, command = agent.calls().values()
            assert (edit["kind"], edit["status"]) == ("edit", "completed")
            assert (command["kind"], command["status"]) == ("execute", "completed")
            assert await agent.prompt(session, "Hello again.") == "end_turn"

        run(env, scenario)

    def test_a_resumed_session_shows_nothing_and_continues(self, env: ProgramEnv) -> None:
        session = store_session(env, "Hello?")

        async def scenario(agent: Agent) -> None:
            await agent.connection.resume_session(session_id=session, cwd=str(env.project))
            assert agent.log.updates("user_message_chunk") == []
            assert await agent.prompt(session, "Hello again.") == "end_turn"

        run(env, scenario)
        loaded = run(env, lambda agent: agent.connection.load_session(str(env.project), session))
        assert [text for kind, text in told(loaded.log.updates()) if kind == "user_message_chunk"] == [
            "Hello?",
            "Hello again.",
        ]

    def test_list_and_delete(self, env: ProgramEnv) -> None:
        first, second = store_session(env, "Hello, first."), store_session(env, "Hello, second.")
        elsewhere = env.base / "elsewhere"
        elsewhere.mkdir()

        async def scenario(agent: Agent) -> None:
            listed = (await agent.connection.list_sessions()).sessions
            assert {(each.session_id, each.title, each.cwd) for each in listed} == {
                (first, "Hello, first.", str(env.project)),
                (second, "Hello, second.", str(env.project)),
            }
            assert [each.session_id for each in listed] == [second, first]
            here = (await agent.connection.list_sessions(cwd=str(env.project))).sessions
            assert {each.session_id for each in here} == {first, second}
            assert (await agent.connection.list_sessions(cwd=str(elsewhere))).sessions == []
            assert await agent.request("session/delete", {"sessionId": first}) == {}
            assert [each.session_id for each in (await agent.connection.list_sessions()).sessions] == [second]
            await refused(agent.connection.load_session(cwd=str(env.project), session_id=first))

        run(env, scenario)

    def test_a_closed_session_is_still_stored(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            session = await agent.new_session()
            assert await agent.prompt(session, "Hello?") == "end_turn"
            await agent.connection.close_session(session)
            assert "No open session" in await refused(agent.prompt(session, "Hello?"))
            await agent.connection.load_session(cwd=str(env.project), session_id=session)
            assert await agent.prompt(session, "Hello?") == "end_turn"

        run(env, scenario)

    def test_what_is_not_there(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            missing = "00000000-0000-4000-8000-000000000000"
            assert "No session" in await refused(agent.connection.load_session(str(env.project), missing))
            await refused(agent.connection.load_session(cwd=str(env.project), session_id="../../etc/passwd"))
            assert "not a directory" in await refused(agent.connection.new_session(cwd=str(env.base / "missing")))
            assert "absolute" in await refused(agent.connection.new_session(cwd="project"))

        run(env, scenario)

    def test_sessions_are_those_of_the_terminal(self, env: ProgramEnv) -> None:
        done = env.run("-m", env.script(SCRIPT), "-p", "Hello from a shell.")
        assert (done.code, done.stdout) == (0, "Good day.\n")

        async def scenario(agent: Agent) -> None:
            (listed,) = (await agent.connection.list_sessions()).sessions
            assert listed.title == "Hello from a shell."
            await agent.connection.load_session(cwd=str(env.project), session_id=listed.session_id)
            assert agent.text() == "Good day."

        run(env, scenario)
        session = store_session(env, "Hello from an editor.")
        assert session[:8] in env.run("sessions").stdout

    def test_a_session_that_is_open_elsewhere_is_refused(self, env: ProgramEnv) -> None:
        async def scenario(first: Agent) -> None:
            session = await first.new_session()
            assert await first.prompt(session, "Hello?") == "end_turn"
            async with run_agent(env, "-m", env.script(SCRIPT)) as second:
                await second.initialize()
                await refused(second.connection.load_session(cwd=str(env.project), session_id=session))
                other = await second.new_session()
                answers = await asyncio.gather(second.prompt(other, "Hello?"), first.prompt(session, "Hello?"))
                assert answers == ["end_turn", "end_turn"]

        run(env, scenario)


def told(updates: list[Json]) -> list[tuple[str, str]]:
    """The texts of the updates, neighbouring chunks of one kind joined; a tool call ends a text."""
    found: list[tuple[str, str]] = []
    is_same = False
    for update in updates:
        kind = update["sessionUpdate"]
        if not kind.endswith("_chunk"):
            is_same = is_same and not kind.startswith("tool_call")
            continue
        text = update["content"]["text"]
        if is_same and found[-1][0] == kind:
            found[-1] = (kind, found[-1][1] + text)
        else:
            found.append((kind, text))
        is_same = True
    return found


class TestSeveral:
    def test_they_run_at_the_same_time(self, env: ProgramEnv) -> None:
        """One waits for its question while the others answer; none sees anything of another."""
        other = env.base / "other"
        other.mkdir()
        (other / "price.py").write_text("cost = 1\n")
        client = SdkClient(choose("allow_once"), answer_delay=2.0)

        async def scenario(agent: Agent) -> None:
            first = await agent.new_session()
            second = (await agent.connection.new_session(cwd=str(other))).session_id
            third = await agent.new_session()
            editing = asyncio.create_task(agent.prompt(second, "Edit."))
            await agent.wait_for(lambda: agent.log.requests("session/request_permission"))
            assert (
                await asyncio.gather(agent.prompt(first, "Hello?"), agent.prompt(third, "Hello?")) == ["end_turn"] * 2
            )
            assert not editing.done()
            assert await editing == "end_turn"
            assert [agent.text(each) for each in (first, second, third)] == ["Good day.", "I do it.Done.", "Good day."]
            assert {each["sessionId"] for each in agent.log.requests("session/request_permission")} == {second}

        run(env, scenario, client=client)
        assert (other / "price.py").read_text() == "cost = 2\n"
        assert (env.project / "price.py").read_text() == "cost = 1\nprint(cost)\n"

    def test_cancelling_one_leaves_the_others(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            first, second = await agent.new_session(), await agent.new_session()
            answers = [asyncio.create_task(agent.prompt(each, "Count.")) for each in (first, second)]
            await agent.wait_for(lambda: agent.text(first) and agent.text(second))
            await agent.connection.cancel(first)
            assert await asyncio.gather(*answers) == ["cancelled", "end_turn"]

        run(env, scenario, script=text_topic("Count", "word " * 30, pause=0.1))

    def test_more_directories(self, env: ProgramEnv) -> None:
        more = env.base / "more"
        more.mkdir()
        (more / "notes.txt").write_text("Remember the milk.\n")

        async def scenario(agent: Agent) -> None:
            session = await agent.new_session(additional_directories=[str(more)])
            assert await agent.prompt(session, "Read.") == "end_turn"
            alone = await agent.new_session()
            assert await agent.prompt(alone, "Read.") == "end_turn"
            assert (agent.text(session), agent.text(alone)) == ("I do it.Done.", "I do it.Then not.")

        run(env, scenario, script=call_topic("Read", "read_file", {"file_path": str(more / "notes.txt")}))


class TestModesAndOptions:
    def test_modes(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            opened = await agent.connection.new_session(cwd=str(env.project))
            session = opened.session_id
            assert opened.modes is not None
            assert opened.modes.current_mode_id == "default"
            assert {each.id for each in opened.modes.available_modes} >= {"default", "auto_edit", "plan"}
            await agent.connection.set_session_mode(session_id=session, mode_id="auto_edit")
            assert await agent.prompt(session, "Edit.") == "end_turn"
            assert agent.log.requests("session/request_permission") == []
            assert (env.project / "price.py").read_text().startswith("cost = 2")
            await refused(agent.connection.set_session_mode(session_id=session, mode_id="nonsense"))
            assert agent.log.updates("current_mode_update")[-1]["currentModeId"] == "auto_edit"

        run(env, scenario)

    def test_plan_mode_changes_nothing(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            session = await agent.new_session()
            await agent.connection.set_session_mode(session_id=session, mode_id="plan")
            assert await agent.prompt(session, "Edit.") == "end_turn"
            assert agent.text() == "I do it.Then not."

        run(env, scenario)
        assert (env.project / "price.py").read_text() == "cost = 1\nprint(cost)\n"

    def test_the_model_is_an_option(self, env: ProgramEnv) -> None:
        other = env.script(text_topic("Hello", "I am another."), "other.toml")

        async def scenario(agent: Agent) -> None:
            opened = await agent.connection.new_session(cwd=str(env.project))
            options = {each.id: each for each in opened.config_options or []}
            assert {*options} >= {"mode", "model"}
            assert options["model"].current_value == env.script(SCRIPT)
            changed = await agent.connection.set_config_option("model", opened.session_id, other)
            assert {each.id: each for each in changed.config_options}["model"].current_value == other
            assert await agent.prompt(opened.session_id, "Hello?") == "end_turn"
            assert agent.text().endswith("I am another.")
            assert "nonsense" in await refused(
                agent.connection.set_config_option("model", opened.session_id, "nonsense:nothing")
            )
            await refused(agent.connection.set_config_option("colour", opened.session_id, "red"))

        run(env, scenario)

    def test_a_model_chosen_during_a_turn_counts_from_the_next_on(self, env: ProgramEnv) -> None:
        other = env.script(text_topic("", "I am another."), "other.toml")

        async def scenario(agent: Agent) -> None:
            session = await agent.new_session()
            answer = asyncio.create_task(agent.prompt(session, "Count."))
            await agent.wait_for(lambda: agent.text() != "")
            await agent.connection.set_config_option("model", session, other)
            assert await answer == "end_turn"
            assert agent.text() == "One two three."
            assert await agent.prompt(session, "Count.") == "end_turn"
            assert agent.text().endswith("I am another.")

        run(env, scenario, script=text_topic("Count", "One two three.", pause=0.5))

    def test_modes_as_an_option(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent) -> None:
            session = await agent.new_session()
            await agent.connection.set_config_option("mode", session, "auto_edit")
            assert await agent.prompt(session, "Edit.") == "end_turn"
            assert agent.log.requests("session/request_permission") == []

        run(env, scenario)
