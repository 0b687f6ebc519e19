"""Files that the program obeys are read whole or refused by name."""

import os
from pathlib import Path

import pytest

from tejat.config.files.reader import (
    MAX_BYTES,
    AllowedWriters,
    allowed_writers,
    list_config_directory,
    read_config_file,
)
from tejat.config.paths import MACHINE_DIRECTORIES, SourceTier
from tejat.core.errors import ConfigurationError, UsageError

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
NOT_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
BOTH = pytest.mark.parametrize("writers", [AllowedWriters.TRUSTED, AllowedWriters.ANYONE])


@BOTH
class TestReading:
    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (b"", ""),
            ("é\r\n\u2028".encode(), "é\r\n\u2028"),
            (b"\xef\xbb\xbfa", "a"),
            (b"a" * MAX_BYTES, "a" * MAX_BYTES),
        ],
    )
    def test_the_text(self, tmp_path: Path, writers: AllowedWriters, content: bytes, text: str) -> None:
        path = tmp_path / "a"
        path.write_bytes(content)
        assert read_config_file(str(path), writers=writers) == text

    @pytest.mark.parametrize("name", ["missing", "missing/missing", "file/beneath"])
    def test_none_where_there_is_no_file(self, tmp_path: Path, writers: AllowedWriters, name: str) -> None:
        (tmp_path / "file").write_text("x")
        assert read_config_file(f"{tmp_path}/{name}", writers=writers) is None

    def test_links_are_followed(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "a").write_text("x")
        (tmp_path / "link").symlink_to("a")
        assert read_config_file(f"{tmp_path}/link", writers=writers) == "x"

    def test_a_link_to_nowhere_is_not_a_missing_file(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "link").symlink_to("nowhere")
        refused(tmp_path / "link", writers, "Could not read {}: No such file or directory.")

    def test_what_is_no_file(self, tmp_path: Path, writers: AllowedWriters) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "zero").symlink_to("/dev/zero")
        for path in (tmp_path, tmp_path / "pipe", tmp_path / "zero"):
            refused(path, writers, "Could not read {}: not a regular file.")

    def test_too_long(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "a").write_bytes(b"a" * (writers.max_bytes + 1))
        size = 8 if writers is AllowedWriters.TRUSTED else 1
        told = f"larger than {size} MiB. Remove what you do not need."
        refused(tmp_path / "a", writers, "Could not read {}: " + told)

    def test_not_text(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "a").write_bytes(b"one\ntwo\n\xff\n")
        refused(tmp_path / "a", writers, "Could not read {}: not UTF-8 (line 3).")

    @NOT_ROOT
    def test_no_permission(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "a").touch(0o000)
        refused(tmp_path / "a", writers, "Could not read {}: Permission denied.")

    @NOT_ROOT
    def test_no_way_to_know_whether_it_is_there(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "closed").mkdir(mode=0o000)
        try:
            refused(tmp_path / "closed" / "a", writers, "Could not read {}: Permission denied.")
            with pytest.raises(UsageError, match="Permission denied"):
                list_config_directory(f"{tmp_path}/closed/a", writers=writers)
        finally:
            (tmp_path / "closed").chmod(0o700)


