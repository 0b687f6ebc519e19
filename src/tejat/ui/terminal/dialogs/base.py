"""Dialog interface, independent of the terminal."""

from typing import Generic, Protocol, TypeVar

from rich.console import RenderableType

from tejat.core.frozen import Frozen

Result_co = TypeVar("Result_co", covariant=True)


class DialogResult(Frozen, Generic[Result_co]):
    """Result that ends a dialog."""

    result: Result_co


class Dialog(Protocol[Result_co]):
    """Takes all keys while it is open. The text in the editor is kept."""

    def view(self, *, width: int, height: int) -> RenderableType:
        """Render at most `height` rows. Called after every key and resize."""
        ...

    def press(self, key: str) -> DialogResult[Result_co] | None:
        """Handle a key and return None until there is a result.

        Keys are `enter`, `escape`, `c-c`, `up`, `down`, `left`, `right`, `pageup`, `pagedown`, `home`, `end`, `tab`,
        `s-tab`, `backspace`, `delete`, or a typed character; a paste comes character by character between `paste` and
        `paste-end`. `escape` and `c-c` must lead to a result.
        """
        ...
