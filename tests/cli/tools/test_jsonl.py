"""A call a line in, an answer a line out."""

import asyncio
import io
import json
import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.note_tool import open_scheduler
from tejat.cli.tools.jsonl import RunCall, serve_jsonl
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, Confirmation, InfoConfirmation, Outcome
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.types import InlineData, Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult


class Echo(BaseTool):
    def __init__(self) -> None:
        super().__init__(
            name="echo",
            description="",
            parameter_schema={"properties": {"word": {"type": "string"}}, "required": ["word"]},
        )

    async def should_confirm_execute(self, params: Params) -> Confirmation | None:
        return InfoConfirmation("Ask", "May I?") if params["word"] == "ask" else None

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        await asyncio.sleep(0)
        match params["word"]:
            case "fail":
                raise ToolFailure("it failed", ErrorType.FILE_NOT_FOUND, display="Failed.")
            case "break":
                raise ZeroDivisionError("division by zero")
            case "image":
                return ToolResult([InlineData("image/png", b"1")])
        return ToolResult(f"said {params['word']}", "said")


class Yes:
    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        return ApprovalReply(Outcome.PROCEED_ONCE)


@contextmanager
def runner(approver: Yes | None = None) -> Generator[RunCall]:
    with tempfile.TemporaryDirectory() as directory, open_scheduler(Path(directory), [Echo()], approver) as scheduler:
        yield scheduler.run


async def nothing() -> None:
    """There is nothing to close."""


def answers_to(*lines: bytes, approver: Yes | None = None) -> list[object]:
    written = io.BytesIO()
    with runner(approver) as run:
        serve_jsonl(
            run, io.BytesIO(b"".join(line + b"\n" for line in lines)), written, nothing, is_listening=lambda: True
        )
    text = written.getvalue().decode()
    assert text.endswith("\n") or not text
    return [json.loads(line) for line in text.splitlines()]


def answer(call_id: object, content: object, display: object, error: object = None) -> object:
    return {"id": call_id, "llmContent": content, "returnDisplay": display, "error": error}


def bad(call_id: object, told: str) -> object:
    return answer(call_id, told, told, {"type": "invalid_tool_params", "message": told})


@pytest.mark.parametrize("call_id", ["1", "a", "", 7, 0, -1.5, True, None])
def test_an_answer_carries_the_id_of_its_call(call_id: object) -> None:
    line = json.dumps({"id": call_id, "name": "echo", "args": {"word": "hi"}}).encode()
    assert answers_to(line) == [answer(call_id, "said hi", "said")]


def test_answers_come_in_the_order_of_the_calls() -> None:
    lines = [json.dumps({"id": number, "name": "echo", "args": {"word": str(number)}}).encode() for number in range(50)]
    assert answers_to(*lines) == [answer(number, f"said {number}", "said") for number in range(50)]


def test_what_a_call_can_come_to() -> None:
    unknown = (
        'Tool "ekko" not found in registry. Tools must use the exact names that are registered. Did you mean "echo"?'
    )
    refused = 'Tool execution for "echo" requires user confirmation, which is not supported in non-interactive mode.'
    shown = f"{refused} No rule allows this. Use --allowed-tools echo or --approval-mode yolo."
    assert answers_to(
        b'{"id": 1, "name": "echo", "args": {"word": "image"}}',
        b'{"id": 2, "name": "echo", "args": {"word": "fail"}}',
        b'{"id": 3, "name": "echo", "args": {"word": "break"}}',
        b'{"id": 4, "name": "echo", "args": {}}',
        b'{"id": 5, "name": "ekko", "args": {}}',
        b'{"id": 6, "name": "echo", "args": {"word": "ask"}}',
        b'{"name": "echo", "args": {"word": "hi"}, "more": 1}',
        b'{"id": 8, "name": "echo"}',
    ) == [
        answer(1, [{"inlineData": {"mimeType": "image/png", "data": "MQ=="}}], ""),
        answer(2, "it failed", "Failed.", {"type": "file_not_found", "message": "it failed"}),
        answer(
            3,
            "Error: Tool call execution failed. Reason: division by zero",
            "division by zero",
            {"type": "execution_failed", "message": "division by zero"},
        ),
        answer(
            4,
            "Error: Invalid parameters provided. Reason: params must have required property 'word'",
            "params must have required property 'word'",
            {"type": "invalid_tool_params", "message": "params must have required property 'word'"},
        ),
        answer(5, unknown, unknown, {"type": "tool_not_registered", "message": unknown}),
        answer(6, refused, shown, {"type": "policy_violation", "message": refused}),
        answer(None, "said hi", "said"),
        answer(
            8,
            "Error: Invalid parameters provided. Reason: params must have required property 'word'",
            "params must have required property 'word'",
            {"type": "invalid_tool_params", "message": "params must have required property 'word'"},
        ),
    ]


