"""Skills to be installed: what is in a package, and what a package would change."""

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from tejat.app.skills.reports import catalogue_tokens
from tejat.app.skills.validation import validate_skill
from tejat.config.paths import SKILL_FILE
from tejat.config.skills.content import RECORD_FILE, SkillContent, read_skill_content
from tejat.config.skills.skill import Skill
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.provenance import Party, Provenance
from tejat.core.text.paths import is_beneath
from tejat.core.ui.report import DiffBlock, Paragraph, Report, ReportBlock, Tone
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_NAMED = 20
_MAX_DIFF_ROWS = 200
_PLACES = ("", "skills", ".agents/skills", ".gemini/skills", ".claude/skills")


class PackagedSkill(Frozen):
    """A skill in a package, or in the directory that a link shall lead to."""

    skill: Skill
    content: SkillContent

    @property
    def name(self) -> str:
        return self.skill.name

    @property
    def directory(self) -> str:
        return self.skill.directory


class SkillRecord(Frozen):
    """Where an installed skill comes from: `.tejat-skill.json` beside its SKILL.md."""

    source: str
    type: str = ""
    ref: str = ""
    commit: str = ""
    path: str = ""

    def to_text(self) -> str:
        fields = {name: getattr(self, name) for name in SkillRecord.__match_args__ if getattr(self, name)}
        return json.dumps(fields, indent=2) + "\n"


def read_record(directory: str) -> SkillRecord | None:
    """The record of an installed skill, None if it has none."""
    with suppress(OSError, ValueError, TypeError):
        with open(os.path.join(directory, RECORD_FILE), "rb", opener=regular_file_opener) as file:
            content = cast("Mapping[str, object]", json.loads(file.read(65536)))
        known = {name: str(content.get(name, "")) for name in SkillRecord.__match_args__}
        if known["source"]:
            return SkillRecord(**known)
    return None


def find_packaged_skills(directory: str, sub_path: str, source: str) -> list[PackagedSkill]:
    """The skills in a package: in its top, its directories, or its directories of skills. Raises UsageError."""
    top = os.path.realpath(os.path.join(directory, sub_path))
    if not is_beneath(top, os.path.realpath(directory)):
        raise UsageError(_("--path {path} leads out of the source.", path=sub_path))
    problems: list[str] = []
    found: list[PackagedSkill] = []
    for place in _PLACES:
        candidates = _skill_directories(os.path.normpath(os.path.join(top, place)))
        for candidate in candidates:
            try:
                found.append(read_packaged_skill(candidate))
            except ConfigurationError as error:
                problems.append(str(error))
        if candidates:
            break
    if not found:
        why = "; ".join(problems) or _("no SKILL.md in it, in its directories or in skills/")
        raise UsageError(_("No valid skills found in {source}. Missing: {why}", source=source, why=why))
    return found


def read_packaged_skill(directory: str) -> PackagedSkill:
    """Raises ConfigurationError."""
    path = os.path.join(directory, SKILL_FILE)
    from_check = validate_skill(directory)
    if from_check.fields is None:
        raise ConfigurationError("; ".join(from_check.errors))
    fields = from_check.fields
    skill = Skill(fields, directory, Provenance(Party.USER, path), fields.name)
    return PackagedSkill(skill, read_skill_content(skill))


def _skill_directories(directory: str) -> list[str]:
    if os.path.isfile(os.path.join(directory, SKILL_FILE)):
        return [directory]
    with suppress(OSError), os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries)
        paths = [os.path.join(directory, name) for name in names if name not in (".git", "node_modules")]
        return [path for path in paths if os.path.isfile(os.path.join(path, SKILL_FILE)) and not os.path.islink(path)]
    return []


def package_report(title: str, source: str, skills: Sequence[tuple[PackagedSkill, str]]) -> Report:
    """Everything about the skills of a package, each with its target."""
    blocks: list[ReportBlock] = [Paragraph(_("Source: {source}", source=source))]
    for packaged, target in skills:
        blocks += _skill_blocks(packaged, target)
    return Report(title, tuple(blocks))


def _skill_blocks(packaged: PackagedSkill, target: str) -> list[ReportBlock]:
    content, fields = packaged.content, packaged.content.fields
    names = sorted(content.sizes)
    scripts = [name for name in names if content.files.get(name, "").startswith("x") or name.startswith("scripts/")]
    size = sum(content.sizes.values())
    lines = [
        fields.description,
        _("Target: {path}", path=target),
        ngettext("{count} file, {size} bytes", "{count} files, {size} bytes", len(names), size=f"{size:,}"),
        _(
            "Tokens: {catalogue} in every request, about {body} when activated",
            catalogue=f"{catalogue_tokens(packaged.skill):,}",
            body=f"{fields.body_tokens:,}",
        ),
    ]
    if scripts:
        more = ", ..." if len(scripts) > _MAX_NAMED else ""
        lines.append(_("Scripts: {names}", names=", ".join(scripts[:_MAX_NAMED]) + more))
    if fields.allowed_tools:
        lines.append(_("Asks for the tools {names}; nothing is allowed by that", names=", ".join(fields.allowed_tools)))
    check = validate_skill(packaged.directory)
    blocks: list[ReportBlock] = [
        Paragraph(packaged.name, Tone.STRONG),
        Paragraph("\n".join(f"  {line}" for line in lines)),
    ]
    blocks += (Paragraph(f"  {text}", Tone.WARNING) for text in (*check.errors, *check.warnings))
    return [*blocks, *_difference(packaged, target)]


def _difference(packaged: PackagedSkill, target: str) -> list[ReportBlock]:
    """What would change in an installed skill."""
    if not os.path.isdir(target):
        return []
    try:
        before = read_packaged_skill(target)
    except ConfigurationError:
        return [Paragraph(_("  Replaces what is in {path}", path=target), Tone.WARNING)]
    old, new = before.content.files, packaged.content.files
    changes = {
        _("new"): sorted(new.keys() - old.keys()),
        _("changed"): sorted(name for name in new.keys() & old.keys() if new[name] != old[name]),
        _("removed"): sorted(old.keys() - new.keys()),
    }
    lines = [
        f"  {what}: {', '.join(names[:_MAX_NAMED])}{', ...' if len(names) > _MAX_NAMED else ''}"
        for what, names in changes.items()
        if names
    ]
    if not lines:
        return [Paragraph(_("  The same as the installed one"))]
    diff = "".join(
        difflib.unified_diff(
            _lines(before.skill.path), _lines(packaged.skill.path), f"a/{SKILL_FILE}", f"b/{SKILL_FILE}"
        )
    )
    blocks: list[ReportBlock] = [
        Paragraph(_("  Replaces the installed skill:"), Tone.WARNING),
        Paragraph("\n".join(lines)),
    ]
    return [*blocks, DiffBlock(diff, _MAX_DIFF_ROWS)] if diff else blocks


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return [line if line.endswith("\n") else f"{line}\n" for line in file]
