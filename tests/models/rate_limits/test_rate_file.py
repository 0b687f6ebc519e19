"""The file of rates: written by one process, read by many."""

import os
import stat
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.models.rate_limits.rate_file import create_rate_file, read_rates


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    create_rate_file(str(path), {"openai": 500, "gemini": 0.5})
    assert path.read_text() == '{"version":1,"rates":{"gemini":0.5,"openai":500.0}}'
    assert read_rates(str(path)) == {"gemini": 0.5, "openai": 500.0}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_same_rates_are_not_written_again(tmp_path: Path) -> None:
    path = str(tmp_path / "rates.json")
    create_rate_file(path, {"gemini": 60})
    first = os.stat(path).st_ino
    create_rate_file(path, {"gemini": 60.0})
    assert os.stat(path).st_ino == first
    create_rate_file(path, {"gemini": 30})
    assert read_rates(path) == {"gemini": 30.0}


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), True, "60"])
def test_a_rate_is_a_number_above_0(tmp_path: Path, rate: float) -> None:
    path = tmp_path / "rates.json"
    with pytest.raises(ValueError, match="the rate of gemini must be a number above 0"):
        create_rate_file(str(path), {"gemini": rate})
    assert not path.exists()


def test_an_unknown_service(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown service 'gemni'\. Use one of: gemini, "):
        create_rate_file(str(tmp_path / "rates.json"), {"gemni": 60})


def test_no_file_means_no_rates(tmp_path: Path) -> None:
    assert read_rates(str(tmp_path / "rates.json")) == {}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "Expecting property name"),
        (b"[]", "it is not a file of rates"),
        (b'{"version":2,"rates":{}}', "it is not a file of rates"),
        (b'{"version":1,"rates":[]}', "it is not a file of rates"),
        (b'{"version":1,"rates":{"gemini":"60"}}', "the rate of gemini must be a number above 0"),
        (b'{"version":1,"rates":{"nobody":60}}', "unknown service 'nobody'"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_an_invalid_file_is_an_error(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "rates.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_rates(str(path))
    assert why in str(caught.value)
    assert str(caught.value).startswith(f"TEJAT_RATE_LIMITS: could not read the rate limits in {path}: ")
