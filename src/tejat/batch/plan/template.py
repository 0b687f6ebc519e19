"""Templates: `{{name}}` in a prompt or a check is replaced by a variable."""

import re
import shlex
from collections.abc import Mapping

from tejat.batch.plan.fields import MAX_TEXT_BYTES
from tejat.batch.plan.types import InvalidTask
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line

_PLACEHOLDER = re.compile(r"(\\?)\{\{([^{}\n]{1,200})\}\}")
_NAME = re.compile(r"[^\W\d][\w-]*")
_HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)")
_SHOWN_NAMES = 20


def fill_prompt(template: str, variables: Mapping[str, str]) -> str:
    r"""Replace the variables of a prompt; values are not templates themselves. Raises InvalidTask.

    `\{{name}}` stands for `{{name}}`. Braces around anything but a name or a known variable stay as they are.
    """
    return _fill(template, variables, field="prompt", is_command=False)


def fill_command(template: str, variables: Mapping[str, str]) -> str:
    """Replace the variables of a shell command by words, quoted for the shell.

    Raises InvalidTask, also for a variable within quotes or a here-document, where that would not protect it.
    """
    return _fill(template, variables, field="check", is_command=True)


def uses_variable(template: str, name: str) -> bool:
    return any(not found[1] and found[2].strip() == name for found in _PLACEHOLDER.finditer(template))


def _fill(template: str, variables: Mapping[str, str], *, field: str, is_command: bool) -> str:
    if "{{" not in template and len(template) <= MAX_TEXT_BYTES:
        return template
    pieces, end, size, quote = list[str](), 0, 0, ""
    for found in _PLACEHOLDER.finditer(template):
        name = found[2].strip()
        if not found[1] and name not in variables and not _NAME.fullmatch(name):
            continue
        before = template[end : found.start()]
        if is_command:
            quote = _open_quote(before, quote)
        if found[1]:
            value = found[0][1:]
        elif name not in variables:
            raise InvalidTask(_unknown_variable(field, name, variables))
        elif is_command:
            _check_context(name, quote, template[: found.start()])
            value = shlex.quote(variables[name])
        else:
            value = variables[name]
        pieces += (before, value)
        end = found.end()
        size += len(before) + len(value)
        if size > MAX_TEXT_BYTES:
            break
    pieces.append(template[end:])
    if size + len(pieces[-1]) > MAX_TEXT_BYTES:
        raise InvalidTask(_("{field} is larger than {size} MB.", field=field, size=MAX_TEXT_BYTES // 2**20))
    return "".join(pieces)


def _unknown_variable(field: str, name: str, variables: Mapping[str, str]) -> str:
    known = sorted(variables)
    listed = ", ".join(known[:_SHOWN_NAMES]) + (", ..." if len(known) > _SHOWN_NAMES else "")
    return _(
        "Unknown variable {name} in {field}. Available: {known}. Write {escaped} for literal text.",
        name=sanitize_line(name),
        field=field,
        known=sanitize_line(listed),
        escaped=rf"\{{{{{name}}}}}",
    )


def _check_context(name: str, quote: str, before: str) -> None:
    if quote:
        raise InvalidTask(
            _("Variable {name} is within quotes in check. Remove the quotes: its value is quoted already.", name=name)
        )
    if _HERE_DOCUMENT.search(before):
        raise InvalidTask(
            _("Variable {name} follows << in check, where its value cannot be quoted. Use an argument.", name=name)
        )


def _open_quote(text: str, quote: str) -> str:
    """The quote that is open after the text, given the one before it."""
    at = 0
    while at < len(text):
        character = text[at]
        if character == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        at += 1
    return quote
