"""Tests of the names of sockets."""

import os

import pytest

from tejat.core.errors import UsageError
from tejat.ui.remote.socket_name import SOCKET_SUFFIX, make_socket_name, socket_pid


def test_a_name_has_the_process_and_is_new() -> None:
    first, second = make_socket_name(), make_socket_name()
    assert first != second
    assert first.endswith(SOCKET_SUFFIX)
    assert socket_pid(f"/run/user/7-8/tejat/{first}") == os.getpid()


@pytest.mark.parametrize("name", ["x.sock", "-1.sock", "²-1.sock", "", "12a-1.sock"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="Not the socket of a session"):
        socket_pid(f"/run/{name}")
