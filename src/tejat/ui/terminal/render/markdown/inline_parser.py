"""Inline Markdown: emphasis, code, and links whose address is always shown."""

import re
from functools import cache
from html import unescape

from rich.style import Style

from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.ui.shared.text.sanitizer import make_terminal_safe
from tejat.ui.terminal.render.text_wrap import StyledRun
from tejat.ui.terminal.render.theme import StyleRole, Theme


def parse_inline(text: str, theme: Theme, base: Style) -> list[StyledRun]:
    """Return styled runs of sanitized text. Only delimiters that became style are left out.

    Without colours code keeps its backticks, which nothing else tells apart.
    """
    if _tokens().search(text) is None:
        return [(text, base)] if text else []
    reader = _InlineParser(text, theme)
    reader.parse()
    return _style_runs(reader.parts, reader.spans, theme, base)


class _Flag:
    STRONG, EMPHASIS, STRIKE, LINK, CODE = 1, 2, 4, 8, 16


class _Delimiter(Frozen):
    """A delimiter run, and whether it can open or close emphasis."""

    part: int
    sign: str
    count: int
    opens: bool
    closes: bool


class _InlineParser:
    """One pass over the text. `spans` are ranges of parts with a style flag."""

    def __init__(self, text: str, theme: Theme) -> None:
        self.parts: list[str] = []
        self.spans: list[tuple[int, int, int]] = []
        self._text = text
        self._theme = theme
        self._delimiters: list[_Delimiter] = []
        self._brackets: list[int] = []
        self._unmatched: set[int] = set()

    def parse(self) -> None:
        at = 0
        while found := _tokens().search(self._text, at):
            if found.start() > at:
                self.parts.append(self._text[at : found.start()])
            at = self._token(found)
        self.parts.append(self._text[at:])
        self._match_emphasis()

    def _token(self, found: re.Match[str]) -> int:
        """Handle a token and return where to continue."""
        match found.lastgroup:
            case "escaped":
                self.parts.append(found["escaped"])
            case "entity":
                self.parts.append(make_terminal_safe(unescape(found[0])) or found[0])
            case "ticks":
                return self._code(found)
            case "address":
                self._add_span(found["address"], _Flag.LINK)
            case "bare":
                address = found["bare"].rstrip(_PUNCTUATION)
                self._add_span(address, _Flag.LINK)
                return found.start() + len(address)
            case "signs":
                self._add_delimiter(found)
            case "open":
                self._brackets.append(len(self.parts))
                self.parts.append(found[0])
            case _:
                return self._close_bracket(found)
        return found.end()

    def _add_span(self, text: str, flag: int) -> None:
        self.spans.append((len(self.parts), len(self.parts) + 1, flag))
        self.parts.append(text)

    def _code(self, found: re.Match[str]) -> int:
        """Parse a code span, which ends at as many backticks; otherwise the backticks are text."""
        ticks = found["ticks"]
        end = None if len(ticks) in self._unmatched else _find_closing_ticks(self._text, ticks, found.end())
        if end is None:
            self._unmatched.add(len(ticks))
            self.parts.append(ticks)
            return found.end()
        code = self._text[found.end() : end].replace("\n", " ")
        if code[0] == code[-1] == " " and code.strip(" "):
            code = code[1:-1]
        self._add_span(code if self._theme.has_colours and code.strip() else f"`{code}`", _Flag.CODE)
        return end + len(ticks)

    def _add_delimiter(self, found: re.Match[str]) -> None:
        """Add a delimiter run if it can open or close emphasis."""
        before, after = self._text[found.start() - 1 : found.start()], self._text[found.end() : found.end() + 1]
        left, right = _is_flanking(after, before), _is_flanking(before, after)
        if left and right and (before + after).isascii():
            left, right = _is_punctuation(before), _is_punctuation(after)  # 2*3*4 and snake_case are not emphasis
        if left or right:
            self._delimiters.append(_Delimiter(len(self.parts), found[0][0], len(found[0]), left, right))
        self.parts.append(found[0])

    def _close_bracket(self, found: re.Match[str]) -> int:
        """Parse `[text](address "title")`; otherwise the bracket is text."""
        start = self._brackets.pop() if self._brackets else None
        target = _target().match(self._text, found.end())
        if start is None or target is None:
            self.parts.append("]")
            return found.end()
        words = "".join(self.parts[start + 1 :])
        is_image = self.parts[start] == "!["
        address = (target["angled"] or target["plain"] or "") + (f" {target['title']}" if target["title"] else "")
        self.parts[start] = ""
        self.spans.append((start + 1, len(self.parts), _Flag.LINK))
        if is_image:
            label = "[" + _("image")
            self.parts[start] = f"{label}: " if words else label
            self.parts.append("]")
        if address and address != words:
            self.parts.append(f" ({address})" if words or is_image else f"({address})")
        return target.end()

    def _match_emphasis(self) -> None:
        """Match each closing run with the nearest opening one of its kind."""
        waiting: list[tuple[_Delimiter, int]] = []
        counts = {"*": 0, "_": 0, "~": 0}
        for sign in self._delimiters:
            left = sign.count
            while sign.closes and left and counts[sign.sign]:
                while waiting[-1][0].sign != sign.sign:
                    counts[waiting.pop()[0].sign] -= 1
                opener, spare = waiting[-1]
                if sign.opens and (sign.count + opener.count) % 3 == 0 and sign.count % 3:
                    break
                used = min(left, spare, 2)
                self._apply_emphasis(opener, sign, used)
                left -= used
                waiting.pop()
                if spare > used:
                    waiting.append((opener, spare - used))
                else:
                    counts[sign.sign] -= 1
            if sign.opens and left:
                waiting.append((sign, left))
                counts[sign.sign] += 1

    def _apply_emphasis(self, opener: _Delimiter, closer: _Delimiter, used: int) -> None:
        flag = _Flag.STRIKE if closer.sign == "~" else _Flag.STRONG if used > 1 else _Flag.EMPHASIS
        self.spans.append((opener.part + 1, closer.part, flag))
        if flag == _Flag.STRIKE and not self._theme.has_colours:
            return
        self.parts[opener.part] = self.parts[opener.part][used:]
        self.parts[closer.part] = self.parts[closer.part][used:]


