"""What is written when, by whom it can be read, and what happens when it cannot be written or the writer is killed."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tejat.core.agent.history_events import PromptWithdrawn, RunFinished
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Opaque, Text, Thought
from tejat.core.model import Usage
from tejat.core.text.secret_mask import MASK
from tejat.engine.sessions.journal import MAX_TITLE_LENGTH, SessionJournal, try_lock
from tejat.engine.sessions.journal_reader import read_journal

NOW = 1_770_000_000.1234
KEY = 'sk-"\\live-0123456789ü'


def create(directory: Path, *, secrets: tuple[str, ...] = (), session_id: str = "0a1b2c3d-4e5f") -> SessionJournal:
    return SessionJournal.create(
        str(directory), session_id=session_id, root="/project", model="fast", secrets=secrets, now=lambda: NOW
    )


def records(path: str) -> list[dict[str, Any]]:
    lines = Path(path).read_bytes().splitlines(keepends=True)
    assert all(line.endswith(b"\n") for line in lines)
    return [json.loads(line) for line in lines]


def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


class TestWriting:
    def test_a_session_line_by_line(self, tmp_path: Path) -> None:
        journal = create(tmp_path)
        journal.record_preamble([user_message("Today is Monday."), model_message("Got it.")])
        journal.record_prompt(user_message("look", InlineData("image/png", b"\x00\xff")), "look @picture.png")
        asked = model_message(Text("I look.", "s1"), FunctionCall("glob", {"pattern": "*"}, "a", "s2"))
        journal.record_answer(asked, Usage(1, 2, 3, 4, 5), "fast-001")
        journal.record_responses([(0, [FunctionResponse("glob", {"output": "f"}, "a"), Text("more")])])
        journal.record(PromptWithdrawn())
        journal.record_compression([user_message("summary")])
        journal.record(RunFinished("finished"))
        journal.close()
        same = {"v": 1, "at": 1_770_000_000.123}
        head = {"session": "0a1b2c3d-4e5f", "root": "/project", "model": "fast", "title": "look @picture.png"}
        opening = [
            {"role": "user", "parts": [{"text": "Today is Monday."}]},
            {"role": "model", "parts": [{"text": "Got it."}]},
        ]
        picture = {"inlineData": {"mimeType": "image/png", "data": "AP8="}}
        call = {"functionCall": {"id": "a", "name": "glob", "args": {"pattern": "*"}}, "thoughtSignature": "s2"}
        response = {"functionResponse": {"id": "a", "name": "glob", "response": {"output": "f"}}}
        assert records(journal.path) == [
            {**same, "kind": "session", **head},
            {**same, "kind": "opening", "messages": opening},
            {
                **same,
                "kind": "prompt",
                "shown": "look @picture.png",
                "message": {"role": "user", "parts": [{"text": "look"}, picture]},
            },
            {
                **same,
                "kind": "answer",
                "model": "fast-001",
                "usage": {"prompt": 1, "cached": 2, "output": 3, "thoughts": 4, "tool": 5},
                "message": {"role": "model", "parts": [{"text": "I look.", "thoughtSignature": "s1"}, call]},
            },
            {**same, "kind": "response", "index": 0, "parts": [response, {"text": "more"}]},
            {**same, "kind": "withdrawn"},
            {**same, "kind": "compressed", "messages": [{"role": "user", "parts": [{"text": "summary"}]}]},
            {**same, "kind": "ended", "reason": "finished"},
        ]
        assert journal.failure is None

    def test_each_record_is_there_when_the_method_returns(self, tmp_path: Path) -> None:
        journal = create(tmp_path)
        journal.record_prompt(user_message("look"), "look")
        assert len(records(journal.path)) == 2
        journal.record_answer(model_message("no"), Usage(), "fast")
        assert len(records(journal.path)) == 3
        journal.record_responses([(0, [Text("x")])])
        assert len(records(journal.path)) == 4
        journal.close()

    def test_very_many_records_wait_for_the_disk_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync" if sys.platform == "darwin" else "fdatasync", synced.append)
        journal = create(tmp_path)
        with journal.sync_once():
            for _ in range(50):
                journal.record_prompt(user_message("look"), "look")
            assert not synced
        assert len(synced) == 1
        journal.record_prompt(user_message("again"), "again")
        assert (len(synced), len(records(journal.path))) == (2, 52)
        journal.close()

    def test_nothing_asked_leaves_no_file(self, tmp_path: Path) -> None:
        journal = create(tmp_path / "sessions")
        journal.record_preamble([user_message("Today is Monday."), model_message("Got it.")])
        journal.record(PromptWithdrawn())
        journal.record(RunFinished("interrupted"))
        journal.close()
        journal.record_prompt(user_message("too late"), "too late")
        assert list(tmp_path.iterdir()) == []
        assert journal.failure is None

    def test_the_name_tells_when_and_which(self, tmp_path: Path) -> None:
        journals = [
            create(tmp_path),
            create(tmp_path),
            create(tmp_path, session_id="../../etc/passwd"),
            create(tmp_path),
        ]
        for journal in journals:
            journal.record_prompt(user_message("x"), "x")
            journal.close()
        stamp = "2026-02-02T02-40-00"
        assert [os.path.relpath(journal.path, tmp_path) for journal in journals] == [
            f"{stamp}-0a1b2c3d.jsonl",
            f"{stamp}-0a1b2c3d-1.jsonl",
            f"{stamp}-etcpassw.jsonl",
            f"{stamp}-0a1b2c3d-2.jsonl",
        ]
        assert all(len(records(journal.path)) == 2 for journal in journals)

    @pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
    def test_only_the_owner_can_read_it(self, tmp_path: Path, umask: int) -> None:
        before = os.umask(umask)
        try:
            journal = create(tmp_path / "sessions" / "project")
            journal.record_prompt(user_message("x"), "x")
        finally:
            os.umask(before)
        journal.close()
        found = [tmp_path / "sessions", tmp_path / "sessions" / "project", Path(journal.path)]
        assert [stat.S_IMODE(path.stat().st_mode) for path in found] == [0o700, 0o700, 0o600]

    def test_it_is_locked_until_it_is_closed(self, tmp_path: Path) -> None:
        journal = create(tmp_path)
        journal.record_prompt(user_message("x"), "x")
        descriptor = os.open(journal.path, os.O_RDONLY)
        try:
            assert try_lock(descriptor) is False
            journal.close()
            assert try_lock(descriptor) is True
        finally:
            os.close(descriptor)

    def test_a_link_in_its_place_is_not_followed(self, tmp_path: Path) -> None:
        journal = create(tmp_path)
        victim = tmp_path / "victim"
        Path(journal.path).symlink_to(victim)
        journal.record_prompt(user_message("x"), "x")
        journal.close()
        assert not victim.exists()
        assert journal.path.endswith("-0a1b2c3d-1.jsonl")


class TestTitle:
    @pytest.mark.parametrize(
        ("shown", "title"),
        [
            ("look\n\t at   this\r\n", "look at this"),
            ("", "what the model got"),
            ("x" * 1000, "x" * MAX_TITLE_LENGTH),
            (f"{'x' * (MAX_TITLE_LENGTH - 9)} {KEY} y", f"{'x' * (MAX_TITLE_LENGTH - 9)} *** y"),
        ],
    )
    def test_it_is_the_first_prompt_on_one_line(self, tmp_path: Path, shown: str, title: str) -> None:
        journal = create(tmp_path, secrets=(KEY,))
        journal.record_prompt(user_message("what the model got"), shown)
        journal.record_prompt(user_message("second"), "second")
        journal.close()
        assert [record.get("title") for record in records(journal.path)] == [title, None, None]


class TestSecrets:
    def test_they_are_masked_wherever_they_stand(self, tmp_path: Path) -> None:
        journal = create(tmp_path, secrets=(KEY, "short", KEY + "-longer"))
        journal.record_prompt(user_message(f"my key is {KEY}, {KEY}-longer and short"), KEY)
        journal.record_answer(
            model_message(FunctionCall("f", {KEY: [f"a{KEY}b", {"deep": KEY}], "n": 1}, "a")), Usage(), KEY
        )
        journal.record_responses([(0, [FunctionResponse("f", {"output": f"caf\udce9 {KEY}"}, "a")])])
        journal.record(RunFinished(f"it failed with {KEY}"))
        journal.close()
        raw = Path(journal.path).read_text(encoding="utf-8")
        assert "0123456789" not in raw
        head, prompt, answer, response, ended = records(journal.path)
        call = {"name": "f", "args": {MASK: ["a***b", {"deep": MASK}], "n": 1}, "id": "a"}
        assert head["title"] == MASK
        assert prompt["message"]["parts"] == [{"text": "my key is ***, *** and short"}]
        assert answer["message"]["parts"] == [{"functionCall": call}]
        assert response["parts"][0]["functionResponse"]["response"] == {"output": "caf\udce9 ***"}
        assert ended["reason"] == "it failed with ***"

    def test_tokens_are_masked_by_their_shape(self, tmp_path: Path) -> None:
        token = "ghp_" + "a1B2" * 9
        journal = create(tmp_path)
        journal.record_prompt(user_message(f"use {token}"), f"use {token}")
        journal.record_answer(model_message(FunctionCall("f", {"token": [token]}, "a")), Usage(), "m")
        journal.record_responses([(0, [FunctionResponse("f", {"output": f"it was {token}\n"}, "a")])])
        journal.close()
        assert token not in Path(journal.path).read_text()
        head, prompt, answer, response = records(journal.path)
        assert (head["title"], prompt["shown"]) == ("use ***", "use ***")
        assert answer["message"]["parts"][0]["functionCall"]["args"] == {"token": [MASK]}
        assert response["parts"][0]["functionResponse"]["response"] == {"output": "it was ***\n"}

    def test_what_a_service_wants_back_as_it_was_keeps_any_shape(self, tmp_path: Path) -> None:
        shaped = "ghp_" + "a1B2" * 9
        message = model_message(
            Thought("hm", shaped), Opaque("vendor", {"blob": shaped}), InlineData("image/png", b"AKIA" * 40)
        )
        journal = create(tmp_path)
        journal.record_prompt(user_message("go"), "go")
        journal.record_answer(message, Usage(), "m")
        journal.close()
        descriptor = os.open(journal.path, os.O_RDONLY)
        try:
            loaded = read_journal(descriptor, session_id="")
        finally:
            os.close(descriptor)
        assert loaded is not None
        assert loaded.messages[-1].parts == message.parts

    def test_a_secret_that_is_one_of_our_own_words_spoils_no_record(self, tmp_path: Path) -> None:
        journal = create(tmp_path, secrets=("response", "functionResponse", "compressed"))
        journal.record_prompt(user_message("response"), "response compressed")
        journal.record_responses([(0, [FunctionResponse("f", {"output": "a response"}, "a")])])
        journal.close()
        written = [(record["kind"], record.get("parts")) for record in records(journal.path)]
        response = {"functionResponse": {"name": "f", "response": {"output": "a ***"}, "id": "a"}}
        assert written == [("session", None), ("prompt", None), ("response", [response])]


class TestFailure:
    def test_a_directory_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        journal = create(tmp_path / "file" / "sessions")
        assert journal.failure is None
        journal.record_prompt(user_message("x"), "x")
        journal.record_answer(model_message("x"), Usage(), "fast")
        where = tmp_path / "file" / "sessions" / "2026-02-02T02-40-00-0a1b2c3d.jsonl"
        assert journal.failure == f"Stopped saving this session to {where}: Not a directory."
        assert os.listdir(tmp_path) == ["file"]

    def test_what_json_cannot_hold(self, tmp_path: Path) -> None:
        journal = create(tmp_path)
        journal.record_prompt(user_message("x"), "x")
        before = records(journal.path)
        journal.record_answer(model_message(FunctionCall("f", {"x": object()}, "a")), Usage(), "fast")
        journal.record_prompt(user_message("y"), "y")
        journal.close()
        assert records(journal.path) == before
        reason = "A record cannot be written as JSON: a object is no JSON value"
        assert journal.failure == f"Stopped saving this session to {journal.path}: {reason}."

    LIMITED = """
