"""Chats of Gemini CLI: every form that it has written, and files that are none."""

import json
from pathlib import Path
from typing import Any

import pytest

from tejat.core.errors import UsageError
from tejat.core.messages.history import Role
from tejat.core.messages.types import InlineData, Text
from tejat.engine.sessions.gemini_chat import MAX_BYTES, GeminiChat, read_chat_head, read_gemini_chat

HEAD = {
    "sessionId": "5d6a1c9e-0000-4000-8000-000000000001",
    "projectHash": "abc",
    "startTime": "2026-11-01T10:00:00.000Z",
    "lastUpdated": "2026-11-01T10:05:00.000Z",
    "kind": "main",
}


def user(number: int, content: Any) -> dict[str, Any]:
    return {"id": f"u{number}", "timestamp": "2026-11-01T10:00:01.000Z", "type": "user", "content": content}


def gemini(number: int, content: Any, **fields: Any) -> dict[str, Any]:
    stamp = "2026-11-01T10:00:02.000Z"
    return {"id": f"g{number}", "timestamp": stamp, "type": "gemini", "content": content, "model": "m", **fields}


def call(name: str, result: Any) -> dict[str, Any]:
    return {"id": "c1", "name": name, "args": {"path": "a"}, "status": "success", "result": result}


def response(name: str, **fields: Any) -> list[Any]:
    return [{"functionResponse": {"id": "c1", "name": name, "response": fields}}]


def read(tmp_path: Path, *records: object, head: object = HEAD) -> GeminiChat:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in (head, *records)))
    return read_gemini_chat(str(path))


def texts(chat: GeminiChat) -> list[tuple[str, str]]:
    roles = {Role.USER: "user", Role.MODEL: "model"}
    return [("note" if turn.is_note else roles[turn.message.role], turn.message.text) for turn in chat.turns]


def test_a_file_of_gemini_cli_itself() -> None:
    path = Path(__file__).parent / "gemini_chats" / "0.61.0.jsonl"
    chat = read_gemini_chat(str(path))
    assert texts(chat) == [
        ("user", "What is in a.txt?"),
        ("note", "called read_file: apples and pears"),
        ("model", "It holds apples."),
    ]
    assert (chat.model, chat.damaged_lines) == ("gemini-2.5-flash", 0)
    assert read_chat_head(str(path))["kind"] == "main"


def test_a_conversation(tmp_path: Path) -> None:
    chat = read(
        tmp_path,
        user(1, [{"text": "Fix "}, {"text": "it"}]),
        {"id": "i1", "timestamp": "x", "type": "info", "content": "Loaded."},
        gemini(
            1,
            "",
            thoughts=[{"subject": "S", "description": "D"}],
            toolCalls=[call("read_file", response("read_file", output="line 1\nline 2"))],
        ),
        gemini(2, "Done.", tokens={"input": 3}, model="gemini-3.8-flash"),
        {"$set": {"lastUpdated": "2026-11-01T10:06:00.000Z"}},
        user(2, "Thanks"),
    )
    assert texts(chat) == [
        ("user", "Fix it"),
        ("note", "called read_file: line 1 line 2"),
        ("model", "Done."),
        ("user", "Thanks"),
    ]
    assert (chat.model, chat.damaged_lines) == ("gemini-3.8-flash", 0)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("x" * 300, "called t: " + "x" * 200),
        (None, "called t:"),
        (response("t", error="no such file"), "called t: no such file"),
        (response("t", rows=[1, 2]), 'called t: {"rows":[1,2]}'),
        ([{"text": "a"}, "b"], "called t: a b"),
    ],
)
def test_calls_become_one_line(tmp_path: Path, result: Any, told: str) -> None:
    chat = read(tmp_path, user(1, "go"), gemini(1, "I look.", toolCalls=[call("t", result)]))
    assert texts(chat) == [("user", "go"), ("model", "I look."), ("note", told)]


def test_several_calls_are_one_note(tmp_path: Path) -> None:
    calls = [call("a", "1"), call("b", "2")]
    assert texts(read(tmp_path, user(1, "go"), gemini(1, "", toolCalls=calls)))[1:] == [
        ("note", "called a: 1\ncalled b: 2")
    ]


def test_a_message_that_is_written_again_replaces_the_first(tmp_path: Path) -> None:
    chat = read(tmp_path, user(1, "one"), gemini(1, "par"), user(2, "two"), gemini(1, "partial, now whole"))
    assert texts(chat) == [("user", "one"), ("model", "partial, now whole"), ("user", "two")]


