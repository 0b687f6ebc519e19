"""What a person types that stands for something: prompts and resources of servers, beside commands and files."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.external_tools import AgentTranscript, ExternalToolsEnv, call_reply, hostile_server, official_server
from tejat.core.agent.events import EndReason
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START
from tejat.mcp.content.untrusted import wrap_untrusted


@pytest.fixture
def env(tmp_path: Path) -> ExternalToolsEnv:
    env = ExternalToolsEnv(tmp_path)
    env.write_user_settings(mcpServers={"bad": hostile_server()})
    return env


def texts(transcript: AgentTranscript, request: int = 0) -> list[str]:
    return [part["text"] for part in transcript.last_message_parts(request)]


def ending(transcript: AgentTranscript) -> tuple[EndReason, str]:
    (ended,) = transcript.results
    return ended.reason, ended.message


def command(env: ExternalToolsEnv, name: str, prompt: str) -> None:
    """A command of the person's own."""
    commands = env.home / ".gemini" / "commands"
    commands.mkdir(exist_ok=True)
    (commands / f"{name}.toml").write_text(f"prompt = {json.dumps(prompt)}")


def listed(*names: str) -> str:
    """The fault of having just these prompts."""
    return f"result=prompts/list:{json.dumps({'prompts': [{'name': name} for name in names]})}"


class TestPrompts:
    @pytest.mark.parametrize("typed", ["/greet Ada Lovelace", '/greet --who="Ada Lovelace"', "  /greet\nAda Lovelace "])
    def test_come_from_the_server(self, env: ExternalToolsEnv, typed: str) -> None:
        transcript = env.run_agent(prompts=(typed,))
        assert texts(transcript) == ["Greet {'name': 'greet', 'arguments': {'who': 'Ada Lovelace'}}"]

    def test_of_the_official_package(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"official": official_server()})
        assert texts(env.run_agent(prompts=("/greet Ada",))) == ["Hello, Ada!"]

    def test_say_what_they_take_and_what_is_missing(self, env: ExternalToolsEnv) -> None:
        told = "Arguments for /greet:\n\n  --who (required)"
        assert ending(env.run_agent(prompts=("/greet help",))) == (EndReason.BAD_PROMPT, told)
        missing = "Missing required argument(s): --who"
        transcript = env.run_agent(prompts=("/greet",))
        assert ending(transcript) == (EndReason.BAD_PROMPT, missing)
        assert transcript.bodies == []

    def test_that_cannot_be_had(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server("broken=prompts/get")})
        reason, message = ending(env.run_agent(prompts=("/part",)))
        assert reason is EndReason.BAD_PROMPT
        assert message.startswith("Could not get prompt /part from MCP server bad: The server returned an error: It ")
        assert "\x1b" not in message

    def test_come_behind_commands_of_the_same_name_and_have_another_one_then(self, env: ExternalToolsEnv) -> None:
        command(env, "greet", "Mine: {{args}}")
        transcript = env.run_agent(prompts=("/greet Ada", "/bad_greet Ada"))
        assert texts(transcript) == ["Mine: Ada"]
        assert texts(transcript, 1) == ["Greet {'name': 'greet', 'arguments': {'who': 'Ada'}}"]

    def test_that_two_servers_have_are_called_with_the_server(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"a": hostile_server(listed("x", "y z")), "b": hostile_server(listed("x"))})
        transcript = env.run_agent(prompts=("/x", "/a_x", "/b_x", "/y-z"))
        assert texts(transcript) == ["/x"]
        assert [texts(transcript, request)[-1] for request in (1, 2, 3)] == [
            "Greet {'name': 'x', 'arguments': {}}",
            "Greet {'name': 'x', 'arguments': {}}",
            "Greet {'name': 'y z', 'arguments': {}}",
        ]

    def test_hold_no_key_of_the_person(self, env: ExternalToolsEnv) -> None:
        env.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"
        transcript = env.run_agent(prompts=("/greet a-secret-of-some-length",))
        assert texts(transcript) == ["Greet {'name': 'greet', 'arguments': {'who': '[the secret SERVICE_TOKEN]'}}"]

    def test_are_not_there_where_the_server_is_not(self, env: ExternalToolsEnv) -> None:
        assert texts(env.run_agent(prompts=("/greet Ada",), servers=())) == ["/greet Ada"]


