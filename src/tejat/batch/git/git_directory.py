"""Git directories written by hand: no process, no template, no hooks, and only the settings named here."""

import os
import sys
import tempfile
from typing import IO

SHA256_LENGTH = 64
_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = {bare}
\tlogAllRefUpdates = {logs}
{platform}[gc]
\tauto = 0
{extensions}"""
_MAC = "\tignorecase = true\n\tprecomposeunicode = true\n"
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


def write_git_directory(
    path: str, *, commit: str, is_bare: bool = False, objects: str = "", shallow: bytes = b""
) -> None:
    """Write a new git directory for repositories with hashes as long as the commit's.

    HEAD is detached at the commit; a bare repository gets the commit later, so its HEAD is a branch without commits.
    Objects are also looked up in the directory `objects`. `shallow` lists the commits without parents. Raises OSError.
    """
    os.makedirs(os.path.join(path, "objects", "info"))
    os.makedirs(os.path.join(path, "refs", "heads"))
    head = "ref: refs/heads/main" if is_bare else commit
    write_file(os.path.join(path, "HEAD"), f"{head}\n".encode())
    write_config(path, commit=commit, is_bare=is_bare)
    if objects:
        write_file(os.path.join(path, "objects", "info", "alternates"), os.fsencode(_quoted(objects)) + b"\n")
    if shallow:
        write_file(os.path.join(path, "shallow"), shallow)


def write_config(path: str, *, commit: str, is_bare: bool) -> None:
    """Replace the configuration of a git directory. Raises OSError."""
    is_sha256 = len(commit) == SHA256_LENGTH
    text = _CONFIG.format(
        version=1 if is_sha256 else 0,
        bare="true" if is_bare else "false",
        logs="false" if is_bare else "true",
        platform=_MAC if sys.platform == "darwin" else "",
        extensions=_SHA256 if is_sha256 else "",
    )
    write_file(os.path.join(path, "config"), text.encode())


def read_shallow(path: str) -> bytes:
    """The list of commits without parents in a git directory, empty if its history is complete."""
    return read_file(os.path.join(path, "shallow"))


def read_file(path: str) -> bytes:
    """The content of a file of ours, empty if it is missing. Raises OSError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def write_file(path: str, content: bytes) -> None:
    """Write a file that can be made again: it is not flushed to the disk. Raises OSError."""
    with open(path, "wb") as file:
        file.write(content)


def open_output(directory: str) -> IO[bytes]:
    """A file without a name for the output of a command, which can then be read. Raises OSError."""
    return tempfile.TemporaryFile(dir=directory)


def _quoted(path: str) -> str:
    if "\n" not in path:
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
