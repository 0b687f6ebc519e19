"""Settings of the editor and of file completion, at the terminal."""

from support.program import text_script
from support.terminal.chat import TerminalEnv, quit_program, terminal_env, wait_for_file, write_program

__all__ = ["terminal_env"]


def test_a_new_window_of_the_editor_and_no_fuzzy_search(terminal_env: TerminalEnv) -> None:
    (terminal_env.project / "README.md").write_text("")
    programs = terminal_env.base / "bin"
    programs.mkdir()
    called = terminal_env.base / "called"
    write_program(programs / "code", f'echo "$1 $2" > {called}.new', f"mv {called}.new {called}")
    terminal_env.write_settings(
        general={"preferredEditor": "vscode", "openEditorInNewWindow": True},
        context={"fileFiltering": {"enableFuzzySearch": False}},
    )
    with terminal_env.open_chat(text_script("Hi."), PATH=f"{programs}:/usr/bin:/bin") as user:
        user.press("c-x", "c-e")
        wait_for_file(called)
        assert called.read_text() == "--new-window --wait\n"
        user.type("@eadm")
        user.wait_for("README.md", idle=True)
        user.press("c-u")
        user.wait_until_gone("README.md", idle=True)
        user.type("@rdm")
        user.wait_for("> @rdm", idle=True)
        user.press("tab")
        user.wait_idle()
        assert "README.md" not in user.text
        user.press("c-u")
        quit_program(user)