class TestResources:
    def filled(self, label: str, *content: str) -> list[str]:
        return [CONTENT_START, f"\nContent from @{label}:\n", *content, CONTENT_END]

    @pytest.mark.parametrize("sentence", ["What is @bad:memo://one?", "See @bad:memo://one.", '@"bad:memo://one" says'])
    def test_are_put_into_the_prompt(self, env: ExternalToolsEnv, sentence: str) -> None:
        first, *others = texts(env.run_agent(prompts=(sentence,)))
        assert first == sentence.replace('"', "")
        assert others == self.filled("bad:memo://one", wrap_untrusted("a memo"))

    def test_beside_files_and_each_once(self, env: ExternalToolsEnv) -> None:
        (env.project / "a.txt").write_text("a file")
        record = env.base / "record"
        env.write_user_settings(mcpServers={"bad": hostile_server(f"record={record}")})
        first, *others = texts(env.run_agent(prompts=("@bad:memo://one @a.txt @bad:memo://one @bad:memo://two",)))
        assert first == "@bad:memo://one @a.txt @bad:memo://one @bad:memo://two"
        assert others == [
            CONTENT_START,
            "\nContent from @bad:memo://one:\n",
            wrap_untrusted("a memo"),
            "\nContent from @a.txt:\n",
            "a file",
            "\nContent from @bad:memo://two:\n",
            wrap_untrusted("a memo"),
            CONTENT_END,
        ]
        asked = [json.loads(line) for line in record.read_text().splitlines()]
        read = [message["params"]["uri"] for message in asked if message.get("method") == "resources/read"]
        assert read == ["memo://one", "memo://two"]

    def test_in_the_words_behind_a_command(self, env: ExternalToolsEnv) -> None:
        command(env, "look", "Look at {{args}} @{bad:memo://one}")
        (text,) = texts(env.run_agent(prompts=("/look @bad:memo://two",)))
        filled = "\n".join(part.strip() for part in self.filled("bad:memo://two", wrap_untrusted("a memo")))
        assert text == f"Look at @bad:memo://two @{{bad:memo://one}}\n{filled}"

    @pytest.mark.parametrize(
        "sentence", ["@memo://one", "@bad:memo://none", "@worse:memo://one", "mail@bad:memo://one"]
    )
    def test_that_nobody_has_are_left_as_they_are(self, env: ExternalToolsEnv, sentence: str) -> None:
        assert texts(env.run_agent(prompts=(sentence,))) == [sentence]

    def test_that_a_server_does_not_have_are_told(self, env: ExternalToolsEnv) -> None:
        transcript = env.run_agent(prompts=("What is @bad:memo://none?", "And @worse:memo://one?"))
        assert transcript.notes == [
            "@bad:memo://none is sent as plain text: MCP server bad has no such resource, or is not connected.",
            "@worse:memo://one is sent as plain text: no such file.",
        ]

    def test_that_cannot_be_read_end_the_prompt(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"bad": hostile_server("broken=resources/read")})
        reason, message = ending(env.run_agent(prompts=("@bad:memo://one",)))
        assert reason is EndReason.BAD_PROMPT
        assert message.startswith("Error reading files (bad:memo://one): The server returned an error: ")

    def test_hold_no_key_of_the_person(self, env: ExternalToolsEnv) -> None:
        secret = "a-secret-of-some-length"
        env.environment["SERVICE_TOKEN"] = secret
        contents: dict[str, Any] = {"contents": [{"uri": "memo://one", "text": f"It is {secret}."}]}
        env.write_user_settings(mcpServers={"bad": hostile_server(f"result=resources/read:{json.dumps(contents)}")})
        assert texts(env.run_agent(prompts=("@bad:memo://one",)))[3] == wrap_untrusted(
            "It is [the secret SERVICE_TOKEN]."
        )

    def test_bytes_are_only_told_of(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"rich": official_server("rich_server.py")})
        first, *others = texts(env.run_agent(prompts=("@rich:memo://one and @rich:file:///etc/hostname",)))
        assert first == "@rich:memo://one and @rich:file:///etc/hostname"
        assert others[2] == wrap_untrusted("remember")
        assert others[4] == wrap_untrusted("[Binary resource content application/x-thing, 10 bytes]")


def test_what_a_tool_says_is_not_taken_for_a_prompt(env: ExternalToolsEnv) -> None:
    env.write_user_settings(mcpServers={"bad": hostile_server(trust=True)})
    transcript = env.run_agent(call_reply("echo", text="@bad:memo://one /greet Ada"))
    assert transcript.responses == ['<untrusted_context>\n{"text": "@bad:memo://one /greet Ada"}\n</untrusted_context>']
