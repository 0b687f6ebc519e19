"""What a person types that stands for something: prompts and resources of servers, beside commands and files."""

import json
from pathlib import Path
from typing import Any

import pytest

from foreign_checks import Stage, Talk, calling, hostile, official
from tejat.core.agent_events import EndReason
from tejat.engine.at_paths import CONTENT_BEGINS, CONTENT_ENDS
from tejat.mcp.untrusted import untrusted


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path)
    stage.person_sets(mcpServers={"bad": hostile()})
    return stage


def texts(talk: Talk, request: int = 0) -> list[str]:
    return [part["text"] for part in talk.prompt(request)]


def ending(talk: Talk) -> tuple[EndReason, str]:
    (ended,) = talk.ended
    return ended.reason, ended.message


def command(stage: Stage, name: str, prompt: str) -> None:
    """A command of the person's own."""
    commands = stage.home / ".gemini" / "commands"
    commands.mkdir(exist_ok=True)
    (commands / f"{name}.toml").write_text(f"prompt = {json.dumps(prompt)}")


def listed(*names: str) -> str:
    """The fault of having just these prompts."""
    return f"result=prompts/list:{json.dumps({'prompts': [{'name': name} for name in names]})}"


class TestPrompts:
    @pytest.mark.parametrize("typed", ["/greet Ada Lovelace", '/greet --who="Ada Lovelace"', "  /greet\nAda Lovelace "])
    def test_come_from_the_server(self, stage: Stage, typed: str) -> None:
        talk = stage.talk(prompts=(typed,))
        assert texts(talk) == ["Greet {'name': 'greet', 'arguments': {'who': 'Ada Lovelace'}}"]

    def test_of_the_official_package(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"official": official()})
        assert texts(stage.talk(prompts=("/greet Ada",))) == ["Hello, Ada!"]

    def test_say_what_they_take_and_what_is_missing(self, stage: Stage) -> None:
        told = "Arguments of /greet:\n\n  --who (required)"
        assert ending(stage.talk(prompts=("/greet help",))) == (EndReason.BAD_PROMPT, told)
        missing = "Missing required argument(s): --who"
        talk = stage.talk(prompts=("/greet",))
        assert ending(talk) == (EndReason.BAD_PROMPT, missing)
        assert talk.bodies == []

    def test_that_cannot_be_had(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"bad": hostile("broken=prompts/get")})
        reason, message = ending(stage.talk(prompts=("/part",)))
        assert reason is EndReason.BAD_PROMPT
        assert message.startswith("The prompt /part of MCP server bad cannot be had: The server refused: It ")
        assert "\x1b" not in message

    def test_come_behind_commands_of_the_same_name_and_have_another_one_then(self, stage: Stage) -> None:
        command(stage, "greet", "Mine: {{args}}")
        talk = stage.talk(prompts=("/greet Ada", "/bad_greet Ada"))
        assert texts(talk) == ["Mine: Ada"]
        assert texts(talk, 1) == ["Greet {'name': 'greet', 'arguments': {'who': 'Ada'}}"]

    def test_that_two_servers_have_are_called_with_the_server(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"a": hostile(listed("x", "y z")), "b": hostile(listed("x"))})
        talk = stage.talk(prompts=("/x", "/a_x", "/b_x", "/y-z"))
        assert texts(talk) == ["/x"]
        assert [texts(talk, request)[-1] for request in (1, 2, 3)] == [
            "Greet {'name': 'x', 'arguments': {}}",
            "Greet {'name': 'x', 'arguments': {}}",
            "Greet {'name': 'y z', 'arguments': {}}",
        ]

    def test_hold_no_key_of_the_person(self, stage: Stage) -> None:
        stage.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"
        talk = stage.talk(prompts=("/greet a-secret-of-some-length",))
        assert texts(talk) == ["Greet {'name': 'greet', 'arguments': {'who': '[the secret SERVICE_TOKEN]'}}"]

    def test_are_not_there_where_the_server_is_not(self, stage: Stage) -> None:
        assert texts(stage.talk(prompts=("/greet Ada",), servers=())) == ["/greet Ada"]


