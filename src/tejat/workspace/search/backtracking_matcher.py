"""Backtracking matcher in a child process, which can be killed when a pattern takes forever."""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from tejat.workspace.helper_program import helper_environment
from tejat.workspace.search import regex_worker
from tejat.workspace.search.types import SearchEngineFailure

_POLL_MILLISECONDS = 50
_PIPE_BLOCK = 64 * 1024
_NOT_COMPILED = regex_worker.INDEX.pack(regex_worker.NO_MATCH)


class BacktrackingMatcher:
    """Line matcher that uses Python's `re` in a child process; `close` kills it."""

    def __init__(self, expression: str) -> None:
        """Start the process. Raises SearchEngineFailure if that fails."""
        if not sys.executable:
            raise SearchEngineFailure("there is no Python program to run")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", regex_worker.__file__],
                bufsize=0,
                env=helper_environment(),
                process_group=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise SearchEngineFailure(f"cannot start Python: {error}") from error
        self._expression: str | None = expression

    def find(self, lines: Sequence[bytes], stop: Callable[[], None]) -> list[int | None]:
        """Return where each line matches first, in bytes; in the lines, 0xFF stands for a byte that is not UTF-8.

        `stop` is called at least every 50 ms and may raise. Raises SearchEngineFailure when `re` cannot compile the
        expression or the process ends.
        """
        texts = [line.decode("utf-8", "surrogateescape") for line in lines]
        indices = self._search([text.encode("utf-8", "surrogatepass") for text in texts], stop)
        return [
            None if index == regex_worker.NO_MATCH else len(text[:index].encode("utf-8", "surrogateescape"))
            for text, index in zip(texts, indices, strict=True)
        ]

    def close(self) -> None:
        """Kill the process."""
        with self._process:
            with suppress(ProcessLookupError):
                self._process.kill()
            # Closing would try to flush unsent bytes.
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def _search(self, texts: Sequence[bytes], stop: Callable[[], None]) -> Sequence[int]:
        if self._expression is None:
            return self._answers(texts, stop)
        first, *indices = self._answers([self._expression.encode("utf-8", "surrogatepass"), *texts], stop)
        if first == regex_worker.NO_MATCH:
            raise SearchEngineFailure("Python's re does not take the pattern")
        self._expression = None
        return indices

    def _answers(self, texts: Sequence[bytes], stop: Callable[[], None]) -> list[int]:
        if self._process.stdin is None or self._process.stdout is None:
            raise ValueError("the pipes of the process have to be open")
        to_child, from_child = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(to_child, False)
        unsent = memoryview(b"".join(regex_worker.SIZE.pack(len(text)) + text for text in texts))
        answers = b""
        poll = select.poll()
        poll.register(from_child, select.POLLIN)
        poll.register(to_child, select.POLLOUT)
        expected = len(texts) * regex_worker.INDEX.size
        while len(answers) < expected:
            stop()
            for descriptor, _ in poll.poll(_POLL_MILLISECONDS):
                if descriptor == from_child:
                    block = os.read(from_child, _PIPE_BLOCK)
                    answers += block
                    # After an expression that does not compile, the process answers and exits.
                    if self._expression is not None and answers.startswith(_NOT_COMPILED):
                        raise SearchEngineFailure("Python's re does not take the pattern")
                    if not block:
                        raise SearchEngineFailure("the process that matches has ended")
                else:
                    unsent = _send(to_child, unsent)
                    if not unsent:
                        poll.unregister(to_child)
        return [index for (index,) in regex_worker.INDEX.iter_unpack(answers)]


def _send(descriptor: int, unsent: memoryview) -> memoryview:
    try:
        return unsent[os.write(descriptor, unsent[:_PIPE_BLOCK]) :]
    except BlockingIOError:
        return unsent
    except BrokenPipeError:
        # The answers tell whether this is a failure.
        return unsent[len(unsent) :]
