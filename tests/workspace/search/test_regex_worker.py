"""The program that matches lines speaks a small protocol and runs without the rest of the package."""

import subprocess
import sys

import pytest

from tejat.workspace.search import regex_worker


def answers(*messages: str) -> bytes:
    spoken = b"".join(
        regex_worker.SIZE.pack(len(raw)) + raw for raw in (text.encode("utf-8", "surrogatepass") for text in messages)
    )
    command = [sys.executable, "-I", "-S", regex_worker.__file__]
    return subprocess.run(command, input=spoken, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), b""),
        (("a",), b"y"),
        (("a", "a", "b", "", "ba"), b"yynny"),
        (("(", "a"), b"n"),
        (("(?<=a*)b",), b"n"),
        (("^\udcff$", "\udcff"), b"yy"),
    ],
)
def test_answers(messages: tuple[str, ...], expected: bytes) -> None:
    assert answers(*messages) == expected
