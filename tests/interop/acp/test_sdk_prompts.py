"""The official Python package as the client: prompts, their updates, permissions and cancellation."""

import asyncio
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acp import audio_block, embedded_text_resource, image_block, resource_block, resource_link_block
from acp.exceptions import RequestError

from support.acp.message_log import Json
from support.acp.scripts import call_topic, text_topic
from support.acp.sdk_client import Agent, SdkClient, choose, run_agent
from support.model_servers.gemini import ModelServer, text_reply
from support.process_marks import living_pids
from support.program import ProgramEnv, script_answer

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
EDIT = {"file_path": "${root}/price.py", "old_string": "cost = 1", "new_string": "cost = 2"}


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    env = ProgramEnv(tmp_path)
    (env.project / "price.py").write_text("cost = 1\nprint(cost)\n")
    return env


def run(
    env: ProgramEnv, script: str, scenario: Callable[[Agent, str], Awaitable[None]], client: SdkClient | None = None
) -> Agent:
    """Run a scenario in a new session."""

    async def main() -> Agent:
        async with run_agent(env, "-m", env.script(script), client=client) as agent:
            await agent.initialize()
            await scenario(agent, await agent.new_session())
        return agent

    return asyncio.run(main())


def ask(env: ProgramEnv, script: str, *prompts: str, client: SdkClient | None = None) -> Agent:
    """Send the prompts one after the other; each must end its turn."""

    async def scenario(agent: Agent, session: str) -> None:
        for prompt in prompts:
            assert await agent.prompt(session, prompt) == "end_turn"

    return run(env, script, scenario, client)


