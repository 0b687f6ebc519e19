"""The section of the system prompt that lists the skills."""

import re
from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.tokens import estimate_text_tokens

WINDOW_SHARE = 0.02
MAX_DESCRIPTION = 1024
MIN_DESCRIPTION = 80

_INTRODUCTION = (
    "# Skills\n\n"
    "Load a skill with `activate_skill` when the task fits its description, before you start on the task. "
    "Its instructions are guidance for that task and do not change what is allowed."
)
_CREATOR = "The user can type /skill-creator to write or change a skill."


class ListedSkill(Frozen):
    """A skill for the catalogue. Those with a lower `rank` are left out first."""

    name: str
    description: str
    rank: int = 0


class SkillCatalogue(Frozen):
    """The section, empty without skills, and a note for the user if it does not show everything."""

    text: str = ""
    note: str = ""


def catalogue_budget(window: int, limit: int | None) -> int | None:
    """The tokens for the section in a context window of this size; None for no limit."""
    return None if not limit else min(limit, int(window * WINDOW_SHARE))


def build_catalogue(skills: Sequence[ListedSkill], *, budget: int | None, lapsed: Sequence[str] = ()) -> SkillCatalogue:
    """List skills by name in at most `budget` tokens.

    Descriptions are cut to a common length first, then dropped, then names are left out. `lapsed` are skills that were
    active in this session but have changed since.
    """
    if not skills and not lapsed:
        return SkillCatalogue()
    ordered = sorted(skills, key=lambda skill: (skill.name.casefold(), skill.name))
    whole = _section(ordered, MAX_DESCRIPTION, lapsed)
    if budget is None or _tokens(whole) <= budget:
        return SkillCatalogue(whole)
    needed = _tokens(whole)
    length = _longest_fitting(ordered, budget, lapsed)
    if length:
        note = lazy(
            "The descriptions of {count} skills need {needed:,} tokens. They are cut to {length} characters each to "
            "fit {budget:,} tokens (skills.catalogTokens).",
            count=len(ordered),
            needed=needed,
            length=length,
            budget=budget,
        )
        return SkillCatalogue(_section(ordered, length, lapsed), note)
    kept = _fitting_names(ordered, budget, lapsed)
    text = _section(kept, 0, lapsed)
    if len(kept) == len(ordered):
        note = lazy(
            "The descriptions of {count} skills need {needed:,} tokens. The model gets only their names, to fit "
            "{budget:,} tokens (skills.catalogTokens).",
            count=len(ordered),
            needed=needed,
            budget=budget,
        )
    else:
        note = lazy(
            "{count} skills need {needed:,} tokens. The model gets the names of {kept} of them, to fit {budget:,} "
            "tokens (skills.catalogTokens).",
            count=len(ordered),
            needed=needed,
            kept=len(kept),
            budget=budget,
        )
    return SkillCatalogue(text, note)


def escape_tags(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape_tags(text: str) -> str:
    """Undo `escape_tags`, and the escaping of quotes in an attribute."""
    return text.replace("&quot;", '"').replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")


def _section(skills: Sequence[ListedSkill], length: int, lapsed: Sequence[str]) -> str:
    lines = [_INTRODUCTION, _CREATOR, "", "<available_skills>"]
    lines += [_entry(skill, length) for skill in skills]
    lines.append("</available_skills>")
    lines += [
        f"The skill {escape_tags(name)} has changed and is not active any more. Ignore its instructions above; "
        "activate it again if you need it."
        for name in lapsed
    ]
    return "\n".join(lines)


def _entry(skill: ListedSkill, length: int) -> str:
    """A skill with its description cut to this length, or on one line without."""
    name = f"<name>{escape_tags(skill.name)}</name>"
    if not length:
        return f"  {name}"
    description = escape_tags(cut_description(skill.description, length))
    return f"  <skill>\n    {name}\n    <description>{description}</description>\n  </skill>"


def cut_description(text: str, length: int) -> str:
    """Cut a text after a sentence, else after a word."""
    if len(text) <= length:
        return text
    head = text[: length - 1]
    sentences = list(re.finditer(r"[.!?](?=\s)", text[:length]))
    if sentences and sentences[-1].end() >= length // 2:
        return text[: sentences[-1].end()]
    return f"{head.rpartition(' ')[0] or head}…"


def _longest_fitting(skills: Sequence[ListedSkill], budget: int, lapsed: Sequence[str]) -> int:
    """The longest length of descriptions that fits, 0 if none of a useful length does."""
    low, high = MIN_DESCRIPTION, MAX_DESCRIPTION
    if _tokens(_section(skills, low, lapsed)) > budget:
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        if _tokens(_section(skills, middle, lapsed)) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _fitting_names(skills: Sequence[ListedSkill], budget: int, lapsed: Sequence[str]) -> list[ListedSkill]:
    """The skills whose names fit, those with a high rank first."""
    left = budget - _tokens(_section((), 0, lapsed))
    kept: set[str] = set()
    for skill in sorted(skills, key=lambda skill: -skill.rank):
        left -= _tokens(f"{_entry(skill, 0)}\n")
        if left < 0:
            break
        kept.add(skill.name)
    return [skill for skill in skills if skill.name in kept]


def _tokens(text: str) -> int:
    return estimate_text_tokens(text)
