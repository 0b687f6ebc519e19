"""An `@` in pasted text, with the setting that keeps it from naming a file."""

from support.program import script_answer
from support.terminal.chat import TerminalEnv, quit_program, terminal_env

__all__ = ["terminal_env"]


def test_a_pasted_at_sign_names_no_file(terminal_env: TerminalEnv) -> None:
    (terminal_env.project / "notes.txt").write_text("SECRET-CONTENT\n")
    terminal_env.write_settings(ui={"escapePastedAtSymbols": True})
    script = script_answer(when="mail @notes.txt now", say="Not read.") + script_answer(
        when="SECRET-CONTENT", say="Read."
    )
    with terminal_env.open_chat(script) as user:
        user.paste("mail @notes.txt now")
        user.wait_for("> mail \\@notes.txt now", idle=True)
        user.press("enter")
        user.wait_for("\nNot read.", idle=True)
        (journal,) = (terminal_env.home / ".local" / "state" / "tejat" / "sessions").rglob("*.jsonl")
        assert "SECRET-CONTENT" not in journal.read_text()
        user.type("look at @notes.txt ")
        user.press("enter")
        user.wait_for("\nRead.", idle=True)
        quit_program(user)
