"""Removal of marks from text that was copied from a listing."""

import re
from collections.abc import Callable, Sequence

_FENCE = re.compile(r"\s*(?:```|~~~)[\w.+#-]*\s*")
NUMBER = re.compile(r"\s*[Ll]?(\d{1,7})(?: ?[:|│→]|\t|[.)]|\s*$)")
SPACED_NUMBER = re.compile(r"\s*[Ll]?(\d{1,7})(?: ?[:|│→](?: |$)|[.)] | |\s*$)")
_HEADER = re.compile(r"(?:@@ .*|(?:---|\+\+\+) \S+(?:\t.*)?|diff --git .*|index [0-9a-f]+\.\..*)")
_QUOTE = re.compile(r"(?:\s*>|\s{0,3}(?:\||│|┃)) ?")

LineTransform = Callable[[Sequence[str]], "list[str] | None"]


def strip_fence(lines: Sequence[str]) -> list[str] | None:
    """Strip the code fence around the lines."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    while kept and not kept[0].strip():
        kept.pop(0)
    opens, closes = bool(kept) and _FENCE.fullmatch(kept[0]), len(kept) > 1 and _FENCE.fullmatch(kept[-1])
    if not opens and not closes:
        return None
    inner = kept[1 if opens else 0 : -1 if closes else None]
    return [*inner, ""]


def may_have_fences(text: str) -> bool:
    return "```" in text or "~~~" in text


def is_fenced(lines: Sequence[str]) -> bool:
    """Check for a code fence around the lines."""
    kept = [line for line in lines if line.strip()]
    return len(kept) > 1 and all(_FENCE.fullmatch(line) for line in (kept[0], kept[-1]))


def strip_numbers(lines: Sequence[str], number: "re.Pattern[str]" = NUMBER) -> list[str] | None:
    """Strip line numbers; only consecutive ones count."""
    stripped: list[str] = []
    expected: int | None = None
    for index, line in enumerate(lines):
        found = number.match(line)
        if found is None:
            # Text after the final line end, or a blank line without its number.
            if line.strip() or expected is None:
                return None
            stripped.append("")
            expected += index < len(lines) - 1
            continue
        if expected is not None and int(found[1]) != expected:
            return None
        expected = int(found[1]) + 1
        stripped.append(line[found.end() :])
    return stripped if expected is not None else None


def strip_numbers_like(new: Sequence[str], old: Sequence[str], pattern: "re.Pattern[str]" = NUMBER) -> list[str] | None:
    """Strip line numbers in the style of the old lines; they need not be consecutive, and added lines have none."""
    known = [number for line in old if (number := _LineNumber.parse(line, pattern))]
    bodies = {number.body.strip() for number in known}
    freed, is_sure, last = list[str](), False, None
    for line in new:
        number = _LineNumber.parse(line, pattern)
        # A line equal to an old one has nothing before it.
        if number is None or line.strip() in bodies or not number.is_like(known, last):
            freed.append(line)
            continue
        is_sure |= any(number.value == each.value for each in known) or bool(number.body and number.body in bodies)
        freed.append(number.body)
        last = number.value
    is_marked = all(line != body for line, body in zip(new, freed, strict=True) if line.strip())
    return freed if (is_sure or is_marked) and freed != list(new) else None


class _LineNumber:
    """Line number with its column, its separator and the line after it."""

    def __init__(self, number: "re.Match[str]") -> None:
        self.value = int(number[1])
        self.indent, self.end = number.start(1), number.end(1)
        self.sign = number[0][number.end(1) :]
        self.body = number.string[number.end() :]

    @classmethod
    def parse(cls, line: str, pattern: "re.Pattern[str]") -> "_LineNumber | None":
        number = pattern.match(line)
        return None if number is None else cls(number)

    def is_like(self, known: "Sequence[_LineNumber]", last: int | None) -> bool:
        """Check for the style of known numbers; the number of a blank line must follow `last` or be known."""
        if not any(self.indent == each.indent or self.end == each.end for each in known):
            return False
        if not self.sign.strip(" "):
            is_next = self.value - 1 == last or any(self.value == each.value and not each.body for each in known)
            return is_next if not self.body else any(self.sign == each.sign for each in known)
        return any(self.sign.strip(" ") == each.sign.strip(" ") for each in known)


def strip_quote_prefixes(lines: Sequence[str]) -> list[str] | None:
    """Strip the `>` or bar before each line."""
    if not any(map(str.strip, lines)) or not all(_QUOTE.match(line) for line in lines if line.strip()):
        return None
    return [_QUOTE.sub("", line, count=1) for line in lines]


def strip_diff_signs(lines: Sequence[str], drop: str = "") -> list[str] | None:
    """Strip the `+`, `-` or space of a diff before each line; lines with the sign `drop` are dropped."""
    body = [line for line in lines if not _HEADER.fullmatch(line)]
    signs = {line[0] for line in body if line}
    if not signs <= set("+- ") or not signs & set("+-"):
        return None
    if any(line.strip() and not line.startswith(("+", "-", " ")) for line in body):
        return None
    return [line[1:] for line in body if not (drop and line.startswith(drop))]


def strip_diff_signs_or_margin(lines: Sequence[str]) -> list[str] | None:
    """Strip the signs of a diff that may have only unchanged lines; deleted lines are dropped."""
    body = [line for line in lines if not _HEADER.fullmatch(line)]
    if any(line.strip() and not line.startswith(("+", "-", " ")) for line in body):
        return None
    return [line[1:] for line in body if not line.startswith("-")]


def strip_margin(lines: Sequence[str]) -> list[str] | None:
    """Strip the space that a diff puts before unchanged lines."""
    if not any(map(str.strip, lines)) or not all(line.startswith(" ") for line in lines if line.strip()):
        return None
    return [line[1:] for line in lines]


def has_listing_marks(old: Sequence[str], new: Sequence[str]) -> bool:
    """Check for new lines that are old ones with only listing marks before them."""
    known = {line.strip() for line in old if len(line.strip()) >= _MIN_DISTINCTIVE_LENGTH}
    marked = (line for line in new if line.strip() not in known)
    return any((found := _MARKS.match(line)) and line[found.end() :].strip() in known for line in marked)


def has_shifted_right(old: Sequence[str], new: Sequence[str]) -> bool:
    """Check that all new lines are shifted right by the same amount, as if only the numbers had been removed."""
    shifts = _shifts(old, new)
    least = min((_indent_width(line) for line in old if line.strip()), default=0)
    return len(shifts) == 1 and shifts.pop() > 0 and all(_indent_width(line) > least for line in new if line.strip())


def has_shifted_left(old: Sequence[str], new: Sequence[str]) -> bool:
    """Check that all kept lines, the outermost included, are shifted left by the same amount while others change.

    The two texts were then indented independently.
    """
    shifts, kept = _shifts(old, new), {line.strip() for line in new}
    least = min((_indent_width(line) for line in old if line.strip()), default=0)
    stays = any(line.strip() in kept for line in old if line.strip() and _indent_width(line) == least)
    return len(shifts) == 1 and shifts.pop() < 0 and stays and not kept <= {line.strip() for line in old}


def _shifts(old: Sequence[str], new: Sequence[str]) -> set[int]:
    """Amounts by which old lines are shifted right in the new text."""
    before = {line.strip(): _indent_width(line) for line in old if len(line.strip()) >= _MIN_DISTINCTIVE_LENGTH}
    return {_indent_width(line) - before[line.strip()] for line in new if line.strip() in before}


def has_number_or_plus(old: Sequence[str], new: Sequence[str]) -> bool:
    """Check for new lines with a number or a diff sign that was stripped from the old ones."""
    return any(_NUMBER_OR_PLUS.match(line) and line not in old for line in new)


def _indent_width(line: str) -> int:
    return len(line) - len(line.lstrip())


_MARKS = re.compile(r"\s*(?:[-+>|│┃]|[Ll]?\d{1,7}\s?[:|│→.)\t])+")
_NUMBER_OR_PLUS = re.compile(r"\+|\s*[Ll]?\d{1,7}\s?[|│→\t]")
_MIN_DISTINCTIVE_LENGTH = 3


def has_odd_margin(lines: Sequence[str]) -> bool:
    """Check that all lines are indented by an odd number of spaces, as only a diff margin does."""
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    return bool(indents) and all(indent % 2 for indent in indents)


def has_diff_signs(text: str) -> bool:
    """Check that some lines start with the plus of a diff, and all others with a minus or a space."""
    lines = [line for line in text.split("\n") if line.strip()]
    return any(line[0] == "+" for line in lines) and all(line[0] in "+- " for line in lines)


def strip_bare_signs(lines: Sequence[str]) -> list[str] | None:
    """Strip the signs of a diff that has nothing before unchanged lines."""
    if not any(line.startswith(("+", "-")) for line in lines):
        return None
    return [line[1:] if line.startswith(("+", "-")) else line for line in lines if not _HEADER.fullmatch(line)]


def strip_added_signs(lines: Sequence[str]) -> list[str] | None:
    """Strip the plus signs of new lines."""
    return [line.removeprefix("+") for line in lines]


def drop_added_lines(lines: Sequence[str]) -> list[str] | None:
    return strip_diff_signs(lines, drop="+")


def strip_outer_quotes(lines: Sequence[str]) -> list[str] | None:
    """Strip quotes around the whole text."""
    text = "\n".join(lines).strip()
    for mark in ('"""', "'''", "`", '"', "'", "“"):
        close = "”" if mark == "“" else mark
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(close):
            inner = text[len(mark) : -len(close)]
            return inner.split("\n") if mark not in inner else None
    return None
