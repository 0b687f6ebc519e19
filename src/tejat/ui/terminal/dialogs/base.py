"""A question on the screen: what it looks like and what keys do to it. It knows no terminal."""

from typing import Generic, Protocol, TypeVar

from rich.console import RenderableType

from tejat.core.frozen import frozen

Result_co = TypeVar("Result_co", covariant=True)


@frozen
class DialogResult(Generic[Result_co]):
    """The dialog is over, with this."""

    result: Result_co


class Dialog(Protocol[Result_co]):
    """Takes all keys while it is open. What was typed in the editor stays there."""

    def view(self, *, width: int, height: int) -> RenderableType:
        """What to draw, in at most so many rows. Asked again after every key and when the terminal changes its size."""
        ...

    def press(self, key: str) -> DialogResult[Result_co] | None:
        """A key: `enter`, `escape`, `c-c`, `up`, `down`, `left`, `right`, `pageup`, `pagedown`, `home`, `end`, `tab`,
        `s-tab`, `backspace`, `delete`, or the character that was typed; a paste comes character by character
        between `paste` and `paste-end`.

        None as long as there is no result. `escape` and `c-c` must lead to one.
        """
        ...
