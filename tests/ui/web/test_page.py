"""The page in a real browser: every flow of a user."""

import asyncio
import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.media_files import png
from support.program import script_answer, text_script
from support.wait import wait_until
from support.web.browser import DESKTOP, PHONE, Browser, Page
from support.web.server import WebServer
from tejat.core.agent.events import Prompted, TextStreamed
from tejat.core.messages.history import user_message

EDIT = {"file_path": "${root}/a.txt", "old_string": "two", "new_string": "zwei"}
EDIT_SCRIPT = script_answer(calls=[("read_file", {"path": "${root}/a.txt"})]) + script_answer(
    say="I will **edit** it.", calls=[("replace", EDIT)]
)
GRACE = 0.5
"""Longer than the time in which a new question takes no answer."""


@contextmanager
def opened(
    browser: Browser, web: WebServer, path: str = "/session/s1", name: str = "page", **more: Any
) -> Generator[Page]:
    """A window that is signed in, on a page. It must not have asked other servers, nor failed."""
    with browser.page(name, **more) as page:
        page.open(web.link)
        page.wait_for("h1")
        if path != "/":
            page.open(f"{web.address}{path}")
            page.wait_for("h1")
        yield page
        log = page.log
        assert log["errors"] == []
        assert [line for line in log["console"] if "Content Security Policy" in line] == []
        assert [each for each in log["requests"] if not each.startswith((web.address, "data:", "blob:"))] == []


def edit_session(web: WebServer, *more: str, session_id: str = "s1") -> None:
    (web.env.project / "a.txt").write_text("one\ntwo\nthree\n")
    web.add_session(session_id, EDIT_SCRIPT + "".join(more or (text_script("All done."),)))


def send(page: Page, text: str) -> None:
    page.wait_for("#prompt")
    page.fill("#prompt", text)
    page.press("Enter")


def changed_text(web: WebServer) -> str:
    return (web.env.project / "a.txt").read_text()


def test_the_link_opens_the_overview_without_the_token_in_the_address(browser: Browser, web: WebServer) -> None:
    with opened(browser, web, "/") as page:
        assert page.evaluate("() => location.href") == f"{web.address}/"
        assert page.evaluate("() => document.cookie") == "", "scripts cannot read the cookie"
        assert page.text(".empty").startswith("No sessions yet.")
        page.call("reload")
        page.wait_for(".empty")


def test_the_overview_shows_who_waits_first(browser: Browser, web: WebServer) -> None:
    web.add_session("idle")
    edit_session(web, session_id="asks")
    web.sessions.store("old", "An older session", "/elsewhere", ())
    with opened(browser, web, "/") as page:
        page.wait_for('a[data-session="asks"]')
        assert page.texts("h2") == ["Idle 2", "Ended 1"]
        asking = web.sessions.live["asks"]
        running = asyncio.run_coroutine_threadsafe(asking.interactive.prompt("edit it"), web.loop)
        page.wait_for(".session-entry.waiting")
        assert page.texts("h2") == ["Waiting for you 1", "Idle 1", "Ended 1"]
        page.wait_until("() => document.title.startsWith('(1) ')")
        assert page.text("#waiting").startswith("1")
        page.click(".session-entry.waiting a")
        page.wait_for(".question-panel")
        web.call(asking.interactive.interrupt)
        page.wait_for(".question-panel", "hidden")
        running.result(20)


def test_a_prompt_is_answered_live_with_markdown(browser: Browser, web: WebServer) -> None:
    web.add_session("s1", script_answer(say="# Title\n\nSome **bold** words and `code`.\n\n- one\n- two"))
    with opened(browser, web) as page:
        send(page, "hello there")
        page.wait_for(".answer strong")
        # Its text could be read too early: it is empty while the browser leaves out the block.
        page.wait_for(".block.prompt .typed:text-is('hello there')")
        assert page.texts(".answer li") == ["one", "two"]
        page.wait_until("() => document.getElementById('polite').textContent === 'The answer is complete.'")
        assert page.evaluate("() => document.getElementById('prompt').value") == ""


