"""The first start: nothing of a folder counts before somebody trusts it, and a model is found with few words."""

import json
import stat
import time

import pytest

from foreign_checks import hostile
from model_server import LoopbackServer, ModelServer, Received, Reply, as_json, refuse, say
from program_checks import said
from screens import ScreenPerson
from talks import NARROW, WIDE, House, Setting, both_settings, house, is_tidy, leave, send, shows, wait_for_words

__all__ = ["house"]

KEY = "AIzaSySECRETSECRETSECRET1234567890abcde"
NOWHERE = "127.0.0.1:9"


def choose(person: ScreenPerson, question: str, key: str) -> None:
    """Wait for this question, and so long that keys count; then press this one."""
    wait_for_words(person, question, idle=True)
    time.sleep(0.35)
    person.press(key)


class TestTrust:
    @pytest.mark.parametrize(
        ("key", "setting", "counts", "asks_again"),
        [("1", WIDE, True, False), ("2", NARROW, False, True), ("3", WIDE, False, False)],
        ids=["yes", "not now", "never"],
    )
    def test_it_is_asked_before_anything_counts(
        self, house: House, key: str, setting: Setting, counts: bool, asks_again: bool
    ) -> None:
        started = house.base / "started"
        settings = {"mcpServers": {"theirs": {"command": "/bin/sh", "args": ["-c", f"touch {started}; sleep 60"]}}}
        (house.project / ".gemini").mkdir()
        (house.project / ".gemini" / "settings.json").write_text(json.dumps(settings))
        (house.project / "GEMINI.md").write_text("Be \x1b[2Jquiet.\n")
        with house.talk(said("Hi."), setting=setting, ready=None) as person:
            wait_for_words(person, "Do you trust what is in this folder?", idle=True)
            assert shows(person, ".gemini/settings.json")
            time.sleep(0.35)
            assert not started.exists()
            person.press(key)
            person.wait_for("Ask something.", idle=True)
            if counts:
                person.wait_until(lambda _: started.exists(), wanted="the server of the folder")
            else:
                send(person, "hello")
                person.wait_for("\nHi.", idle=True)
                assert not started.exists()
            assert is_tidy(person.screen)
        with house.talk(said("Hi."), setting=setting, ready=None) as person:
            person.wait_until(lambda screen: any(w in screen.text() for w in ("Ask some", "Do you trust")), wanted="it")
            assert shows(person, "Do you trust") == asks_again

    def test_leaving(self, house: House) -> None:
        (house.project / "GEMINI.md").write_text("Be quiet.\n")
        with house.talk(said("Hi."), ready=None) as person:
            choose(person, "Do you trust what is in this folder?", "escape")
            assert person.end() == 0
            assert person.modes_are_restored()

    def test_servers_of_the_person_need_it(self, house: House) -> None:
        house.settings(mcpServers={"mine": hostile()})
        with house.talk(said("Hi."), ready=None) as person:
            wait_for_words(person, "Your MCP servers run only in folders that you trust: mine.")
            choose(person, "Do you trust what is in this folder?", "1")
            person.wait_for("mcp 1/1")


class TestModel:
    @both_settings
    def test_a_key_is_masked_checked_and_kept(self, house: House, setting: Setting) -> None:
        def respond(received: Received) -> Reply:
            if received.headers.get("x-goog-api-key") != KEY:
                return refuse(400, "API key not valid.", status_name="INVALID_ARGUMENT")
            return say("Hello.") if "stream" in received.target else as_json({"models": []})

        with LoopbackServer(respond) as server:
            environment = {"GOOGLE_GEMINI_BASE_URL": server.address, "OLLAMA_HOST": NOWHERE}
            with house.start(setting=setting, **environment) as person:
                wait_for_words(person, "There is no model to talk to yet.")
                choose(person, "What do you want to use?", "1")
                choose(person, "The key (it is not shown):", "x")
                person.paste("wrong-key-xyz")
                person.settle()
                person.press("enter")
                wait_for_words(person, "The service does not take this key")
                time.sleep(0.35)
                person.paste(KEY)
                person.wait_for("*" * 20 if setting.is_ascii else "", idle=True)
                person.press("enter")
                choose(person, "Keep the key?", "1")
                person.wait_for("Ask something.", idle=True)
                send(person, "hello")
                person.wait_for("\nHello.", idle=True)
                assert KEY.encode() not in person.raw
                assert b"SECRET" not in person.raw
                assert b"wrong-key" not in person.raw
                leave(person)
        kept = house.home / ".config" / "tejat" / "keys.env"
        assert KEY in kept.read_text()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        with ModelServer([say("Again.")]) as server, house.talk("", GOOGLE_GEMINI_BASE_URL=server.address) as person:
            send(person, "hello")
            person.wait_for("\nAgain.", idle=True)

    @both_settings
    def test_a_model_on_this_machine_is_offered(self, house: House, setting: Setting) -> None:
        def respond(received: Received) -> Reply:
            if received.target.endswith("/models"):
                return as_json({"data": [{"id": "llama3\u202e:8b"}, {"id": "qwen3:4b"}]})
            chunk = {"choices": [{"index": 0, "delta": {"content": "I am local."}, "finish_reason": "stop"}]}
            pieces = (b"data: %s\n\n" % json.dumps(chunk).encode(), b"data: [DONE]\n\n")
            return Reply(pieces, headers={"Content-Type": "text/event-stream"})

        with LoopbackServer(respond) as server, house.start(setting=setting, OLLAMA_HOST=server.address) as person:
            wait_for_words(person, "What do you want to use?", idle=True)
            rows = person.screen.lines()
            number = next(row.replace(setting.signs("❯"), " ").split()[0] for row in rows if "qwen3:4b" in row)
            choose(person, "What do you want to use?", number)
            choose(person, "from now on?", "2")
            person.wait_for("Ask something.", idle=True)
            send(person, "who are you?")
            person.wait_for("\nI am local.", idle=True)
            assert is_tidy(person.screen)

    def test_the_demo(self, house: House) -> None:
        with house.start(OLLAMA_HOST=NOWHERE) as person:
            choose(person, "What do you want to use?", "4")
            person.wait_for("demo", 20)
            person.wait_for("Your answer (", 20)
            person.press("c-c")
            person.end(20)
            assert person.modes_are_restored()

    @pytest.mark.parametrize("key", ["5", "escape", "c-c"])
    def test_leaving(self, house: House, key: str) -> None:
        with house.start(OLLAMA_HOST=NOWHERE) as person:
            choose(person, "What do you want to use?", key)
            assert person.end() in (0, 130)
            assert person.modes_are_restored()
            assert person.screen.unknown == []

    def test_in_lines(self, house: House) -> None:
        with house.start("--screen-reader", OLLAMA_HOST=NOWHERE) as person:
            person.wait_for("What do you want to use?")
            person.wait_for("Your choice, 1 to 5")
            send(person, "1")
            person.wait_for("The key (it is not shown)", idle=True)
            person.type(KEY)
            person.settle()
            assert KEY.encode() not in person.raw
            assert b"\x1b" not in person.raw
