"""Values that notebooks show, without a notebook."""

import subprocess
import sys

from tejat.core.tools.todos import Todo, TodoList


def test_html_and_markdown_are_made_on_demand() -> None:
    todos = TodoList((Todo("Read"),))
    assert "[ ] Read" in todos._repr_html_()
    assert todos._repr_markdown_() == "- [ ] Read"


def test_a_program_without_a_notebook_loads_nothing_of_it() -> None:
    work = "import sys, tejat; tejat.ToolResult('x'); print([name for name in sys.modules if 'notebook' in name])"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