import json, os, resource, sys
from tejat.core.messages.history import user_message
from tejat.core.text.secret_mask import MASK
from tejat.engine.sessions.journal import SessionJournal

place, mount = sys.argv[1:]
if mount:
    import subprocess
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], check=True)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
journal = SessionJournal.create(place, session_id="a", root="/", model="m")
done = 0
while journal.failure is None and done < 1000:
    journal.record_prompt(user_message("x" * 3000), "x")
    done += 1
journal.record_prompt(user_message("later"), "later")
journal.close()
with open(journal.path, "rb") as file:
    lines = file.read().splitlines(keepends=True)
kinds = [json.loads(line)["kind"] for line in lines if line.endswith(b"\\n")]
print(json.dumps([done, len(lines), kinds.count("prompt"), journal.failure.rpartition(": ")[2]]))
nothing = SessionJournal.create(place, session_id="b", root="/", model="m")
nothing.record_prompt(user_message("x" * 60_000), "x")
print(json.dumps([nothing.failure.rpartition(": ")[2], len(os.listdir(place))]))
"""

    def test_a_file_that_may_not_grow(self, tmp_path: Path) -> None:
        ended = run(self.LIMITED, str(tmp_path), "")
        assert (ended.returncode, ended.stderr) == (0, "")
        # The first record that did not fit is gone altogether, and a file in which nothing is would be in the way.
        assert ended.stdout.splitlines() == ['[17, 17, 16, "File too large."]', '["File too large.", 1]']

    def test_a_full_disk(self, tmp_path: Path) -> None:
        unshare = shutil.which("unshare")
        if unshare is None or subprocess.run([unshare, "-rm", "true"], capture_output=True, check=False).returncode:
            pytest.skip("no file system can be mounted here")
        ended = subprocess.run(
            [unshare, "-rm", sys.executable, "-c", self.LIMITED, str(tmp_path), "mount"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        first, second = map(json.loads, ended.stdout.splitlines())
        assert first[1:] == [first[0], first[0] - 1, "No space left on device."]
        assert first[0] > 10
        assert second == ["No space left on device.", 1]


# One process that forks a writer, kills it at a random moment and looks, again and again. Every second writer takes up
# what the last one left. A byte in the pipe is the acknowledgement of one record.
KILLS = """
import json, os, random, select, signal, sys, time
from tejat.core.messages.history import model_message, history_problem, user_message
from tejat.core.model import Usage
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.engine.sessions.session_store import SessionStore

