"""A page for other machines asks for a password, and slows down those who guess."""

import asyncio

import pytest

from tejat.ui.web.http.password import PasswordCheck
from tejat.workspace.http.server import HttpError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def status_of(check: PasswordCheck, password: str) -> int:
    try:
        asyncio.run(check.check(password))
    except HttpError as error:
        return error.status
    return 200


def test_only_the_password_is_accepted() -> None:
    check = PasswordCheck("correct horse")
    assert [status_of(check, word) for word in ("", "correct", "correct horse ", "\udc80", "correct horse")] == [
        *(401, 401, 401, 401),
        200,
    ]


def test_guessing_gets_slower_also_with_the_right_password() -> None:
    clock = Clock()
    check = PasswordCheck("correct horse", clock=clock)
    assert {status_of(check, "wrong") for _ in range(5)} == {401}
    assert status_of(check, "correct horse") == 429
    clock.now += 1.1
    assert status_of(check, "wrong") == 401
    clock.now += 1.1
    assert status_of(check, "correct horse") == 429
    clock.now += 1.1
    assert status_of(check, "correct horse") == 200
    assert status_of(check, "wrong") == 401, "a success forgives what was before"


def test_the_answer_says_when_to_try_again() -> None:
    check = PasswordCheck("correct horse", clock=Clock())
    for _ in range(5):
        status_of(check, "wrong")
    with pytest.raises(HttpError) as caught:
        asyncio.run(check.check("wrong"))
    assert caught.value.headers == (("retry-after", "2"),)
    assert caught.value.message == "Too many wrong passwords. Try again in 2 s."
