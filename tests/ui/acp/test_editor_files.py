"""The files of a client: a real process that answers, refuses, is silent or ends."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.editor import EditorProcess, write_old
from support.wait import wait_until
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.types import JsonObject
from tejat.ui.acp.client import ClientCapabilities
from tejat.ui.acp.editor_files import ClientFiles
from tejat.ui.jsonrpc.peer import PeerError
from tejat.workspace.threads.stop import StopRequested, StopToken, never_stop


def failure(work: Callable[[], object]) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        work()
    return caught.value


class TestRead:
    def test_text(self, tmp_path: Path) -> None:
        file = write_old(tmp_path / "f", b"a\r\n")
        with EditorProcess(tmp_path) as editor:
            assert editor.files.read(str(file), never_stop) == "a\n"
            editor.type(file, "日本")
            assert editor.files.read(str(file), never_stop) == "日本"
            assert editor.log()[0] == {"method": "fs/read_text_file", "sessionId": "s1", "path": str(file)}

    @pytest.mark.parametrize("answer", ["error", "garbage"])
    def test_answers_that_are_no_text(self, tmp_path: Path, answer: str) -> None:
        with EditorProcess(tmp_path, read=answer) as editor:
            assert editor.files.read(str(tmp_path / "f"), never_stop) is None

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path) as editor:
            assert editor.files.read(str(tmp_path / "none"), never_stop) is None

    def test_no_answer(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, seconds=0.2, read="silent") as editor:
            path = str(tmp_path / "f")
            error = failure(lambda: editor.files.read(path, never_stop))
            message = f"The editor did not answer, so this file could not be read: {path}"
            assert (error.message, error.error_type) == (message, ErrorType.READ_CONTENT_FAILURE)
            assert len(editor.log("$/cancel_request")) == 1

    def test_after_no_answer_the_others_do_not_wait(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, seconds=0.5, read="silent") as editor:
            began = time.monotonic()
            for _ in range(50):
                failure(lambda: editor.files.read(str(tmp_path / "f"), never_stop))
            failure(lambda: editor.files.write(str(tmp_path / "f"), "x", never_stop))
            assert time.monotonic() - began < 10
            assert len(editor.log()) == 1

    def test_it_is_asked_again_later(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tejat.ui.acp.editor_files._PAUSE_SECONDS", 0.1)
        file = write_old(tmp_path / "f", b"x")
        with EditorProcess(tmp_path, seconds=0.3, read="silent") as editor:
            failure(lambda: editor.files.read(str(file), never_stop))
            editor.set(read="")
            time.sleep(0.2)
            assert editor.files.read(str(file), never_stop) == "x"

    def test_an_editor_that_ends(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, read="exit") as editor:
            for _ in range(2):
                assert failure(lambda: editor.files.read("/f", never_stop)).error_type is ErrorType.READ_CONTENT_FAILURE

    def test_a_stop(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, read="silent") as editor, ThreadPoolExecutor(1) as pool:
            stop = StopToken()
            reading = pool.submit(editor.files.read, str(tmp_path / "f"), stop)
            wait_until(lambda: len(editor.log()) == 1)
            stop.request_stop()
            with pytest.raises(StopRequested):
                reading.result(5)
            wait_until(lambda: len(editor.log("$/cancel_request")) == 1)

    def test_many_at_once(self, tmp_path: Path) -> None:
        files = [write_old(tmp_path / str(number), str(number).encode()) for number in range(200)]
        with EditorProcess(tmp_path) as editor, ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda file: editor.files.read(str(file), never_stop), files))
            assert found == [file.name for file in files]


class TestWrite:
    def test_it_is_saved(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path) as editor:
            editor.files.write(str(tmp_path / "new"), "é\n", never_stop)
            assert (tmp_path / "new").read_bytes() == "é\n".encode()
            sent = {"method": "fs/write_text_file", "sessionId": "s1", "path": f"{tmp_path}/new", "content": "é\n"}
            assert editor.log() == [sent]

    def test_a_refusal(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, write="error") as editor:
            error = failure(lambda: editor.files.write(str(tmp_path / "f"), "x", never_stop))
            message = f"The editor refused to write {tmp_path}/f: the user said no"
            assert (error.message, error.error_type) == (message, ErrorType.FILE_WRITE_FAILURE)

    @pytest.mark.parametrize("answer", ["silent", "exit"])
    def test_no_answer(self, tmp_path: Path, answer: str) -> None:
        with EditorProcess(tmp_path, seconds=0.2, write=answer) as editor:
            error = failure(lambda: editor.files.write(str(tmp_path / "f"), "x", never_stop))
            assert error.message == (
                f"The editor did not answer in time. It may still write {tmp_path}/f: read the file before you change "
                "it again."
            )

    def test_a_stop_waits_a_moment_for_what_was_sent(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, delay=0.3) as editor, ThreadPoolExecutor(1) as pool:
            stop = StopToken()
            writing = pool.submit(editor.files.write, str(tmp_path / "f"), "x", stop)
            time.sleep(0.1)
            stop.request_stop()
            with pytest.raises(StopRequested):
                writing.result(5)
            assert (tmp_path / "f").read_text() == "x"

    def test_a_stop_does_not_wait_for_ever(self, tmp_path: Path) -> None:
        with EditorProcess(tmp_path, write="silent") as editor:
            stop = StopToken()
            threading.Timer(0.1, stop.request_stop).start()
            began = time.monotonic()
            with pytest.raises(StopRequested):
                editor.files.write(str(tmp_path / "f"), "x", stop)
            assert time.monotonic() - began < 5

    def test_eight_megabytes_that_are_six_times_as_long_in_json(self, tmp_path: Path) -> None:
        text = "\x01" * (8 << 20)
        with EditorProcess(tmp_path) as editor:
            editor.files.write(str(tmp_path / "f"), text, never_stop)
            assert editor.files.read(str(tmp_path / "f"), never_stop) == text


def test_what_the_client_can_do(tmp_path: Path) -> None:
    with EditorProcess(tmp_path, reads=False) as editor:
        assert (editor.files.can_read, editor.files.can_write) == (False, True)
        editor.connection.capabilities = ClientCapabilities(reads_files=True)
        assert (editor.files.can_read, editor.files.can_write) == (True, False)


def test_the_directories_of_the_session(tmp_path: Path) -> None:
    with EditorProcess(tmp_path / "a" / ".." / "b", tmp_path / "c") as editor:
        found = [editor.files.covers(f"{tmp_path}/{path}") for path in ("b/f", "c/d/f", "a/f", "bc/f")]
        assert found == [True, True, False, False]


class _Client:
    """A client without a connection."""

    capabilities = ClientCapabilities(reads_files=True)

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        raise PeerError(f"{method} {params}", -32603)

    def notify(self, method: str, params: JsonObject) -> None:
        raise AssertionError(method, params)


def test_the_event_loop_is_never_blocked() -> None:
    async def read() -> None:
        ClientFiles(_Client(), "s", ["/"]).read("/f", never_stop)

    with pytest.raises(RuntimeError, match="event loop"):
        asyncio.run(read())


def test_a_loop_that_has_ended() -> None:
    async def open_files() -> ClientFiles:
        return ClientFiles(_Client(), "s", ["/"])

    files = asyncio.run(open_files())
    assert failure(lambda: files.read("/f", never_stop)).error_type is ErrorType.READ_CONTENT_FAILURE
