"""Calls of the C library: what goes in, what comes out, and errors."""

import errno
import os
import sys

import pytest

from tejat.workspace.sandbox.libc import Pinned, call


def test_numbers() -> None:
    assert call("getpid") == os.getpid()
    assert call("abs", -7) == 7


def test_bytes_are_passed_as_a_pointer() -> None:
    assert call("strlen", b"twelve bytes") == 12


def test_addresses_are_not_cut_off() -> None:
    text = Pinned(b"far away\0")
    assert call("strlen", text.address) == 8


def test_errors() -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)) as caught:
        call("close", -1)
    assert caught.value.errno == errno.EBADF


@pytest.mark.skipif(sys.platform != "linux", reason="numbers of Linux")
def test_a_system_call() -> None:
    assert call("syscall", {"x86_64": 39, "aarch64": 172}[os.uname().machine]) == os.getpid()


def test_an_unknown_function() -> None:
    with pytest.raises(OSError, match="no_such_function"):
        call("no_such_function")
