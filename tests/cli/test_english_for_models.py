"""Whatever language people are spoken to in, a model reads the same English, letter for letter."""

import asyncio
import gettext
import io
import json
import re
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.model_servers.gemini import Received, Reply
from support.model_servers.openai import OpenAiServer, call_chunk, chunk, error_reply, stream, usage_chunk
from support.program import ProgramEnv, ProgramResult, script_answer
from support.terminal.pseudo_locale import find_english, pseudo_catalogue, pseudo_environment
from tejat.agent import Agent
from tejat.core.agent.events import RunEnded
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Outcome
from tejat.core.i18n import use_translations

SERVER = Path(__file__).parents[1] / "mcp" / "official_server.py"

SETTINGS = {
    "mcpServers": {
        "official": {"command": sys.executable, "args": [str(SERVER)]},
        "rude": {"command": sys.executable, "args": [str(SERVER.with_name("rude_server.py")), "ping", "/dev/null"]},
        "gone": {"command": "no-such-program-anywhere"},
    },
    "hooks": {
        "BeforeTool": [{"matcher": "save_memory", "hooks": [{"type": "command", "command": "exit 2"}]}],
        "AfterTool": [{"matcher": "list_directory", "hooks": [{"type": "command", "command": "exit 3"}]}],
    },
    "tools": {"allowed": ["run_shell_command(false)", "run_shell_command(sleep)", "official__add", "rude__nothing"]},
    "web": {"searchUrl": "http://127.0.0.1:9/search"},
}
POLICY = '[[rule]]\ntool = "run_shell_command"\ncommand = "rm"\ndecision = "deny"\n'

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": "{root}/notes.txt"}),
    ("read_file", {"path": "{root}/missing.txt"}),
    ("read_file", {"path": "{root}"}),
    ("read_file", {"path": "/etc/hostname"}),
    ("read_file", {}),
    ("read_file", {"path": "{root}/notes.txt", "offset": -1}),
    ("xy_zz", {"a": 1}),
    ("list_directory", {"path": "{root}"}),
    ("list_directory", {"path": "{root}/missing"}),
    ("glob", {"pattern": "*.txt"}),
    ("glob", {"pattern": "*.none"}),
    ("glob", {"pattern": "../*"}),
    ("search_file_content", {"pattern": "remember"}),
    ("search_file_content", {"pattern": "nowhere"}),
    ("search_file_content", {"pattern": "("}),
    ("read_many_files", {"paths": ["*.txt", "missing/*"]}),
    ("write_file", {"file_path": "{root}/new.txt", "content": "new\n"}),
    ("write_file", {"file_path": "{root}", "content": "new\n"}),
    ("replace", {"file_path": "{root}/notes.txt", "old_string": "nowhere to be found", "new_string": "b"}),
    ("replace", {"file_path": "{root}/missing.txt", "old_string": "a", "new_string": "b"}),
    ("run_shell_command", {"command": "false"}),
    ("run_shell_command", {"command": "rm notes.txt"}),
    ("run_shell_command", {"command": "make all"}),
    ("run_shell_command", {"command": ""}),
    ("run_shell_command", {"command": "sleep 30", "timeout": 1}),
    ("save_memory", {"fact": "Tea is served at four."}),
    ("web_fetch", {"prompt": "read http://127.0.0.1:9/"}),
    ("web_fetch", {"prompt": "read nothing"}),
    ("web_fetch", {"prompt": "read ftp://example.org/"}),
    ("google_web_search", {"query": "tea"}),
    ("official__add", {"a": 1, "b": 2}),
    ("official__add", {"a": "one"}),
    ("rude__nothing", {}),
    ("list_mcp_resources", {}),
    ("read_mcp_resource", {"uri": "memo://none"}),
    ("read_background_output", {"pid": 999999999}),
    ("stop_background_process", {"pid": 999999999}),
]


def test_a_whole_run_is_the_same_for_the_model(tmp_path: Path) -> None:
    english, _ = headless(tmp_path / "here", {})
    other, done = headless(tmp_path / "here", pseudo_environment(tmp_path / "words"))
    assert english == other
    told = dict(enumerate(answers_in(english)))
    # Each call came to what it is here for, so that none of this is the same for want of words.
    for number, words in EXPECTED.items():
        assert words in told[number], (CALLS[number], told[number])
    assert find_english(done.stderr.replace(str(tmp_path), ""), ALLOWED) == []


EXPECTED = {
    1: "File not found",
    3: "Path not in workspace",
    4: "must have required property",
    6: "not found in registry",
    21: "Tool execution denied by policy",
    22: "requires user confirmation",
    24: "exceeded the timeout",
    25: "Tool execution blocked",
    26: "which was not approved",
    29: "Error during web search",
    32: "of server 'rude' failed",
    34: "Resource not found",
}

