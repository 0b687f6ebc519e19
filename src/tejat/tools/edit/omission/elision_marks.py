"""Recognition of lines that stand for omitted code: `// ...`, `# ... (unchanged)`, `/* rest as before */`, `...`."""

import re
from enum import IntEnum

_MAX_LENGTH = 160
"""Longer lines say something of their own."""
_DOTS = r"(?:\.{3,}|…+|\. \. \.)"
_COMMENT_OPENER = (
    r"(?://[/!]*|/\*+!?|<!--+|\{/\*+|\{\{!(?:--)?|<%(?:--|\#)|\(\*+|\"\"\"|'''"
    r"|(?:\#[\#!:|=]*|--+(?:\[\[)?|;+|%+|\*+|!+|::|\{\#|\{-+|\.\\\"|@?rem|dnl|@c|@comment)(?=[\s(\[]|$)"
    r"|[\"'](?=\s+[^\"']*$)"
    r"|(?:\#+|--+|;+|%+|\*+|!+)(?=\.\.|…))"
)
_COMMENT_CLOSER = r"(?:\*+/\}?|--+>|--\}\}|\}\}|--%>|%>|\#\}|-+\}|\*+\)|\|\#|=\#|\]\]|\"\"\"|''')"
_RULE = r"(?:[-=~*_]{2,}\s*)?"
_COMMENT = re.compile(rf"{_COMMENT_OPENER}\s*{_RULE}(.*?)\s*{_RULE}{_COMMENT_CLOSER}?")
_BRACKETED = re.compile(r"[\[({<]+\s*([^\[\](){}<>]*?)\s*[\])}>]+")
_BULLET = re.compile(r"[-+*>|]\s+")
_BARE_DOTS = re.compile(rf"(?:{_DOTS}|\[ ?{_DOTS} ?\]|\( ?{_DOTS} ?\)|< ?{_DOTS} ?>|\{{ ?{_DOTS} ?\}})[,;]?")
_LED_BY_DOTS = re.compile(rf"{_DOTS}(\s*)(.*?)\s*({_DOTS})?\W*")
_ENDED_BY_DOTS = re.compile(rf"(.*?)\s*{_DOTS}\W*")
_INLINE_COMMENT = re.compile(r"[\s{(\[;,](?=(?://|\#|--|/\*|<!--|\{/\*)\s*(?:\.{3}|…|\(|\[))")
_INLINE_BRACES = re.compile(rf".*\S\s*\{{\s*{_DOTS}\s*\}}[)\];,]*")
_WORD = re.compile(r"[a-z']+")
_PLAIN = re.compile(r"[\w\s'’.,:;!()\[\]/&+–—-]*")
_STATEMENT = re.compile(
    r"\b(?:unchanged|unmodified|untouched|omitted|elided|snip|snipped|truncated|brevity|unaltered|etc)\b"
    r"|\b(?:rest|remainder|remaining)\b"
    r"|\b(?:same|exactly|identical) (?:\w+ )?as (?:before|above|is|was|previously|in the original|the original)\b"
    r"|\bas (?:before|is|above|previously)\b|\b(?:stays?|remains?) (?:\w+ )?(?:same|as)\b"
    r"|\bno (?:\w+ )?changes?\b|\bnot (?:changed|modified)\b"
    r"|\b(?:existing|previous|original) (?:\w+ )?(?:code|content|contents|implementation|logic|body|lines|text)\b"
    r"|\b(?:existing|previous|original|other|same|more) (?:\w+ ){1,3}(?:here|above|below)\b"
)
"""Says that something stays or is left out."""
_CLEAR_STATEMENT = re.compile(
    r"\b(?:unchanged|unmodified|untouched|omitted|elided|snip|snipped|brevity|unaltered)\b"
    r"|\b(?:rest|remainder|remaining)\b.*\b(?:same|as before|as is)\b"
)
_MIN_WORDS = 3
_LEAD = re.compile(r"(?:(?:and|the|all|keep|other|leave) ){0,3}(?:rest|remaining|remainder|existing|unchanged|same)\b")
_MAX_WORDS_AFTER_LEAD = 6
_SINGLE_WORDS = frozenset({"unchanged", "omitted", "snip", "snipped", "truncated"})
_VOCABULARY = frozenset(
    _WORD.findall("""
    a above add additional after all an and any are arg args argument arguments array as at attribute attributes be
    before below block bodies body branch branches brevity but case cases change changed changes chapter clarity
    class classes code column columns comment comments component components config configuration constant constants
    constructor content contents continue continues css data declaration declarations definition definitions dict do
    doc docs docstring document does element elements elided entries entry enum equal etc exactly existing field
    fields file files for from func function functions further go goes handler handlers here html identical
    implement implementation implementations implemented import imports in insert interface interfaces is it item
    items its jsx keep keeps kept key keys leave left like line lines list logic loop markup member members method
    methods modified modify module more no not now number numbers object of omitted on option options original
    originally other others page pages paragraph paragraphs param parameter parameters params part parts previous
    previously properties property queries query remain remainder remaining remains rest route routes row rows rule
    rules same schema script scripts section sentence sentences setting settings setup shortened skipped snip
    snipped statement statements stay stays step steps still struct stuff style styles table tables template test
    tests text that the there these things this those to todo truncated type types unaltered unchanged unmodified
    untouched up value values variable variables was were will with would your
    """)
)
"""Words of a statement about code in general; any other word is about this code."""


