"""Which file a choice is written to: Gemini CLI must be able to go on with its own."""

import json
import time
from pathlib import Path

import pytest

from support.model_servers.gemini import LoopbackServer, json_reply
from support.program import ProgramEnv, text_script
from support.terminal.chat import TerminalEnv, send_prompt, terminal_env, wait_for_words

__all__ = ["terminal_env"]

USED_BY_GEMINI = (
    '{\n  // of Gemini CLI\n  "model": { "name": "gemini-2.5-pro" }, /* pro */\n  "ui": {"hideBanner": true}\n}\n'
)
WRITTEN_BEFORE = """{
  // of Gemini CLI
  "model": {
    // chosen in May
    "name": "openai:gpt-6", /* the big one */
    "maxSessionTurns": 9
  },
  "tools": {"sandbox": "required"}
}
"""


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def test_models_of_either_program(terminal_env: TerminalEnv) -> None:
    shared = terminal_env.home / ".gemini" / "settings.json"
    own = terminal_env.home / ".config" / "tejat" / "settings.json"
    shared.parent.mkdir()
    shared.write_text(USED_BY_GEMINI)
    terminal_env.environment |= {"OPENAI_API_KEY": "sk-none", "GEMINI_API_KEY": "none"}
    with terminal_env.open_chat(text_script("Hi.")) as user:
        send_prompt(user, "/model openai:gpt-6 --persist")
        wait_for_words(user, "model.name is now openai:gpt-6", idle=True)
        wait_for_words(user, "Saved in")
        assert shared.read_text() == USED_BY_GEMINI
        assert json.loads(own.read_text()) == {"model": {"name": "openai:gpt-6"}}
        send_prompt(user, "/model gemini-3.8-flash --persist")
        wait_for_words(user, "model.name is now gemini-3.8-flash", idle=True)
    assert shared.read_text() == USED_BY_GEMINI.replace("gemini-2.5-pro", "gemini-3.8-flash")
    assert json.loads(own.read_text()) == {"model": {}}


def test_a_local_model_at_the_first_start(terminal_env: TerminalEnv) -> None:
    shared = terminal_env.home / ".gemini" / "settings.json"
    shared.parent.mkdir()
    shared.write_text(USED_BY_GEMINI)
    with (
        LoopbackServer(lambda _: json_reply({"data": [{"id": "qwen3:4b"}]})) as server,
        terminal_env.open_program(OLLAMA_HOST=server.address) as user,
    ):
        for question in ("Choose a model", "from now on?"):
            wait_for_words(user, question, idle=True)
            time.sleep(0.35)  # keys count only after a moment
            user.press("1")
        user.wait_for("Ask anything.", idle=True)
    assert shared.read_text() == USED_BY_GEMINI
    own = terminal_env.home / ".config" / "tejat" / "settings.json"
    assert json.loads(own.read_text())["model"]["name"] == "ollama:qwen3:4b"


class TestFix:
    def test_moves_what_gemini_cli_cannot_use(self, machine: ProgramEnv) -> None:
        machine.user_file.parent.mkdir()
        machine.user_file.write_text(WRITTEN_BEFORE)
        checks = machine.run("doctor").stdout
        assert f"{machine.user_file}:5 model.name: Gemini CLI cannot use this. `tejat doctor --fix` moves it" in checks
        refused = machine.run("doctor", "--fix")
        assert (refused.code, refused.stderr) == (3, "tejat: No terminal to ask on. Use --yes to move them.\n")
        assert machine.user_file.read_text() == WRITTEN_BEFORE
        done = machine.run("doctor", "--fix", "--yes")
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1] == f"Moved 2 settings to {machine.own_file}."
        assert machine.user_file.read_text() == WRITTEN_BEFORE.replace(
            '\n    "name": "openai:gpt-6", ', "\n    "
        ).replace('{"sandbox": "required"}', "{}")
        assert machine.saved_settings(own=True) == {
            "tools": {"sandbox": "required"},
            "model": {"name": "openai:gpt-6"},
        }
        assert "Gemini CLI cannot use this" not in machine.run("doctor").stdout
        assert machine.run("doctor", "--fix").stdout == "Nothing to move: Gemini CLI can use all its settings.\n"

    def test_a_broken_file_stays(self, machine: ProgramEnv) -> None:
        machine.user_file.parent.mkdir()
        machine.user_file.write_text("{")
        done = machine.run("doctor", "--fix", "--yes")
        assert done.code == 52
        assert machine.user_file.read_text() == "{"
        assert not machine.own_file.exists()