class TestAnswers:
    def test_chunks_come_while_the_model_speaks(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            answer = asyncio.create_task(agent.prompt(session, "Count."))
            await agent.wait_for(lambda: agent.text(session) != "")
            assert not answer.done()
            assert agent.text(session) != "One two three four five six."
            assert await answer == "end_turn"
            assert agent.text(session) == "One two three four five six."

        agent = run(env, text_topic("Count", "One two three four five six.", pause=0.2), scenario)
        assert len(agent.log.updates("agent_message_chunk")) >= 6

    def test_thoughts(self, env: ProgramEnv) -> None:
        agent = ask(env, text_topic("Think", "So it is.", think="Let me see."), "Think.")
        assert agent.thoughts().endswith("Let me see.")  # notes come as thoughts too
        assert agent.text() == "So it is."

    def test_prompts_of_a_session_run_one_after_the_other(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            both = (agent.prompt(session, "First."), agent.prompt(session, "Second."))
            assert await asyncio.gather(*both) == ["end_turn", "end_turn"]
            assert agent.text() == "One one one.Two two two."

        script = text_topic("First", "One one one.", pause=0.1) + text_topic("Second", "Two two two.", pause=0.1)
        run(env, script, scenario)

    def test_usage_and_title(self, env: ProgramEnv) -> None:
        usage = {"prompt": 100, "output": 5}
        agent = ask(env, text_topic("Count", "One.", usage=usage), "Count to one, please.")
        assert agent.log.updates("usage_update")[-1]["used"] >= 100
        assert agent.log.updates("session_info_update")[-1]["title"] == "Count to one, please."

    def test_a_failure_of_the_service_is_an_error_with_its_message(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            with pytest.raises(RequestError, match="the colour is wrong"):
                await agent.prompt(session, "Fail.")
            assert await agent.prompt(session, "Again.") == "end_turn"

        script = text_topic("Fail", "", fail="bad_request", detail="the colour is wrong")
        run(env, script + text_topic("Again", "Better."), scenario)

    def test_retries_are_visible(self, env: ProgramEnv) -> None:
        failed = script_answer(say="", fail="unavailable", detail="too busy", retry_after=0.01)
        agent = ask(env, failed + script_answer(say="Now."), "Try.")
        shown = "".join(str(update) for update in agent.log.updates())
        assert "too busy" in shown
        assert agent.text().endswith("Now.")

    def test_todos_are_a_plan(self, env: ProgramEnv) -> None:
        todos = [
            {"description": "Look", "status": "completed"},
            {"description": "Leap", "status": "in_progress"},
            {"description": "Rest", "status": "pending"},
        ]
        agent = ask(env, call_topic("Plan", "write_todos", {"todos": todos}), "Plan.")
        entries = agent.log.updates("plan")[-1]["entries"]
        assert [(each["content"], each["status"]) for each in entries] == [
            ("Look", "completed"),
            ("Leap", "in_progress"),
            ("Rest", "pending"),
        ]


class TestCalls:
    def test_a_read(self, env: ProgramEnv) -> None:
        agent = ask(env, call_topic("Read", "read_file", {"file_path": "${root}/price.py"}), "Read.")
        (call,) = agent.calls().values()
        assert (call["kind"], call["status"]) == ("read", "completed")
        assert "price.py" in call["title"]
        assert call["locations"][0]["path"] == str(env.project / "price.py")
        assert call["rawInput"] == {"file_path": str(env.project / "price.py")}
        assert agent.log.requests("session/request_permission") == []

    def test_an_edit_has_its_diff(self, env: ProgramEnv) -> None:
        agent = ask(env, call_topic("Edit", "replace", EDIT), "Edit.")
        (asked,) = agent.log.requests("session/request_permission")
        (diff,) = [each for each in asked["toolCall"]["content"] if each["type"] == "diff"]
        assert diff["path"] == str(env.project / "price.py")
        assert (diff["oldText"], diff["newText"]) == ("cost = 1\nprint(cost)\n", "cost = 2\nprint(cost)\n")
        (call,) = agent.calls().values()
        assert (call["kind"], call["status"]) == ("edit", "completed")
        assert call["toolCallId"] == asked["toolCall"]["toolCallId"]
        assert [each["path"] for each in call["content"] if each["type"] == "diff"] == [diff["path"]]
        assert (env.project / "price.py").read_text() == "cost = 2\nprint(cost)\n"

    def test_a_new_file_has_no_old_text(self, env: ProgramEnv) -> None:
        args = {"file_path": "${root}/new.txt", "content": "New.\n"}
        agent = ask(env, call_topic("Create", "write_file", args), "Create it.")
        (asked,) = agent.log.requests("session/request_permission")
        (diff,) = [each for each in asked["toolCall"]["content"] if each["type"] == "diff"]
        assert diff.get("oldText") is None
        assert diff["newText"] == "New.\n"
        assert (env.project / "new.txt").read_text() == "New.\n"

    def test_a_command_has_its_output(self, env: ProgramEnv) -> None:
        agent = ask(env, call_topic("Run", "run_shell_command", {"command": "echo out; echo err >&2"}), "Run it.")
        (call,) = agent.calls().values()
        assert (call["kind"], call["status"]) == ("execute", "completed")
        shown = "".join(each["content"]["text"] for each in call["content"] if each["type"] == "content")
        assert "out" in shown
        assert "err" in shown

    def test_output_is_live(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            answer = asyncio.create_task(agent.prompt(session, "Run it."))
            await agent.wait_for(lambda: "first line" in str(agent.log.updates("tool_call_update")))
            assert not answer.done()
            (env.project / "go").touch()
            assert await answer == "end_turn"

        command = "echo first line; until [ -e go ]; do sleep 0.05; done; echo last line"
        agent = run(env, call_topic("Run", "run_shell_command", {"command": command}), scenario)
        (call,) = agent.calls().values()
        assert "last line" in str(call["content"])

    def test_a_call_that_fails(self, env: ProgramEnv) -> None:
        agent = ask(env, call_topic("Read", "read_file", {"file_path": "${root}/missing.txt"}), "Read.")
        (call,) = agent.calls().values()
        assert call["status"] == "failed"
        assert "missing.txt" in str(call)


class TestPermissions:
    def test_once_is_asked_again(self, env: ProgramEnv) -> None:
        client = SdkClient(choose("allow_once"))
        run_it = call_topic("Run", "run_shell_command", {"command": "touch made"})
        ask(env, run_it, "Run it.", "Run it.", client=client)
        assert len(client.log.requests("session/request_permission")) == 2

    def test_always_is_asked_once_and_names_its_rule(self, env: ProgramEnv) -> None:
        client = SdkClient(choose("allow_always"))
        run_it = call_topic("Run", "run_shell_command", {"command": "touch made"})
        ask(env, run_it, "Run it.", "Run it.", client=client)
        (asked,) = client.log.requests("session/request_permission")
        names = [option["name"] for option in asked["options"] if option["kind"] == "allow_always"]
        assert any("touch" in name for name in names), names
        assert (env.project / "made").exists()

    def test_a_rejected_edit_does_not_happen_and_the_model_knows(self, env: ProgramEnv) -> None:
        client = SdkClient(choose("reject_once"))
        agent = ask(env, call_topic("Edit", "replace", EDIT), "Edit.", client=client)
        assert agent.text().endswith("Then not.")
        (call,) = agent.calls().values()
        assert call["status"] == "failed"
        assert (env.project / "price.py").read_text() == "cost = 1\nprint(cost)\n"

    def test_an_answer_that_was_not_offered_refuses(self, env: ProgramEnv) -> None:
        client = SdkClient(lambda _: "yes-to-everything")
        agent = run(env, call_topic("Edit", "replace", EDIT), prompt_ended, client)
        assert (env.project / "price.py").read_text() == "cost = 1\nprint(cost)\n"
        assert "Done." not in agent.text()

    def test_what_was_shown_is_what_happens(self, env: ProgramEnv) -> None:
        """The file changes while the question is open: it is asked again with the new text, or refused."""

        def decide(request: Json) -> str:
            if len(client.log.requests("session/request_permission")) == 1:
                (env.project / "price.py").write_text("# new\ncost = 1\nprint(cost)\n")
            return choose("allow_once")(request) or ""

        client = SdkClient(decide)
        run(env, call_topic("Edit", "replace", EDIT), prompt_ended, client)
        asked = client.log.requests("session/request_permission")
        shown = [each["newText"] for each in asked[-1]["toolCall"]["content"] if each["type"] == "diff"]
        text = (env.project / "price.py").read_text()
        assert text in {"# new\ncost = 1\nprint(cost)\n", *shown}
        assert text.startswith("# new\n")


async def prompt_ended(agent: Agent, session: str) -> None:
    """The scenario of a prompt that ends in any way."""
    await agent.prompt(session, "Edit.")


class TestCancellation:
    def test_while_the_model_speaks(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            answer = asyncio.create_task(agent.prompt(session, "Count."))
            await agent.wait_for(lambda: agent.text() != "")
            began = time.monotonic()
            await agent.connection.cancel(session)
            assert await answer == "cancelled"
            assert time.monotonic() - began < 10
            assert await agent.prompt(session, "Again.") == "end_turn"

        script = text_topic("Count", "word " * 200, pause=0.5) + text_topic("Again", "Here I am.")
        agent = run(env, script, scenario)
        assert agent.text().endswith("Here I am.")

    def test_while_a_command_runs(self, env: ProgramEnv, mark: str) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            answer = asyncio.create_task(agent.prompt(session, "Sleep."))
            await agent.wait_for(lambda: living_pids(f"sleep\0{mark}"))
            await agent.connection.cancel(session)
            assert await answer == "cancelled"
            assert living_pids(f"sleep\0{mark}") == []

        agent = run(env, call_topic("Sleep", "run_shell_command", {"command": f"sleep {mark}"}), scenario)
        (call,) = agent.calls().values()
        assert call["status"] == "failed"

    def test_while_a_question_is_open(self, env: ProgramEnv) -> None:
        client = SdkClient(answer_delay=1000.0)

        async def scenario(agent: Agent, session: str) -> None:
            answer = asyncio.create_task(agent.prompt(session, "Edit."))
            await agent.wait_for(lambda: agent.log.requests("session/request_permission"))
            await agent.connection.cancel(session)
            assert await answer == "cancelled"
            await agent.wait_for(lambda: agent.log.requests("$/cancel_request"))

        agent = run(env, call_topic("Edit", "replace", EDIT), scenario, client)
        asked = [each["id"] for each in agent.log.received if each.get("method") == "session/request_permission"]
        assert [each["requestId"] for each in agent.log.requests("$/cancel_request")] == asked
        assert (env.project / "price.py").read_text() == "cost = 1\nprint(cost)\n"

    def test_prompts_that_wait_are_cancelled_too(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            answers = [asyncio.create_task(agent.prompt(session, text)) for text in ("Count.", "Count again.")]
            await agent.wait_for(lambda: agent.text() != "")
            await agent.connection.cancel(session)
            assert await asyncio.gather(*answers) == ["cancelled", "cancelled"]

        run(env, text_topic("Count", "word " * 200, pause=0.5), scenario)

    def test_without_a_prompt_nothing_happens(self, env: ProgramEnv) -> None:
        async def scenario(agent: Agent, session: str) -> None:
            await agent.connection.cancel(session)
            await agent.connection.cancel("no-such-session")
            assert await agent.prompt(session, "Hello?") == "end_turn"

        run(env, text_topic("Hello", "Hello."), scenario)


class TestCommands:
    def test_they_are_announced_and_run(self, env: ProgramEnv) -> None:
        agent = ask(env, text_topic("", "Model."), "/about", "/compress")
        commands = agent.log.updates("available_commands_update")[-1]["availableCommands"]
        names = {each["name"] for each in commands}
        assert {"about", "memory", "compress", "undo", "mcp"} <= names
        assert not names & {"clear", "quit", "theme", "vim", "editor"}
        assert "tejat" in agent.text().lower()

    def test_those_of_the_terminal_say_so(self, env: ProgramEnv) -> None:
        agent = ask(env, text_topic("", "Model."), "/clear", "/quit")
        assert "/clear works only in a terminal" in agent.text()
        assert "Model." not in agent.text()

    def test_an_unknown_one(self, env: ProgramEnv) -> None:
        agent = ask(env, text_topic("", "Model."), "/compres")
        assert "/compress" in agent.text()
        assert "Model." not in agent.text()

    def test_a_custom_command_is_a_prompt(self, env: ProgramEnv) -> None:
        folder = env.home / ".gemini" / "commands"
        folder.mkdir(parents=True)
        (folder / "greet.toml").write_text('description = "Greet"\nprompt = "Say hello to {{args}}."\n')
        agent = ask(env, text_topic("Say hello to Ada", "Hello, Ada."), "/greet Ada")
        assert agent.text() == "Hello, Ada."
        commands = agent.log.updates("available_commands_update")[0]["availableCommands"]
        assert {"name": "greet", "description": "Greet"}.items() <= next(
            each for each in commands if each["name"] == "greet"
        ).items()

    def test_a_command_that_asks(self, env: ProgramEnv) -> None:
        """A choice of a command is a permission request, whose answer counts."""
        client = SdkClient(lambda request: request["options"][0]["optionId"])
        agent = ask(env, call_topic("Edit", "replace", EDIT), "Edit.", "/undo", client=client)
        asked = agent.log.requests("session/request_permission")
        assert len(asked) >= 2
        assert (env.project / "price.py").read_text() == "cost = 1\nprint(cost)\n"


class TestContent:
    """What the model gets, at a server with the Gemini API."""

    def parts(self, env: ProgramEnv, *blocks: Any) -> list[Json]:
        async def main() -> None:
            async with run_agent(env, "-m", "gemini-2.5-flash") as agent:
                await agent.initialize()
                assert await agent.prompt(await agent.new_session(), *blocks) == "end_turn"

        with ModelServer([text_reply("I see.")]) as model:
            env.environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": model.address}
            asyncio.run(main())
        return model.requests[-1].body["contents"][-1]["parts"]

    def test_images_and_audio(self, env: ProgramEnv) -> None:
        wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
        parts = self.parts(env, "What is this?", image_block(PNG, "image/png"), audio_block(wav, "audio/wav"))
        inline = {part["inlineData"]["mimeType"]: part["inlineData"]["data"] for part in parts if "inlineData" in part}
        assert b64decode(inline["image/png"]) == b64decode(PNG)
        assert b64decode(inline["audio/wav"]) == b64decode(wav)
        assert any("What is this?" in part.get("text", "") for part in parts)

    def test_an_embedded_text(self, env: ProgramEnv) -> None:
        resource = embedded_text_resource("file:///somewhere/notes.md", "Remember the milk.", mime_type="text/markdown")
        text = "".join(part.get("text", "") for part in self.parts(env, "Sum it up.", resource_block(resource)))
        assert "Remember the milk." in text
        assert "notes.md" in text

    def test_a_link_to_a_file_of_the_project_is_read(self, env: ProgramEnv) -> None:
        link = resource_link_block("price.py", (env.project / "price.py").as_uri())
        text = "".join(part.get("text", "") for part in self.parts(env, "Explain it.", link))
        assert "cost = 1" in text
        assert "price.py" in text
