"""Which keys count."""

from dialog_checks import Clock
from tejat.frontends.terminal.key_guard import SECONDS_UNHEARD, KeyGuard


def test_keys_count_a_moment_after_the_question_has_appeared() -> None:
    clock = Clock()
    guard = KeyGuard(clock)
    assert not guard.hears("y", is_typing=False)
    guard.appear()
    clock.now += SECONDS_UNHEARD - 0.01
    guard.appear()
    clock.now += 0.02
    assert guard.hears("y", is_typing=False)
    guard.forget()
    guard.appear()
    assert not guard.hears("y", is_typing=True)


def test_whoever_goes_on_typing_is_not_heard_before_they_pause() -> None:
    clock = Clock()
    guard = KeyGuard(clock)
    guard.appear()
    for key in "please also":
        clock.now += SECONDS_UNHEARD - 0.01
        assert not guard.hears(key, is_typing=False)
    clock.now += SECONDS_UNHEARD + 0.01
    for key in ("down", "y"):
        assert guard.hears(key, is_typing=False)


def test_what_is_pasted_counts_only_where_something_is_typed() -> None:
    clock = Clock()
    guard = KeyGuard(clock)
    guard.appear()
    clock.now += 1
    assert not guard.hears("paste", is_typing=True)
    assert not guard.hears("y", is_typing=False)
    assert guard.hears("y", is_typing=True)
    assert not guard.hears("paste-end", is_typing=True)
    assert guard.hears("y", is_typing=False)
