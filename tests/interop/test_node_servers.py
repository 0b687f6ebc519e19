"""The servers that show everything the protocol has, and one that works on files, through whole runs of the agent."""

import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.approver import YES, FakeApprover
from support.external_tools import LONG_TIMEOUT_MS, SECONDS, ExternalToolsEnv, call_reply
from support.mcp.node_programs import EVERYTHING, FILESYSTEM, find_node, node_environment
from support.model_servers.gemini import function_call, text_reply
from tejat.core.agent.events import EndReason
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ElicitationConfirmation, Outcome
from tejat.core.tools.call_events import OutputUpdated

CALLED = (
    *("echo", "get-sum", "get-tiny-image", "get-resource-reference", "get-resource-links", "get-structured-content"),
    *("get-annotated-message", "get-roots-list", "get-sum of words", "trigger-elicitation-request"),
    *("trigger-sampling-request", "trigger-long-running-operation"),
)
OFFERED = (*(name for name in CALLED if " " not in name), "get-env", "trigger-url-elicitation")
TOLD = "<untrusted_context>\n{}\n</untrusted_context>"


@pytest.fixture(params=["stdio", "sse", "streamableHttp"])
def entry(request: pytest.FixtureRequest) -> Generator[dict[str, Any]]:
    """The server with everything, in the settings."""
    program = find_node(EVERYTHING)
    if request.param == "stdio":
        yield {"command": program, "args": [str(EVERYTHING)], "startTimeout": LONG_TIMEOUT_MS}
        return
    with served(program, request.param) as origin:
        yield {"httpUrl": f"{origin}/mcp"} if request.param == "streamableHttp" else {"url": f"{origin}/sse"}


