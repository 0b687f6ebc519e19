"""What the model gets when a skill is activated, and what the user is asked before."""

import re

from tejat.app.skills.proposal import SkillProposal
from tejat.app.skills.tool_wishes import ToolWishes, describe_wishes, map_wishes
from tejat.config.skills.content import SkillContent, describe_tree
from tejat.config.skills.skill import Skill
from tejat.core.approval.confirmation import InfoConfirmation
from tejat.core.i18n import _, lazy, translate
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.tools.base import ToolResult
from tejat.engine.prompt.skill_catalogue import escape_tags

MAX_BODY_BYTES = 64 * 1024
"""A longer body is cut; the rest can be read from the file."""
SHOWN_LINES = 40
_MAX_SHOWN_FILES = 20

_OWN_TAGS = re.compile(r"<(\s*/\s*(?:activated_skill|instructions|available_resources)\s*>)", re.IGNORECASE)
_ARGUMENTS = re.compile(r"\$ARGUMENTS\b|\{\{args\}\}")


def activation_mark(skill: Skill) -> str:
    """How an activation of this skill begins."""
    return f'<activated_skill name="{_escape_attribute(skill.call_name)}">'


def render_activation(skill: Skill, content: SkillContent) -> str:
    """The instructions of a skill and the list of its files, as in Gemini CLI."""
    return (
        f"{activation_mark(skill)}\n"
        f"  <instructions>\n    {_instructions(skill, content)}\n  </instructions>\n\n"
        f"  <available_resources>\n    {_neutralize(describe_tree(skill.directory, content.sizes))}\n"
        "  </available_resources>\n"
        "</activated_skill>"
    )


def fill_arguments(text: str, arguments: str) -> str:
    """Fill in the words that the user typed behind the name of a skill. Without words nothing changes."""
    return _ARGUMENTS.sub(lambda _found: arguments, text) if arguments else text


def already_active(skill: Skill) -> ToolResult:
    message = f'Skill "{skill.call_name}" is already active.'
    return ToolResult(message, lazy("Skill {name} is already active.", name=skill.call_name))


def render_question(skill: Skill, content: SkillContent, *, offers_tools: bool) -> InfoConfirmation:
    """What the user is asked before a skill is activated: everything that decides about it.

    With `offers_tools` the tools that it asks for may be allowed with the same answer.
    """
    fields = content.fields
    files = sorted(content.sizes)
    more = len(files) - _MAX_SHOWN_FILES
    listed = files[:_MAX_SHOWN_FILES] + ([_("... and {count} more", count=more)] if more > 0 else [])
    body = content.body.splitlines()
    hidden = len(body) - SHOWN_LINES
    shown = body[:SHOWN_LINES] + (
        [_("... {count} more lines in {path}", count=hidden, path=skill.path)] if hidden > 0 else []
    )
    lines = [
        fields.description,
        "",
        _("Source: {source} ({party})", source=skill.path, party=skill.provenance.label),
        _("Files: {names}", names=", ".join(listed)),
        _(
            "Adds about {tokens} tokens to this conversation.",
            tokens=f"{estimate_text_tokens(render_activation(skill, content)):,}",
        ),
    ]
    wishes = map_wishes(skill, content) if fields.allowed_tools else ToolWishes()
    if fields.allowed_tools:
        lines += map(translate, describe_wishes(fields.allowed_tools, wishes))
    lines += ["", *shown]
    return InfoConfirmation(
        title=_("Activate the skill {name}?", name=skill.call_name),
        prompt="\n".join(lines),
        digest=content.digest,
        proposal=SkillProposal(skill, wishes.rules if offers_tools else ()),
    )


def _instructions(skill: Skill, content: SkillContent) -> str:
    body = content.body
    encoded = body.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_BODY_BYTES:
        head = encoded[:MAX_BODY_BYTES].decode("utf-8", "ignore").rpartition("\n")[0]
        lines = head.count("\n") + 1
        body = (
            f"{head}\n\n[Cut after {lines:,} of {content.fields.body_lines:,} lines. "
            f"Read the rest with read_file: {skill.path}]"
        )
    if content.fields.compatibility:
        body = f"Compatibility: {content.fields.compatibility}\n\n{body}"
    return _neutralize(body)


def _neutralize(text: str) -> str:
    """Keep a text from closing the tags around it."""
    return _OWN_TAGS.sub(r"&lt;\1", text)


def _escape_attribute(text: str) -> str:
    return escape_tags(text).replace('"', "&quot;")
