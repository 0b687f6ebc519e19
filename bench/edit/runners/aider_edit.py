"""Runs edits through aider's search and replace blocks, with aider's own Python.

Reads lines of {file_path, old_string, new_string} and writes lines of {error, said}.
"""

import importlib
import json
import sys
from typing import Any


def main() -> None:
    replace: Any = importlib.import_module("aider.coders.editblock_coder").do_replace
    io: Any = importlib.import_module("aider.io").InputOutput(pretty=False, yes=True, fancy_input=False)
    io.tool_error = _say_nothing
    for line in sys.stdin:
        given = json.loads(line)
        path = given["file_path"]
        content = io.read_text(path)
        changed = None
        if content is not None:
            # Blocks are whole lines.
            old, new = (text if text.endswith("\n") or not text else f"{text}\n" for text in _texts(given))
            changed = replace(path, content, old, new, ("```", "```"))
        if changed:
            io.write_text(path, changed)
        said = "written" if changed else "failed to match"
        sys.stdout.write(json.dumps({"error": not changed, "said": said}) + "\n")


def _say_nothing(*_: object) -> None:
    """Files that cannot be read are reported in the answers."""


def _texts(given: dict[str, str]) -> tuple[str, str]:
    return given["old_string"], given["new_string"]


if __name__ == "__main__":
    main()
