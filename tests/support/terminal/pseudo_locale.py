"""Pseudo-locales: every message in non-English letters, everything else unchanged.

English on the screen then has bypassed the catalogue, and layout problems of wide and right-to-left scripts show.
"""

import re
import runpy
import string
import struct
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

_MESSAGES_SCRIPT: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parents[3] / "scripts" / "messages"), run_name="messages"
)

# What a translator leaves alone: fields, keys in brackets, code, flags, variables, slash commands, our name.
_KEPT = re.compile(
    r"\{\{|\}\}|\{[^{}]*\}|%\([a-z_]+\)[srd]|%[srd]|\[[a-zA-Z]\]|`[^`]*`|(?<!\w)--?[a-zA-Z][a-zA-Z-]*"
    r"|\b[A-Z]+(?:_[A-Z]+)+\b|(?<![\w/])/[a-z]+\b|\b[Tt]ejat\b|https?://\S+"
)
_IDENTIFIER = re.compile(r"\b[0-9a-f]+(?:-[0-9a-f]*)+")
"""Of a session, or a part of it where a row ends."""
_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_ACCENTED = str.maketrans(_LETTERS, "àƀçđéƒĝĥîĵķĺɱñôþɋŕšţûṽŵẋýžÀƁÇĐÉƑĜĤÎĴĶĹṀÑÔÞɊŔŠŢÛṼŴẊÝŽ")
_WIDE = str.maketrans(_LETTERS, "".join(chr(ord(letter) + 0xFEE0) for letter in _LETTERS))
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשתםןףץ"
_RIGHT_TO_LEFT = str.maketrans(_LETTERS, _HEBREW * 2)


def accented(text: str) -> str:
    """Letters with marks, and texts longer by about two fifths, as translations are."""
    return text.translate(_ACCENTED) + "ø" * max(len(text) * 2 // 5, 1) if any(map(str.isalpha, text)) else text


def wide(text: str) -> str:
    """Letters of two columns, as East Asian ones are."""
    return text.translate(_WIDE)


def right_to_left(text: str) -> str:
    return text.translate(_RIGHT_TO_LEFT)


VARIANTS: dict[str, Callable[[str], str]] = {"accented": accented, "wide": wide, "right_to_left": right_to_left}
LANGUAGE = "qps"
"""What no language is called."""


def pseudo_environment(directory: Path, variant: str = "accented") -> dict[str, str]:
    """Write the catalogue into this directory; variables that let the program speak so.

    with at_screen(..., **pseudo_environment(tmp_path, "wide")) as person: ...
    """
    place = directory / LANGUAGE / "LC_MESSAGES"
    place.mkdir(parents=True, exist_ok=True)
    (place / "tejat.mo").write_bytes(pseudo_catalogue(variant))
    return {"TEXTDOMAINDIR": str(directory), "LANGUAGE": LANGUAGE}


@cache
def pseudo_catalogue(variant: str) -> bytes:
    """A compiled catalogue of all messages in the source as it is now."""
    change = VARIANTS[variant]
    texts = {"": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n"}
    for message in _MESSAGES_SCRIPT["extract"]():
        forms = message.id if message.pluralizable else (message.id,)
        if forms != ("",):
            texts["\0".join(forms)] = "\0".join(pseudo_translate(form, change) for form in forms)
    return compile_catalogue(texts)


def pseudo_translate(text: str, change: Callable[[str], str]) -> str:
    """The text with what a translator would change changed, line by line and with the blanks around it kept."""
    return "\n".join(_pseudo_translate_line(line, change) for line in text.split("\n"))


def find_english(text: str, allowed: Collection[str] = ()) -> list[str]:
    """The words of three letters and more that could be English and are in none of the allowed texts.

    Allowed is what is nobody's to translate: paths, names of models and tools, what a model said. Code in backticks,
    flags, variables, slash commands and our own name are so always.
    """
    for known in sorted(allowed, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(known)}(?!\w)", " ", text)
    text = _IDENTIFIER.sub(" ", _KEPT.sub(" ", text))
    return re.findall(r"(?<![^\W_])[A-Za-z]{3,}(?![^\W_])", text)


def compile_catalogue(texts: dict[str, str]) -> bytes:
    """A catalogue in the form that gettext reads."""
    pairs = sorted((before.encode(), after.encode()) for before, after in texts.items())
    place = 28 + 16 * len(pairs)
    tables: list[list[int]] = [[], []]
    content = b""
    for side, table in enumerate(tables):
        for pair in pairs:
            table += [len(pair[side]), place + len(content)]
            content += pair[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + struct.pack(f"<{4 * len(pairs)}I", *tables[0], *tables[1]) + content


def _pseudo_translate_line(line: str, change: Callable[[str], str]) -> str:
    """Each run of text between what is kept is changed as a whole, without the blanks around it."""
    changed = ""
    end = 0
    for kept in [*_KEPT.finditer(line), None]:
        start = len(line) if kept is None else kept.start()
        piece = line[end:start]
        core = piece.strip()
        before, _, after = piece.partition(core) if core else (piece, "", "")
        changed += before + (change(core) if core else "") + after
        if kept is not None:
            changed += kept[0]
            end = kept.end()
    return changed