@contextmanager
def served(program: str, transport: str) -> Generator[str]:
    """Where the server listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [program, str(EVERYTHING), transport],
        env={**node_environment(), "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + SECONDS
        while not is_listening(port):
            assert process.poll() is None
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def helpful(question: ApprovalRequest) -> ApprovalReply:
    """Somebody who agrees to everything, and fills in what must be."""
    asked = question.confirmation
    if isinstance(asked, ElicitationConfirmation):
        return ApprovalReply(Outcome.PROCEED_ONCE, answers={"name": "Ada"} if asked.fields is not None else {})
    return YES


def test_everything(tmp_path: Path, entry: dict[str, Any]) -> None:
    env, user = ExternalToolsEnv(tmp_path), FakeApprover(helpful)
    env.write_user_settings(mcpServers={"all": {**entry, "sampling": True}})
    transcript = env.run_agent(
        text_reply(
            function_call("all__echo", {"message": "hello"}),
            function_call("all__get-sum", {"a": 2, "b": 40}),
            function_call("all__get-tiny-image", {}),
            function_call("all__get-resource-reference", {"resourceType": "Text", "resourceId": 7}),
            function_call("all__get-resource-links", {"count": 2}),
            function_call("all__get-structured-content", {"location": "Chicago"}),
            function_call("all__get-annotated-message", {"messageType": "error"}),
            function_call("all__get-roots-list", {}),
            function_call("all__get-sum", {"a": "two"}),
        ),
        call_reply("all__trigger-elicitation-request"),
        call_reply("all__trigger-sampling-request", prompt="six times seven"),
        text_reply("Forty-two."),
        call_reply("all__trigger-long-running-operation", duration=0.2, steps=2),
        text_reply("That is all."),
        prompts=("go", "/args-prompt --city=Rome", "What is in @all:demo://resource/static/document/features.md ?"),
        approver=user,
    )
    assert [ended.reason for ended in transcript.results] == [EndReason.FINISHED] * 3
    assert set(transcript.declared_names(-1)) >= {
        "list_mcp_resources",
        "read_mcp_resource",
        *(f"all__{name}" for name in OFFERED),
    }
    answers = dict(zip(CALLED, transcript.responses, strict=True))
    resource = answers.pop("get-resource-reference").splitlines()
    assert (resource[1], resource[-2]) == (
        "Returning resource reference for Resource 7:",
        "You can access this resource using the URI: demo://resource/dynamic/text/7",
    )
    assert f"1. project\n   URI: file://{env.project}\n" in answers.pop("get-roots-list")
    assert '"name": "Ada"' in (filled_in := answers.pop("trigger-elicitation-request"))
    assert '"legacyTitledEnum": "pet-1"' in filled_in
    assert '"text": "Forty-two."' in answers.pop("trigger-sampling-request")
    assert answers == {
        "echo": TOLD.format("Echo: hello"),
        "get-sum": TOLD.format("The sum of 2 and 40 is 42."),
        "get-tiny-image": "Tool execution succeeded.",
        "get-resource-links": TOLD.format(
            "Here are 2 resource links to resources available in this server:\n"
            "Resource Link: Blob Resource 1 at demo://resource/dynamic/blob/1\n"
            "Resource Link: Text Resource 2 at demo://resource/dynamic/text/2"
        ),
        "get-structured-content": TOLD.format('{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}'),
        "get-annotated-message": TOLD.format("Error: Operation failed"),
        "get-sum of words": "params must have required property 'b', params/a must be number",
        "trigger-long-running-operation": TOLD.format(
            "Long running operation completed. Duration: 0.2 seconds, Steps: 2."
        ),
    }
    (picture,) = [part["inlineData"] for part in transcript.last_message_parts(1) if "inlineData" in part]
    assert picture["mimeType"] == "image/png"
    assert transcript.last_message_parts(-2) == [{"text": "What's weather in Rome?"}]
    assert transcript.last_message_parts(-1)[3]["text"].startswith(
        "<untrusted_context>\n# Everything Server - Features"
    )
    assert "[1/2]" in [event.output for event in transcript.events if isinstance(event, OutputUpdated)]
    assert transcript.warnings == []


def test_sampling_is_offered_to_nobody_who_may_not(tmp_path: Path) -> None:
    """The server has a tool for each thing that its client says it can do."""
    env = ExternalToolsEnv(tmp_path)
    env.write_user_settings(
        mcpServers={
            "all": {"command": find_node(EVERYTHING), "args": [str(EVERYTHING)], "startTimeout": LONG_TIMEOUT_MS}
        }
    )
    declared = env.run_agent().declared_names(-1)
    assert {"all__get-roots-list", "all__echo"} <= set(declared)
    assert not {"all__trigger-sampling-request", "all__trigger-elicitation-request"} & set(declared)


def test_files(tmp_path: Path) -> None:
    """It works where it is told to, and what it refuses is told to the model."""
    env = ExternalToolsEnv(tmp_path)
    (env.project / "notes.txt").write_text("one\ntwo\n")
    (env.home / "secret.txt").write_text("nobody's business")
    entry = {
        "command": find_node(FILESYSTEM),
        "args": [str(FILESYSTEM), str(env.project)],
        "startTimeout": LONG_TIMEOUT_MS,
    }
    env.write_user_settings(mcpServers={"files": {**entry, "trust": True}})
    written = str(env.project / "new.txt")
    transcript = env.run_agent(
        text_reply(
            function_call("files__read_text_file", {"path": str(env.project / "notes.txt")}),
            function_call("files__write_file", {"path": written, "content": "three"}),
            function_call("files__list_directory", {"path": str(env.project)}),
            function_call("files__read_text_file", {"path": str(env.home / "secret.txt")}),
        )
    )
    read, wrote, listed, refused = transcript.responses
    assert read == TOLD.format("one\ntwo\n")
    assert wrote == TOLD.format(f"Successfully wrote to {written}")
    assert listed == TOLD.format("[FILE] new.txt\n[FILE] notes.txt")
    assert refused.startswith("MCP tool 'read_text_file' reported tool error for function call: ")
    assert "nobody's business" not in refused
    assert (env.project / "new.txt").read_text() == "three"
