"""What comes of a dialog."""

import asyncio

import pytest
from rich.console import RenderableType

from tejat.ui.terminal.dialogs.base import DialogResult
from tejat.ui.terminal.dialogs.open_dialog import OpenDialog


class Letters:
    """Comes to the first letter of some; other keys are counted, and one breaks it."""

    def __init__(self, *deciding: str) -> None:
        self._deciding = deciding
        self.pressed: list[str] = []

    def view(self, *, width: int, height: int) -> RenderableType:
        return ""

    def press(self, key: str) -> DialogResult[str] | None:
        self.pressed.append(key)
        if key == "!":
            raise ValueError(key)
        return DialogResult(key) if key in self._deciding else None


def test_the_first_decision_counts_and_later_keys_are_for_nobody() -> None:
    async def main() -> None:
        dialog = Letters("y", "n")
        opened = OpenDialog(dialog)
        for key in "ayn":
            opened.press(key)
        assert await opened.answer == "y"
        assert dialog.pressed == ["a", "y"]

    asyncio.run(main())


def test_whoever_asked_is_told_of_a_broken_dialog() -> None:
    async def main() -> None:
        opened = OpenDialog(Letters())
        opened.press("!")
        with pytest.raises(ValueError, match="!"):
            await opened.answer

    asyncio.run(main())


def test_when_nobody_is_there_the_answer_is_that_of_somebody_who_leaves() -> None:
    async def main() -> None:
        opened = OpenDialog(Letters("escape"))
        opened.abandon()
        assert await opened.answer == "escape"
        stubborn = OpenDialog(Letters())
        stubborn.abandon()
        with pytest.raises(EOFError):
            await stubborn.answer

    asyncio.run(main())
