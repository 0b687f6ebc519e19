"""Tests of the events that are kept for front ends that come later."""

from tejat.core.agent.events import (
    AgentEvent,
    EndReason,
    Noticed,
    Prompted,
    RunEnded,
    SessionStarted,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.messages.history import Message, user_message
from tejat.engine.sessions.event_log import EventLog

START = SessionStarted("s1", "m")
END = RunEnded(EndReason.FINISHED, "", "done")


def prompted(text: str) -> Prompted:
    return Prompted(user_message(text), text)


def log_of(*events: AgentEvent, max_events: int = 20_000) -> EventLog:
    log = EventLog(max_events=max_events)
    for event in events:
        log.record(event)
    return log


def test_pieces_of_a_text_are_kept_as_one_event_and_counted_apart() -> None:
    pieces = [TextStreamed("a"), TextStreamed("b"), ThoughtStreamed("c"), ThoughtStreamed("d"), TextStreamed("e")]
    log = log_of(START, *pieces)
    assert log.recent_runs(1) == [START, TextStreamed("ab"), ThoughtStreamed("cd"), TextStreamed("e")]


def test_a_text_goes_on_after_somebody_has_looked() -> None:
    log = log_of(START, TextStreamed("a"))
    assert log.recent_runs(1) == [START, TextStreamed("a")]
    log.record(TextStreamed("b"))
    assert log.recent_runs(1) == [START, TextStreamed("a"), TextStreamed("b")]


def test_the_latest_runs() -> None:
    log = log_of(Noticed("before"), START, Steered("1"), END, START, Steered("2"), END, Noticed("after"), START)
    assert log.recent_runs(2) == [START, Steered("2"), END, Noticed("after"), START]
    assert log.is_running
    assert log_of(Noticed("only")).recent_runs(3) == [Noticed("only")]
    assert log_of().recent_runs(3) == []


def test_logged_runs_replace_their_part_of_the_conversation() -> None:
    old, first, second = prompted("old"), prompted("first"), prompted("second")
    log = log_of(START, first, TextStreamed("1"), END, START, second, TextStreamed("2"), END)
    replayed = [old, TextStreamed("0"), first, TextStreamed("1"), second, TextStreamed("2")]
    assert log.complete(replayed) == (
        *(old, TextStreamed("0")),
        *(START, first, TextStreamed("1"), END),
        *(START, second, TextStreamed("2"), END),
    )


def test_a_run_that_was_rewound_is_left_out() -> None:
    first, second = prompted("first"), prompted("second")
    log = log_of(START, first, END, START, second, END)
    assert log.complete([first]) == (START, first, END)
    assert log.complete([]) == ()


def test_the_same_prompt_of_another_conversation_is_another_prompt() -> None:
    mine, other = prompted("same"), Prompted(Message(user_message("same").role, user_message("same").parts), "same")
    assert log_of(START, other, TextStreamed("other"), END).complete([mine, TextStreamed("mine")]) == (
        mine,
        TextStreamed("mine"),
    )


def test_a_run_in_progress_follows_the_conversation_before_it_has_a_prompt() -> None:
    old = prompted("old")
    assert log_of(START).complete([old]) == (old, START)


def test_a_run_with_more_events_than_are_kept_is_not_doubled() -> None:
    old, now = prompted("old"), prompted("now")
    steps = [Steered(str(number)) for number in range(10)]
    log = log_of(START, now, *steps, max_events=4)
    replayed = [old, TextStreamed("0"), now, *(TextStreamed(step.text) for step in steps[:9])]
    shown = log.complete(replayed)
    assert shown[:3] == (old, TextStreamed("0"), now)
    assert isinstance(shown[3], Noticed)
    assert list(shown[4:]) == steps[-4:]
    log.record(END)
    assert log.complete(replayed) == tuple(replayed)


def test_a_long_text_does_not_push_out_the_beginning_of_its_run() -> None:
    now = prompted("now")
    log = log_of(START, now, *[TextStreamed("x ")] * 50_000, max_events=100)
    assert log.complete([now]) == (START, now, TextStreamed("x " * 50_000))
