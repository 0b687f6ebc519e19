"""One JSON object for a whole run."""

import json

from support.sample_events import ALL_EVENTS, ENDED, FAILED, STARTED, RecordedOutput, render_events
from tejat.core.agent.events import EndReason, Noticed, RunEnded, Severity
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject
from tejat.engine.sessions.statistics import Statistics
from tejat.ui.headless.json_output import JsonOutput
from tejat.ui.headless.output import describe_event, notice_line

HEARD = [notice_line(heard) for event in ALL_EVENTS if (heard := describe_event(event))]


def statistics() -> Statistics:
    counting = Statistics(lambda seconds: round(seconds * 1000))
    for event in ALL_EVENTS:
        counting.record(event)
    return counting


EMPTY: JsonObject = Statistics(round).to_json()


def test_a_whole_run() -> None:
    written = render_events(JsonOutput, *ALL_EVENTS)
    assert json.loads(written.stdout) == {
        "version": 1,
        "session_id": "id-1",
        "response": "I look.\nDone.\nReally.",
        "stats": statistics().to_json(),
        "warnings": ["The disk is nearly full.", "The disk is full."],
        "plan": {"path": "/home/u/plans/plan.md", "text": "# Plan\n", "approved": True},
        "permission_denials": statistics().denials,
        "cost_usd": 0.012346,
    }
    assert written.stderr == HEARD


def test_it_is_laid_out_for_reading_and_comes_at_the_very_end() -> None:
    assert render_events(JsonOutput, *ALL_EVENTS[:-1]).stdout == ""
    written = render_events(JsonOutput, STARTED, ENDED)
    assert written.stdout.startswith('{\n  "version": 1,\n  "session_id": "id-1",\n  "response"')
    assert written.stdout.endswith("}\n")


def test_a_run_that_failed_has_an_error_and_what_was_said_before() -> None:
    written = render_events(JsonOutput, STARTED, FAILED)
    assert json.loads(written.stdout) == {
        "version": 1,
        "session_id": "id-1",
        "response": "I look.",
        "stats": EMPTY,
        "error": {"type": "unavailable", "message": "The service is down.", "code": 61},
        "permission_denials": [],
    }
    assert written.stderr == ["The service is down."]


def test_one_that_ended_for_a_reason_of_its_own() -> None:
    ended = RunEnded(EndReason.TURN_LIMIT, message="Too many turns.")
    error = json.loads(render_events(JsonOutput, STARTED, ended).stdout)["error"]
    assert error == {"type": "turn_limit", "message": "Too many turns.", "code": 53}


def test_a_word_about_a_run_that_went_well_is_a_warning_and_a_note_is_none() -> None:
    noted = Noticed("Just so.", Severity.NOTE)
    written = render_events(JsonOutput, STARTED, noted, replace(ENDED, message="The model stopped early."))
    found = json.loads(written.stdout)
    assert (found["warnings"], "error" in found) == (["The model stopped early."], False)
    assert "warnings" not in json.loads(render_events(JsonOutput, STARTED, noted, ENDED).stdout)


def test_a_price_that_nobody_knows_is_left_out() -> None:
    assert "cost_usd" not in json.loads(render_events(JsonOutput, STARTED, replace(ENDED, cost=None)).stdout)


def test_no_code_for_a_terminal_gets_through() -> None:
    """Also not by what is no answer: what JSON must escape is escaped."""
    nasty = replace(FAILED, text="a\x1b]0;title\x07b\u009b2Jc\n\td", message="\x1b[2J")
    written = render_events(JsonOutput, replace(STARTED, session_id="\x1b[1m"), nasty)
    assert not set(written.stdout) & {"\x1b", "\x07", "\x9b"}
    assert json.loads(written.stdout)["response"] == "abc\n\td"
    assert written.stderr == ["<U+001B>[2J"]


def test_an_answer_does_not_overwrite_itself() -> None:
    answer = "Run it like this:\rone two three\rX\x1b[31m ab\x08c\x1b[2D"
    written = render_events(JsonOutput, STARTED, replace(ENDED, text=answer))
    assert json.loads(written.stdout)["response"] == "Run it like this:\rone two three\rX ab\x08c"


def test_without_durations_it_is_the_same_every_time() -> None:
    one = render_events(JsonOutput, *ALL_EVENTS, reports_durations=False)
    other = render_events(JsonOutput, *ALL_EVENTS[:-1], replace(ENDED, seconds=99.0), reports_durations=False)
    assert one == other
    assert '"totalLatencyMs": 0' in one.stdout
    assert '"totalLatencyMs": 688' not in one.stdout


def test_what_could_not_be_begun_is_an_object_too() -> None:
    written = RecordedOutput()
    JsonOutput(written.streams()).fail("No API key.", name="authentication", code=41)
    assert json.loads(written.stdout) == {
        "version": 1,
        "error": {"type": "authentication", "message": "No API key.", "code": 41},
    }
    assert written.stderr == ["No API key."]
