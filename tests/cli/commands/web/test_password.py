"""Where the password comes from."""

from pathlib import Path

import pytest

from tejat.cli.commands.web.password import VARIABLE, read_password
from tejat.core.errors import UsageError


def test_the_variable_is_used_and_removed() -> None:
    environment = {VARIABLE: "correct horse", "HOME": "/home"}
    assert read_password(None, environment) == "correct horse"
    assert environment == {"HOME": "/home"}


def test_a_file_is_used_before_the_variable(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from the file\n")
    file.chmod(0o600)
    environment = {VARIABLE: "correct horse"}
    assert read_password(str(file), environment) == "from the file"
    assert environment == {}


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from the file\n")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        read_password(str(file), {})


def test_a_missing_file_a_short_password_and_none_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_password(str(tmp_path / "no"), {})
    with pytest.raises(UsageError, match="at least 10 characters"):
        read_password(None, {VARIABLE: "short"})
    with pytest.raises(UsageError, match="TEJAT_WEB_PASSWORD"):
        read_password(None, {})
