"""Another model after a failure, at the terminal: the question, and what each answer does."""

import time
from typing import Any

import pytest

from support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, text_reply
from support.terminal.chat import TerminalEnv, is_shown, quit_program, send_prompt, terminal_env, wait_for_words

__all__ = ["terminal_env"]

PRO, FLASH = "gemini-3.1-pro-preview", "gemini-3.8-flash"


def answer(received: Received) -> Reply:
    if f"/{PRO}:" in received.target:
        return error_reply(429, "You exceeded your quota, limit: 0")
    return text_reply("From the other one.")


@pytest.mark.parametrize("key", ["y", "q"])
def test_the_user_is_asked_before_a_weaker_model_answers(terminal_env: TerminalEnv, key: str) -> None:
    with LoopbackServer(answer) as server:
        environment: dict[str, Any] = {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.address}
        with terminal_env.open_chat("", "-m", "pro", **environment) as user:
            send_prompt(user, "hi")
            wait_for_words(user, f"Switch to {FLASH} for this session?", 60)
            assert is_shown(user, f"{PRO} is not available")
            assert is_shown(user, f"Retry {PRO}")
            time.sleep(0.35)
            user.press(key)
            wait_for_words(user, "From the other one." if key == "y" else "limit: 0", 60, idle=True)
            quit_program(user)
        asked = [request.target.rpartition("/")[2].partition(":")[0] for request in server.requests]
    assert asked == ([PRO, FLASH] if key == "y" else [PRO])
