"""Checks of a skill before it is shared."""

import os
import re
import stat

from tejat.app.skills.tool_wishes import map_wishes
from tejat.config.paths import SKILL_FILE
from tejat.config.skills.content import read_skill_content
from tejat.config.skills.skill import LONG_BODY_LINES, LONG_BODY_TOKENS, Skill, SkillFields
from tejat.config.skills.skill_file import parse_skill, read_skill_text
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.provenance import Party, Provenance
from tejat.core.text.token_shapes import find_tokens

_DYNAMIC = re.compile(r"(?m)^.*!`[^`\n]+`.*$")
_REFERENCE = re.compile(r"(?:^|[\s(\[`\"'])((?:scripts|references|assets)/[\w./-]*\w)")
_SHEBANG = b"#!"
_MAX_READ = 2**20


class SkillCheck(Frozen):
    """The result of a validation: what makes a skill unusable or breaks the format, and what could be better."""

    directory: str
    fields: SkillFields | None
    errors: tuple[str, ...]
    warnings: tuple[str, ...]


def validate_skill(path: str) -> SkillCheck:
    """Check the skill in a directory, or of a SKILL.md. Nothing of it is run."""
    directory = os.path.dirname(path) if os.path.basename(path) == SKILL_FILE else path
    directory = os.path.abspath(directory)
    file = os.path.join(directory, SKILL_FILE)
    try:
        fields, body = parse_skill(read_skill_text(file), directory)
    except ConfigurationError as error:
        return SkillCheck(directory, None, (_("{path}: {why}", path=file, why=error),), ())
    skill = Skill(fields, directory, Provenance(Party.USER, file), fields.name)
    content = read_skill_content(skill)
    warnings: list[str] = []
    if fields.is_long:
        warnings.append(
            _(
                "the body has {lines} lines and about {tokens} tokens; at most {most_lines} and {most_tokens} are "
                "recommended",
                lines=f"{fields.body_lines:,}",
                tokens=f"{fields.body_tokens:,}",
                most_lines=LONG_BODY_LINES,
                most_tokens=LONG_BODY_TOKENS,
            )
        )
    if not body:
        warnings.append(_("the body is empty"))
    if fields.ineffective:
        warnings.append(_("fields without effect here: {names}", names=", ".join(fields.ineffective)))
    refused = map_wishes(skill, content).refused
    warnings += (_("allowed-tools: {entry} cannot be offered: {why}", entry=entry, why=why) for entry, why in refused)
    dynamic: list[str] = _DYNAMIC.findall(body)
    warnings += (_("not executed, stays as written: {line}", line=line.strip()) for line in dynamic[:5])
    missing = [name for name in dict.fromkeys(_REFERENCE.findall(body)) if not os.path.exists(f"{directory}/{name}")]
    warnings += (_("the body names {name}, which does not exist", name=name) for name in missing)
    for name in content.sizes:
        warnings += _check_file(directory, name)
    return SkillCheck(directory, fields, tuple(map(str, fields.notes)), tuple(warnings))


def _check_file(directory: str, name: str) -> list[str]:
    path = os.path.join(directory, name)
    found: list[str] = []
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            return []
        with open(path, "rb") as file:
            content = file.read(_MAX_READ)
    except OSError as error:
        return [_("{name} cannot be read: {why}", name=name, why=error.strerror)]
    if find_tokens(content.decode("utf-8", "replace")):
        found.append(_("{name} contains something that looks like a key", name=name))
    if content.startswith(_SHEBANG) and not status.st_mode & stat.S_IXUSR:
        found.append(_("{name} is a script, but not executable", name=name))
    return found
