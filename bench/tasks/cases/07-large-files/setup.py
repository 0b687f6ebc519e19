"""Writes both files. The check calls `texts` for what they must be."""

import random
from pathlib import Path

_PLACES = ("name", "count", "path", "date", "user")
_BROKEN = {
    412: ("{name}", "name"),
    1377: ("{count}", "{cuont}"),
    2048: ("{path}", "{ path }"),
    2951: ("{date}", "{Date}"),
}
"""The lines that are broken: what they must have, and what they have."""


def texts() -> tuple[list[str], list[str], list[str]]:
    """The lines in English, in German, and in German with mistakes."""
    chance = random.Random(7)
    english, german, broken = list[str](), list[str](), list[str]()
    for number in range(3000):
        key = f"{chance.choice(('menu', 'dialog', 'error', 'status'))}.item{number:04}"
        fixed = _BROKEN.get(number)
        place = fixed[0][1:-1] if fixed else chance.choice(_PLACES)
        if fixed or chance.random() < 0.6:
            source, target = (
                f"The {place} is {{{place}}}, entry {number}.",
                f"Eintrag {number}: {place} ist {{{place}}}.",
            )
        else:
            source, target = f"Entry {number} of the {place}.", f"Eintrag {number} zu {place}."
        gap = chance.choice(("=", " = ", "= "))
        english.append(f"{key}{gap}{source}")
        german.append(f"{key}{gap}{target}")
        broken.append(german[-1].replace(*fixed) if fixed else german[-1])
    return english, german, broken


def main() -> None:
    english, _, broken = texts()
    Path("locale").mkdir()
    Path("locale/en.properties").write_text("\n".join(english) + "\n", encoding="utf-8")
    Path("locale/de.properties").write_text("\n".join(broken) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
