"""Packages for tests: repositories of git, and archives with any entries."""

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def write_tree(directory: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a directory; names that end in `*` are executable."""
    for name, content in files.items():
        path = directory / name.removesuffix("*")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(0o755 if name.endswith("*") else 0o644)
    return directory


def run_git(directory: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=directory, env=_GIT_ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def make_repository(directory: Path, files: Mapping[str, str | bytes], *, bare: Path | None = None) -> str:
    """Make a repository with one commit and return its hash; with `bare`, also a bare clone there."""
    write_tree(directory, files)
    run_git(directory, "init", "-q", "-b", "main")
    commit = commit_all(directory)
    if bare is not None:
        bare.parent.mkdir(parents=True, exist_ok=True)
        run_git(directory, "clone", "-q", "--bare", str(directory), str(bare))
    return commit


def commit_all(directory: Path) -> str:
    run_git(directory, "add", "-A")
    run_git(directory, "commit", "-q", "-m", "Change")
    return run_git(directory, "rev-parse", "HEAD")


def make_tar(entries: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def tar_entry(
    name: str, content: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(content)
    return info, content


def tar_of(files: Mapping[str, str | bytes]) -> bytes:
    """A `.tar.gz` of these files; names that end in `*` are executable."""
    return make_tar(
        [
            tar_entry(
                name.removesuffix("*"),
                content.encode() if isinstance(content, str) else content,
                mode=0o755 if name.endswith("*") else 0o644,
            )
            for name, content in files.items()
        ]
    )


def zip_entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def make_zip(entries: Sequence[tuple[zipfile.ZipInfo | str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in entries:
            archive.writestr(info, content)
    return packed.getvalue()