def _style_runs(parts: list[str], spans: list[tuple[int, int, int]], theme: Theme, base: Style) -> list[StyledRun]:
    changes: dict[int, list[int]] = {}
    for start, end, flag in spans:
        changes.setdefault(start, []).append(flag)
        changes.setdefault(end, []).append(-flag)
    depth: dict[int, int] = {}
    link, code = theme.style(StyleRole.LINK), theme.style(StyleRole.CODE)
    runs: list[StyledRun] = []
    style = base
    for at, part in enumerate(parts):
        if at in changes:
            for flag in changes[at]:
                depth[abs(flag)] = depth.get(abs(flag), 0) + (1 if flag > 0 else -1)
            style = base + _style(sum(flag for flag, count in depth.items() if count > 0), link, code)
        if part:
            runs.append((part, style))
    return runs


@cache
def _style(flags: int, link: Style, code: Style) -> Style:
    style = Style(
        bold=bool(flags & _Flag.STRONG) or None,
        italic=bool(flags & _Flag.EMPHASIS) or None,
        strike=bool(flags & _Flag.STRIKE) or None,
    )
    if flags & _Flag.LINK:
        style += link
    if flags & _Flag.CODE:
        style += code
    return style


def _find_closing_ticks(text: str, ticks: str, start: int) -> int | None:
    """Return where exactly these backticks come next, after at least one character."""
    for found in re.finditer("`+", text[start:]):
        if len(found[0]) == len(ticks) and found.start():
            return start + found.start()
    return None


def _is_flanking(near: str, far: str) -> bool:
    """Whether a run between these characters belongs to the near one. Some scripts have no blanks between words."""
    if not near or near.isspace():
        return False
    return not _is_punctuation(near) or not far or far.isspace() or _is_punctuation(far) or not far.isascii()


def _is_punctuation(character: str) -> bool:
    return not character.isalnum() and not character.isspace() and bool(character)


_PUNCTUATION = ".,;:!?)]}'\"*_~`"


@cache
def _tokens() -> re.Pattern[str]:
    return re.compile(
        r"\\(?P<escaped>[!-/:-@\[-`{-~])"
        r"|(?P<ticks>`+)"
        r"|(?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
        r"|<(?P<address>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,2000}+)>"
        r"|(?P<bare>https?://[^\s<>|\[\]]{1,2000})"
        r"|(?P<signs>\*+|_+|~~)"
        r"|(?P<open>!?\[)"
        r"|(?P<close>\])"
    )


@cache
def _target() -> re.Pattern[str]:
    plain = r"[^\s()<>]{0,2000}+(?:\([^\s()<>]{0,500}+\)[^\s()<>]{0,500}+){0,8}+"
    title = r"""(?:\ +(?P<title>"[^"]{0,500}+"|'[^']{0,500}+'|\([^()]{0,500}+\)))?"""
    return re.compile(rf"\(\s{{0,9}}+(?:<(?P<angled>[^<>\n]{{0,2000}}+)>|(?P<plain>{plain})){title}\s{{0,9}}+\)")
