"""Lists of skills for people and scripts."""

from collections.abc import Iterator

from tejat.config.paths import AppPaths
from tejat.config.skills.discovery import SkillLibrary
from tejat.config.skills.skill import Skill
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, SourceListing, Tone
from tejat.engine.prompt.skill_catalogue import MAX_DESCRIPTION, escape_tags


class SkillState(StrEnum):
    ENABLED = "enabled"
    DISABLED = "disabled"
    REPLACED = "replaced"

    @property
    def label(self) -> str:
        match self:
            case SkillState.ENABLED:
                return _("enabled")
            case SkillState.DISABLED:
                return _("disabled")
            case SkillState.REPLACED:
                return _("replaced")


class SkillRow(Frozen):
    """A skill in a list. `replaced_by` is the SKILL.md of the skill that is used instead."""

    skill: Skill
    state: SkillState
    replaced_by: str = ""

    @property
    def name(self) -> str:
        return self.skill.call_name or self.skill.name

    @property
    def catalogue_tokens(self) -> int:
        """The tokens in every request."""
        if self.state is not SkillState.ENABLED or not self.skill.fields.is_model_invocable:
            return 0
        return catalogue_tokens(self.skill)

    def to_json(self) -> JsonObject:
        skill, fields = self.skill, self.skill.fields
        return {
            "name": self.name,
            "description": fields.description,
            "location": skill.path,
            "party": skill.provenance.party.value,
            "extension": skill.provenance.extension or None,
            "state": self.state.value,
            "replacedBy": self.replaced_by or None,
            "isBuiltin": skill.is_built_in,
            "isLong": fields.is_long,
            "modelInvocable": fields.is_model_invocable,
            "userInvocable": fields.is_user_invocable,
            "license": fields.license or None,
            "compatibility": fields.compatibility or None,
            "metadata": dict(fields.metadata),
            "allowedTools": fields.allowed_tools,
            "ineffectiveFields": fields.ineffective,
            "notes": tuple(map(str, fields.notes)),
            "tokens": {"catalogue": self.catalogue_tokens, "body": fields.body_tokens},
        }


def catalogue_tokens(skill: Skill) -> int:
    """The tokens of a skill in the catalogue, with its whole description."""
    description = escape_tags(skill.fields.description[:MAX_DESCRIPTION])
    entry = f"  <skill>\n    <name>{skill.call_name}</name>\n    <description>{description}</description>\n  </skill>\n"
    return estimate_text_tokens(entry)


def skill_rows(library: SkillLibrary, *, with_built_in: bool) -> list[SkillRow]:
    """All skills by name, those in use first."""
    rows = [SkillRow(skill, SkillState.ENABLED) for skill in library.skills]
    rows += [SkillRow(skill, SkillState.DISABLED) for skill in library.disabled]
    rows += [SkillRow(other, SkillState.REPLACED, used.path) for used, other in library.replaced]
    kept = [row for row in rows if with_built_in or not row.skill.is_built_in]
    return sorted(kept, key=lambda row: (row.name.casefold(), list(SkillState).index(row.state)))


def listing_report(
    paths: AppPaths,
    library: SkillLibrary,
    *,
    with_built_in: bool,
    with_descriptions: bool = True,
    verbose: bool = False,
) -> Report:
    """All skills with their state, source and tokens."""
    rows = skill_rows(library, with_built_in=with_built_in)
    blocks: list[ReportBlock] = []
    for row in rows:
        blocks += _row_blocks(paths, row, with_descriptions=with_descriptions, verbose=verbose)
    if not rows:
        blocks.append(Paragraph(_("No skills discovered.")))
    problems = (
        library.problems if verbose else [problem for problem in library.problems if not _is_note(problem.message)]
    )
    blocks += (Paragraph(str(problem.message), Tone.WARNING) for problem in problems)
    total = sum(row.catalogue_tokens for row in rows)
    if total:
        blocks.append(
            Paragraph(_("Catalogue: about {tokens} tokens in every request.", tokens=f"{total:,}"), Tone.QUIET)
        )
    return Report(_("Agent skills") if rows else "", tuple(blocks))


def _is_note(message: str) -> bool:
    return not message.startswith(("Skipped", "Could not", "Refusing")) and "contains more than" not in message


def _row_blocks(paths: AppPaths, row: SkillRow, *, with_descriptions: bool, verbose: bool) -> Iterator[ReportBlock]:
    skill, fields = row.skill, row.skill.fields
    title = f"{row.name} [{row.state.label}]"
    yield Paragraph(title, Tone.STRONG)
    lines: list[str] = []
    if with_descriptions:
        lines.append(fields.description)
    lines.append(f"{skill.provenance.label}: {paths.abbreviate(skill.path)}")
    if row.replaced_by:
        lines.append(_("replaced by {path}", path=paths.abbreviate(row.replaced_by)))
    lines.append(_describe_tokens(row))
    if not fields.is_model_invocable:
        lines.append(_("only for you: the model cannot activate it"))
    if verbose:
        lines += _details(skill)
    yield Paragraph("\n".join(f"  {line}" for line in lines))


def _describe_tokens(row: SkillRow) -> str:
    fields = row.skill.fields
    text = _(
        "tokens: {catalogue} in every request, about {body} when activated",
        catalogue=f"{row.catalogue_tokens:,}",
        body=f"{fields.body_tokens:,}",
    )
    return _("{tokens} (long)", tokens=text) if fields.is_long else text


def _details(skill: Skill) -> Iterator[str]:
    fields = skill.fields
    if fields.license:
        yield _("license: {text}", text=fields.license)
    if fields.compatibility:
        yield _("compatibility: {text}", text=fields.compatibility)
    for name, value in fields.metadata.items():
        yield f"metadata.{name}: {value}"
    if fields.allowed_tools:
        yield _("asks for the tools {names}", names=", ".join(fields.allowed_tools))
    if fields.ineffective:
        yield _("fields without effect: {names}", names=", ".join(fields.ineffective))


def skill_report(paths: AppPaths, row: SkillRow, body: str, files: dict[str, int]) -> Report:
    """Everything about one skill, with its instructions."""
    count = ngettext("{count} file", "{count} files", len(files))
    blocks: list[ReportBlock] = [
        *_row_blocks(paths, row, with_descriptions=True, verbose=True),
        ReportTable(tuple((name, f"{size:,}") for name, size in sorted(files.items())[:200]), (count, _("bytes"))),
        SourceListing(body, "markdown"),
        *(Paragraph(str(note), Tone.WARNING) for note in row.skill.fields.notes),
    ]
    return Report("", tuple(blocks))