class TestResources:
    def filled(self, label: str, *content: str) -> list[str]:
        return [CONTENT_BEGINS, f"\nContent from @{label}:\n", *content, CONTENT_ENDS]

    @pytest.mark.parametrize("sentence", ["What is @bad:memo://one?", "See @bad:memo://one.", '@"bad:memo://one" says'])
    def test_are_put_into_the_prompt(self, stage: Stage, sentence: str) -> None:
        first, *others = texts(stage.talk(prompts=(sentence,)))
        assert first == sentence.replace('"', "")
        assert others == self.filled("bad:memo://one", untrusted("a memo"))

    def test_beside_files_and_each_once(self, stage: Stage) -> None:
        (stage.project / "a.txt").write_text("a file")
        record = stage.base / "record"
        stage.person_sets(mcpServers={"bad": hostile(f"record={record}")})
        first, *others = texts(stage.talk(prompts=("@bad:memo://one @a.txt @bad:memo://one @bad:memo://two",)))
        assert first == "@bad:memo://one @a.txt @bad:memo://one @bad:memo://two"
        assert others == [
            CONTENT_BEGINS,
            "\nContent from @bad:memo://one:\n",
            untrusted("a memo"),
            "\nContent from @a.txt:\n",
            "a file",
            "\nContent from @bad:memo://two:\n",
            untrusted("a memo"),
            CONTENT_ENDS,
        ]
        asked = [json.loads(line) for line in record.read_text().splitlines()]
        read = [message["params"]["uri"] for message in asked if message.get("method") == "resources/read"]
        assert read == ["memo://one", "memo://two"]

    def test_in_the_words_behind_a_command(self, stage: Stage) -> None:
        command(stage, "look", "Look at {{args}} @{bad:memo://one}")
        (text,) = texts(stage.talk(prompts=("/look @bad:memo://two",)))
        filled = "\n".join(part.strip() for part in self.filled("bad:memo://two", untrusted("a memo")))
        assert text == f"Look at @bad:memo://two @{{bad:memo://one}}\n{filled}"

    @pytest.mark.parametrize(
        "sentence", ["@memo://one", "@bad:memo://none", "@worse:memo://one", "mail@bad:memo://one"]
    )
    def test_that_nobody_has_are_left_as_they_are(self, stage: Stage, sentence: str) -> None:
        assert texts(stage.talk(prompts=(sentence,))) == [sentence]

    def test_that_a_server_does_not_have_are_told(self, stage: Stage) -> None:
        talk = stage.talk(prompts=("What is @bad:memo://none?", "And @worse:memo://one?"))
        assert talk.notes == [
            "@bad:memo://none is left as it is: the MCP server bad has no such resource, or is not connected.",
            "@worse:memo://one is left as it is: there is no such file.",
        ]

    def test_that_cannot_be_read_end_the_prompt(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"bad": hostile("broken=resources/read")})
        reason, message = ending(stage.talk(prompts=("@bad:memo://one",)))
        assert reason is EndReason.BAD_PROMPT
        assert message.startswith("Error reading files (bad:memo://one): The server refused: ")

    def test_hold_no_key_of_the_person(self, stage: Stage) -> None:
        secret = "a-secret-of-some-length"
        stage.environment["SERVICE_TOKEN"] = secret
        contents: dict[str, Any] = {"contents": [{"uri": "memo://one", "text": f"It is {secret}."}]}
        stage.person_sets(mcpServers={"bad": hostile(f"result=resources/read:{json.dumps(contents)}")})
        assert texts(stage.talk(prompts=("@bad:memo://one",)))[3] == untrusted("It is [the secret SERVICE_TOKEN].")

    def test_bytes_are_only_told_of(self, stage: Stage) -> None:
        stage.person_sets(mcpServers={"rich": official("rich_server.py")})
        first, *others = texts(stage.talk(prompts=("@rich:memo://one and @rich:file:///etc/hostname",)))
        assert first == "@rich:memo://one and @rich:file:///etc/hostname"
        assert others[2] == untrusted("remember")
        assert others[4] == untrusted("[Binary resource content application/x-thing, 10 bytes]")


def test_what_a_tool_says_is_not_taken_for_a_prompt(stage: Stage) -> None:
    stage.person_sets(mcpServers={"bad": hostile(trust=True)})
    talk = stage.talk(calling("echo", text="@bad:memo://one /greet Ada"))
    assert talk.responses == ['<untrusted_context>\n{"text": "@bad:memo://one /greet Ada"}\n</untrusted_context>']
