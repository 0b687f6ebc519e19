from pathlib import Path

import pytest

from tejat.workspace.paths.secret_paths import find_secret_paths, is_sensitive_path


def test_only_what_is_there(tmp_path: Path) -> None:
    assert find_secret_paths(str(tmp_path)) == ()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".netrc").write_text("x")
    (tmp_path / ".config" / "gh").mkdir(parents=True)
    (tmp_path / ".config" / "harmless").mkdir()
    (tmp_path / ".aws").symlink_to("nowhere")
    assert sorted(find_secret_paths(str(tmp_path))) == [
        str(tmp_path / name) for name in (".aws", ".config/gh", ".netrc", ".ssh")
    ]


@pytest.mark.parametrize("path", ["/proc", "/proc/1", "/run", "/run/docker.sock", "/dev", "/sys/fs"])
def test_processes_devices_and_sockets_of_the_machine_are_never_shown(tmp_path: Path, path: str) -> None:
    assert is_sensitive_path(path, home=str(tmp_path), own_directories=())
    assert not is_sensitive_path("/opt/run", home=str(tmp_path), own_directories=())
