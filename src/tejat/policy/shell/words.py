"""Shell words and their values after quote removal."""

import re
from itertools import islice

from tejat.core.frozen import Frozen

_EXPANSION_AFTER_DOLLAR = re.compile(r"[A-Za-z0-9_({\[!@#$*?'-]")
_BARE = re.compile(r"[A-Za-z0-9_./,:@%+=^-]+\Z")
_TILDE = re.compile(r"(?:\A|[=:])~")
_ROOTED = re.compile(r"(?<![\w.~/^\s-])[/~]")
MAX_ROOTED_PARTS = 64
"""How many paths are looked at in one word: each one is the rest of it, so more would take quadratic time."""
_UNQUOTED_SPECIAL = frozenset("`*?[()<>|&;\n \t")
_ESCAPABLE_IN_STRING = frozenset('$`"\\')
_LETTER_ESCAPES = dict(zip("abeEfnrtv\\'\"?", b"\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_NUMERIC_ESCAPES = {"x": (2, 16), "u": (4, 16), "U": (8, 16)}
_DIGITS = {8: "01234567", 16: "0123456789abcdefABCDEF"}


class ShellWord(Frozen):
    """One word of a command.

    `value` is what the program receives, or the text as written if `is_literal` is false: bash would expand it.
    `is_unquoted` means no quotes and no backslashes. `is_split` means that an unquoted expansion may yield any number
    of words.
    """

    text: str
    value: str
    is_literal: bool
    is_unquoted: bool
    is_split: bool = False


def word_set(text: str) -> frozenset[str]:
    """Return a set of names from text with blanks."""
    return frozenset(text.split())


def find_rooted_parts(text: str) -> list[int]:
    """Return where paths from the root or home directory begin inside a word, the first few."""
    return [found.start() for found in islice(_ROOTED.finditer(text, 1), MAX_ROOTED_PARTS + 1)]


def literal_word(value: str) -> ShellWord:
    """Return a word with a known value, such as one split off from a string."""
    return ShellWord(text=value, value=value, is_literal=True, is_unquoted=True)


def is_bare(text: str) -> bool:
    """Return whether a word has neither quotes nor anything that bash would expand."""
    return _BARE.match(text) is not None


def parse_word(text: str) -> ShellWord:
    """Parse a word. Never raises: what is not understood is not literal."""
    if is_bare(text):
        return ShellWord(text, text, is_literal=True, is_unquoted=True)
    return _WordParser(text).parse()


class _WordParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._last_bracket = text.rfind("]")
        self._value: list[str] = []
        self._is_literal = True
        self._is_bare = True
        self._is_split = False

    def parse(self) -> ShellWord:
        while self._at < len(self._text) and not self._is_split:
            self._step(self._text[self._at])
        if _TILDE.search(self._text) or _has_braces(self._text):
            self._is_literal, self._is_split = False, True
        value = "".join(self._value) if self._is_literal else self._text
        return ShellWord(self._text, value, self._is_literal, self._is_bare, self._is_split)

    def _step(self, character: str) -> None:
        if character == "'":
            self._single_quoted()
        elif character == '"':
            self._double_quoted()
        elif character == "\\":
            self._backslash_escape()
        elif character == "$":
            self._dollar()
        elif character in _UNQUOTED_SPECIAL and (character != "[" or self._at < self._last_bracket):
            self._take_expansion()
        else:
            self._take(character)

    def _take(self, value: str, length: int = 1) -> None:
        self._value.append(value)
        self._at += length

    def _take_expansion(self) -> None:
        self._is_literal, self._is_split = False, True
        self._at += 1

    def _single_quoted(self) -> None:
        self._is_bare = False
        end = self._text.find("'", self._at + 1)
        if end < 0:
            self._give_up()
        else:
            self._take(self._text[self._at + 1 : end], end + 1 - self._at)

    def _double_quoted(self) -> None:
        self._is_bare = False
        self._at += 1
        while self._at < len(self._text):
            character = self._text[self._at]
            following = self._text[self._at + 1 : self._at + 2]
            if character == '"':
                self._at += 1
                return
            if character == "\\" and following in _ESCAPABLE_IN_STRING:
                self._take(following, 2)
            elif character == "\\" and following == "\n":
                self._give_up()
                return
            elif character == "`" or (character == "$" and _EXPANSION_AFTER_DOLLAR.match(following)):
                # The expansion may contain quotes of its own, so the end of the string is unknown.
                is_one_string = self._text[0] == self._text[-1] == '"' and self._text.count('"') == 2
                self._is_literal, self._is_split = False, self._is_split or not is_one_string
                self._at = len(self._text)
                return
            else:
                self._take(character)
        self._give_up()

    def _backslash_escape(self) -> None:
        self._is_bare = False
        following = self._text[self._at + 1 : self._at + 2]
        if following in ("\n", ""):
            # A continuation is removed before expansion: `$` and a name may be joined across it.
            self._give_up()
        else:
            self._take(following, 2)

    def _dollar(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "'":
            self._ansi_quoted()
        elif following == '"':
            # Translated according to the locale, with unknown result.
            self._give_up()
        elif _EXPANSION_AFTER_DOLLAR.match(following):
            self._take_expansion()
        else:
            self._take("$")

    def _ansi_quoted(self) -> None:
        self._is_bare = False
        end = self._at + 2
        while end < len(self._text) and self._text[end] != "'":
            end += 2 if self._text[end] == "\\" else 1
        value = _decode_ansi_c(self._text[self._at + 2 : end])
        if end >= len(self._text) or value is None:
            self._give_up()
        else:
            self._take(value, end + 1 - self._at)

    def _give_up(self) -> None:
        self._is_literal, self._is_bare, self._is_split = False, False, True
        self._at = len(self._text)


def _has_braces(text: str) -> bool:
    """Return whether it may contain a brace expansion, `{a,b}` or `{1..3}`."""
    inside = text[text.find("{") + 1 : text.rfind("}")] if "{" in text else ""
    return "," in inside or ".." in inside


def _decode_ansi_c(text: str) -> str | None:
    """Return the value of `$'...'`, None if bash versions differ about it."""
    value = bytearray()
    at = 0
    while at < len(text):
        if text[at] != "\\":
            value += text[at].encode("utf-8", "surrogatepass")
            at += 1
            continue
        escape = text[at + 1 : at + 2]
        if escape in _LETTER_ESCAPES:
            value.append(_LETTER_ESCAPES[escape])
            at += 2
        elif escape and escape in _DIGITS[8]:
            digits = _leading_digits(text[at + 1 : at + 4], 8)
            value.append(int(digits, 8) & 0xFF)
            at += 1 + len(digits)
        elif escape in _NUMERIC_ESCAPES:
            length, base = _NUMERIC_ESCAPES[escape]
            digits = _leading_digits(text[at + 2 : at + 2 + length], base)
            number = int(digits or "0", base)
            if not digits or number > 0x10FFFF:
                return None
            value += bytes([number]) if escape == "x" else chr(number).encode("utf-8", "surrogatepass")
            at += 2 + len(digits)
        else:
            return None
    # Bash stores C strings, which end at the first NUL.
    return bytes(value).partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _leading_digits(text: str, base: int) -> str:
    return text[: len(text) - len(text.lstrip(_DIGITS[base]))]
