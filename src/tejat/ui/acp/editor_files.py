"""The files of the client: unsaved text of its buffers, and writes that it saves."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, wait

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_summary
from tejat.core.text.paths import is_beneath_any
from tejat.ui.acp.client import AcpClient
from tejat.ui.jsonrpc.peer import PeerError

_READ_SECONDS = 20.0
_WRITE_SECONDS = 60.0
"""The editor may ask its user something, or format the file."""
_STOP_SECONDS = 1.0
"""How long the answer to a write is awaited after a stop: undo needs the file as the editor leaves it."""
_PAUSE_SECONDS = 10.0
"""How long an editor that did not answer in time is not asked again: other files would wait for it one by one."""
_POLL_SECONDS = 0.05


class ClientFiles:
    """Implements `EditorBuffers` for one session of a client. Created in the event loop of its connection.

    `directories` are those that the client opened the session in; it is not asked about files elsewhere.
    """

    def __init__(
        self,
        client: AcpClient,
        session_id: str,
        directories: Sequence[str],
        *,
        read_seconds: float = _READ_SECONDS,
        write_seconds: float = _WRITE_SECONDS,
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._directories = tuple(map(os.path.abspath, directories))
        self._loop = asyncio.get_running_loop()
        self._read_seconds = read_seconds
        self._write_seconds = write_seconds
        self._paused_until = 0.0

    @property
    def can_read(self) -> bool:
        return self._client.capabilities.reads_files

    @property
    def can_write(self) -> bool:
        return self._client.capabilities.writes_files

    def covers(self, path: str) -> bool:
        """See `EditorBuffers.covers`."""
        return is_beneath_any(path, self._directories)

    def read(self, path: str, stop: Callable[[], None]) -> str | None:
        """See `EditorBuffers.read`."""
        try:
            result = self._request("fs/read_text_file", {"path": path}, self._read_seconds, stop)
        except _NoAnswer as error:
            message = lazy("The editor did not answer, so this file could not be read: {path}", path=path)
            raise ToolFailure(message, ErrorType.READ_CONTENT_FAILURE) from error
        except PeerError:
            return None
        content = result.get("content")
        return content if isinstance(content, str) else None

    def write(self, path: str, text: str, stop: Callable[[], None]) -> None:
        """See `EditorBuffers.write`."""
        params: JsonObject = {"path": path, "content": text}
        try:
            self._request("fs/write_text_file", params, self._write_seconds, stop, grace=_STOP_SECONDS)
        except _NoAnswer as error:
            message = (
                lazy(
                    "The editor did not answer in time. It may still write {path}: read the file before you change it "
                    "again.",
                    path=path,
                )
                if error.was_sent
                else lazy("The editor does not answer, so this file was not written: {path}", path=path)
            )
            raise ToolFailure(message, ErrorType.FILE_WRITE_FAILURE) from error
        except PeerError as error:
            reason = sanitize_summary(str(error))
            message = lazy("The editor refused to write {path}: {reason}", path=path, reason=reason)
            raise ToolFailure(message, ErrorType.FILE_WRITE_FAILURE) from error

    def _request(
        self, method: str, params: JsonObject, seconds: float, stop: Callable[[], None], *, grace: float = 0.0
    ) -> JsonObject:
        """Send a request from a worker thread and wait for the result. Raises PeerError, _NoAnswer."""
        if _runs_here(self._loop):
            raise RuntimeError("The editor cannot be awaited in the thread of its event loop.")
        if time.monotonic() < self._paused_until:
            raise _NoAnswer(was_sent=False)
        request = self._client.request(method, {"sessionId": self._session_id, **params})
        try:
            answer = asyncio.run_coroutine_threadsafe(request, self._loop)
        except RuntimeError as error:  # the loop is closed
            request.close()
            raise _NoAnswer(was_sent=False) from error
        try:
            return self._wait(answer, time.monotonic() + seconds, stop, grace)
        except CancelledError as error:
            raise _NoAnswer from error
        except PeerError as error:
            if error.code == 0:
                raise _NoAnswer from error
            raise
        finally:
            answer.cancel()

    def _wait(
        self, answer: "Future[JsonObject]", deadline: float, stop: Callable[[], None], grace: float
    ) -> JsonObject:
        while not wait((answer,), timeout=_POLL_SECONDS).done:
            try:
                stop()
            except BaseException:
                wait((answer,), timeout=grace)
                raise
            if time.monotonic() > deadline:
                self._paused_until = time.monotonic() + _PAUSE_SECONDS
                raise _NoAnswer
        return answer.result()


class _NoAnswer(Exception):
    """The client did not answer in time, or its connection ended."""

    def __init__(self, *, was_sent: bool = True) -> None:
        super().__init__()
        self.was_sent = was_sent


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
