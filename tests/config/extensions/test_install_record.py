"""How an extension was installed."""

from hashlib import sha256
from pathlib import Path

import pytest

from tejat.config.extensions.install_record import (
    INSTALL_RECORD,
    InstallRecord,
    InstallType,
    extension_id,
    read_install_record,
    write_install_record,
)
from tejat.core.errors import ConfigurationError


def test_a_record_is_kept_as_it_is(tmp_path: Path) -> None:
    record = InstallRecord(
        "https://github.com/o/r", InstallType.GIT, ref="main", auto_update=True, others={"marketplace": {"a": 1}}
    )
    write_install_record(str(tmp_path), record)
    assert read_install_record(str(tmp_path)) == record
    assert read_install_record(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    "text", ["", "[]", '{"source": "x"}', '{"source": 1, "type": "git"}', '{"source": "x", "type": "git", "ref": 1}']
)
def test_an_invalid_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / INSTALL_RECORD).write_text(text)
    with pytest.raises(ConfigurationError, match=INSTALL_RECORD):
        read_install_record(str(tmp_path))


@pytest.mark.parametrize(
    "source", ["https://github.com/o/r", "https://github.com/o/r.git", "git@github.com:o/r.git", "github:o/r"]
)
def test_all_spellings_of_a_repository_have_one_id(source: str) -> None:
    expected = sha256(b"https://github.com/o/r").hexdigest()
    assert extension_id("demo", InstallRecord(source, InstallType.GIT)) == expected


def test_other_ids() -> None:
    assert extension_id("demo", InstallRecord("/src/demo", InstallType.LOCAL)) == sha256(b"/src/demo").hexdigest()
    assert extension_id("demo", None) == sha256(b"demo").hexdigest()