def test_a_question_is_answered_with_a_click(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web) as page:
        send(page, "edit it")
        page.wait_for(".question-panel")
        panel = page.text(".question-panel")
        assert "Apply this change?" in panel
        assert "s, p, u add the rule: allow replace" in panel
        assert page.texts(".choice span") == [
            *("Allow once", "Allow for this session", "Always allow in this project", "Always allow everywhere"),
            *("Edit in your editor", "No, continue", "No, and say what to do instead", "No, and stop"),
        ]
        time.sleep(GRACE)
        page.click('.choice[data-letter="y"]')
        page.wait_for("text=All done.")
        assert changed_text(web) == "one\nzwei\nthree\n"
        page.wait_for(".question-panel", "hidden")


def test_a_question_is_answered_with_the_keyboard_alone(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web) as page:
        send(page, "edit it")
        page.wait_for(".question-panel")
        assert "Apply this change?" in page.evaluate("() => document.getElementById('assertive').textContent")
        page.press("Alt+a")
        page.press("y")
        assert page.count(".question-panel:not([hidden])") == 1, "a key that was typed ahead decides nothing"
        time.sleep(GRACE)
        page.press("t")
        page.wait_for("#question-text")
        page.type("Use English.")
        page.press("Enter")
        page.wait_for("text=All done.")
        assert changed_text(web) == "one\ntwo\nthree\n"
        assert "Use English." in page.text("#transcript")


def test_a_proposal_is_edited_and_shown_again(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web) as page:
        send(page, "edit it")
        page.wait_for(".question-panel")
        time.sleep(GRACE)
        page.click('.choice[data-letter="e"]')
        page.fill("#question-text", "one\nmine\nthree\n")
        page.click(".question-text button[type=submit]")
        page.wait_for(".question-panel :text('mine')")
        time.sleep(GRACE)
        page.click('.choice[data-letter="y"]')
        page.wait_for("text=All done.")
        assert changed_text(web) == "one\nmine\nthree\n"


def test_the_first_of_two_browsers_answers_and_the_other_shows_it(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web, name="one") as one, opened(browser, web, name="two") as two:
        send(one, "edit it")
        one.wait_for(".question-panel")
        two.wait_for(".question-panel")
        time.sleep(GRACE)
        two.click('.choice[data-letter="n"]')
        one.wait_for("text=Answered elsewhere.")
        one.wait_for(".question-panel", "hidden")
        for page in (one, two):
            page.wait_for("text=All done.")
        assert two.count(".notes :text('Answered elsewhere.')") == 0
        assert changed_text(web) == "one\ntwo\nthree\n"


def test_questions_of_the_model_are_a_form(browser: Browser, web: WebServer) -> None:
    questions = [
        {
            "header": "Database",
            "question": "Which one?",
            "type": "choice",
            "options": [{"label": "SQLite", "description": "a file"}, {"label": "Postgres", "description": "a server"}],
        },
        {"header": "Name", "question": "What name?", "type": "text"},
    ]
    web.add_session("s1", script_answer(calls=[("ask_user", {"questions": questions})]) + text_script("Thanks."))
    with opened(browser, web) as page:
        send(page, "ask me")
        page.wait_for(".question-form")
        assert "Your answers go to the model and permit nothing." in page.text(".question-panel")
        page.click("label:has-text('Postgres')")
        page.fill("#answer_2", "Shop")
        page.click("text=Send answers")
        page.wait_for("text=Thanks.")
        page.wait_for("#transcript >> text=Postgres >> visible=true")


def stream_events(web: WebServer, count: int, *, first: int = 0) -> None:
    """Emit an answer word by word, as a model does."""

    async def emit() -> None:
        session = web.sessions.live["s1"]
        bus = session.interactive.command_context.manager.events
        if not first:
            bus.emit(Prompted(user_message("count"), "count"))
        for number in range(first, first + count):
            bus.emit(TextStreamed(f"w{number} "))
            await asyncio.sleep(0.004)

    web.run(emit())


def words(page: Page) -> list[str]:
    return page.evaluate(
        "() => [...document.querySelectorAll('.answer')].map((e) => e.textContent.trim()).join(' ').split(/\\s+/)"
    )


