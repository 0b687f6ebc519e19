"""From bytes to what is told: encodings, binary, both ends of long streams with exact numbers."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.processes.bounded_buffer import BoundedBuffer
from tejat.workspace.processes.shell_output import HEAD_BYTES, TAIL_BYTES, format_output, format_size

WHERE = "/state/outputs/x.stdout"


def kept(*pieces: bytes, spool: Path | None = None, spool_limit: int = 1 << 30) -> BoundedBuffer:
    open_file = None if spool is None else (lambda: spool.open("wb", buffering=0))
    bounded = BoundedBuffer(head=HEAD_BYTES, tail=TAIL_BYTES, spool=open_file, spool_limit=spool_limit)
    for piece in pieces:
        bounded.add(piece)
    bounded.close()
    return bounded


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        ("naïve 日本 😀\n".encode(), "naïve 日本 😀\n"),
        (b"\xef\xbb\xbfmark", "\ufeffmark"),
        (b"cut \xe2\x82", "cut \ufffd"),
        (b"cut \xf0\x9f\x98", "cut \ufffd"),
        ("Größe, Übung, ß\n".encode("latin-1"), "Größe, Übung, ß\n"),
        ("wide\n".encode("utf-16-le"), "wide\n"),
        (b"\0\1\2\3", "[Binary output: 4 B]"),
        (b"\x7fELF\2\1\1\0\0\0" * 300, "[Binary output: 2.9 KB]"),
        (b"\x1b[1mbold\x1b[0m\r\n", "bold\n"),
        (b"x" * 5000 + b"\0late", "x" * 5000 + "late"),
    ],
)
def test_small_outputs(raw: bytes, text: str) -> None:
    assert format_output(kept(raw), None) == text


@settings(max_examples=60)
@given(st.text(max_size=300), st.integers(1, 7))
def test_however_the_bytes_arrive(text: str, size: int) -> None:
    raw = text.encode("utf-8", "replace")
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
    assert format_output(kept(*pieces), None) == format_output(kept(raw), None)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["a", "é", "日", "😀", "line\n", "x" * 500, "é" * 700]), min_size=1, max_size=30))
def test_the_numbers_are_exact(pieces: list[str]) -> None:
    text = ("".join(pieces) * 40_001)[:90_001]
    raw = text.encode()
    first_line, _, rest = format_output(kept(raw), None).partition("\n")
    found = re.fullmatch(
        r"Output too large. Showing first (\d+) and last (\d+) bytes of (\d+). "
        r"\[Note: Could not save full output to file\]",
        first_line,
    )
    assert found is not None
    head, tail, total = map(int, found.groups())
    assert total == len(raw)
    assert HEAD_BYTES * 7 // 8 - 4 <= head <= HEAD_BYTES
    assert TAIL_BYTES * 7 // 8 - 4 <= tail <= TAIL_BYTES
    gap = f"\n\n... [{total - head - tail} bytes omitted] ...\n\n"
    assert rest == raw[:head].decode().removesuffix("\n") + gap + raw[-tail:].decode()


class TestLong:
    def test_the_file_with_the_whole(self, tmp_path: Path) -> None:
        bounded = kept(b"line\n" * 20_000, spool=tmp_path / "whole")
        assert format_output(bounded, WHERE).startswith(
            f"Output too large. Showing first 8000 and last 31995 bytes of 100000. For full output see: {WHERE}\nline\n"
        )
        assert (tmp_path / "whole").read_bytes() == b"line\n" * 20_000

    def test_a_file_that_reached_its_limit(self, tmp_path: Path) -> None:
        bounded = kept(b"line\n" * 20_000, spool=tmp_path / "whole", spool_limit=50_000)
        label = format_output(bounded, WHERE).partition("\n")[0]
        assert label.endswith(f"For full output see: {WHERE} The file holds only the first 48.8 KB.")

    def test_a_file_that_could_not_be_written(self, tmp_path: Path) -> None:
        bounded = kept(b"line\n" * 20_000, spool=tmp_path / "missing" / "whole")
        label = format_output(bounded, WHERE).partition("\n")[0]
        assert label.endswith("bytes of 100000. [Note: Could not save full output to file]")

    def test_binary(self, tmp_path: Path) -> None:
        raw = bytes(range(256)) * 8192
        assert format_output(kept(raw, spool=tmp_path / "whole"), WHERE) == f"[Binary output: 2.0 MB, kept in {WHERE}]"
        assert format_output(kept(raw, spool=tmp_path / "missing" / "whole"), WHERE) == "[Binary output: 2.0 MB]"

    def test_an_old_encoding(self) -> None:
        text = format_output(kept("Größe und Übung für Straße\n".encode("latin-1") * 3000), WHERE)
        assert "\ufffd" not in text
        assert text.count("Größe und Übung für Straße\n") > 1400


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KB"),
        (1536, "1.5 KB"),
        (12_900_000, "12.3 MB"),
        (3 << 30, "3.00 GB"),
    ],
)
def test_sizes(size: int, words: str) -> None:
    assert format_size(size) == words
