"""Which keys count."""

from support.terminal.dialogs import FakeClock
from tejat.ui.terminal.dialogs.key_guard import GRACE_SECONDS, KeyGuard


def test_keys_count_a_moment_after_the_question_has_appeared() -> None:
    clock = FakeClock()
    guard = KeyGuard(clock)
    assert not guard.accepts("y", is_typing=False)
    guard.mark_shown()
    clock.now += GRACE_SECONDS - 0.01
    guard.mark_shown()
    clock.now += 0.02
    assert guard.accepts("y", is_typing=False)
    guard.reset()
    guard.mark_shown()
    assert not guard.accepts("y", is_typing=True)


def test_whoever_goes_on_typing_is_not_heard_before_they_pause() -> None:
    clock = FakeClock()
    guard = KeyGuard(clock)
    guard.mark_shown()
    for key in "please also":
        clock.now += GRACE_SECONDS - 0.01
        assert not guard.accepts(key, is_typing=False)
    clock.now += GRACE_SECONDS + 0.01
    for key in ("down", "y"):
        assert guard.accepts(key, is_typing=False)


def test_what_is_pasted_counts_only_where_something_is_typed() -> None:
    clock = FakeClock()
    guard = KeyGuard(clock)
    guard.mark_shown()
    clock.now += 1
    assert not guard.accepts("paste", is_typing=True)
    assert not guard.accepts("y", is_typing=False)
    assert guard.accepts("y", is_typing=True)
    assert not guard.accepts("paste-end", is_typing=True)
    assert guard.accepts("y", is_typing=False)
