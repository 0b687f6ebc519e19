"""What a notebook offers: outputs that can be updated, and widgets if they are installed."""

import importlib.util
from typing import Any, Protocol, cast

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy


class OutputHandle(Protocol):
    """An output of a cell."""

    def update(self, content: object) -> None:
        """Replace the output."""
        ...


def show_html(markup: str) -> OutputHandle:
    """Show HTML below the running cell. Raises UsageError outside of a notebook."""
    return cast("OutputHandle", _displays().display(_displays().HTML(markup), display_id=True))


def update_html(handle: OutputHandle, markup: str) -> None:
    """Replace the HTML of an output."""
    handle.update(_displays().HTML(markup))


def show_widget(widget: object) -> None:
    """Show a widget below the running cell. Raises UsageError outside of a notebook."""
    _displays().display(widget)


def load_widgets() -> Any:
    """The module `ipywidgets`, None if it is not installed."""
    if importlib.util.find_spec("ipywidgets") is None:
        return None
    import ipywidgets

    return cast("Any", ipywidgets)


def _displays() -> Any:
    """Raises UsageError outside of a notebook."""
    if importlib.util.find_spec("IPython") is not None:
        import IPython
        import IPython.display

        if cast("Any", IPython).get_ipython() is not None:
            return cast("Any", IPython.display)
    raise UsageError(lazy("This works in a notebook only, for example in Jupyter."))
