"""Earlier parts of a conversation for tools."""

import pytest

from tejat.core.errors import ToolFailure
from tejat.core.tools.recall import EarlierParts, RecalledPart, RecallQuery


def test_without_a_conversation_there_is_nothing() -> None:
    earlier = EarlierParts()
    assert not earlier.exist()
    with pytest.raises(ToolFailure, match="There is no conversation to recall from"):
        earlier(RecallQuery("x"))


def test_a_session_fills_it_in() -> None:
    earlier = EarlierParts()
    earlier.fetch = lambda query: RecalledPart(f"found {query.text}", 1)
    assert earlier(RecallQuery("x")) == RecalledPart("found x", 1)