def test_who_said_yes_beforehand_is_not_refused() -> None:
    line = b'{"id": 1, "name": "echo", "args": {"word": "ask"}}'
    assert answers_to(line, approver=Yes()) == [answer(1, "said ask", "said")]


GOOD = b'{"id": "good", "name": "echo", "args": {"word": "on"}}'
OBJECT = 'must be an object like {"id": 1, "name": "read_file", "args": {"path": "a.txt"}}'


@pytest.mark.parametrize(
    ("line", "call_id", "told"),
    [
        (b"nonsense", None, "not JSON: Expecting value at line 1, column 1"),
        (b'{"id": 1', None, "not JSON: Expecting ',' delimiter at line 1, column 9"),
        (b'\xff\xfe{"id": 1}', None, "not JSON: "),
        (b'{"id": 1, "name": "\xff"}', None, "not JSON: not UTF-8: invalid byte 20"),
        (b"[" * 100_000, None, "not JSON: nested too deeply"),
        (b'{"id": NaN, "name": "echo"}', None, "not JSON: NaN is not a JSON number"),
        (b"[1]", None, OBJECT),
        (b"null", None, OBJECT),
        (b'"echo"', None, OBJECT),
        (b"{}", None, '"name" must be the name of a tool'),
        (b'{"id": 1}', 1, '"name" must be the name of a tool'),
        (b'{"id": 1, "name": 5}', 1, '"name" must be the name of a tool'),
        (b'{"id": "x", "name": "echo", "args": []}', "x", '"args" must be an object'),
        (b'{"id": "x", "name": "echo", "args": null}', "x", '"args" must be an object'),
        (b'{"id": {"a": 1}, "name": 5}', None, '"name" must be the name of a tool'),
        (b'{"id": 1e999, "name": "echo", "args": {"word": "x"}}', None, "not JSON: "),
    ],
)
def test_a_bad_line_is_answered_with_its_number_and_the_stream_goes_on(line: bytes, call_id: object, told: str) -> None:
    first, second, third = answers_to(GOOD, line, GOOD)
    assert first == third == answer("good", "said on", "said")
    assert isinstance(second, dict)
    message = second["llmContent"]
    assert message.startswith(f"Line 2: {told}")
    assert second == bad(call_id, message)


def test_blank_lines_are_counted_and_not_answered() -> None:
    (told,) = answers_to(b"", b"  \t", b"\r", b"nonsense")
    assert told == bad(None, "Line 4: not JSON: Expecting value at line 1, column 1")


def test_lines_of_windows_are_lines_too() -> None:
    assert answers_to(GOOD + b"\r") == [answer("good", "said on", "said")]


def test_the_last_line_needs_no_newline() -> None:
    written = io.BytesIO()
    with runner() as run:
        serve_jsonl(run, io.BytesIO(GOOD), written, nothing, is_listening=lambda: True)
    assert json.loads(written.getvalue()) == answer("good", "said on", "said")


def test_nothing_in_nothing_out() -> None:
    assert answers_to() == []


