"""Runs are recorded and played again: bit for bit, without secrets, and with a difference where there is one."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from support.model_servers.local import LocalModelServer
from tejat.core.errors import UsageError
from tejat.core.messages.history import Message, user_message
from tejat.core.messages.types import FunctionResponse
from tejat.core.model import Capability, Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest, ModelResponse
from tejat.models import ModelOptions, open_model
from tejat.models.recording.recorder import RecordingModel
from tejat.models.recording.replay import open_replay
from tejat.models.retry import RetryingModel
from tejat.models.scripted.model import ScriptClient
from tejat.models.scripted.script_file import parse_script

KEY = "AIza-very-secret"
SCRIPT = f"""
[[answer]]
think = "In ${{root}}, hm."
say = "I look at ${{root}}/a.py for {KEY} now."
usage = {{ prompt = 10, output = 3 }}
[[answer.call]]
name = "read_file"
args = {{ path = "${{root}}/a.py" }}
[[answer]]
fail = "unavailable"
detail = "The service is down near ${{root}}."
retry_after = 0.01
[[answer]]
say = "Done."
[[answer]]
purpose = "web_fetch"
say = "A page."
[[answer]]
purpose = "web_fetch"
say = "Another page."
[[answer]]
fail = "authentication"
detail = "The key {KEY} is wrong."
"""
HEADER = {"session": "abc", "root": "/here", "started": 17.5}


def scripted(root: str = "/here", script: str = SCRIPT) -> ModelClient:
    model = ScriptClient(parse_script(script, file="s.toml", placeholders={"${root}": root}), "s.toml")
    return RetryingModel(model, max_attempts=3, max_total_wait=10.0)


def recording(path: Path, inner: ModelClient | None = None) -> RecordingModel:
    placeholders = {"/here": "${root}", "2026-11-16": "${date}"}
    return RecordingModel(inner or scripted(), str(path), placeholders=placeholders, secrets=[KEY], header=HEADER)


def replay(path: Path, root: str = "/here") -> ModelClient:
    return open_replay(str(path), placeholders={root: "${root}", "2026-11-16": "${date}"}, secrets=[KEY])


async def chunks_of(model: ModelClient, *messages: Message, purpose: str = "conversation") -> list[Chunk]:
    request = ModelRequest(messages, system="Today is 2026-11-16.", purpose=purpose)
    return [chunk async for chunk in model.stream(request)]


def comparable(chunks: Sequence[Chunk]) -> list[object]:
    """Messages are compared by identity, which is not meant here."""
    return [
        (chunk.message.parts, chunk.usage, chunk.model) if isinstance(chunk, ModelResponse) else chunk
        for chunk in chunks
    ]


async def converse(model: ModelClient, root: str = "/here", pid: int = 1) -> list[object]:
    """The whole conversation of the script, with everything that came of it."""
    asked = user_message(f"Look at {root}")
    first = await chunks_of(model, asked)
    assert isinstance(first[-1], ModelResponse)
    response = FunctionResponse("read_file", {"output": f"{root}/a.py {KEY}\nProcess Group PGID: {pid}"})
    messages = [asked, first[-1].message, user_message(response)]
    second = await chunks_of(model, *messages)
    pages = await asyncio.gather(
        chunks_of(model, user_message("page 1"), purpose="web_fetch"),
        chunks_of(model, user_message("page 2"), purpose="web_fetch"),
    )
    try:
        await chunks_of(model, user_message("more"))
    except ModelFailure as failure:
        last = failure.message, failure.kind, failure.status, failure.retry_after, failure.can_retry
    else:
        raise AssertionError
    await model.close()
    return [comparable(first), comparable(second), *map(comparable, pages), last]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    asyncio.run(converse(recording(path)))
    return path


class TestReplay:
    def test_is_the_same_bit_for_bit(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        lived = asyncio.run(converse(recording(path)))
        once, twice = (asyncio.run(converse(replay(path), pid=pid)) for pid in (2, 3))
        assert repr(once) == repr(twice)
        assert repr(once) == repr(lived).replace(KEY, "[secret]")
        assert "Retry(" in repr(lived[1])

    def test_is_the_same_elsewhere(self, recorded: Path) -> None:
        here = asyncio.run(converse(replay(recorded)))
        there = asyncio.run(converse(replay(recorded, "/srv/there"), "/srv/there"))
        assert repr(there) == repr(here).replace("/here", "/srv/there")

    def test_knows_what_it_was_begun_with(self, recorded: Path) -> None:
        played = open_replay(str(recorded), placeholders={"/there": "${root}", "2026-11-16": "${date}"})
        assert played.header == {**HEADER, "root": "/there"}
        assert (played.name, played.context_window, played.capabilities) == ("scripted:s.toml", 1_000_000, frozenset())

    def test_takes_parallel_requests_in_any_order(self, recorded: Path) -> None:
        async def backwards() -> list[str]:
            model = replay(recorded)
            pages = [await chunks_of(model, user_message(f"page {page}"), purpose="web_fetch") for page in (2, 1)]
            return [page[-1].text for page in pages if isinstance(page[-1], ModelResponse)]

        assert asyncio.run(backwards()) == ["Another page.", "A page."]

    def test_shows_the_difference(self, recorded: Path) -> None:
        with pytest.raises(ModelFailure) as caught:
            asyncio.run(chunks_of(replay(recorded), user_message("Look away")))
        assert (caught.value.kind, caught.value.can_retry) == (FailureKind.SCRIPT, False)
        assert caught.value.message.split("\n") == [
            f"{recorded}: request 1 differs from the recording:",
            "--- recorded",
            "+++ now",
            "@@ -7,4 +7,4 @@",
            "       Today is ${date}.",
            " message 1, of the user:",
            "   text:",
            "-      Look at ${root}",
            "+      Look away",
        ]

    def test_gives_nothing_twice(self, recorded: Path) -> None:
        async def ask_twice() -> None:
            model = replay(recorded)
            await chunks_of(model, user_message("page 1"), purpose="web_fetch")
            await chunks_of(model, user_message("page 1"), purpose="web_fetch")

        with pytest.raises(ModelFailure, match="request 2 differs from the recording"):
            asyncio.run(ask_twice())

    def test_ends_where_the_recording_did(self, recorded: Path) -> None:
        async def one_more() -> None:
            model = replay(recorded)
            await converse(model)
            await chunks_of(model, user_message("more"))

        with pytest.raises(ModelFailure, match="request 6 is not in the recording: it has no more requests"):
            asyncio.run(one_more())

    def test_counts_as_it_was_counted(self, tmp_path: Path) -> None:
        path, request = tmp_path / "run.jsonl", ModelRequest([user_message("a")])

        async def count() -> tuple[int, int]:
            model = recording(path)
            counted = await model.count_tokens(request)
            await model.close()
            return counted, await replay(path).count_tokens(request)

        lived, played = asyncio.run(count())
        assert lived == played > 0
        with pytest.raises(ModelFailure, match="not in this recording"):
            asyncio.run(replay(path).count_tokens(ModelRequest([user_message("b")])))

    def test_an_answer_that_was_broken_off_has_no_end(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"

        async def break_off() -> Chunk:
            model = recording(path)
            async with aclosing(model.stream(ModelRequest([user_message("go")]))) as stream:
                first = await anext(stream)
            await model.close()
            return first

        first = asyncio.run(break_off())

        async def play() -> Chunk:
            stream = replay(path).stream(ModelRequest([user_message("go")]))
            again = await anext(stream)
            with pytest.raises(ModelFailure, match="request 1 was interrupted when it was recorded"):
                await anext(stream)
            return again

        assert asyncio.run(play()) == first


class TestFile:
    def test_holds_no_secret_and_no_place(self, recorded: Path) -> None:
        text = recorded.read_text(encoding="utf-8")
        assert KEY not in text
        assert "/here" not in text
        assert "2026-11-16" not in text
        assert all(isinstance(json.loads(line), dict) for line in text.splitlines())

    def test_is_for_its_owner_whatever_the_umask(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        for before in (None, 0o644):
            if before:
                path.chmod(before)
            old = os.umask(0)
            try:
                asyncio.run(recording(path).close())
            finally:
                os.umask(old)
            assert path.stat().st_mode & 0o777 == 0o600

    def test_holds_every_message_once(self, tmp_path: Path) -> None:
        path = tmp_path / "run.jsonl"
        script = "[[answer]]\nsay = 'x'\n" * 30

        async def run_turns() -> None:
            model = recording(path, scripted(script=script))
            messages = [user_message("begin " * 1000)]
            for number in range(30):
                (*_, last) = await chunks_of(model, *messages)
                assert isinstance(last, ModelResponse)
                messages += [last.message, user_message(f"{number} go on")]
            await model.close()

        asyncio.run(run_turns())
        assert path.stat().st_size < 40_000

    def test_another_recording_is_replaced(self, recorded: Path) -> None:
        asyncio.run(recording(recorded).close())
        assert len(recorded.read_text(encoding="utf-8").splitlines()) == 1

    def test_anything_else_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "precious.txt"
        path.write_text("precious", encoding="utf-8")
        with pytest.raises(UsageError, match="exists and is not a recording"):
            recording(path)
        assert path.read_text(encoding="utf-8") == "precious"

    def test_must_be_a_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UsageError, match="not a regular file"):
            recording(tmp_path / "pipe")
        with pytest.raises(UsageError, match="could not write the recording: Is a directory"):
            recording(tmp_path)
        with pytest.raises(UsageError, match="could not write the recording: No such file"):
            recording(tmp_path / "no" / "where")

    def test_a_killed_run_leaves_what_was_finished(self, recorded: Path) -> None:
        whole = recorded.read_bytes()
        lines = whole.splitlines(keepends=True)
        recorded.write_bytes(b"".join(lines[:2]) + lines[2][:40])
        chunks = asyncio.run(chunks_of(replay(recorded), user_message("Look at /here")))
        assert isinstance(chunks[-1], ModelResponse)
        for end in range(len(lines[0]), len(whole), 97):
            recorded.write_bytes(whole[:end])
            replay(recorded)

    def test_a_full_disk_ends_the_recording_and_not_the_run(self, tmp_path: Path) -> None:
        code = f"""
