"""Prompts of words and attachments."""

import pytest

from tejat.core.messages.prompt import Attachment, Prompt, prompt_text
from tejat.core.messages.types import Text


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("see @a", "see @a"),
        (["see ", Attachment("[picture]", (Text("long"),)), " now"], "see [picture] now"),
        (["see", Attachment("@a", ()), Attachment("@b", ()), "", "now"], "see @a @b now"),
        ([Text("typed by nobody")], ""),
        ([], ""),
    ],
)
def test_a_prompt_as_the_user_sees_it(prompt: Prompt, expected: str) -> None:
    assert prompt_text(prompt) == expected
