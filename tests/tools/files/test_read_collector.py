"""The answer of `read_many_files` stays within its limits."""

import pytest

from tejat.core.messages.types import InlineData
from tejat.tools.files import read_collector
from tejat.tools.files.content import FileContent
from tejat.tools.files.read_collector import END_NOTE, NO_FILES_READ, ReadCollector
from tejat.workspace.files.media.file_type import FileKind


def text(content: str) -> FileContent:
    return FileContent(content, "", FileKind.TEXT)


def test_nothing_read() -> None:
    assert ReadCollector("/w").result().llm_content == [NO_FILES_READ]


def test_text_fills_it_with_its_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_collector, "MAX_CHARACTERS", 30)
    collector = ReadCollector("/w")
    collector.add("a", text(""))
    assert not collector.is_full
    collector.add("b", text("x" * 20))
    assert collector.is_full
    content = collector.result().llm_content
    assert isinstance(content, list)
    assert content[0] == "--- a ---\n\n\n\n"
    assert str(content[1]).count("x") == 17
    assert content[-1] == END_NOTE


def test_media_fill_it_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_collector, "MAX_MEDIA_BYTES", 10)
    collector = ReadCollector("/w")
    picture = InlineData("image/png", b"x" * 6)
    for is_full in (False, True):
        collector.add("a.png", FileContent(picture, "", FileKind.IMAGE))
        assert collector.is_full is is_full


def test_files_that_were_left_out_are_told() -> None:
    collector = ReadCollector("/w")
    collector.add("a", text("A"))
    collector.left_out = 5
    result = collector.result()
    assert isinstance(result.llm_content, list)
    assert str(result.llm_content[1]).startswith("[WARNING: 5 more file(s) were not read")
    assert str(result.return_display).endswith("- `5 file(s)` (Reason: the limit for one answer is reached)")
