"""How an extension was installed: `.gemini-extension-install.json`, shared with Gemini CLI."""

import os
import re
from collections.abc import Mapping
from typing import cast

from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.text.digest import sha256
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.private_files import write_private_file

INSTALL_RECORD = ".gemini-extension-install.json"
_GITHUB = r"(?:https?://(?:[^@/]*@)?github\.com/|(?:ssh://)?git@github\.com[:/]|github:)([^/]+)/([^/#?]+)"


class InstallType(StrEnum):
    GIT = "git"
    GITHUB_RELEASE = "github-release"
    LOCAL = "local"
    LINK = "link"


class InstallRecord(Frozen):
    """The source of an extension. `others` are fields of Gemini CLI that are kept as they are."""

    source: str
    type: InstallType
    ref: str = ""
    release_tag: str = ""
    auto_update: bool = False
    allow_pre_release: bool = False
    others: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def is_from_git(self) -> bool:
        return self.type in (InstallType.GIT, InstallType.GITHUB_RELEASE)

    def to_json(self) -> JsonObject:
        """The content of the file, with the names of Gemini CLI."""
        given = {
            "ref": self.ref,
            "releaseTag": self.release_tag,
            "autoUpdate": self.auto_update,
            "allowPreRelease": self.allow_pre_release,
        }
        set_fields = {name: value for name, value in given.items() if value}
        return {**self.others, "source": self.source, "type": self.type.value, **set_fields}


def read_install_record(directory: str) -> InstallRecord | None:
    """The record in the directory of an extension, None if there is none. Raises ConfigurationError."""
    path = os.path.join(directory, INSTALL_RECORD)
    text = read_config_file(path, writers=AllowedWriters.TRUSTED)
    if text is None:
        return None
    try:
        content = load_json(text)
    except InvalidJson as error:
        raise _invalid(path, str(error)) from None
    if not isinstance(content, dict):
        raise _invalid(path, lazy("it must be an object in {{}}"))
    return _parse(path, cast("dict[str, JsonValue]", content))


def write_install_record(directory: str, record: InstallRecord) -> None:
    """Write the record into the directory of an extension. Raises OSError."""
    path = os.path.join(directory, INSTALL_RECORD)
    write_private_file(path, dump_json(record.to_json(), indent=2) + "\n", follow_symlinks=False)


def extension_id(name: str, record: InstallRecord | None) -> str:
    """The identifier that Gemini CLI gives to an extension, in hex."""
    source = name if record is None else record.source
    if found := re.match(_GITHUB, source):
        source = f"https://github.com/{found[1]}/{found[2].removesuffix('.git')}"
    return sha256(source.encode()).hexdigest()


def _parse(path: str, given: Mapping[str, JsonValue]) -> InstallRecord:
    source, kind = given.get("source"), given.get("type")
    if not isinstance(source, str) or not source:
        raise _invalid(path, lazy("source must be a string"))
    if not isinstance(kind, str) or kind not in list(InstallType):
        raise _invalid(path, lazy("type must be {types}", types=" or ".join(InstallType)))
    texts: dict[str, str] = {}
    for name in ("ref", "releaseTag"):
        value = given.get(name)
        if value is not None and not isinstance(value, str):
            raise _invalid(path, lazy("{name} must be a string", name=name))
        texts[name] = value or ""
    return InstallRecord(
        source,
        InstallType(kind),
        texts["ref"],
        texts["releaseTag"],
        auto_update=given.get("autoUpdate") is True,
        allow_pre_release=given.get("allowPreRelease") is True,
        others={name: value for name, value in given.items() if name not in _FIELDS},
    )


def _invalid(path: str, why: str) -> ConfigurationError:
    return ConfigurationError(lazy("Error in {path}: {why}", path=path, why=why), path=path)


_FIELDS = frozenset({"source", "type", "ref", "releaseTag", "autoUpdate", "allowPreRelease"})
