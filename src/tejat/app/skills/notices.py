"""Notices about skills at the start of a session, each once for each content."""

from tejat.config.files.reported import report_once
from tejat.config.paths import AppPaths
from tejat.config.skills.discovery import SkillLibrary
from tejat.core.i18n import _, ngettext
from tejat.core.text.digest import sha256

_MAX_LINES = 3


def startup_notices(paths: AppPaths, library: SkillLibrary) -> tuple[str, ...]:
    """What the user should know about the skills and has not been told yet."""
    facts: dict[str, str] = {}
    lines: list[str] = []
    for problem in library.problems:
        facts[problem.path] = _digest(facts.get(problem.path, ""), problem.message, problem.digest)
        lines.append(str(problem.message))
    for used, other in library.replaced:
        facts[f"{other.path} < {used.path}"] = used.pin
        lines.append(
            _(
                "The skill {name} ({path}) replaces {other} ({party}).",
                name=used.name,
                path=used.path,
                other=other.path,
                party=other.provenance.label,
            )
        )
    if not facts or not report_once(paths.reported_skills, facts):
        return ()
    if len(lines) <= _MAX_LINES:
        return tuple(lines)
    more = ngettext(
        "{count} more notice about skills. See `tejat skills list --verbose`.",
        "{count} more notices about skills. See `tejat skills list --verbose`.",
        len(lines) - _MAX_LINES + 1,
    )
    return (*lines[: _MAX_LINES - 1], more)


def new_catalogue_note(paths: AppPaths, note: str) -> bool:
    """Whether the user has not been told this about the catalogue yet."""
    return bool(note) and report_once(paths.reported_skills, {"catalogue": _digest(note)})


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
