"""The first start: nothing of a folder counts before somebody trusts it, and a model is found with few words."""

import json
import stat
import time

import pytest

from support.external_tools import hostile_server
from support.model_servers.gemini import (
    LoopbackServer,
    ModelServer,
    Received,
    Reply,
    error_reply,
    json_reply,
    text_reply,
)
from support.program import text_script
from support.terminal.chat import (
    NARROW,
    WIDE,
    TerminalEnv,
    TerminalSetting,
    both_settings,
    check_no_strange_output,
    is_shown,
    quit_program,
    send_prompt,
    terminal_env,
    wait_for_words,
)
from support.terminal.screen import ScreenUser

__all__ = ["terminal_env"]

KEY = "AIzaSySECRETSECRETSECRET1234567890abcde"
NOWHERE = "127.0.0.1:9"


def choose(user: ScreenUser, question: str, key: str) -> None:
    """Wait for this question, and so long that keys count; then press this one."""
    wait_for_words(user, question, idle=True)
    time.sleep(0.35)
    user.press(key)


class TestTrust:
    @pytest.mark.parametrize(
        ("key", "setting", "counts"),
        [("1", WIDE, True), ("2", NARROW, True), ("3", WIDE, False)],
        ids=["folder", "parent", "no"],
    )
    def test_it_is_asked_before_anything_counts(
        self, terminal_env: TerminalEnv, key: str, setting: TerminalSetting, counts: bool
    ) -> None:
        started = terminal_env.base / "started"
        settings = {"mcpServers": {"theirs": {"command": "/bin/sh", "args": ["-c", f"touch {started}; sleep 60"]}}}
        (terminal_env.project / ".gemini").mkdir()
        (terminal_env.project / ".gemini" / "settings.json").write_text(json.dumps(settings))
        (terminal_env.project / "GEMINI.md").write_text("Be \x1b[2Jquiet.\n")
        with terminal_env.open_chat(text_script("Hi."), setting=setting, ready=None) as user:
            wait_for_words(user, "Do you trust this folder?", idle=True)
            assert is_shown(user, ".gemini/settings.json")
            time.sleep(0.35)
            assert not started.exists()
            user.press(key)
            user.wait_for("Ask anything.", idle=True)
            if counts:
                user.wait_until(lambda _: started.exists(), wanted="the server of the folder")
            else:
                send_prompt(user, "hello")
                user.wait_for("\nHi.", idle=True)
                assert not started.exists()
            assert check_no_strange_output(user.screen)
        with terminal_env.open_chat(text_script("Hi."), setting=setting, ready=None) as user:
            user.wait_until(
                lambda screen: any(w in screen.text() for w in ("Ask anything", "Do you trust")), wanted="it"
            )
            assert not is_shown(user, "Do you trust")

    def test_leaving(self, terminal_env: TerminalEnv) -> None:
        (terminal_env.project / "GEMINI.md").write_text("Be quiet.\n")
        with terminal_env.open_chat(text_script("Hi."), ready=None) as user:
            choose(user, "Do you trust this folder?", "escape")
            assert user.wait_for_exit() == 0
            assert user.modes_are_restored()

    def test_servers_of_the_person_need_it(self, terminal_env: TerminalEnv) -> None:
        terminal_env.write_settings(mcpServers={"mine": hostile_server()})
        with terminal_env.open_chat(text_script("Hi."), ready=None) as user:
            wait_for_words(user, "Your MCP servers only run in folders that you trust: mine.")
            choose(user, "Do you trust this folder?", "1")
            user.wait_for("MCP servers 0/1")
            user.wait_until_gone("MCP servers 0/1")
            assert not is_shown(user, "failed")