def test_nothing_is_lost_or_doubled_by_a_reload_in_the_middle_of_a_stream(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        stream_events(web, 150)
        page.call("reload", {"waitUntil": "commit"})
        stream_events(web, 150, first=150)
        page.wait_for(".answer:has-text('w299')")
        assert words(page) == [f"w{number}" for number in range(300)]
        assert page.count(".block.prompt") == 1


def test_nothing_is_lost_or_doubled_when_the_client_loses_its_connection(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.fill("#prompt", "a draft")
        stream_events(web, 100)
        page.call("setOffline", True, path=[["context"]])
        page.evaluate("() => window.dispatchEvent(new Event('offline'))")
        stream_events(web, 100, first=100)
        page.call("setOffline", False, path=[["context"]])
        stream_events(web, 100, first=200)
        page.wait_for(".answer:has-text('w299')")
        assert words(page) == [f"w{number}" for number in range(300)]
        assert page.evaluate("() => document.getElementById('prompt').value") == "a draft"


def test_nothing_is_lost_or_doubled_when_the_server_cuts_the_connection(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        cuts = 0
        for round_ in range(4):
            stream_events(web, 60, first=60 * round_)
            cuts += web.cut_connections()
        stream_events(web, 15, first=240)
        page.wait_for(".answer:has-text('w254')")
        assert words(page) == [f"w{number}" for number in range(255)]
        assert page.count(".block.prompt") == 1
        assert page.count("#banner:visible") == 0
        assert cuts >= 2


def test_a_draft_survives_a_reload(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.fill("#prompt", "not sent yet")
        page.call("reload")
        page.wait_for("#prompt")
        assert page.evaluate("() => document.getElementById('prompt').value") == "not sent yet"


def test_a_server_that_is_gone_is_reported_and_typed_text_is_kept(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('gone')) }")
        page.fill("#prompt", "keep me")
        page.press("Enter")
        page.wait_for("text=No connection to the server.")
        assert page.evaluate("() => document.getElementById('prompt').value") == "keep me"


SLOW_FETCH = """(fails) => {
  const send = window.fetch;
  window.fetch = async (path, options) => {
    if (!path.endsWith("/prompt")) return send(path, options);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return fails ? Promise.reject(new TypeError("gone")) : send(path, options);
  };
}"""


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_prompts_of_a_server_that_is_slowly_gone_are_kept(
    browser: Browser, web: WebServer, *, is_reloaded: bool
) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.evaluate(SLOW_FETCH, argument=True)
        send(page, "keep me ")
        send(page, "and me")
        page.fill("#prompt", "and this")
        if is_reloaded:
            page.call("reload")
        else:
            page.wait_for("text=No connection to the server.")
        page.wait_for("#prompt")
        kept = page.evaluate("() => document.getElementById('prompt').value")
        assert kept == "keep me\n\nand me\n\nand this"


def test_prompts_entered_at_once_are_sent_in_order(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.evaluate(SLOW_FETCH, argument=False)
        for word in ("one", "two", "three"):
            send(page, f"!echo {word}")
        page.press("Enter")  # an empty box is not sent
        page.wait_for("pre:has-text('three')")
        assert re.findall("one|two|three", " ".join(page.texts("#transcript pre"))) == ["one", "two", "three"]
        assert page.evaluate("() => document.getElementById('prompt').value") == ""


def test_a_prompt_has_attachments(browser: Browser, web: WebServer, tmp_path: Path) -> None:
    session = web.add_session("s1")
    (tmp_path / "photo.png").write_bytes(png())
    (tmp_path / "notes.txt").write_text("remember the milk")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        files = [str(tmp_path / "photo.png"), str(tmp_path / "notes.txt")]
        page.call("setInputFiles", "input[type=file]", files)
        page.wait_for(".chips li:nth-child(2)")
        assert page.text(".chips li:nth-child(2)").split() == ["notes.txt", "17", "B", "×"]
        send(page, "look at these")
        page.wait_for("text=Hello there.")
        assert page.count(".chips li") == 0
    prompted = next(event for event in session.events if isinstance(event, Prompted))
    assert "remember the milk" in prompted.message.text
    assert any(getattr(part, "mime_type", "") == "image/png" for part in prompted.message.parts)
    assert prompted.display_text == "look at these\n[photo.png] [notes.txt]"


def test_files_are_attached_by_dropping_and_bad_ones_are_refused(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File(["some text"], "dropped.txt"));
              data.items.add(new File([new Uint8Array([0, 1, 2, 0, 255])], "odd.bin"));
              const options = {dataTransfer: data, bubbles: true, cancelable: true};
              document.querySelector(".prompt-box").dispatchEvent(new DragEvent("drop", options));
            }"""
        )
        page.wait_for(".chips li:has-text('dropped.txt')")
        page.wait_for(".notes :text('binary data')")
        page.click(".chips button")
        page.wait_for(".chips", "hidden")


def test_files_and_commands_are_completed(browser: Browser, web: WebServer) -> None:
    (web.env.project / "alpha.py").write_text("")
    (web.env.project / "beta.py").write_text("")
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.click("#prompt")
        page.type("read @al")
        page.wait_for("#completion li:has-text('alpha.py')")
        assert (
            page.evaluate("() => document.getElementById('prompt').getAttribute('aria-activedescendant')")
            == "completion-0"
        )
        page.press("Tab")
        assert page.evaluate("() => document.getElementById('prompt').value") == "read @alpha.py "
        page.fill("#prompt", "")
        page.type("/hel")
        page.wait_for("#completion li:has-text('help')")
        page.press("Escape")
        page.wait_for("#completion", "hidden")
        page.fill("#prompt", "")
        page.type("/st")
        page.wait_for("#completion li:first-child:has-text('/st')")
        page.press("ArrowDown")
        page.press("ArrowUp")
        page.press("Enter")
        assert page.evaluate("() => document.getElementById('prompt').value").startswith("/st")


def test_a_run_is_stopped_with_escape_and_by_the_button(browser: Browser, web: WebServer) -> None:
    web.add_session("s1", script_answer(say="word " * 400, pause=0.05) * 2)
    with opened(browser, web) as page:
        for stop in (lambda: page.press("Escape"), lambda: page.click(".stop")):
            send(page, "talk")
            page.wait_for(".stop")
            page.wait_for(".answer >> nth=-1")
            stop()
            page.wait_for(".stop", "hidden")
        assert page.count(".run-end") == 2


def test_prompts_are_queued_and_taken_back_while_the_model_works(browser: Browser, web: WebServer) -> None:
    web.add_session("s1", script_answer(say="word " * 400, pause=0.05) + text_script("Second."))
    with opened(browser, web) as page:
        send(page, "talk")
        page.wait_for(".stop")
        send(page, "and then this")
        page.wait_for(".queued:has-text('and then this')")
        page.press("ArrowUp")
        page.wait_for(".queue", "hidden")
        page.wait_until("() => document.getElementById('prompt').value === 'and then this'")
        page.click(".stop")
        page.wait_for(".stop", "hidden")


def test_a_change_is_undone_with_its_diff(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web) as page:
        send(page, "edit it")
        page.wait_for(".question-panel")
        time.sleep(GRACE)
        page.click('.choice[data-letter="y"]')
        page.wait_for("text=All done.")
        page.click(".undo")
        page.wait_for("dialog .diff")
        assert "Undo these changes?" in page.text("dialog h2")
        time.sleep(GRACE)
        page.click("dialog .option-button:has-text('Yes')")
        page.wait_for("dialog", "detached")
        wait_until(lambda: changed_text(web) == "one\ntwo\nthree\n", 10, "the undone change")


def test_one_of_two_changes_of_a_file_is_undone(browser: Browser, web: WebServer) -> None:
    (web.env.project / "a.txt").write_text("one\ntwo\nthree\n")
    words = (("one", "eins"), ("three", "drei"))
    calls = [
        ("replace", {"file_path": "${root}/a.txt", "instruction": "x", "old_string": old, "new_string": new})
        for old, new in words
    ]
    answers = "".join(script_answer(say="Next.", calls=[call]) for call in calls)
    web.add_session("s1", answers + text_script("All done."), mode="auto_edit")
    with opened(browser, web) as page:
        send(page, "edit it twice")
        page.wait_for("text=All done.")
        page.click(".undo >> nth=1")
        page.wait_for("dialog .diff")
        time.sleep(GRACE)
        page.click("dialog .option-button:has-text('Yes')")
        wait_until(lambda: changed_text(web) == "eins\ntwo\nthree\n", 10, "the undone change")
        page.wait_for("text=Restored 1 path.")
        assert page.evaluate(AT_THE_END)


AT_THE_END = "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 2"


def test_the_end_is_followed_until_the_user_goes_up(browser: Browser, web: WebServer) -> None:
    code = "```python\n" + "\n".join(f"value_{number} = {number}" for number in range(40)) + "\n```\n"
    table = "| a | b |\n| --- | --- |\n" + "".join(f"| {number} | x |\n" for number in range(30))
    talk = script_answer(say=f"{code}\nSome words\n\n{table}\nThe last line.", pause=0.001)
    web.add_session("s1", talk + talk)
    with opened(browser, web, viewport=PHONE) as page:
        send(page, "talk")
        page.wait_for("text=The last line.")
        page.wait_until(AT_THE_END)
        send(page, "again")
        page.wait_for(".block.prompt >> nth=1")
        page.press("Tab")
        page.evaluate("() => document.activeElement.blur()")
        page.press("Home")
        page.wait_until("() => document.querySelectorAll('.answer table').length === 2")
        assert not page.evaluate(AT_THE_END)
        page.click(".jump")
        page.wait_until(AT_THE_END)


def test_a_turn_is_rewound_from_its_prompt(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web) as page:
        send(page, "edit it")
        page.wait_for(".question-panel")
        time.sleep(GRACE)
        page.click('.choice[data-letter="y"]')
        page.wait_for("text=All done.")
        page.click(".block.prompt .rewind")
        page.wait_for("dialog .option-button")
        time.sleep(GRACE)
        page.click("dialog .option-button >> nth=1")
        wait_until(lambda: changed_text(web) == "one\ntwo\nthree\n", 10, "the undone change")
        page.wait_until("() => document.getElementById('prompt').value === 'edit it'")


def test_commands_show_reports_and_dialogs(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        send(page, "/help")
        page.wait_for(".report table")
        send(page, "!echo from the shell")
        page.wait_for("pre:has-text('from the shell')")
        page.click(".mode")
        page.wait_for(".mode:has-text('auto-edit')")


def test_themes_and_side_by_side_diffs_are_kept(browser: Browser, web: WebServer) -> None:
    edit_session(web)
    with opened(browser, web, colorScheme="light") as page:
        send(page, "edit it")
        page.wait_for(".question-panel .diff")
        page.click("#settings")
        page.click("label:has-text('Dark')")
        page.click("label:has-text('Side by side')")
        page.press("Escape")
        page.wait_for(".question-panel table.split")
        assert page.count(".question-panel table.unified:visible") == 0
        page.call("reload")
        page.wait_for(".question-panel table.split")
        assert page.evaluate("() => getComputedStyle(document.body).colorScheme") == "dark"


def test_a_stored_session_can_be_read(browser: Browser, web: WebServer) -> None:
    events = (Prompted(user_message("what is it"), "what is it"), TextStreamed("It **is**."))
    web.sessions.store("old", "An older session", "/elsewhere", events)
    with opened(browser, web, "/session/old") as page:
        page.wait_for(".answer strong")
        assert "tejat --resume old" in page.text(".ended-note")
        assert page.count(".dock:visible") == 0


HOSTILE = (
    '<script>window.hacked = 1</script><img src=http://evil.example/x onerror="window.hacked=1">'
    "<iframe src=javascript:alert(1)></iframe>\n\n[click](javascript:window.hacked=1) "
    "![pixel](http://evil.example/pixel.png)\n\n\x1b[31mred\x1b[0m \u202eevil\u202c \u200b\x07 \ud800\n\n"
    "<style>body{display:none}</style><svg onload=window.hacked=1></svg>\n\n"
    "```html\n</code><script>hacked=1</script>\n```\n"
)


def test_hostile_content_is_shown_harmlessly(browser: Browser, web: WebServer) -> None:
    session = web.add_session("s1")
    long_line = "x" * 5_000_000

    def emit() -> None:
        bus = session.interactive.command_context.manager.events
        bus.emit(Prompted(user_message(HOSTILE), HOSTILE))
        bus.emit(TextStreamed(HOSTILE))
        bus.emit(TextStreamed(long_line))
        session.title = HOSTILE

    web.call(emit)
    with opened(browser, web) as page:
        page.wait_for(".answer")
        page.wait_until("() => document.title.includes('<script>')")
        assert page.evaluate("() => window.hacked") is None
        assert page.count("#main :is(script, iframe, style, svg, img)") == 0
        links = page.evaluate("() => [...document.querySelectorAll('#main a')].map((a) => a.href)")
        assert [link for link in links if link.startswith("javascript:")] == []
        assert page.evaluate("() => document.body.innerHTML.length") < 2_000_000
        assert "\u202e" not in page.text("#transcript")


def test_long_transcripts_show_the_end_first_and_the_rest_on_demand(browser: Browser, web: WebServer) -> None:
    session = web.add_session("s1")

    def emit() -> None:
        bus = session.interactive.command_context.manager.events
        for number in range(1000):
            bus.emit(Prompted(user_message(f"prompt {number}"), f"prompt {number}"))
            bus.emit(TextStreamed(f"answer {number}"))

    web.call(emit)
    with opened(browser, web) as page:
        page.wait_for("text=answer 999")
        assert page.evaluate(AT_THE_END)
        assert page.count("#transcript > .block") < 200
        assert re.fullmatch("Show 185[0-9] earlier entries", page.text(".earlier"))
        page.evaluate("() => document.querySelector('.earlier').click()")
        page.wait_until("() => document.querySelectorAll('#transcript > .block').length >= 300")
        shown = page.evaluate(
            "() => [...document.querySelectorAll('#transcript > .block')].map((e) => Number(e.dataset.place))"
        )
        assert shown == sorted(set(shown))


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["390", "1440"])
def test_every_view_is_accessible(browser: Browser, web: WebServer, scheme: str, size: dict[str, int]) -> None:
    edit_session(web)
    web.sessions.store("old", "An older session", "/elsewhere", (Prompted(user_message("hi"), "hi"),))
    options: dict[str, Any] = {"colorScheme": scheme, "viewport": size, "reducedMotion": "reduce"}
    with opened(browser, web, "/", **options) as page:
        page.wait_for('a[data-session="s1"]')
        assert page.check_accessibility() == []
        page.click('a[data-session="s1"]')
        send(page, "edit it")
        page.wait_for(".question-panel")
        assert page.check_accessibility() == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), (
            "nothing is wider than the page"
        )
        page.click("#settings")
        assert page.check_accessibility() == []
        page.press("Escape")
        time.sleep(GRACE)
        page.click('.choice[data-letter="y"]')
        page.wait_for("text=All done.")
        page.type("/he")
        page.wait_for("#completion li")
        assert page.check_accessibility() == []
        page.open(f"{web.address}/session/old")
        page.wait_for(".ended-note")
        assert page.check_accessibility() == []
        page.open(f"{web.address}/history")
        page.wait_for("h1:has-text('History')")
        assert page.check_accessibility() == []


def test_the_page_can_be_walked_with_the_tab_key(browser: Browser, web: WebServer) -> None:
    web.add_session("s1")
    with opened(browser, web) as page:
        page.wait_for("#prompt")
        page.press("Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        seen = set[str]()
        for _ in range(25):
            page.press("Tab")
            seen.add(page.evaluate("() => document.activeElement.id || document.activeElement.className"))
        assert {"prompt", "settings", "shortcuts", "mode", "attach"} <= seen
        page.evaluate("() => document.activeElement.blur()")
        page.press("?")
        page.wait_for("dialog .keys")
