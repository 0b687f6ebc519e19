"""Makes the change of one text in another that has the same words, but other line breaks."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit.match.search_block import indent_of
from tejat.tools.edit.merge.tokens import TokenSequence
from tejat.workspace.text.line_edits import DiffEdit, compute_line_edits

_OPENING, _CLOSING = "([{", ")]}"
_QUOTES = "\"'`"
_SEPARATORS = ",;"


def merge_tokens(
    old: TokenSequence, found: TokenSequence, new: TokenSequence, first: int, there: str, *, is_prose: bool
) -> str | None:
    """What the text `there` becomes, in which the old words begin with word `first`; None if that is not certain.

    `found` are its words. In prose line breaks mean nothing at all.
    """
    if not new.words:
        return None
    try:
        becomes = _TokenMerge(old, found, new, first, there, is_prose=is_prose).text()
    except _Uncertain:
        return None
    # Whatever was decided on the way: these have to be the words that are wanted, and as neat as before.
    expected = [*found.keys[:first], *new.keys, *found.keys[first + len(old) :]]
    made = TokenSequence(becomes, found.comment_prefix)
    return (
        becomes if made.keys == expected and (_has_uniform_brackets(made) or not _has_uniform_brackets(found)) else None
    )


class _Uncertain(Exception):
    """Nobody can tell what should stand there."""


class _TokenMerge:
    def __init__(
        self, old: TokenSequence, found: TokenSequence, new: TokenSequence, first: int, there: str, *, is_prose: bool
    ) -> None:
        self._old, self._found, self._new, self._first, self._target_text = old, found, new, first, there
        self._is_prose = is_prose
        if old.spaces[0] != new.spaces[0] or old.tail.rstrip(" \t") != new.tail.rstrip(" \t"):
            raise _Uncertain

    def text(self) -> str:
        found, first, count = self._found, self._first, len(self._old)
        parts = [self._target_text[: found.starts[first]]]
        last: DiffEdit | None = None
        for edit in [*compute_line_edits(self._old.words, self._new.words), None]:
            parts += self._kept_tokens(last, edit.old_start if edit else count)
            parts += self._changed_tokens(edit) if edit else ()
            last = edit
        return "".join(parts) + self._target_text[found.ends[first + count - 1] :]

    def _kept_tokens(self, edit: DiffEdit | None, end: int) -> Iterator[str]:
        """The words that stay behind an edit, or at the beginning, up to the old word `end`."""
        start, shift = (edit.old_end, edit.new_end - edit.old_end) if edit else (0, 0)
        for old in range(start, end):
            new = old + shift
            if new == 0:
                space = ""
            elif old == 0:
                space = self._new_space(new, 0, 0)
            elif edit is not None and old == start:
                space = self._space_after_change(edit, old, new)
            else:
                space = self._kept_space(old, new)
            yield space + self._found.words[self._first + old]

    def _changed_tokens(self, edit: DiffEdit) -> Iterator[str]:
        for new in range(edit.new_start, edit.new_end):
            like = None
            if new == edit.new_start and 0 < edit.old_start < len(self._old) and not self._inserts_before_space(edit):
                like = edit.old_start
            yield ("" if new == 0 else self._new_space(new, edit.new_start, edit.old_start, like)) + self._new.words[
                new
            ]

    def _inserts_before_space(self, edit: DiffEdit) -> bool:
        """Whether words are put in before the white space of the next one, and not behind it."""
        if edit.old_start < edit.old_end or edit.new_end == len(self._new):
            return False
        spaces, space = self._new.spaces, self._old.spaces[edit.old_end]
        # `new, ` takes the place of what it is put before; `, new` leaves it there.
        if space == spaces[edit.new_start] and self._new.words[edit.new_end - 1] in _SEPARATORS:
            return False
        return space == spaces[edit.new_end]

    def _kept_space(self, old: int, new: int) -> str:
        """The white space before a word that stays, amid others that stay."""
        was, wanted, own = self._old.spaces[old], self._new.spaces[new], self._found.spaces[self._first + old]
        if was == wanted or self._is_soft_break(was, wanted):
            return own
        if own == was and "\n" not in wanted:
            return wanted
        raise _Uncertain

    def _space_after_change(self, edit: DiffEdit, old: int, new: int) -> str:
        """The white space before a word that stays, behind a change."""
        was, wanted, own = self._old.spaces[old], self._new.spaces[new], self._found.spaces[self._first + old]
        if self._new.words[new - 1] in _SEPARATORS and self._old.words[old - 1] != self._new.words[new - 1]:
            spacing = self._space_after_separators(self._first + old, self._new.words[new - 1])
            if spacing is not None:
                return spacing
        is_like_the_first = 0 < edit.old_start < edit.old_end and wanted == self._old.spaces[edit.old_start]
        like_the_first = _without_trailing_comma(self._found.spaces[self._first + edit.old_start])
        # Where `old, ` goes, what stood behind it takes its place; where `, old` goes, it stays where it is.
        if is_like_the_first and edit.new_start == edit.new_end and self._old.words[old - 1] in _SEPARATORS:
            return like_the_first
        if wanted == was or self._is_soft_break(was, wanted):
            return own
        if is_like_the_first:
            return like_the_first
        if "\n" not in wanted and "\n" not in own:
            return wanted
        raise _Uncertain

    def _is_soft_break(self, was: str, wanted: str) -> bool:
        """Whether two kinds of white space differ only in where a line of prose breaks."""
        return self._is_prose and bool(was) == bool(wanted) and max(was.count("\n"), wanted.count("\n")) < 2

    def _new_space(self, new: int, start: int, at: int, like: int | None = None) -> str:
        """The white space before a new word; the new words from `start` on are put in before the old word `at`.

        `like` is the old word whose white space it may take.
        """
        wanted = self._new.spaces[new]
        if self._new.words[new - 1] in _SEPARATORS and self._is_in_same_brackets(new, start, at):
            spacing = self._space_after_separators(self._first + at, self._new.words[new - 1])
            if spacing is not None:
                return spacing
        if like is not None and self._old.spaces[like] == wanted:
            return _without_trailing_comma(self._found.spaces[self._first + like])
        if "\n" not in wanted:
            return wanted
        return self._prose_line_break(wanted) if self._is_prose else self._code_line_break(new, wanted)

    def _is_in_same_brackets(self, new: int, start: int, at: int) -> bool:
        """Whether a new word stands between the same brackets as the place, and not in new ones or in quotes."""
        if at == len(self._old) or self._new.depths[new] != self._old.depths[at]:
            return False
        return not _is_quoted(self._new.words[start:new])

    def _prose_line_break(self, wanted: str) -> str:
        """A line break as the file has them around, with the mark of the comment."""
        end = self._first + len(self._old)
        breaks = [space for space in self._found.spaces[self._first + 1 : end] if space.count("\n") == 1]
        if wanted.count("\n") > 1 or not breaks:
            raise _Uncertain
        return breaks[0]

    def _code_line_break(self, new: int, wanted: str) -> str:
        """A line break outside of brackets, with the indentation that it has in the new text, seen from the place."""
        if self._new.depths[new] or "," in wanted:
            raise _Uncertain
        breaks, indent = wanted.count("\n"), wanted.rsplit("\n", 1)[1]
        given = indent_of(self._old.spaces[0].rsplit("\n", 1)[-1])
        line = self._target_text[: self._found.starts[self._first]].rsplit("\n", 1)[-1]
        if line.strip() or not indent.startswith(given):
            raise _Uncertain
        return "\n" * breaks + line + indent.removeprefix(given)

    def _space_after_separators(self, at: int, separator: str) -> str | None:
        """The white space behind the commas (or semicolons) of the brackets around a word of the file.

        None if it is not always the same.
        """
        words, spaces = self._found.words, self._found.spaces
        opener, depth = at - 1, 0
        while opener >= self._first and (depth or words[opener] not in _OPENING):
            depth += (words[opener] in _CLOSING) - (words[opener] in _OPENING)
            opener -= 1
        if opener < self._first or _is_quoted(words[opener:at]):
            return None
        seen: set[str] = set()
        depth = 0
        for index in range(opener + 1, self._first + len(self._old)):
            if words[index] in _CLOSING:
                depth -= 1
                if depth < 0:
                    break
            if not depth and words[index - 1] == separator and index - 1 > opener:
                seen.add(_without_trailing_comma(spaces[index]))
            depth += words[index] in _OPENING
        if not seen and separator == ",":
            # With one thing in the brackets, the next one comes on a line of its own if that is.
            seen.add(_without_trailing_comma(spaces[opener + 1]) if "\n" in spaces[opener + 1] else " ")
        return seen.pop() if len(seen) == 1 else None


def _has_uniform_brackets(tokens: TokenSequence) -> bool:
    """Whether in each pair of brackets everything stands on a line of its own or nothing does."""
    open_ones: list[set[bool]] = []
    is_quoted = False
    for index, word in enumerate(tokens.words):
        is_quoted ^= word == '"'
        if word in _CLOSING and open_ones:
            if len(open_ones.pop() | {tokens.count_line_breaks(index) > 0}) > 1:
                return False
        elif index + 1 == len(tokens):
            break
        elif word in _OPENING:
            open_ones.append({tokens.count_line_breaks(index + 1) > 0})
        elif word in _SEPARATORS and open_ones and not is_quoted:
            open_ones[-1].add(tokens.count_line_breaks(index + 1) > 0)
    return True


def _is_quoted(words: Sequence[str]) -> bool:
    """Whether a quotation is open behind the words."""
    return any(words.count(quote) % 2 for quote in _QUOTES)


def _without_trailing_comma(space: str) -> str:
    """White space without the comma that stood before a bracket."""
    return space.removeprefix(",")
