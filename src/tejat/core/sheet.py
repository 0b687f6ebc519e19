"""What a command has to show, apart from how: a terminal draws it, a screen reader gets it in lines."""

from enum import StrEnum
from typing import TypeAlias

from tejat.core.value import value


class Tone(StrEnum):
    """How a text is meant. No tone says anything that the words do not."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@value
class Words:
    """A paragraph; a newline in it is kept."""

    text: str
    tone: Tone = Tone.PLAIN


@value
class Table:
    """Rows of as many cells each. `headings` may be empty."""

    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...] = ()


@value
class Source:
    """Code, or whatever else is shown as it stands."""

    text: str
    language: str = ""


@value
class Patch:
    """A unified diff."""

    text: str


@value
class Prose:
    """Markdown."""

    text: str


Block: TypeAlias = Words | Table | Source | Patch | Prose


@value
class Sheet:
    """Blocks under a title, which may be empty. Whoever shows the texts makes them safe for a terminal."""

    title: str = ""
    blocks: tuple[Block, ...] = ()


def told(text: str, tone: Tone = Tone.PLAIN) -> Sheet:
    """A sheet of one paragraph."""
    return Sheet(blocks=(Words(text, tone),))
