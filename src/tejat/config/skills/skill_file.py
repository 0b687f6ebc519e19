"""Reading of SKILL.md files."""

import os
import re
from collections.abc import Mapping, Sequence

from tejat.config.front_matter import MAX_FILE_BYTES, FrontMatter, FrontMatterError, parse_front_matter
from tejat.config.skills.skill import (
    CODEX_FILE,
    MAX_COMPATIBILITY,
    MAX_DESCRIPTION,
    MAX_NAME,
    SkillFields,
)
from tejat.config.yaml_values import YamlError, parse_yaml
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonValue
from tejat.core.sanitize import sanitize_summary, strip_hidden
from tejat.workspace.files.regular_file import regular_file_opener

_INEFFECTIVE_FIELDS = ("model", "context", "agent", "hooks", "paths", "effort")
_REPLACED_CHARACTERS = re.compile(r'[:\\/<>*?"|]|\s+')
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_CODEX_BYTES = 64 * 1024


def read_skill_text(path: str) -> str:
    """Read a SKILL.md. Raises ConfigurationError with one line that does not name the file."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(error.strerror or lazy("cannot be read")) from None
    return decode_skill(content)


def decode_skill(content: bytes) -> str:
    """Raises ConfigurationError as `read_skill_text` does."""
    if len(content) > MAX_FILE_BYTES:
        raise ConfigurationError(lazy("larger than {size} KB", size=MAX_FILE_BYTES // 1024))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(lazy("not UTF-8")) from None


def parse_skill(text: str, directory: str) -> tuple[SkillFields, str]:
    """The fields and the body of a SKILL.md in a directory. Raises ConfigurationError as `read_skill_text` does."""
    try:
        parsed = parse_front_matter(text)
    except FrontMatterError as error:
        raise ConfigurationError(str(error)) from None
    notes = list(parsed.notes)
    fields = SkillFields(
        name=_read_name(parsed, os.path.basename(directory), notes),
        description=_read_description(parsed, notes),
        license=_line(parsed, "license"),
        compatibility=_read_compatibility(parsed, notes),
        metadata=_read_metadata(parsed.fields.get("metadata"), notes),
        allowed_tools=_read_tools(parsed.fields.get("allowed-tools"), notes),
        is_model_invocable=not _is_true(parsed, "disable-model-invocation", notes) and not _is_kept_by_codex(directory),
        is_user_invocable=not _is_false(parsed, "user-invocable", notes),
        argument_hint=_line(parsed, "argument-hint"),
        ineffective=tuple(name for name in _INEFFECTIVE_FIELDS if name in parsed.fields),
        body_lines=parsed.body.count("\n") + 1 if parsed.body else 0,
        body_tokens=estimate_text_tokens(parsed.body),
        notes=tuple(notes),
    )
    return fields, parsed.body


def _read_name(parsed: FrontMatter, directory_name: str, notes: list[str]) -> str:
    written = parsed.text("name")
    if not written:
        notes.append(lazy("no name, so the name of the directory is used"))
        written = strip_hidden(directory_name)
    name = _REPLACED_CHARACTERS.sub("-", written.strip()).strip("-")
    if not name:
        raise ConfigurationError(lazy("no usable name"))
    if name != written:
        notes.append(lazy("the name '{written}' is changed to '{name}'", written=written, name=name))
    if len(name) > MAX_NAME:
        notes.append(lazy("the name has more than {most} characters", most=MAX_NAME))
    if not _NAME.fullmatch(name):
        notes.append(lazy("the name should have lower-case letters, digits and single hyphens only"))
    if parsed.text("name") and name != directory_name:
        notes.append(lazy("the name differs from that of the directory"))
    return name


def _read_description(parsed: FrontMatter, notes: list[str]) -> str:
    description = " ".join((parsed.text("description") or "").split())
    if not description:
        raise ConfigurationError(lazy("no description"))
    if len(description) > MAX_DESCRIPTION:
        notes.append(lazy("the description is longer than {most} characters", most=MAX_DESCRIPTION))
    return description


def _read_compatibility(parsed: FrontMatter, notes: list[str]) -> str:
    text = _line(parsed, "compatibility")
    if len(text) > MAX_COMPATIBILITY:
        notes.append(lazy("the compatibility is longer than {most} characters", most=MAX_COMPATIBILITY))
    return text[:MAX_COMPATIBILITY]


def _line(parsed: FrontMatter, key: str) -> str:
    return sanitize_summary(strip_hidden(parsed.text(key) or ""))


def _read_metadata(value: JsonValue, notes: list[str]) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        notes.append(lazy("metadata is not a map"))
        return {}
    return {strip_hidden(name): strip_hidden(str(item)) for name, item in value.items() if item is not None}


def _read_tools(value: JsonValue, notes: list[str]) -> tuple[str, ...]:
    """Tools in a list, or in one text with blanks or commas between them. A blank inside parentheses is part of one."""
    if value is None:
        return ()
    if isinstance(value, str):
        found = re.findall(r"[^\s,(]+(?:\([^)]*\))?", value)
    elif isinstance(value, Sequence):
        found = [item for item in value if isinstance(item, str)]
    else:
        notes.append(lazy("allowed-tools is not a list"))
        return ()
    return tuple(sanitize_summary(strip_hidden(name)) for name in found)


def _is_true(parsed: FrontMatter, key: str, notes: list[str]) -> bool:
    return _read_switch(parsed, key, notes) is True


def _is_false(parsed: FrontMatter, key: str, notes: list[str]) -> bool:
    return _read_switch(parsed, key, notes) is False


def _read_switch(parsed: FrontMatter, key: str, notes: list[str]) -> bool | None:
    value = parsed.fields.get(key)
    if value is None or isinstance(value, bool):
        return value
    notes.append(lazy("{key} is neither true nor false", key=key))
    return None


def _is_kept_by_codex(directory: str) -> bool:
    """Whether the settings for codex keep the skill from the model."""
    try:
        with open(os.path.join(directory, CODEX_FILE), "rb", opener=regular_file_opener) as file:
            settings = parse_yaml(file.read(_MAX_CODEX_BYTES).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, YamlError):
        return False
    policy = settings.get("policy") if isinstance(settings, Mapping) else None
    return isinstance(policy, Mapping) and policy.get("allow_implicit_invocation") is False
