"""Read, edit and write single files, large and small."""

import os
import subprocess
from collections.abc import Iterator

from bench.measurement import Measurement, ratio, seconds
from bench.support.tool_process import ToolProcess

LINE = b"the quick brown fox jumps over the lazy dog and runs away from it all \n"
MIB = 2**20


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "files")
    os.makedirs(root)
    with ToolProcess(root) as server:
        yield from _read_small(root, server)
    with ToolProcess(root) as server:
        yield from _read_large(root, server)
    with ToolProcess(root) as server:
        yield from _replace(root, server)
    with ToolProcess(root) as server:
        yield from _write(root, server)


def _read_small(root: str, server: ToolProcess) -> Iterator[Measurement]:
    path = _make(root, "small.txt", LINE * 20)
    calls = 50
    streamed = min(seconds(lambda: server.stream(calls, "read_file", path=path)) for _ in range(40)) / calls
    single = min(seconds(lambda: server.call("read_file", path=path)) for _ in range(1000))
    detail = f"{1 / streamed:.0f} calls a second; {single * 1000:.2f} ms when each waits for the answer before it"
    yield Measurement("read_file of a small file, warm, in a stream", streamed * 1000, 0.3, "ms", detail)


def _read_large(root: str, server: ToolProcess) -> Iterator[Measurement]:
    lines = 1024 * MIB // len(LINE)
    path = os.path.join(root, "large.txt")
    with open(path, "xb") as file:
        for _ in range(64):
            file.write(LINE * (lines // 64))
    server.call("read_file", path=_make(root, "idle.txt", LINE))
    idle = server.memory()
    yield ratio(
        "read_file of 100 lines in the middle of 1 GB, over cat",
        1.2,
        lambda: server.call("read_file", path=path, offset=lines // 2, limit=100),
        lambda: subprocess.run(["cat", path], check=True, stdout=subprocess.DEVNULL),
        rounds=7,
    )
    grown = (server.peak_memory() - idle) / MIB
    yield Measurement("... memory over idle", grown, 40, "MB", f"idle {idle / MIB:.0f} MB")
    os.unlink(path)


def _replace(root: str, server: ToolProcess) -> Iterator[Measurement]:
    block = LINE * (25 * MIB // len(LINE))
    content = block + b"the place to change\n" + block
    path = _make(root, "edited.txt", content)
    turn = [b"the place to change", b"the place was changed"]

    def ours() -> None:
        old, new = turn
        turn.reverse()
        server.call("replace", file_path=path, old_string=old.decode(), new_string=new.decode())

    other = _make(root, "baseline.txt", content)

    def baseline() -> None:
        with open(other, "rb") as file:
            changed = file.read().replace(b"the place to change", b"the place was changed")
        with open(f"{other}.new", "wb") as file:
            file.write(changed)
            file.flush()
            os.fsync(file.fileno())
        os.rename(f"{other}.new", other)

    yield ratio(
        "replace in a 50 MB file, over read, bytes.replace and an fsynced rename", 4.0, ours, baseline, rounds=5
    )
    share = server.peak_memory() / len(content)
    yield Measurement(
        "... memory over the size of the file", share, 5, "x", f"peak {server.peak_memory() / MIB:.0f} MB"
    )


def _write(root: str, server: ToolProcess) -> Iterator[Measurement]:
    old = [f"line number {number} of the old file\n" for number in range(32_000)]
    every_tenth = [f"another {line}" if number % 10 == 0 else line for number, line in enumerate(old)]
    all_of_them = [f"another line {number}, new in this file\n" for number in range(28_000)]
    cases = {
        "every line changed": ("".join(old), "".join(all_of_them)),
        "every tenth line changed": ("".join(old), "".join(every_tenth)),
        "one single line": ("x" * MIB, "y" * MIB),
        "lines in reverse order": ("".join(old), "".join(reversed(old))),
    }
    for number, (name, (before, after)) in enumerate(cases.items()):
        path = _make(root, f"written{number}.txt", before.encode())
        spent = seconds(lambda path=path, after=after: server.call("write_file", file_path=path, content=after))
        yield Measurement(f"write_file over 1 MB, {name}", spent, 0.3, "s", "diff included")
        os.unlink(path)


def _make(root: str, name: str, content: bytes) -> str:
    path = os.path.join(root, name)
    with open(path, "xb") as file:
        file.write(content)
    return path
