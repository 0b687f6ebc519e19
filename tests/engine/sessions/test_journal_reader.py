"""A journal read back is the conversation that was written, and as much of it as is whole where it is not."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.agent.history_events import PromptWithdrawn, RunFinished, StateRecorded
from tejat.core.messages.history import (
    History,
    Message,
    Role,
    history_problem,
    interrupted_response,
    model_message,
    user_message,
)
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    MessagePart,
    Opaque,
    Text,
    Thought,
)
from tejat.core.model import NO_USAGE, Usage
from tejat.engine.sessions import journal_reader
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.journal_reader import LoadedSession, read_journal

SESSIONS = Path(__file__).parent / "journals"
HEAD = b'{"v":1,"kind":"session","at":1,"session":"s","root":"/","model":"m","title":"t"}\n'
PROMPT = b'{"v":1,"kind":"prompt","at":1,"shown":"x","message":{"role":"user","parts":[{"text":"x"}]}}\n'
ANSWER = (
    b'{"v":1,"kind":"answer","at":1,"model":"m2","usage":{"prompt":1,"cached":0,"output":2,"thoughts":0,"tool":0},'
    b'"message":{"role":"model","parts":[{"text":"y"}]}}\n'
)
TORN = "Skipped the last record: it is incomplete."

Shown = list[tuple[Role, tuple[MessagePart, ...]]]


def load(path: Path) -> LoadedSession:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return read_journal(descriptor, session_id="by name")
    finally:
        os.close(descriptor)


def load_bytes(tmp_path: Path, content: bytes) -> LoadedSession:
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    return load(path)


def shown(messages: Sequence[Message]) -> Shown:
    return [(message.role, message.parts) for message in messages]


def user(*parts: MessagePart | str) -> tuple[Role, tuple[MessagePart, ...]]:
    return shown([user_message(*parts)])[0]


def model(*parts: MessagePart | str) -> tuple[Role, tuple[MessagePart, ...]]:
    return shown([model_message(*parts)])[0]


def as_tuple(loaded: LoadedSession) -> tuple[str, str, Shown, int, Usage, tuple[str, ...], tuple[str, ...]]:
    """Everything, with messages that can be compared."""
    messages = shown(loaded.messages)
    return (
        loaded.session_id,
        loaded.model,
        messages,
        loaded.preamble_length,
        loaded.usage,
        loaded.repairs,
        loaded.problems,
    )


class TestFilesOfVersion1:
    """These files are never written anew: what the first release wrote has to be read by every later one."""

    def test_a_whole_session(self) -> None:
        call = FunctionCall(
            "read_file",
            {"file_path": "caf\udce9.txt", "limit": 10, "deep": {"list": [1, 2.5, None, True]}},
            "call_1",
            "c2lnbmVk",
        )
        picture = InlineData("image/png", b"\x89PNG\r\n\x1a\n")
        assert as_tuple(load(SESSIONS / "v1-whole.jsonl")) == (
            "6f1c2a90-0000-4000-8000-000000000001",
            "gemini-2.5-flash-001",
            [
                user("This is the setup of the project.\nToday is Monday."),
                model("Got it. Thanks for the context!"),
                user("What is in the picture? ", picture, FileData("video/mp4", "https://example.org/a.mp4")),
                model(
                    Thought("**Looking** at it", "dGhvdWdodA=="),
                    "I look at it – 見ます.",
                    call,
                    FunctionCall("glob", {"pattern": "**"}, "tejat-1"),
                ),
                user(
                    FunctionResponse("read_file", {"output": "Tool execution succeeded."}, "call_1"),
                    InlineData("image/png", b"\x00\x01\x02"),
                    "and a word",
                    FunctionResponse("glob", {"output": "a.png"}, "tejat-1"),
                ),
                model(Text("A cat.", "ZW5k"), Opaque("anthropic", {"type": "redacted_thinking", "data": "eHl6"})),
            ],
            2,
            Usage(270, 220, 24, 5, 1),
            (),
            (),
        )

    def test_one_that_was_killed_in_the_middle_of_a_call(self) -> None:
        shell, search = (
            FunctionCall("run_shell_command", {"command": "make test"}, "a"),
            FunctionCall("glob", {"pattern": "*"}, "b"),
        )
        assert as_tuple(load(SESSIONS / "v1-interrupted.jsonl")) == (
            "6f1c2a90-0000-4000-8000-000000000002",
            "gemini-2.5-flash",
            [
                user("Run the tests"),
                model(shell, search),
                user(interrupted_response(shell), FunctionResponse("glob", {"output": "f"}, "b")),
            ],
            0,
            Usage(10, 0, 5),
            ("Marked a call without a result as interrupted.",),
            (TORN,),
        )

    def test_one_that_was_compressed_and_taken_up_again(self) -> None:
        assert as_tuple(load(SESSIONS / "v1-compressed.jsonl")) == (
            "6f1c2a90-0000-4000-8000-000000000003",
            "gemini-2.5-pro",
            [
                user("<state_snapshot>First and second were asked.</state_snapshot>"),
                model("Got it."),
                user("Third"),
                model("Three."),
            ],
            0,
            Usage(60, 0, 3),
            (),
            (),
        )

    def test_what_a_summary_replaced_in_an_old_journal(self) -> None:
        loaded = load(SESSIONS / "v1-compressed.jsonl")
        assert [message.text for message in loaded.replaced] == ["First", "One.", "Second", "Two."]
        assert loaded.head_length == 2


class TestDamage:
    @pytest.mark.parametrize("name", ["v1-whole.jsonl", "v1-interrupted.jsonl", "v1-compressed.jsonl"])
    def test_a_cut_anywhere_leaves_what_was_whole(self, tmp_path: Path, name: str) -> None:
        content = (SESSIONS / name).read_bytes()
        lines = content.splitlines(keepends=True)
        ends = [sum(map(len, lines[:count])) for count in range(1, len(lines) + 1)]
        for end in range(0, len(content), 7):
            loaded = load_bytes(tmp_path, content[:end])
            whole = load_bytes(tmp_path, content[: max((at for at in ends if at <= end), default=0)])
            # A record without its newline counts.
            if end + 1 not in ends:
                assert shown(loaded.messages) == shown(whole.messages)
                assert (TORN in loaded.problems) == (end not in (0, *ends))
            assert history_problem(loaded.messages) is None

    @pytest.mark.parametrize(
        "garbage",
        [
            b"garbage\n",
            b"\x00" * 4096 + b"\n",
            b"\xff\xfe\n",
            b"[1,2]\n",
            b'{"v":1}\n',
            b'{"v":1,"kind":"prompt","at":1,"shown":"x","message":{"role":"wizard","parts":[]}}\n',
            b'{"v":1,"kind":"prompt","at":1,"shown":"x","message":{"role":"user","parts":[{"new":1}]}}\n',
            b'{"v":1,"kind":"answer","at":1,"model":"m","message":{"role":"model","parts":[{"text":"y"}]}}\n',
            b'{"v":1,"kind":"response","at":1,"index":"0","parts":[]}\n',
            b'{"v":1,"kind":"compressed","at":1}\n',
            b'{"v":1,"kind":"prompt","at":1,"message":{"role":"user","parts":[{"inlineData":{"mimeType":"a","data":"!"}}]}}\n',
        ],
    )
    def test_a_line_that_is_no_record_is_left_out_and_told(self, tmp_path: Path, garbage: bytes) -> None:
        expected = ("s", "m2", [user("x"), model("y")], 0, Usage(1, 0, 2), ())
        loaded = load_bytes(tmp_path, HEAD + PROMPT + garbage + ANSWER)
        assert as_tuple(loaded) == (*expected, ("Skipped damaged line 3.",))
        loaded = load_bytes(tmp_path, HEAD + garbage + PROMPT + garbage + ANSWER + garbage)
        assert as_tuple(loaded) == (*expected, ("Skipped 3 damaged lines, the first at line 2.",))

    def test_what_later_versions_add_is_passed_over(self, tmp_path: Path) -> None:
        unknown = b'{"v":1,"kind":"dreamt","at":1}\n'
        with_field = PROMPT.replace(b'"at":1', b'"at":1,"mood":"good"')
        loaded = load_bytes(tmp_path, HEAD + unknown + with_field + ANSWER)
        assert as_tuple(loaded) == ("s", "m2", [user("x"), model("y")], 0, Usage(1, 0, 2), (), ())

    def test_records_of_a_newer_version_are_left_out_and_told(self, tmp_path: Path) -> None:
        newer = PROMPT.replace(b'"v":1', b'"v":2')
        loaded = load_bytes(tmp_path, HEAD + PROMPT + ANSWER + newer + newer)
        problems = ("Skipped records from a newer version of Tejat: 2.",)
        assert as_tuple(loaded) == ("s", "m2", [user("x"), model("y")], 0, Usage(1, 0, 2), (), problems)

    def test_a_lost_beginning(self, tmp_path: Path) -> None:
        problems = ("The start of the session is missing.", "Skipped damaged line 1.")
        loaded = load_bytes(tmp_path, HEAD[10:] + PROMPT)
        assert as_tuple(loaded) == ("by name", "", [user("x")], 0, NO_USAGE, (), problems)

    def test_nothing_at_all(self, tmp_path: Path) -> None:
        problems = ("The start of the session is missing.",)
        assert as_tuple(load_bytes(tmp_path, b"")) == ("by name", "", [], 0, NO_USAGE, (), problems)

    def test_a_line_that_never_ends_costs_no_more_than_the_longest(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(journal_reader, "MAX_LINE_BYTES", 1000)
        huge = PROMPT.replace(b'"text":"x"', b'"text":"' + b"x" * 5_000_000 + b'"')
        loaded = load_bytes(tmp_path, HEAD + PROMPT + huge + ANSWER)
        problems = ("Skipped damaged line 3.",)
        assert as_tuple(loaded) == ("s", "m2", [user("x"), model("y")], 0, Usage(1, 0, 2), (), problems)
        loaded = load_bytes(tmp_path, HEAD + PROMPT + huge[:-1])
        assert (shown(loaded.messages), loaded.problems) == ([user("x")], problems)

    def test_an_opening_that_was_damaged_counts_for_nothing(self, tmp_path: Path) -> None:
        opening = b'{"v":1,"kind":"opening","at":1,"messages":[{"role":"model","parts":[{"text":"hm"}]}]}\n'
        assert load_bytes(tmp_path, HEAD + opening + PROMPT).preamble_length == 0

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_lines_lost_doubled_and_mixed_up(self, data: st.DataObject) -> None:
        lines = (SESSIONS / "v1-whole.jsonl").read_bytes().splitlines(keepends=True)
        chosen = data.draw(st.lists(st.sampled_from(lines), max_size=15))
        with tempfile.TemporaryDirectory() as directory:
            loaded = load_bytes(Path(directory), b"".join(chosen))
        assert history_problem(loaded.messages) is None
        assert not any("damaged" in problem for problem in loaded.problems)


STEPS = st.lists(st.sampled_from(["prompt", "calls", "calls", "say", "withdraw", "compress", "resume"]), max_size=12)


class Telling:
    """Does what the loop does, to a history and to a journal."""

    def __init__(self, directory: str) -> None:
        self.history = History([user_message("Today is Monday."), model_message("Got it.")])
        self.journal = SessionJournal.create(directory, session_id="s", root="/", model="m")
        self.journal.record_preamble(self.history.messages)
        self.count = 0

    def take(self, step: str) -> None:
        self.count += 1
        match step:
            case "prompt":
                message = user_message(f"prompt {self.count}")
                self.history.add_user(message)
                self.journal.record_prompt(message, f"shown {self.count}")
            case "calls" if self.may_answer:
                self.call()
            case "say" if self.may_answer:
                self.answer(model_message(f"said {self.count}"))
            case "withdraw":
                if self.history.drop_unanswered_prompt():
                    self.journal.record(PromptWithdrawn())
            case "compress":
                self.history.replace_all([user_message("summary"), *self.history.messages[1:]])
                self.journal.record_compression(self.history.messages)
            case "resume" if os.path.exists(self.journal.path):
                self.resume()
            case _:
                pass

    @property
    def may_answer(self) -> bool:
        return self.history.messages[-1].role is Role.USER

    def answer(self, message: Message) -> Message:
        added = self.history.add_model(message)
        self.journal.record_answer(added, Usage(output=1), "m")
        return added

    def call(self) -> None:
        added = self.answer(
            model_message(FunctionCall("f", {"n": 1}), FunctionCall("g", {}, "same"), FunctionCall("f", {}))
        )
        parts = [(FunctionResponse(call.name, {"output": str(self.count)}, call.id), Text("!")) for call in added.calls]
        for index in (2, 0, 1):
            self.journal.record_responses([(index, parts[index])])
        self.history.add_user(user_message(*(part for each in parts for part in each)))

    def resume(self) -> None:
        """What a later process does."""
        self.journal.close()
        descriptor = os.open(self.journal.path, os.O_RDWR | os.O_APPEND)
        loaded = read_journal(descriptor, session_id="")
        assert shown(loaded.messages) == shown(self.history.messages)
        self.history = History(loaded.messages)
        self.journal = SessionJournal.reopen("s", self.journal.path, descriptor)


class TestWhatWasToldComesBack:
    @settings(max_examples=80, deadline=None)
    @given(STEPS)
    def test_any_conversation(self, steps: list[str]) -> None:
        with tempfile.TemporaryDirectory() as directory:
            telling = Telling(directory)
            for step in ["prompt", *steps]:
                telling.take(step)
            telling.journal.close()
            assert telling.journal.failure is None
            loaded = load(Path(telling.journal.path))
        assert shown(loaded.messages) == shown(telling.history.messages)
        assert (loaded.repairs, loaded.problems) == ((), ())

    def test_a_prompt_of_an_earlier_run_is_not_withdrawn_by_a_later_one(self, tmp_path: Path) -> None:
        telling = Telling(str(tmp_path))
        for step in ("prompt", "resume", "prompt", "withdraw"):
            telling.take(step)
        telling.journal.close()
        assert shown(load(Path(telling.journal.path)).messages)[2:] == [user("prompt 1")]

    def test_calls_that_were_told_to_be_interrupted_are_told_once(self, tmp_path: Path) -> None:
        journal = SessionJournal.create(str(tmp_path), session_id="s", root="/", model="m")
        calls = FunctionCall("f", {}, "a"), FunctionCall("f", {}, "b")
        journal.record_prompt(user_message("x"), "x")
        journal.record_answer(model_message(*calls), NO_USAGE, "m")
        journal.record_responses([(0, [FunctionResponse("f", {"output": "1"}, "a")])])
        journal.close()
        first = load(Path(journal.path))
        assert first.repairs == ("Marked a call without a result as interrupted.",)
        later = SessionJournal.reopen("s", journal.path, os.open(journal.path, os.O_RDWR | os.O_APPEND))
        later.record_prompt(user_message("go on"), "go on")
        later.close()
        second = load(Path(journal.path))
        results = (FunctionResponse("f", {"output": "1"}, "a"), interrupted_response(calls[1]))
        assert shown(first.messages) == [user("x"), model(*calls), user(*results)]
        assert shown(second.messages) == [user("x"), model(*calls), user(*results, "go on")]
        assert second.repairs == ()

    def test_what_follows_a_torn_record_begins_on_its_own_line(self, tmp_path: Path) -> None:
        path = tmp_path / "session.jsonl"
        path.write_bytes(HEAD + PROMPT + ANSWER[:40])
        journal = SessionJournal.reopen("s", str(path), os.open(path, os.O_RDWR | os.O_APPEND))
        journal.record_answer(model_message("again"), NO_USAGE, "m")
        journal.record(RunFinished("finished"))
        journal.close()
        loaded = load(path)
        assert (shown(loaded.messages), loaded.problems) == (
            [user("x"), model("again")],
            ("Skipped damaged line 3.",),
        )
        assert path.read_bytes().startswith(HEAD + PROMPT + ANSWER[:40] + b'\n{"v":1,"kind":"resumed"')


def rewound(messages: int, prompt: int | None) -> bytes:
    number = b"null" if prompt is None else str(prompt).encode()
    return b'{"v":1,"kind":"rewound","at":1,"messages":%d,"prompt":%s}\n' % (messages, number)


NOTE = PROMPT.replace(b'"shown"', b'"stays":true,"shown"').replace(b'"text":"x"', b'"text":"note"')
WITHDRAWN = b'{"v":1,"kind":"withdrawn","at":1}\n'


class TestGoingBack:
    def read(self, tmp_path: Path, *records: bytes) -> tuple[list[str], list[int]]:
        loaded = load_bytes(tmp_path, HEAD + b"".join(records))
        assert history_problem(loaded.messages) is None
        return [message.text for message in loaded.messages], [mark.length for mark in loaded.rewind_points]

    def test_every_prompt_is_a_place(self, tmp_path: Path) -> None:
        assert self.read(tmp_path, PROMPT, ANSWER, PROMPT, ANSWER) == (["x", "y", "x", "y"], [0, 2])

    def test_to_a_prompt(self, tmp_path: Path) -> None:
        talk = (PROMPT, ANSWER, PROMPT, ANSWER)
        assert self.read(tmp_path, *talk, rewound(2, 1)) == (["x", "y"], [0])
        assert self.read(tmp_path, *talk, rewound(2, 1), PROMPT, ANSWER) == (["x", "y", "x", "y"], [0, 2])
        assert self.read(tmp_path, *talk, rewound(0, 0)) == ([], [])

    def test_to_a_place_between(self, tmp_path: Path) -> None:
        assert self.read(tmp_path, PROMPT, ANSWER, PROMPT, ANSWER, rewound(3, None)) == (["x", "y", "x"], [0, 2])

    @pytest.mark.parametrize("record", [rewound(2, 7), rewound(2, -1), rewound(2, 0)])
    def test_where_a_record_before_was_lost(self, tmp_path: Path, record: bytes) -> None:
        assert self.read(tmp_path, PROMPT, ANSWER, PROMPT, ANSWER, record) == (["x", "y"], [0])

    def test_a_record_without_sense_changes_nothing(self, tmp_path: Path) -> None:
        broken = b'{"v":1,"kind":"rewound","at":1,"messages":"two"}\n'
        assert self.read(tmp_path, PROMPT, ANSWER, broken) == (["x", "y"], [0])

    def test_what_stays_is_no_place_and_cannot_be_taken_back(self, tmp_path: Path) -> None:
        talk = (PROMPT, ANSWER, NOTE, PROMPT)
        assert self.read(tmp_path, *talk) == (["x", "y", "notex"], [0, 3])
        assert self.read(tmp_path, *talk, WITHDRAWN) == (["x", "y", "note"], [0])
        assert self.read(tmp_path, *talk, ANSWER, rewound(3, 1)) == (["x", "y", "note"], [0])

    def test_a_prompt_that_was_taken_back_is_no_place(self, tmp_path: Path) -> None:
        assert self.read(tmp_path, PROMPT, ANSWER, PROMPT, WITHDRAWN) == (["x", "y"], [0])


class TestState:
    def journal(self, tmp_path: Path) -> SessionJournal:
        return SessionJournal.create(str(tmp_path), session_id="s", root="/", model="m")

    def test_the_last_value_of_each_key_is_restored(self, tmp_path: Path) -> None:
        journal = self.journal(tmp_path)
        journal.record(StateRecorded("todos", [{"description": "before the first prompt"}]))
        journal.record_prompt(user_message("x"), "x")
        journal.record(StateRecorded("plan", {"path": "/plan.md"}))
        journal.record(StateRecorded("todos", [{"description": "after it"}]))
        journal.close()
        loaded = load(Path(journal.path))
        assert loaded.state == {"todos": [{"description": "after it"}], "plan": {"path": "/plan.md"}}
        assert [message.text for message in loaded.messages] == ["x"]

    def test_a_removed_value_is_gone(self, tmp_path: Path) -> None:
        journal = self.journal(tmp_path)
        journal.record_prompt(user_message("x"), "x")
        journal.record(StateRecorded("plan", "here"))
        journal.record(StateRecorded("plan", None))
        journal.close()
        assert load(Path(journal.path)).state == {}

    def test_a_record_without_a_key_is_damaged(self, tmp_path: Path) -> None:
        loaded = load_bytes(tmp_path, HEAD + PROMPT + b'{"v":1,"kind":"state","at":1,"value":1}\n')
        assert loaded.state == {}
        assert loaded.problems == ("Skipped damaged line 3.",)