import asyncio, resource, signal, sys
sys.path[:0] = {sys.path!r}
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
import test_recorder as helpers
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = helpers.recording(Path({str(tmp_path / "run.jsonl")!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
asyncio.run(helpers.converse(model))
print(model.problem)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.stderr, done.stdout) == ("", f"{tmp_path}/run.jsonl: recording stopped: File too large\n")
        replay(tmp_path / "run.jsonl")


class TestBrokenFiles:
    @pytest.mark.parametrize(
        "content", [b"", b"\n", b"x\n", b"[]\n", b"{}\n", b'{"tejat_recording":"1"}\n', b"[" * 100_000 + b"\n"]
    )
    def test_no_recording(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(content)
        with pytest.raises(UsageError, match="not a recording"):
            replay(path)

    def test_none_at_all(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="could not read the recording: No such file"):
            replay(tmp_path / "none")

    def test_of_another_version(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b'{"tejat_recording":2}\n')
        with pytest.raises(UsageError, match="version 2 is not supported"):
            replay(tmp_path / "x")

    @pytest.mark.parametrize(
        ("number", "old", "new", "problem"),
        [
            (
                0,
                '"abilities":[]',
                '"abilities":["flying"]',
                "line 1 cannot be replayed: 'flying' is not a valid",
            ),
            (1, "Look at", "Look up", "line 2 cannot be replayed: A piece was changed since it was recorded."),
            (
                1,
                '"conversation"',
                '"other"',
                "line 2 cannot be replayed: The request was changed since it was recorded.",
            ),
            (2, "{", "", "line 3 cannot be replayed: Extra data"),
            (2, '"chunks"', '"chnuks"', "line 3 cannot be replayed: The field chunks is missing"),
        ],
    )
    def test_says_which_line_is_wrong(self, number: int, old: str, new: str, problem: str, recorded: Path) -> None:
        lines = recorded.read_text(encoding="utf-8").splitlines(keepends=True)
        assert old in lines[number]
        lines[number] = lines[number].replace(old, new, 1)
        recorded.write_text("".join(lines), encoding="utf-8")
        with pytest.raises(UsageError, match=problem):
            replay(recorded)


class _Able:
    """A model with everything, that says what it is asked."""

    name = "able:/here/x"
    context_window = 7
    capabilities = frozenset({Capability.URL_CONTEXT})

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        yield ModelResponse(request.messages[-1])

    async def prepare(self) -> Sequence[str]:
        return ()

    async def count_tokens(self, request: ModelRequest) -> int:
        return len(request.messages)

    async def close(self) -> None:
        pass


def test_is_the_model_that_it_records(tmp_path: Path) -> None:
    model = recording(tmp_path / "x", _Able())
    asyncio.run(model.close())
    assert "/here" not in (tmp_path / "x").read_text(encoding="utf-8")
    for seen in (model, replay(tmp_path / "x")):
        assert (seen.name, seen.context_window, seen.capabilities) == ("able:/here/x", 7, {Capability.URL_CONTEXT})


def test_the_window_that_a_server_tells_is_recorded(tmp_path: Path) -> None:
    with LocalModelServer(lambda _: "Hello.", window=4096) as server:
        model = recording(tmp_path / "run", open_model("qwen", ModelOptions({"OPENAI_BASE_URL": server.base})))

        async def run() -> None:
            await model.prepare()
            await model.close()

        asyncio.run(run())
    assert replay(tmp_path / "run").context_window == 4096


class TestLanes:
    """The conversations of sub-agents are kept apart."""

    LANES: tuple[str, ...] = ("main", "agent:reader#1", "agent:reader#2")

    def script(self) -> str:
        answers = [("conversation", "main"), ("agent:reader#1", "one"), ("agent:reader#2", "two")]
        return "".join(
            f'[[answer]]\npurpose = "{purpose}"\nsay = "{text} {number}"\n'
            for purpose, text in answers
            for number in (1, 2)
        )

    async def ask(self, model: ModelClient, lane: str, *prompts: str) -> str:
        messages = [user_message(prompt) for prompt in prompts]
        chunks = [chunk async for chunk in model.stream(ModelRequest(messages, lane=lane))]
        assert isinstance(chunks[-1], ModelResponse)
        return chunks[-1].text

    def record(self, path: Path) -> None:
        async def run() -> None:
            model = recording(path, scripted(script=self.script()))
            for number in ("1", "2"):
                for lane in self.LANES:
                    await self.ask(model, lane, number)
            await model.close()

        asyncio.run(run())

    def test_may_be_ahead_of_each_other(self, tmp_path: Path) -> None:
        self.record(path := tmp_path / "run.jsonl")

        async def run(order: Sequence[str]) -> dict[str, list[str]]:
            model, asked = replay(path), dict.fromkeys(self.LANES, 0)
            answers: dict[str, list[str]] = {lane: [] for lane in self.LANES}
            for lane in order:
                asked[lane] += 1
                answers[lane].append(await self.ask(model, lane, str(asked[lane])))
            return answers

        expected = {
            "main": ["main 1", "main 2"],
            "agent:reader#1": ["one 1", "one 2"],
            "agent:reader#2": ["two 1", "two 2"],
        }
        main, first, second = self.LANES
        for order in ([main, main, first, first, second, second], [second, first, second, main, first, main]):
            assert asyncio.run(run(order)) == expected

    def test_are_strict_inside(self, tmp_path: Path) -> None:
        self.record(path := tmp_path / "run.jsonl")
        with pytest.raises(ModelFailure, match=r"request 1 of agent:reader#1 differs from the recording:\n"):
            asyncio.run(self.ask(replay(path), "agent:reader#1", "2"))
        with pytest.raises(ModelFailure, match=r"request 1 of agent:reader#3 is not in the recording"):
            asyncio.run(self.ask(replay(path), "agent:reader#3", "1"))

    def test_old_recordings_are_all_of_the_session(self, recorded: Path) -> None:
        lines = [json.loads(line) for line in recorded.read_text().splitlines()]
        assert all("lane" not in line.get("request", {}) for line in lines)

    def test_a_changed_skill_is_named(self, tmp_path: Path) -> None:
        def response(body: str) -> Message:
            text = f'<activated_skill name="pdf">\n{body}\n</activated_skill>'
            return user_message(FunctionResponse("activate_skill", {"output": text}))

        path = tmp_path / "run.jsonl"
        asyncio.run(chunks_of(recording(path, scripted(script='[[answer]]\nsay = "a"\n')), response("old")))
        with pytest.raises(ModelFailure, match=r"request 1 differs from the recording: the skill 'pdf' has changed"):
            asyncio.run(chunks_of(replay(path), response("new")))
