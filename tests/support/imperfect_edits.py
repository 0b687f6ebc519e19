"""Edits whose old text differs slightly from the file, in every encoding and with every line ending."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from support.text_samples import CODECS

ENDINGS = {
    "LF": ["\n"] * 3,
    "CRLF": ["\r\n"] * 3,
    "CR": ["\r"] * 3,
    "mixed": ["\r\n", "\n", "\n"],
    "no-end": ["\n", "\n", ""],
    "stray-CR": ["\r\n", "\n", "\r"],
}
DISTORTIONS: dict[str, Callable[[list[str]], list[str]]] = {
    "blanks": lambda lines: [f"{line}  " for line in lines],
    "indented": lambda lines: [f"    {line}" for line in lines],
    "spread": lambda lines: [line.replace("edit_me", " edit_me ").replace(" ", "  ") for line in lines],
    "numbered": lambda lines: [f"{number}: {line}" for number, line in enumerate(lines, 1)],
    "fenced": lambda lines: ["```", *lines, "```"],
    "blank-line": lambda lines: [lines[0], "", *lines[1:]],
    "escaped": lambda lines: ["\\n".join(lines)],
}


@dataclass(frozen=True)
class ImperfectEdit:
    """A file, the two texts of the edit, and the expected file."""

    name: str
    before: bytes
    old: str
    new: str
    after: bytes


def imperfect_edits() -> Iterator[ImperfectEdit]:
    """Edits that change a word in the second of three lines."""
    for codec, mark, lines in CODECS:
        for ending, ends in ENDINGS.items():
            text = "".join(line + end for line, end in zip(lines, ends, strict=True))
            after = mark + text.replace("edit_me", "changed").encode(codec)
            for way, disturb in DISTORTIONS.items():
                yield ImperfectEdit(
                    f"{codec}-{mark.hex()}-{ending}-{way}",
                    mark + text.encode(codec),
                    "\n".join(disturb(lines)),
                    "\n".join(lines).replace("edit_me", "changed"),
                    after,
                )
