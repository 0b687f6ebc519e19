"""The cost of the terminal UI: until the prompt, while idle, and while an answer is streamed."""

import os
import select
import subprocess
import termios
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from tests.support.model_servers.gemini import ModelServer, chunk, stream

from bench.measurement import Measurement
from bench.support import agents
from bench.support.tool_process import TEJAT

_ROUNDS = 5
_IDLE_SECONDS = 5.0
_TEXT_BYTES = 100_000
_CHUNK = 20
_PAUSE = 0.001
_TICKS = os.sysconf("SC_CLK_TCK")
PROMPT = b"/help for commands"
"""A part of the placeholder, which is drawn with the first prompt."""
_READY = b"\xe2\x9c\x93 the end"


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "terminal")
    os.makedirs(os.path.join(root, "home"))
    yield from _until_prompt(root)
    yield _idle(root)
    yield from _streaming(root)


class TerminalUser:
    """A user at the terminal of a program, who counts its output."""

    def __init__(self, controller: int, process: "subprocess.Popen[bytes]") -> None:
        self._controller = controller
        self._process = process
        self.shown = bytearray()

    def wait_for(self, text: bytes, *, start: int = 0) -> None:
        while text not in self.shown[start:]:
            assert select.select([self._controller], [], [], 60)[0], f"nothing more came after {self.shown[-500:]!r}"
            self.shown += os.read(self._controller, 65536)

    def look(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._controller], [], [], left)[0]:
                self.shown += os.read(self._controller, 65536)

    def type(self, keys: bytes) -> None:
        os.write(self._controller, keys)

    def exit_code(self) -> int:
        """Read until the program has ended."""
        with suppress(OSError):  # nobody holds the other end any more
            while piece := os.read(self._controller, 65536):
                self.shown += piece
        return self._process.wait(60)

    @property
    def processor_seconds(self) -> float:
        """The processor time of the program itself so far, user and system."""
        with open(f"/proc/{self._process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def at_terminal(command: Sequence[str], root: str, environment: Mapping[str, str]) -> Generator[TerminalUser]:
    controller, line = os.openpty()
    termios.tcsetwinsize(line, (24, 80))
    process = subprocess.Popen(
        command,
        cwd=root,
        env={**environment, "TERM": "xterm-256color"},
        stdin=line,
        stdout=line,
        stderr=line,
        start_new_session=True,
    )
    os.close(line)
    try:
        with process:
            try:
                yield TerminalUser(controller, process)
            finally:
                process.kill()
    finally:
        os.close(controller)


def _until_prompt(root: str) -> Iterator[Measurement]:
    """Measure both alternately after a warm-up round."""
    address = "http://127.0.0.1:9"
    program = agents.find_gemini()
    if program is None or agents.gemini(root, address) is None:
        return  # the second writes its settings
    trusting = {**agents.environment(root, address), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    rounds = [
        (
            _seconds_until([TEJAT], root, agents.environment(root, address), PROMPT),
            _seconds_until([program, "-m", "gemini-2.5-flash"], root, trusting, b"Type your message"),
        )
        for _ in range(_ROUNDS + 1)
    ][1:]
    ours, theirs = (min(times) for times in zip(*rounds, strict=True))
    detail = f"{ours * 1000:.0f} ms against {theirs * 1000:.0f} ms"
    yield Measurement("start until a usable prompt, over gemini-cli", ours / theirs, 0.25, "x", detail)


def _seconds_until(command: Sequence[str], root: str, environment: Mapping[str, str], text: bytes) -> float:
    start = time.perf_counter()
    with at_terminal(command, root, environment) as person:
        person.wait_for(text)
        return time.perf_counter() - start


def _idle(root: str) -> Measurement:
    with at_terminal([TEJAT], root, agents.environment(root, "http://127.0.0.1:9")) as person:
        person.wait_for(PROMPT)
        person.look(1.0)
        before, written = person.processor_seconds, len(person.shown)
        person.look(_IDLE_SECONDS)
        share = 100 * (person.processor_seconds - before) / _IDLE_SECONDS
        detail = f"{_IDLE_SECONDS:.0f} s at the prompt, {len(person.shown) - written} bytes written"
    return Measurement("processor of the waiting prompt", share, 1.0, "%", detail)


def _streaming(root: str) -> Iterator[Measurement]:
    text = markdown(_TEXT_BYTES)
    pieces = [text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]
    answer = stream(*(chunk(piece) for piece in pieces), chunk("\n\n✓ the end\n", reason="STOP"), pause=_PAUSE)
    with ModelServer([answer]) as server:
        environment = agents.environment(root, server.address)
        with at_terminal([TEJAT], root, environment) as person:
            person.wait_for(PROMPT)
            before, written = person.processor_seconds, len(person.shown)
            person.type(b"write\r")
            person.wait_for(_READY, start=written)
            person.look(0.5)
            taken = person.processor_seconds - before
            factor = (len(person.shown) - written) / len(text.encode())
    detail = f"{len(text.encode()):,} bytes of Markdown in {len(pieces):,} chunks"
    yield Measurement("processor for an answer that streams", taken, 2.0, "s", detail)
    yield Measurement("bytes written to the terminal over those of the text", factor, 3.0, "x", detail)


def markdown(size: int) -> str:
    """Generate text as models write it: headings, paragraphs, lists, tables, code."""
    pieces: list[str] = []
    while sum(map(len, pieces)) < size:
        number = len(pieces)
        pieces.append(_SECTION.format(number=number))
    return "".join(pieces)


_SECTION = """\
## Part {number}: what was found

The function `parse_{number}` reads the **whole** file before it looks at the first line, which is *slow* for large
files. It should read line by line, as [the documentation](https://example.com/{number}) says, and stop at the first
line that it does not know. Nothing else has to change.

- the reader in `reader.py` keeps everything in memory
- the writer does not, and is quick
  - except where a line is longer than the buffer
- 日本語のテキスト is handled as well

| file | lines | seconds |
| --- | ---: | --- |
| `reader.py` | {number} | 1.5 |
| `writer.py` | 120 | 0.2 |

```python
def parse_{number}(lines: Iterable[str]) -> Iterator[Entry]:
    for line in lines:
        if not line.startswith("#"):  # a comment
            yield Entry(*line.rstrip().split(maxsplit=2))
```

1. Change the reader.
2. Run the tests.

> It was quick before part {number} was added.

"""
