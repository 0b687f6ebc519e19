"""Room in the context window: what is left for a request, and what is learned from services."""

from support.agent_run import RecordingModel, text_answer
from tejat.core.model import ContextOverflow, FailureKind
from tejat.engine.loop.context_window import ContextWindow, answer_tokens, is_lean_window


def model(window: int) -> RecordingModel:
    return RecordingModel([text_answer("x")], window=window)


def test_there_is_room_for_an_answer() -> None:
    window, small = ContextWindow(), model(4096)
    assert window.size(small) == 4096
    assert window.to_tokens(window.room(small)) <= 4096 - answer_tokens(4096)
    assert answer_tokens(1_000_000) == 8192


def test_small_and_lean_windows() -> None:
    assert [is_lean_window(size) for size in (0, 4096, 8192, 8193)] == [False, True, True, False]
    assert [ContextWindow().is_small(model(size)) for size in (8192, 32_768, 128_000)] == [True, True, False]


def test_counts_of_the_service_correct_the_estimate() -> None:
    window, small = ContextWindow(), model(8192)
    before = window.room(small)
    window.learn_count(small, 1000, 2000)
    assert window.room(small) < before
    window.learn_count(small, 1000, 900)
    assert window.room(small) > before
    window.learn_count(small, 50, 5000)  # too little to compare
    assert window.room(small) > before


def test_a_refusal_tells_the_window() -> None:
    window, large = ContextWindow(), model(128_000)
    window.learn_overflow(large, 4000, ContextOverflow(5031, 4096))
    assert window.size(large) == 4096
    assert window.to_tokens(4000) >= 5031
    assert window.size(model(9000)) == 9000, "what is known of one model does not count for another"


def test_a_refusal_without_figures() -> None:
    window, large = ContextWindow(), model(128_000)
    window.learn_overflow(large, 100, ContextOverflow())
    assert window.size(large) == 128_000
    window.learn_overflow(large, 10_000, ContextOverflow())
    assert window.room(large) < 10_000


def test_what_to_do_can_be_typed() -> None:
    failure = ContextWindow().too_small(model(4096), 9000)
    assert failure.kind is FailureKind.CONTEXT_FULL
    for words in ("4,096", '"tools": {"core": ["read_file", "replace"]}', "--ctx-size 16384", "OLLAMA_CONTEXT_LENGTH"):
        assert words in str(failure.message)