# What is nobody's to translate: names, what a service said, and what the checks against a JSON schema say.
ALLOWED = (
    *(
        "missing.txt",
        "notes.txt",
        "make all",
        "gone",
        "no-such-program-anywhere",
        "official",
        "exit",
        "own.toml",
        "Shell",
    ),
    *("BeforeTool", "AfterTool", "deny", "allow", "rm", "ftp", "example.org", "HTTP", "Not today", "Method not found"),
    *("params must have required property", "must be integer", "params", "path", "rude", "nothing", "memo", "none"),
    *("here", "home", "project", ".gemini", "policies", "missing ): a group is not closed"),
    *("old_string", "yolo", "tools.shell.autoAllowSandboxed: true"),
    *{name for name, _ in CALLS},
    "recall",
)


def headless(base: Path, language: dict[str, str]) -> tuple[list[Any], ProgramResult]:
    """All that the model was sent in a run with these calls, and what the person was told."""
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    machine = ProgramEnv(base)
    (machine.home / ".gemini" / "policies").mkdir(parents=True)
    (machine.home / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
    (machine.home / ".gemini" / "policies" / "own.toml").write_text(POLICY)
    (machine.project / "notes.txt").write_text("remember the milk\n")
    replies = [calling(number, *call, root=machine.project) for number, call in enumerate(CALLS)]
    with Service(*replies, error_reply(401, "Not today.")) as server:
        done = machine.run(
            *(
                "--model",
                "openai:m",
                "--approval-mode",
                "auto_edit",
                "--trust",
                "-p",
                "Look at @notes.txt and @missing.txt",
            ),
            **{"OPENAI_BASE_URL": server.base, "OPENAI_API_KEY": "sk-of-a-test", **language},
        )
        assert "Not today." in done.stderr
        return [without_numbers(request.body) for request in server.requests if request.raw], done


class Service(OpenAiServer):
    """Answers the conversation, and refuses what is asked on the side."""

    def _answer(self, received: Received) -> Reply:
        is_conversation = received.raw and "tools" in received.body
        return super()._answer(received) if is_conversation else error_reply(401, "Nothing on the side.")


def calling(number: int, name: str, arguments: dict[str, Any], *, root: Path) -> Any:
    given = json.dumps(arguments).replace("{root}", str(root))
    call = call_chunk(0, call_id=f"call-{number}", name=name, arguments=given)
    return stream(chunk(tool_calls=[call]), chunk(reason="tool_calls"), usage_chunk())


def without_numbers(body: Any) -> Any:
    """Without the numbers of processes, and the time, which are others in each run."""
    text = re.sub(r"(PGID|PIDs): [\d, ]+", r"\1: 0", json.dumps(body))
    return json.loads(text)


def answers_in(requests: list[Any]) -> list[str]:
    return [message["content"] for message in requests[-1]["messages"] if message["role"] == "tool"]


@contextmanager
def speaking(variant: str | None) -> Generator[None]:
    use_translations(None if variant is None else gettext.GNUTranslations(io.BytesIO(pseudo_catalogue(variant))))
    try:
        yield
    finally:
        use_translations(None)


class User:
    def __init__(self, given: ApprovalReply) -> None:
        self._given = given

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        del question
        return self._given


@pytest.mark.parametrize(
    "given",
    [
        ApprovalReply(Outcome.CANCEL),
        ApprovalReply(Outcome.CANCEL, feedback="Not like this."),
        ApprovalReply(Outcome.STOP),
        ApprovalReply(Outcome.PROCEED_ONCE),
    ],
    ids=["no", "no with a word", "stop", "yes"],
)
def test_what_a_person_says_is_the_same_for_the_model(tmp_path: Path, given: ApprovalReply) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("write_file", {"file_path": str(tmp_path / "here" / "project" / "a.txt"), "content": "a"}),
        ("run_shell_command", {"command": "exit 3"}),
    ]
    script = "".join(script_answer(calls=[call]) for call in calls) + script_answer(say="Done.")
    histories: list[Any] = []
    for variant in (None, "accented"):
        shutil.rmtree(tmp_path / "here", ignore_errors=True)
        (tmp_path / "here").mkdir()
        machine = ProgramEnv(tmp_path / "here")
        with speaking(variant):
            histories.append(asyncio.run(history(machine, script, given)))
    assert histories[0] == histories[1]
    assert histories[0][1]


async def history(machine: ProgramEnv, script: str, given: ApprovalReply) -> tuple[str, Any]:
    async with Agent(
        approver=User(given),
        model=machine.script(script),
        directories=str(machine.project),
        environment=machine.environment,
    ) as agent:
        ended: RunEnded = await agent.ask("go")
        said = [repr(message.parts) for message in agent.history]
        return ended.reason, [re.sub(r"(PGID|PIDs): [\d, ]+", r"\1: 0", text) for text in said]