class TestWriters:
    def test_everybody_could_write(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        path.write_text("x")
        path.chmod(0o646)
        refused(path, AllowedWriters.TRUSTED, "Refusing to use {}: writable by everyone. Fix it with: chmod o-w {}")
        assert read_config_file(str(path), writers=AllowedWriters.ANYONE) == "x"

    def test_a_group_may_write(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        path.write_text("x")
        path.chmod(0o664)
        assert read_config_file(str(path), writers=AllowedWriters.TRUSTED) == "x"

    @ROOT_ONLY
    def test_somebody_elses(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        path.write_text("x")
        os.chown(path, 12345, 12345)
        refused(path, AllowedWriters.TRUSTED, "Refusing to use {}: owned by another user (uid 12345).")
        assert read_config_file(str(path), writers=AllowedWriters.ANYONE) == "x"

    def test_what_a_link_leads_to_is_judged(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x")
        (tmp_path / "a").chmod(0o666)
        (tmp_path / "link").symlink_to("a")
        refused(
            tmp_path / "link",
            AllowedWriters.TRUSTED,
            "Refusing to use {}: writable by everyone. Fix it with: chmod o-w {}",
        )


class TestListing:
    def test_sorted_names(self, tmp_path: Path) -> None:
        for name in ("b", "a", ".c"):
            (tmp_path / name).touch()
        assert list_config_directory(str(tmp_path), writers=AllowedWriters.TRUSTED) == [".c", "a", "b"]

    def test_missing(self, tmp_path: Path) -> None:
        assert list_config_directory(f"{tmp_path}/missing", writers=AllowedWriters.TRUSTED) == []
        assert list_config_directory("/dev/null/missing", writers=AllowedWriters.TRUSTED) == []

    @pytest.mark.parametrize("writers", [AllowedWriters.TRUSTED, AllowedWriters.ANYONE])
    def test_not_a_directory(self, tmp_path: Path, writers: AllowedWriters) -> None:
        (tmp_path / "a").touch()
        with pytest.raises(UsageError, match=f"^Could not read {tmp_path}/a: Not a directory.$"):
            list_config_directory(f"{tmp_path}/a", writers=writers)

    def test_everybody_could_add_to_it(self, tmp_path: Path) -> None:
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o777)
        with pytest.raises(UsageError, match=f"^Refusing to use {tmp_path}/open: writable by everyone."):
            list_config_directory(f"{tmp_path}/open", writers=AllowedWriters.TRUSTED)
        assert list_config_directory(f"{tmp_path}/open", writers=AllowedWriters.ANYONE) == []

    @ROOT_ONLY
    def test_somebody_elses(self, tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir()
        os.chown(tmp_path / "theirs", 12345, 12345)
        with pytest.raises(UsageError, match="owned by another user"):
            list_config_directory(f"{tmp_path}/theirs", writers=AllowedWriters.TRUSTED)


def refused(path: Path, writers: AllowedWriters, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_config_file(str(path), writers=writers)
    assert str(caught.value) == message.replace("{}", str(path))


class TestMachine:
    """Files in the directories of the machine, such as /etc/tejat."""

    @pytest.mark.parametrize(
        ("path", "tier", "writers"),
        [
            (f"{MACHINE_DIRECTORIES[0]}/settings.json", SourceTier.ADMIN, AllowedWriters.ROOT),
            (f"{MACHINE_DIRECTORIES[1]}/policies/a.toml", SourceTier.ADMIN, AllowedWriters.ROOT),
            ("/elsewhere/settings.json", SourceTier.ADMIN, AllowedWriters.TRUSTED),
            ("/home/me/.gemini/settings.json", SourceTier.USER, AllowedWriters.TRUSTED),
            ("/project/.gemini/settings.json", SourceTier.WORKSPACE, AllowedWriters.ANYONE),
        ],
    )
    def test_who_may_write(self, path: str, tier: SourceTier, writers: AllowedWriters) -> None:
        assert allowed_writers(path, tier) is writers

    def test_only_root(self, tmp_path: Path) -> None:
        directory = tmp_path / "machine"
        directory.mkdir(mode=0o755)
        path = directory / "settings.json"
        path.write_text("{}")
        if os.geteuid() != 0:
            with pytest.raises(ConfigurationError, match="not owned by root"):
                read_config_file(str(path), writers=AllowedWriters.ROOT)
            return
        assert read_config_file(str(path), writers=AllowedWriters.ROOT) == "{}"
        path.chmod(0o664)
        with pytest.raises(
            ConfigurationError, match=r"writable by users other than root. Fix it with: sudo chmod go-w .*settings.json"
        ):
            read_config_file(str(path), writers=AllowedWriters.ROOT)
        path.chmod(0o644)
        directory.chmod(0o775)
        with pytest.raises(ConfigurationError, match="machine: writable by users other than root"):
            read_config_file(str(path), writers=AllowedWriters.ROOT)
        directory.chmod(0o755)
        os.chown(path, 65534, -1)
        with pytest.raises(ConfigurationError, match="not owned by root"):
            read_config_file(str(path), writers=AllowedWriters.ROOT)