@pytest.mark.parametrize(
    ("target", "left"),
    [("u2", ["one", "first"]), ("g1", ["one"])],
)
def test_a_rewind_drops_from_that_message_on(tmp_path: Path, target: str, left: list[str]) -> None:
    records = [user(1, "one"), gemini(1, "first"), user(2, "two"), gemini(2, "second"), {"$rewindTo": target}]
    assert [text for _, text in texts(read(tmp_path, *records))] == left


def test_a_rewind_to_an_unknown_message_drops_all(tmp_path: Path) -> None:
    chat = read(tmp_path, user(1, "one"), {"$rewindTo": "gone"}, user(2, "two"))
    assert texts(chat) == [("user", "two")]


def test_all_messages_may_be_set_at_once(tmp_path: Path) -> None:
    chat = read(tmp_path, user(1, "one"), {"$set": {"messages": [user(5, "summary"), gemini(5, "ok")]}}, user(6, "on"))
    assert texts(chat) == [("user", "summary"), ("model", "ok"), ("user", "on")]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_older_form_is_one_object(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps({**HEAD, "messages": [user(1, "hi"), gemini(1, "hello")]}, indent=indent))
    assert texts(read_gemini_chat(str(path))) == [("user", "hi"), ("model", "hello")]
    assert read_chat_head(str(path))["projectHash"] == "abc"


def test_what_is_no_prompt_is_left_out(tmp_path: Path) -> None:
    prompts = ["/help", "?", "<session_context>x", "<hook_context>y", "  ", [], None, 7]
    chat = read(
        tmp_path, gemini(0, "early"), *(user(number, each) for number, each in enumerate(prompts)), user(99, "hi")
    )
    assert texts(chat) == [("user", "hi")]


def test_thoughts_and_calls_in_the_content_are_left_out_and_pictures_stay(tmp_path: Path) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    broken = {"inlineData": {"mimeType": "image/png", "data": 7}}
    parts = [{"text": "hm", "thought": True}, {"functionCall": {"name": "x"}}, {"text": "Done."}]
    chat = read(tmp_path, user(1, [{"text": "see"}, picture, broken]), gemini(1, parts), gemini(2, "Really."))
    assert chat.turns[0].message.parts == (Text("see"), InlineData("image/png", b"hi"))
    assert chat.turns[1].message.parts == (Text("Done."), Text("Really."))


def test_damaged_lines_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(f'{json.dumps(HEAD)}\n{json.dumps(user(1, "hi"))}\n\n{{"id": "u2", \n[]\n')
    chat = read_gemini_chat(str(path))
    assert (texts(chat), chat.damaged_lines) == ([("user", "hi")], 2)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not a Gemini CLI chat."),
        (b"hello\n", "is not a Gemini CLI chat."),
        (b"\xff\xfe", "is not a Gemini CLI chat."),
        (b"[]", "is not a Gemini CLI chat."),
        (b'{"messages": []}', "is not a Gemini CLI chat."),
        (json.dumps(HEAD).encode(), "contains no conversation."),
        (b"[" * 100_000, "is not a Gemini CLI chat."),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError) as refusal:
        read_gemini_chat(str(path))
    assert str(refusal.value) == f"{path} {told}"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UsageError, match=r"is larger than 64 MB\.$"):
        read_gemini_chat(str(path))


@pytest.mark.parametrize("name", [".", "missing"])
def test_what_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"^Could not read "):
        read_gemini_chat(str(tmp_path / name))
    assert read_chat_head(str(tmp_path / name)) == {}


class TestHostileFiles:
    def test_a_result_that_is_nested_deeply(self, tmp_path: Path) -> None:
        path = tmp_path / "chat.jsonl"
        nested = "[" * 900 + "]" * 900
        deep = json.dumps(gemini(1, "hi", toolCalls=[call("glob", "RESULT")])).replace('"RESULT"', nested)
        path.write_text("\n".join([json.dumps(HEAD), json.dumps(user(1, "one")), deep]))
        chat = read_gemini_chat(str(path))
        assert texts(chat) == [("user", "one"), ("model", "hi"), ("note", "called glob:")]

    def test_the_name_of_a_tool_is_one_short_line(self, tmp_path: Path) -> None:
        chat = read(tmp_path, user(1, "one"), gemini(1, "", toolCalls=[call("a\n\nb" + "c" * 500, "x")]))
        assert texts(chat)[1] == ("note", "called a b" + "c" * 97 + ": x")

    def test_very_many_changes_and_answers(self, tmp_path: Path) -> None:
        """Quadratic time would be minutes."""
        many = 20_000
        rewinds = [{"$rewindTo": f"u{number}"} for number in reversed(range(many // 2, many))]
        answers = [gemini(number, "a") for number in range(many)]
        chat = read(tmp_path, *(user(number, "p") for number in range(many)), *rewinds, *answers)
        assert [len(chat.turns), len(chat.turns[-1].message.parts)] == [many // 2 + 1, many]