class ElisionMark(IntEnum):
    """How surely a line stands for omitted code."""

    BARE = 1
    """Bare dots, which are code in some languages; in prose also a word or two such as `unchanged`."""
    STATEMENT = 2
    """Words, or a mark at the end of a line, that may also be meant literally."""
    CERTAIN = 3
    """A comment that begins with dots, or dots around words about omitted code."""


def may_contain_elision(text: str) -> bool:
    """Check cheaply whether any line may stand for omitted code."""
    return "..." in text or "…" in text or ". . ." in text or _STATEMENT.search(text.lower()) is not None


def find_elision_mark(line: str) -> ElisionMark | None:
    """Find how surely a line stands for omitted code; None for all other lines."""
    bare = line.strip().lower()
    if not bare or len(bare) > _MAX_LENGTH or not may_contain_elision(bare):
        return None
    if _BARE_DOTS.fullmatch(_BULLET.sub("", bare, count=1)):
        return ElisionMark.BARE
    if comment := _COMMENT.fullmatch(bare):
        return _mark_of_comment(_unbracketed(comment[1]))
    if bracketed := _BRACKETED.fullmatch(bare):
        is_word = bracketed[1] in _SINGLE_WORDS
        return _mark_of_comment(bracketed[1]) if is_word or " " in bracketed[1] else None
    return _mark_of_text(bare) or _mark_of_line_end(bare)


def is_bare_statement(line: str) -> bool:
    """Check for one or two words that say in prose that text is left out: `unchanged`. In code they may be names."""
    bare = line.strip().lower()
    return len(bare) <= _MAX_LENGTH and _is_statement(bare) and _CLEAR_STATEMENT.search(bare) is not None


def is_comment(line: str) -> bool:
    """Check whether a line is a whole comment, in any syntax."""
    return _COMMENT.fullmatch(line.strip().lower()) is not None


def continues_sentence(line: str, above: str) -> bool:
    """Check whether a comment that begins with dots goes on with the one above, which ends with them."""
    comment, before = (_COMMENT.fullmatch(each.strip().lower()) for each in (line, above))
    if comment is None or before is None or find_elision_mark(above) is not None:
        return False
    return _LED_BY_DOTS.fullmatch(comment[1]) is not None and before[1].endswith(("...", "…", ","))


def _mark_of_comment(text: str) -> ElisionMark | None:
    if led := _LED_BY_DOTS.fullmatch(text):
        # `...and so on` goes on with a sentence.
        is_apart = bool(led[1]) or not led[2] or led[2][:1] in "([{" or bool(led[3]) or _is_statement(led[2])
        return ElisionMark.CERTAIN if is_apart else None
    if ended := _ENDED_BY_DOTS.fullmatch(text):
        if _is_statement(ended[1]):
            return ElisionMark.CERTAIN
        is_lead = _LEAD.match(ended[1]) and len(_WORD.findall(ended[1])) <= _MAX_WORDS_AFTER_LEAD
        return ElisionMark.STATEMENT if is_lead else None
    return _mark_of_statement(text)


def _mark_of_text(text: str) -> ElisionMark | None:
    """Mark of a line that is neither a comment nor in brackets."""
    if led := _LED_BY_DOTS.fullmatch(text):
        if not led[1]:
            return None  # A spread operator, or the rest of a sentence.
        if _is_statement(led[2]):
            return ElisionMark.CERTAIN
        return ElisionMark.STATEMENT if led[3] else None
    if ended := _ENDED_BY_DOTS.fullmatch(text):
        return ElisionMark.STATEMENT if _is_statement(ended[1]) else None
    return _mark_of_statement(text) if len(_WORD.findall(text)) >= _MIN_WORDS else None


def _mark_of_line_end(text: str) -> ElisionMark | None:
    """Mark at the end of a line with other text: `run() { // ...`, `run() { ... }`."""
    if _INLINE_BRACES.fullmatch(text):
        return ElisionMark.STATEMENT
    for found in _INLINE_COMMENT.finditer(text):
        comment = _COMMENT.fullmatch(text[found.end() :].rstrip(" \t})];,"))
        if comment and _mark_of_comment(_unbracketed(comment[1])) is ElisionMark.CERTAIN:
            return ElisionMark.STATEMENT
    return None


def _unbracketed(text: str) -> str:
    found = _BRACKETED.fullmatch(text)
    return found[1] if found else text


def _mark_of_statement(text: str) -> ElisionMark | None:
    if not _is_statement(text):
        return None
    return ElisionMark.CERTAIN if _CLEAR_STATEMENT.search(text) else ElisionMark.STATEMENT


def _is_statement(text: str) -> bool:
    """Check for a statement about omitted code that says nothing else."""
    words = _WORD.findall(text)
    if not _PLAIN.fullmatch(text):
        return False
    return bool(words) and _VOCABULARY.issuperset(words) and _STATEMENT.search(" ".join(words)) is not None
