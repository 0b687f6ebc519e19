"""The settings whose values are more than a text, a number or a list: how each of them is read."""

import re

from tejat.config.settings import Settings, TokenPrice
from tejat.config.settings_file import Found, SettingsError
from tejat.core.command_words import command_words
from tejat.core.errors import UsageError
from tejat.core.sandbox_wish import SandboxWish
from tejat.core.words import changed, phrase

COMMAND_WANTED = phrase("a command line or a list of arguments")
SANDBOX_WANTED = phrase("auto, required, off, true or false")
SANDBOX_WORDS = {
    "auto": SandboxWish.AUTO,
    "required": SandboxWish.REQUIRED,
    "true": SandboxWish.REQUIRED,
    "1": SandboxWish.REQUIRED,
    "off": SandboxWish.OFF,
    "false": SandboxWish.OFF,
    "0": SandboxWish.OFF,
}


def sandbox(found: Found) -> SandboxWish:
    value = found.node.value
    mode = SANDBOX_WORDS.get(value.lower() if isinstance(value, str) else str(value).lower())
    if mode is None or not isinstance(value, str | bool):
        raise found.wrong(SANDBOX_WANTED)
    return mode


def variable_names(found: Found) -> tuple[str, ...]:
    for entry in found.entries():
        if not (entry.text().isascii() and entry.text().isidentifier()):
            raise entry.wrong(phrase("a list of names of environment variables"))
    return found.texts()


def command(found: Found) -> tuple[str, ...]:
    """The words of a command, which is written as a line or as a list of arguments."""
    resolve, written = found.file.resolve, found.node.value
    if isinstance(written, str):
        given: str | list[str] = resolve(written)
    elif isinstance(written, list):
        given = []
        for node in written:
            if not isinstance(node.value, str):
                raise found.wrong(COMMAND_WANTED, node)
            given.append(resolve(node.value))
    else:
        raise found.wrong(COMMAND_WANTED)
    try:
        return command_words(given, called=phrase("line {line}: {name}", line=found.node.line, name=found.name))
    except UsageError as error:
        raise SettingsError(changed(str(error), lambda text: text.removesuffix(".")), path=found.file.path) from None


def file_names(found: Found) -> tuple[str, ...]:
    """Names to look for in a directory, so none may lead out of it."""
    entries = found.entries_or_one()
    for entry in entries:
        name = entry.text()
        if name.startswith("/") or not name.isprintable() or {".", "..", ""} & set(name.split("/")):
            raise entry.wrong(phrase("a file name or a list of file names"))
    return tuple(entry.text() for entry in entries) or Settings().context_file_names.value


def switched_off(found: Found) -> bool:
    """For a setting that says what is off, where we say what is on."""
    return not found.boolean()


def import_format(found: Found) -> str:
    return found.one_of(("tree", "flat"))


def price(found: Found) -> TokenPrice:
    given = found.members()
    if not {"input", "output"} <= set(given):
        raise found.wrong(phrase("an object with input and output, dollars for a million tokens"))
    paid = given["input"].number()
    cached = given["cached"].number() if "cached" in given else paid
    return TokenPrice(paid, cached, given["output"].number())


def token_budget(found: Found) -> int | None:
    """How long the output of a tool may be before it is summarised; None where that is not said."""
    given = found.members()
    return given["tokenBudget"].count() if "tokenBudget" in given else None


def retention_days(found: Found) -> float | None:
    """Days that sessions are kept, None for ever: a number, or an object with `maxAge` such as `30d`."""
    value = found.node.value
    if not isinstance(value, dict):
        return found.number() or None
    given = found.members()
    if "enabled" in given and not given["enabled"].boolean():
        return None
    if "maxAge" not in given:
        return Settings().session_days.value
    age = re.fullmatch(_AGE, given["maxAge"].text())
    if age is None:
        raise given["maxAge"].wrong(phrase("a number with h, d, w or m after it"))
    return int(age[1]) * _DAYS[age[2]]


_AGE = r"([1-9][0-9]{0,5})([hdwm])"
_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0}
