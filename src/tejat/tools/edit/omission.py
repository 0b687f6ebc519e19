"""Finds stand-ins for text that a model left out, such as a line `// rest of code ...`."""

import re

_STAND_IN = re.compile(
    r"\(?\s*(?:rest of|rest of methods?|rest of code|unchanged code|unchanged methods?)\s*\.{3,}\s*\)?", re.IGNORECASE
)


def omission_placeholders(text: str) -> set[str]:
    """The lines of the text that stand for something left out, in one spelling each.

    A line counts only if it is nothing but the stand-in: `//` before it and brackets around it are allowed.
    """
    lines = (" ".join(line.split()) for line in text.splitlines() if "..." in line)
    bare = (line.removeprefix("//").strip() for line in lines)
    return {line.lower().strip("() ").rstrip(".").strip() for line in bare if _STAND_IN.fullmatch(line)}
