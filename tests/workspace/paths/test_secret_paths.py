from pathlib import Path

from tejat.workspace.paths.secret_paths import find_secret_paths


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
