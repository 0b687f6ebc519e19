"""Neovim as the client: the agent reads and edits the text in its buffers."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from support.acp.neovim import run_neovim
from support.program import TEJAT, ProgramEnv, script_answer
from support.source_tree import ROOT

CLIENT = Path(__file__).parent / "neovim_client.lua"
UNSAVED = "greeting = 'not saved yet'"


class Editor:
    """A project with a file that is open in the editor, with a first line that is not saved."""

    def __init__(self, base: Path) -> None:
        self.env = ProgramEnv(base)
        self.file = self.env.project / "hello.py"
        self.file.write_text("greeting = 'saved'\nprint(greeting)\n")

    def prompt(self, script: str, *, option: str = "allow_once") -> dict[str, Any]:
        """Send a prompt from Neovim and return what it saw."""
        report = self.env.base / "report.json"
        command = [*TEJAT, "acp", "-m", self.env.script(script)]
        printed = run_neovim(
            CLIENT,
            {
                **self.env.environment,
                "ACP_COMMAND": json.dumps(command),
                "ACP_PROJECT": str(self.env.project),
                "ACP_FILE": str(self.file),
                "ACP_UNSAVED": UNSAVED,
                "ACP_PROMPT": "Change it.",
                "ACP_OPTION": option,
                "ACP_REPORT": str(report),
            },
            cwd=self.env.project,
        )
        assert report.exists(), printed
        seen = json.loads(report.read_text(encoding="utf-8"))
        assert seen["reason"] == "done", seen
        return seen


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(tmp_path)


def script_of(name: str, **args: object) -> str:
    """A script that reads the file, makes one call, and ends."""
    read = script_answer(say="I read it.", calls=[("read_file", {"file_path": "${root}/hello.py"})])
    call = script_answer(say="Now I change it.", calls=[(name, args)], otherwise="Then not.")
    return f"{read}expect = {json.dumps(UNSAVED)}\n{call}{script_answer(say='Done.')}"


def test_unsaved_text_is_read_and_edited(editor: Editor) -> None:
    seen = editor.prompt(
        script_of("replace", file_path="${root}/hello.py", old_string="not saved yet", new_string="changed")
    )
    assert seen["stop_reason"] == "end_turn"
    assert seen["buffer"] == ["greeting = 'changed'", "print(greeting)"]
    assert editor.file.read_text() == "greeting = 'changed'\nprint(greeting)\n"
    assert seen["is_modified"] is False
    assert seen["writes"] == [str(editor.file)]
    (permission,) = seen["permissions"]
    (diff,) = [each for each in permission["toolCall"]["content"] if each["type"] == "diff"]
    assert diff["path"] == str(editor.file)
    assert diff["oldText"] == f"{UNSAVED}\nprint(greeting)\n"
    assert diff["newText"] == "greeting = 'changed'\nprint(greeting)\n"


def test_a_rejected_edit_leaves_buffer_and_file(editor: Editor) -> None:
    seen = editor.prompt(
        script_of("replace", file_path="${root}/hello.py", old_string="not saved yet", new_string="changed"),
        option="reject_once",
    )
    assert len(seen["permissions"]) == 1
    assert seen["buffer"] == [UNSAVED, "print(greeting)"]
    assert seen["is_modified"] is True
    assert seen["writes"] == []
    assert editor.file.read_text() == "greeting = 'saved'\nprint(greeting)\n"


def test_a_new_file_in_a_new_folder(editor: Editor) -> None:
    seen = editor.prompt(script_of("write_file", file_path="${root}/new/folder/notes.txt", content="One.\nTwo.\n"))
    assert seen["stop_reason"] == "end_turn"
    assert (editor.env.project / "new" / "folder" / "notes.txt").read_bytes() == b"One.\nTwo.\n"
    assert editor.file.read_text() == "greeting = 'saved'\nprint(greeting)\n"


def test_the_configuration_in_the_documentation_can_be_loaded(tmp_path: Path) -> None:
    """Each example runs with plugins that only note what they are given."""
    text = (ROOT / "docs" / "editors" / "neovim.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```lua\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    script = tmp_path / "load.lua"
    script.write_text("\n".join([LOADED, *(f"do\n{example}\nend" for example in examples), FINISHED]))
    report = tmp_path / "report.json"
    printed = run_neovim(script, {**os.environ, "ACP_REPORT": str(report)}, cwd=tmp_path)
    assert report.exists(), printed
    given = json.loads(report.read_text())
    assert given["codecompanion"] == ["tejat", "acp"]
    assert given["avante"] == ["tejat", "acp"]


LOADED = """
local given = {}
package.loaded["codecompanion.adapters"] = { extend = function(_, options) return options end }
package.loaded["codecompanion"] = { setup = function(options)
  local adapter = options.adapters.acp[options.interactions.chat.adapter]()
  assert(adapter.handlers.auth() == true)
  given.codecompanion = adapter.commands.default
end }
package.loaded["avante"] = { setup = function(options)
  local provider = options.acp_providers[options.provider]
  given.avante = { provider.command, unpack(provider.args) }
end }
"""
FINISHED = """
local file = assert(io.open(vim.env.ACP_REPORT, "w"))
file:write(vim.json.encode(given))
file:close()
vim.cmd("qall!")
"""
