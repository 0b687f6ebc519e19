"""The program that matches lines speaks a small protocol and runs without the rest of the package."""

import subprocess
import sys

import pytest

from tejat.workspace.search import regex_worker


def answers(*messages: str) -> list[int]:
    spoken = b"".join(
        regex_worker.SIZE.pack(len(raw)) + raw for raw in (text.encode("utf-8", "surrogatepass") for text in messages)
    )
    command = [sys.executable, "-I", "-S", regex_worker.__file__]
    said = subprocess.run(command, input=spoken, capture_output=True, check=True).stdout
    return [index for (index,) in regex_worker.INDEX.iter_unpack(said)]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), []),
        (("a",), [0]),
        (("a", "a", "b", "", "ba"), [0, 0, -1, -1, 1]),
        (("(", "a"), [-1]),
        (("(?<=a*)b",), [-1]),
        (("^\udcff$", "\udcff"), [0, 0]),
    ],
)
def test_answers(messages: tuple[str, ...], expected: list[int]) -> None:
    assert answers(*messages) == expected
