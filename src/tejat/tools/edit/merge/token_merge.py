"""Transfer of a change to a text with the same words and other line breaks."""

from collections.abc import Iterator, Sequence

from tejat.tools.edit.match.search_block import indent_of
from tejat.tools.edit.merge.tokens import CLOSING_BRACKETS, OPENING_BRACKETS, TokenSequence
from tejat.workspace.text.line_edits import DiffEdit, compute_line_edits

_QUOTES = "\"'`"
_SEPARATORS = ",;"


def merge_tokens(
    old: TokenSequence, found: TokenSequence, new: TokenSequence, first: int, there: str, *, is_prose: bool
) -> str | None:
    """Apply the change to the text `there`, in which the old words start at word `first`; None if uncertain.

    `found` are the words of `there`. In prose, line breaks are insignificant.
    """
    if not new.words:
        return None
    try:
        becomes = _TokenMerge(old, found, new, first, there, is_prose=is_prose).text()
    except _Uncertain:
        return None
    # The result must have the wanted words and be laid out as regularly as before.
    expected = [*found.keys[:first], *new.keys, *found.keys[first + len(old) :]]
    made = TokenSequence(becomes, found.comment_prefix)
    is_uniform = _has_uniform_brackets(made) or not _has_uniform_brackets(found)
    return becomes if made.keys == expected and is_uniform else None


class _Uncertain(Exception):
    """The result is uncertain."""


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
        """Words kept after an edit, or at the start, up to the old word `end`."""
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
            space = self._new_space(new, edit.new_start, edit.old_start, like) if new else ""
            yield space + self._new.words[new]

    def _inserts_before_space(self, edit: DiffEdit) -> bool:
        """Check whether words are inserted before the white space of the next word rather than after it."""
        if edit.old_start < edit.old_end or edit.new_end == len(self._new):
            return False
        spaces, space = self._new.spaces, self._old.spaces[edit.old_end]
        # `new, ` takes the white space of the word it precedes; `, new` leaves it.
        if space == spaces[edit.new_start] and self._new.words[edit.new_end - 1] in _SEPARATORS:
            return False
        return space == spaces[edit.new_end]

    def _kept_space(self, old: int, new: int) -> str:
        """White space before a kept word between kept words."""
        was, wanted, own = self._old.spaces[old], self._new.spaces[new], self._found.spaces[self._first + old]
        if was == wanted or self._is_soft_break(was, wanted):
            return own
        if own == was and "\n" not in wanted:
            return wanted
        raise _Uncertain

    def _space_after_change(self, edit: DiffEdit, old: int, new: int) -> str:
        """White space before a kept word after a change."""
        was, wanted, own = self._old.spaces[old], self._new.spaces[new], self._found.spaces[self._first + old]
        if self._new.words[new - 1] in _SEPARATORS and self._old.words[old - 1] != self._new.words[new - 1]:
            spacing = self._space_after_separators(self._first + old, self._new.words[new - 1])
            if spacing is not None:
                return spacing
        is_like_the_first = 0 < edit.old_start < edit.old_end and wanted == self._old.spaces[edit.old_start]
        like_the_first = _without_trailing_comma(self._found.spaces[self._first + edit.old_start])
        # Without `old, ` the next word takes its place; without `, old` it stays.
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
        """Check whether two spaces differ only by a line break in prose."""
        return self._is_prose and bool(was) == bool(wanted) and max(was.count("\n"), wanted.count("\n")) < 2

    def _new_space(self, new: int, start: int, at: int, like: int | None = None) -> str:
        """White space before a new word; new words from `start` on are inserted before the old word `at`.

        `like` is an old word whose white space may be reused.
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
        """Check that a new word is in the same brackets as the place, and not in quotes."""
        if at == len(self._old) or self._new.depths[new] != self._old.depths[at]:
            return False
        return not _is_quoted(self._new.words[start:new])

    def _prose_line_break(self, wanted: str) -> str:
        """Line break as used in the surrounding prose, with the comment prefix."""
        end = self._first + len(self._old)
        breaks = [space for space in self._found.spaces[self._first + 1 : end] if space.count("\n") == 1]
        if wanted.count("\n") > 1 or not breaks:
            raise _Uncertain
        return breaks[0]

    def _code_line_break(self, new: int, wanted: str) -> str:
        """Line break outside of brackets, with its indentation relative to the place."""
        if self._new.depths[new] or "," in wanted:
            raise _Uncertain
        breaks, indent = wanted.count("\n"), wanted.rsplit("\n", 1)[1]
        given = indent_of(self._old.spaces[0].rsplit("\n", 1)[-1])
        line = self._target_text[: self._found.starts[self._first]].rsplit("\n", 1)[-1]
        if line.strip() or not indent.startswith(given):
            raise _Uncertain
        return "\n" * breaks + line + indent.removeprefix(given)

    def _space_after_separators(self, at: int, separator: str) -> str | None:
        """White space after the separators of the enclosing brackets; None if it varies."""
        words, spaces = self._found.words, self._found.spaces
        opener, depth = at - 1, 0
        while opener >= self._first and (depth or words[opener] not in OPENING_BRACKETS):
            depth += (words[opener] in CLOSING_BRACKETS) - (words[opener] in OPENING_BRACKETS)
            opener -= 1
        if opener < self._first or _is_quoted(words[opener:at]):
            return None
        seen: set[str] = set()
        depth = 0
        for index in range(opener + 1, self._first + len(self._old)):
            if words[index] in CLOSING_BRACKETS:
                depth -= 1
                if depth < 0:
                    break
            if not depth and words[index - 1] == separator and index - 1 > opener:
                seen.add(_without_trailing_comma(spaces[index]))
            depth += words[index] in OPENING_BRACKETS
        if not seen and separator == ",":
            # After a single item, the next one goes on its own line if the first one does.
            seen.add(_without_trailing_comma(spaces[opener + 1]) if "\n" in spaces[opener + 1] else " ")
        return seen.pop() if len(seen) == 1 else None


def _has_uniform_brackets(tokens: TokenSequence) -> bool:
    """Check that in each pair of brackets either all items or none are on lines of their own."""
    open_ones: list[set[bool]] = []
    is_quoted = False
    for index, word in enumerate(tokens.words):
        is_quoted ^= word == '"'
        if word in CLOSING_BRACKETS and open_ones:
            if len(open_ones.pop() | {tokens.line_breaks(index) > 0}) > 1:
                return False
        elif index + 1 == len(tokens):
            break
        elif word in OPENING_BRACKETS:
            open_ones.append({tokens.line_breaks(index + 1) > 0})
        elif word in _SEPARATORS and open_ones and not is_quoted:
            open_ones[-1].add(tokens.line_breaks(index + 1) > 0)
    return True


def _is_quoted(words: Sequence[str]) -> bool:
    """Check whether a quotation is open after the words."""
    return any(words.count(quote) % 2 for quote in _QUOTES)


def _without_trailing_comma(space: str) -> str:
    """Strip the comma before a closing bracket."""
    return space.removeprefix(",")
