"""The content of a skill: its instructions, its files, and a digest of all of them."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping

from tejat.config.paths import SKILL_FILE
from tejat.config.skills.skill import Skill, SkillFields
from tejat.config.skills.skill_file import decode_skill, parse_skill
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath
from tejat.workspace.files.regular_file import regular_file_opener

MAX_FILES = 5000
MAX_BYTES = 256 * 2**20
"""Beyond this a skill has no digest of all its files, so that consent cannot be remembered."""
MAX_LISTED = 200
RECORD_FILE = ".tejat-skill.json"
"""Where an installed skill comes from. It is not part of the skill."""

_UNPINNED = ".git"
_UNLISTED = frozenset({"node_modules", _UNPINNED})
_CHUNK = 2**20
_LINK = "link:"


class SkillContent(Frozen):
    """A skill as it is now. `files` are the digests of all files by relative path, `sizes` what is listed of them.

    `digest` covers names, executable bits and contents. It is empty for a skill with too many or too large files.
    """

    fields: SkillFields
    body: str
    digest: str
    files: Mapping[str, str] = field(repr=False)
    sizes: Mapping[str, int] = field(repr=False)

    def find_outside_link(self, directory: str) -> str:
        """The first link in the skill's directory that leads out of it or nowhere, empty if there is none."""
        top = os.path.realpath(directory)
        links = sorted(name for name, pin in self.files.items() if pin.startswith(_LINK))
        targets = ((name, os.path.realpath(os.path.join(top, name))) for name in links)
        return next((name for name, target in targets if not self._is_pinned(target, top)), "")

    def _is_pinned(self, path: str, top: str) -> bool:
        """Whether a file, or every file in a directory, is among the files."""
        relative = os.path.relpath(path, top)
        return relative in self.files or (
            is_beneath(path, top) and os.path.isdir(path) and _UNPINNED not in relative.split("/")
        )

    def digests(self) -> Iterator[tuple[str, str | None]]:
        """The SHA-256 of each file by its path, None for a link."""
        for name, pin in self.files.items():
            yield name, None if pin.startswith(_LINK) else pin[1:]


def read_skill_content(skill: Skill) -> SkillContent:
    """Read a skill. Raises ConfigurationError if it cannot be used any more, or is not as it was trusted."""
    path = skill.path
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(MAX_BYTES)
    except OSError as error:
        raise ConfigurationError(
            lazy("Could not read {path}: {why}.", path=path, why=error.strerror), path=path
        ) from None
    own_digest = hashlib.sha256(content).hexdigest()
    if skill.pin and skill.pin != own_digest:
        raise ConfigurationError(
            lazy("{path} changed since this folder was trusted. Run `tejat trust`.", path=path), path=path
        )
    try:
        fields, body = parse_skill(decode_skill(content), skill.directory)
    except ConfigurationError as error:
        raise ConfigurationError(lazy("{path}: {why}.", path=path, why=error), path=path) from None
    files, sizes, is_complete = _read_files(skill.directory)
    files[SKILL_FILE] = f"-{own_digest}"
    listed = "".join(f"{name}\0{files[name]}\n" for name in sorted(files))
    digest = hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest() if is_complete else ""
    return SkillContent(fields, body, digest, files, sizes)


def is_changed_file(directory: str, files: Mapping[str, str], relative: str) -> bool:
    """Whether a file of a skill differs from when it was activated, or is new."""
    return _pin(os.path.join(directory, relative)) != files.get(relative)


def describe_tree(directory: str, sizes: Mapping[str, int]) -> str:
    """The files of a skill for the model: relative paths and sizes, not all of very many."""
    lines = [f"{name} ({size:,} bytes)" for name, size in sorted(sizes.items())]
    left = len(lines) - MAX_LISTED
    if left > 0:
        lines = [*lines[:MAX_LISTED], f"... and {left:,} more"]
    return "\n".join((directory, "Paths in this skill are relative to this directory.", *lines))


def _read_files(directory: str) -> tuple[dict[str, str], dict[str, int], bool]:
    files: dict[str, str] = {}
    sizes: dict[str, int] = {}
    total = 0
    for relative, status in _walk(directory):
        if not any(part in _UNLISTED for part in relative.split("/")[:-1]):
            sizes[relative] = status.st_size
        total += status.st_size
        if len(files) > MAX_FILES or total > MAX_BYTES:
            return files, sizes, False
        files[relative] = _pin(os.path.join(directory, relative))
    return files, sizes, True


def _walk(directory: str) -> Iterator[tuple[str, os.stat_result]]:
    """Files and links below a directory, without following links, but not what version control keeps."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(os.path.join(directory, here)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            relative = f"{here}{entry.name}"
            try:
                if not entry.is_dir(follow_symlinks=False):
                    if relative != RECORD_FILE:
                        yield relative, entry.stat(follow_symlinks=False)
                elif entry.name != _UNPINNED:
                    waiting.append(f"{relative}/")
            except OSError:
                continue


def _pin(path: str) -> str:
    """The executable bit and the digest of a file, or the target of a link."""
    try:
        if os.path.islink(path):
            return f"{_LINK}{os.readlink(path)}"
        digest = hashlib.sha256()
        with open(path, "rb", opener=regular_file_opener) as file:
            is_executable = os.fstat(file.fileno()).st_mode & stat.S_IXUSR
            while piece := file.read(_CHUNK):
                digest.update(piece)
    except OSError as error:
        return f"unreadable:{error.strerror}"
    return f"{'x' if is_executable else '-'}{digest.hexdigest()}"
