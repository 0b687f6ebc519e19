"""What a program does without IPython and widgets."""

import ipywidgets
import pytest

from support.notebooks import record_outputs
from tejat.core.errors import UsageError
from tejat.notebook.front_end import load_widgets, show_html, show_widget, update_html


def test_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = record_outputs(monkeypatch)
    handle = show_html("<b>one</b>")
    update_html(handle, "<b>two</b>")
    show_widget("widget")
    assert outputs.contents == ["<b>one</b>", "<b>two</b>", "widget"]


@pytest.mark.parametrize("show", [show_html, show_widget])
def test_outside_of_a_notebook(show: object) -> None:
    assert callable(show)
    with pytest.raises(UsageError, match="This works in a notebook only"):
        show("x")


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_widgets() is ipywidgets
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert load_widgets() is None
    with pytest.raises(UsageError, match="This works in a notebook only"):
        show_html("x")