class TestModel:
    @both_settings
    def test_a_key_is_masked_checked_and_kept(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        def respond(received: Received) -> Reply:
            if received.headers.get("x-goog-api-key") != KEY:
                return error_reply(400, "API key not valid.", status_name="INVALID_ARGUMENT")
            return text_reply("Hello.") if "stream" in received.target else json_reply({"models": []})

        with LoopbackServer(respond) as server:
            environment = {"GOOGLE_GEMINI_BASE_URL": server.address, "OLLAMA_HOST": NOWHERE}
            with terminal_env.open_program(setting=setting, **environment) as user:
                wait_for_words(user, "No model configured yet.")
                choose(user, "Choose a model", "1")
                choose(user, "(hidden):", "x")
                user.paste("wrong-key-xyz")
                user.wait_idle()
                user.press("enter")
                wait_for_words(user, "Gemini rejected the API key (HTTP 400).")
                time.sleep(0.35)
                user.paste(KEY)
                user.wait_for("*" * 20 if setting.is_ascii else "", idle=True)
                user.press("enter")
                choose(user, "Store the key?", "1")
                user.wait_for("Ask anything.", idle=True)
                send_prompt(user, "hello")
                user.wait_for("\nHello.", idle=True)
                assert KEY.encode() not in user.raw
                assert b"SECRET" not in user.raw
                assert b"wrong-key" not in user.raw
                quit_program(user)
        kept = terminal_env.home / ".config" / "tejat" / "keys.env"
        assert KEY in kept.read_text()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        with (
            ModelServer([text_reply("Again.")]) as server,
            terminal_env.open_chat("", GOOGLE_GEMINI_BASE_URL=server.address) as user,
        ):
            send_prompt(user, "hello")
            user.wait_for("\nAgain.", idle=True)

    @both_settings
    def test_a_model_on_this_machine_is_offered(self, terminal_env: TerminalEnv, setting: TerminalSetting) -> None:
        def respond(received: Received) -> Reply:
            if received.target.endswith("/models"):
                return json_reply({"data": [{"id": "llama3\u202e:8b"}, {"id": "qwen3:4b"}]})
            chunk = {"choices": [{"index": 0, "delta": {"content": "I am local."}, "finish_reason": "stop"}]}
            pieces = (b"data: %s\n\n" % json.dumps(chunk).encode(), b"data: [DONE]\n\n")
            return Reply(pieces, headers={"Content-Type": "text/event-stream"})

        with (
            LoopbackServer(respond) as server,
            terminal_env.open_program(setting=setting, OLLAMA_HOST=server.address) as user,
        ):
            wait_for_words(user, "Choose a model", idle=True)
            rows = user.screen.lines()
            number = next(row.replace(setting.glyphs("❯"), " ").split()[0] for row in rows if "qwen3:4b" in row)
            choose(user, "Choose a model", number)
            choose(user, "from now on?", "2")
            user.wait_for("Ask anything.", idle=True)
            send_prompt(user, "who are you?")
            user.wait_for("\nI am local.", idle=True)
            assert check_no_strange_output(user.screen)

    def test_the_demo(self, terminal_env: TerminalEnv) -> None:
        with terminal_env.open_program(OLLAMA_HOST=NOWHERE) as user:
            choose(user, "Choose a model", "4")
            user.wait_for("This is Tejat with a scripted model", 20)
            user.wait_for("$ python3 -m unittest", 20, idle=True)
            time.sleep(0.4)
            user.press("escape")
            user.wait_until_gone("$ python3 -m unittest", 20, idle=True)
            user.press("c-d")
            user.wait_for("The demo is over", 20)
            user.wait_until(lambda screen: screen.history().count("No model configured") > 1, 20, idle=True)
            user.wait_for("Choose a model", 20, idle=True)
            user.press("escape")
            assert user.wait_for_exit(20) == 0
            assert user.modes_are_restored()

    @pytest.mark.parametrize("key", ["5", "escape", "c-c"])
    def test_leaving(self, terminal_env: TerminalEnv, key: str) -> None:
        with terminal_env.open_program(OLLAMA_HOST=NOWHERE) as user:
            choose(user, "Choose a model", key)
            assert user.wait_for_exit() in (0, 130)
            assert user.modes_are_restored()
            assert user.screen.unknown == []

    def test_in_lines(self, terminal_env: TerminalEnv) -> None:
        with terminal_env.open_program("--screen-reader", OLLAMA_HOST=NOWHERE) as user:
            user.wait_for("Choose a model")
            user.wait_for("Your choice, 1 to 5")
            send_prompt(user, "1")
            user.wait_for("(hidden)", idle=True)
            user.type(KEY)
            user.wait_idle()
            assert KEY.encode() not in user.raw
            assert b"\x1b" not in user.raw