state, rounds = sys.argv[1], int(sys.argv[2])

def write(files, number, is_new, acknowledge):
    if is_new or not files.list_sessions():
        journal = files.create(session_id=f"session-{number}", model="m")
    else:
        journal, _ = files.resume(files.find("latest"))
    for step in range(100_000):
        call_id = f"{number}-{step}"
        journal.record_prompt(user_message(f"prompt {call_id}"), "x" * random.randrange(5000))
        acknowledge()
        journal.record_answer(model_message("yes", FunctionCall("f", {}, call_id)), Usage(output=1), "m")
        acknowledge()
        journal.record_responses([(0, [FunctionResponse("f", {"output": "y" * random.randrange(5000)}, call_id)])])
        acknowledge()

lost = []
illegal = 0
known = {}
torn = set()
for number in range(rounds):
    reading, writing = os.pipe()
    writer = os.fork()
    if writer == 0:
        os.close(reading)
        try:
            write(SessionStore(state, state), number, number % 2 == 0, lambda: os.write(writing, b"."))
        finally:
            os._exit(1)
    os.close(writing)
    if number % 4:  # however busy the machine is, most are killed after they have written something
        select.select([reading], [], [], 5)
    time.sleep(random.uniform(0, 0.015))
    os.kill(writer, signal.SIGKILL)
    acknowledged = 0
    while block := os.read(reading, 65536):
        acknowledged += len(block)
    os.close(reading)
    assert os.waitpid(writer, 0)[1] == signal.SIGKILL
    files = SessionStore(state, state)
    entries = files.list_sessions()
    if not entries:
        assert acknowledged == 0
        continue
    entry = entries[-1]
    with open(entry.path, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    # The kernel may cut a write short when it kills; whoever goes on ends that line first.
    torn.update(line for line in lines[-1:] if not line.endswith(b"\\n"))
    whole = [line for line in lines if line.endswith(b"\\n") and line[:-1] not in torn]
    kinds = [json.loads(line)["kind"] for line in whole]
    count = sum(kind in ("prompt", "answer", "response") for kind in kinds)
    before = known.get(entry.path, 0)
    if not before + acknowledged <= count <= before + acknowledged + 1:
        lost.append([number, before, acknowledged, count])
    known[entry.path] = count
    journal, loaded = files.resume(entry)
    journal.close()
    illegal += history_problem(loaded.messages) is not None
    assert loaded.usage.output == kinds.count("answer")
print(json.dumps({"lost": lost, "illegal": illegal, "records": sum(known.values()) > rounds / 2}))
"""


class TestKills:
    def test_nothing_that_was_acknowledged_is_lost(self, tmp_path: Path) -> None:
        ended = run(KILLS, str(tmp_path), "200")
        assert (ended.returncode, ended.stderr) == (0, "")
        assert json.loads(ended.stdout) == {"lost": [], "illegal": 0, "records": True}

    WRITER = """
import sys
from tejat.core.messages.history import user_message
from tejat.core.text.secret_mask import MASK
from tejat.engine.sessions.journal import SessionJournal

directory, name = sys.argv[1:]
journal = SessionJournal.create(directory, session_id=name, root="/", model="m", now=lambda: 0)
for number in range(300):
    journal.record_prompt(user_message(f"{name} {number}"), "")
journal.close()
sys.exit(journal.failure)
"""

    def test_three_writers_at_once(self, tmp_path: Path) -> None:
        names = ["same", "same", "other"]
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", self.WRITER, str(tmp_path), name],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in names
        ]
        assert [writer.communicate(timeout=60)[1] for writer in writers] == ["", "", ""]
        files = sorted(tmp_path.iterdir())
        stamp = "1970-01-01T00-00-00"
        assert [file.name for file in files] == [f"{stamp}-other.jsonl", f"{stamp}-same-1.jsonl", f"{stamp}-same.jsonl"]
        for file, name in zip(files, sorted(names), strict=True):
            texts = [record["message"]["parts"][0]["text"] for record in records(str(file))[1:]]
            assert texts == [f"{name} {number}" for number in range(300)]