def test_each_answer_is_flushed_before_the_next_line_is_read() -> None:
    class Flushed(io.BytesIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed = len(self.getvalue())

    written, seen = Flushed(), list[int]()

    class Watched(io.BytesIO):
        def __next__(self) -> bytes:
            seen.append(written.getvalue().count(b"\n"))
            assert written.flushed == len(written.getvalue())
            return super().__next__()

    with runner() as run:
        serve_jsonl(run, Watched(b"\n".join([GOOD] * 3)), written, nothing, is_listening=lambda: True)
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize("is_listening", [True, False])
def test_lines_of_a_pipe_however_they_come(*, is_listening: bool) -> None:
    readable, writable = os.pipe()
    long_line = json.dumps({"name": "echo", "args": {"word": "x" * 200_000}}).encode()
    content = b"\n".join([GOOD, b"", b" ", long_line, GOOD])

    def write() -> None:
        with os.fdopen(writable, "wb") as pipe:
            for start in range(0, len(content), 70_001):
                pipe.write(content[start : start + 70_001])
                pipe.flush()

    written, writer = io.BytesIO(), threading.Thread(target=write)
    with os.fdopen(readable, "rb", buffering=0) as lines, runner() as run:
        writer.start()
        serve_jsonl(run, lines, written, nothing, is_listening=lambda: is_listening)
    writer.join()
    first, long, last = [json.loads(line) for line in written.getvalue().splitlines()]
    assert first == last == answer("good", "said on", "said")
    assert long["llmContent"] == f"said {'x' * 200_000}"


def test_lines_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "calls").write_bytes(GOOD + b"\n" + GOOD)
    written = io.BytesIO()
    with open(tmp_path / "calls", "rb") as lines, runner() as run:
        serve_jsonl(run, lines, written, nothing, is_listening=lambda: True)
    assert len(written.getvalue().splitlines()) == 2


def test_the_loop_runs_while_no_line_comes() -> None:
    readable, writable = os.pipe()
    ran: list[str] = []

    async def run(_: object) -> ToolResult:
        if not ran:
            ran.append("call")
            # What comes in the background writes the next line: whoever blocked the loop would wait forever.
            asyncio.get_running_loop().call_later(0.01, lambda: (ran.append("background"), os.write(writable, GOOD)))
            asyncio.get_running_loop().call_later(0.02, os.close, writable)
        else:
            ran.append("next call")
        return ToolResult("")

    os.write(writable, GOOD + b"\n")
    with os.fdopen(readable, "rb", buffering=0) as lines:
        serve_jsonl(run, lines, io.BytesIO(), nothing, is_listening=lambda: True)
    assert ran == ["call", "background", "next call"]


def test_half_characters_do_not_break_the_stream() -> None:
    half = b'{"id": "\\ud800", "name": "echo", "args": {"word": "\\udfff"}}'
    first, second = answers_to(half, GOOD)
    assert second == answer("good", "said on", "said")
    assert isinstance(first, dict)
    assert first["error"] is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "name", "args", "word"]), inner),
    max_leaves=8,
)


@given(
    st.lists(st.binary().filter(lambda line: b"\n" not in line) | JSON.map(lambda value: json.dumps(value).encode()))
)
@settings(max_examples=60, deadline=None)
def test_whatever_comes_in_every_line_is_answered(lines: list[bytes]) -> None:
    expected = sum(not (line + b"\n").isspace() for line in lines)
    assert len(answers_to(*lines)) == expected


def test_it_is_closed_in_the_same_loop_however_it_ends() -> None:
    loops: list[object] = []

    async def run(_: object) -> ToolResult:
        loops.append(asyncio.get_running_loop())
        raise KeyboardInterrupt

    async def close() -> None:
        loops.append(asyncio.get_running_loop())

    with pytest.raises(KeyboardInterrupt):
        serve_jsonl(run, io.BytesIO(GOOD), io.BytesIO(), close, is_listening=lambda: True)
    assert len(loops) == 2
    assert loops[0] is loops[1]
