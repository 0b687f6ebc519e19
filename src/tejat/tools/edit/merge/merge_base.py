"""Merge base: the text that the new text was written over, either the old text as given or the text in the file.

Models often write the old text from memory and the new text correctly. A line that the new text has in common with the
file was not meant to change, however the old text has it.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import gcd

from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_match import SAME, Match
from tejat.tools.edit.match.normalize import find_numbers, find_operators, line_key, split_words
from tejat.tools.edit.match.search_block import SearchBlock, count_leading_blank, indent_of


def find_merge_base(block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment) -> SearchBlock:
    """Choose the version of each old line to compare the new text with."""
    found = [None if place is None else target.lines[place] for place in alignment.positions]
    around = target.context_lines(alignment.start, alignment.end)
    is_as_found = _is_written_like_file(block, found, new, alignment, around)
    by_key, new_lines = {line_key(line): line for line in new}, {line.rstrip() for line in new}
    new_bodies = {line.strip() for line in new}
    # An old line that the new text repeats accounts for that line there.
    spare = Counter(map(line_key, new)) - Counter(block.keys)
    lines: list[str] = []
    for index, (old, there) in enumerate(zip(block.lines, found, strict=True)):
        if there is None or old == there:
            lines.append(old)
        elif alignment.matches[index].is_exact:
            is_given = old.rstrip() in new_lines and there.rstrip() not in new_lines
            is_body_given = old.strip() in new_bodies and there.strip() not in new_bodies
            as_found = indent_of(there) + old.lstrip(" \t") if is_body_given else there
            lines.append(as_found if is_as_found and not is_given else old)
        elif old.rstrip() in new_lines:
            lines.append(old)
        else:
            # The new text has the same typo or the line as in the file: either way the words stay.
            left_alone = by_key.get(block.keys[index]) or (by_key[key] if (key := line_key(there)) in spare else None)
            changed = [line for line in new if line_key(line) in spare] or new
            is_found_meant = alignment.matches[index].is_known and _has_file_words(old, there, changed)
            # The words of one version with the indent of the version that the new text was written over.
            indent = indent_of(there if is_as_found else old)
            if left_alone and index == block.first_nonblank and not line_key(there).startswith(block.keys[index][:1]):
                # The line was cut at its start, so that what precedes it in the file is not its indent.
                indent = indent_of(left_alone)
            lines.append(indent + (left_alone or (there if is_found_meant else old)).lstrip(" \t"))
    return SearchBlock(lines)


def align_blank_lines(
    block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment
) -> tuple[SearchBlock, Alignment]:
    """Insert and remove blank lines, so that the block has those that the new text was written over.

    A blank line missing in the file is removed unless the new text has it between the same lines. A blank line missing
    in the block is added if the new text has it between the same lines.
    """
    keys = [line_key(line) for line in new]
    parted = _blank_separated_pairs(keys)
    lines, positions, matches = list[str](), list[int | None](), list[Match]()
    elided: dict[int, tuple[int, int]] = {}
    last: int | None = None
    for index, place in enumerate(alignment.positions):
        if place is None and not block.keys[index] and not _is_repeated(block.keys, index, keys, parted):
            continue
        if (
            place is not None
            and last is not None
            and last + 1 == index
            and (block.keys[last], block.keys[index]) in parted
        ):
            blank = [line for line in range((alignment.positions[last] or 0) + 1, place) if not target.keys[line]]
            lines += [target.lines[line] for line in blank]
            positions += blank
            matches += [SAME] * len(blank)
        if index in alignment.elided:
            elided[len(lines)] = alignment.elided[index]
        last = None if place is None else index
        lines.append(block.lines[index])
        positions.append(place)
        matches.append(alignment.matches[index])
    return SearchBlock(lines), Alignment(tuple(positions), tuple(matches), alignment.total_cost, elided)


def _blank_separated_pairs(keys: Sequence[str]) -> set[tuple[str, str]]:
    """Pairs of nonblank lines with only blank lines, at least one, between them."""
    nonblank = [index for index, key in enumerate(keys) if key]
    return {(keys[above], keys[below]) for above, below in pairwise(nonblank) if below - above > 1}


def _is_repeated(given: Sequence[str], index: int, new: Sequence[str], parted: set[tuple[str, str]]) -> bool:
    """Check that the new text has the blank line too: next to a common line, or at the same end."""
    above = next((key for key in reversed(given[:index]) if key), None)
    below = next((key for key in given[index + 1 :] if key), None)
    if above is None:
        return count_leading_blank(new) >= count_leading_blank(given)
    if below is None:
        return count_leading_blank(new[::-1]) >= count_leading_blank(given[::-1])
    return any(above == left or below == right for left, right in parted)


def _is_written_like_file(
    block: SearchBlock, found: "Sequence[str | None]", new: Sequence[str], alignment: Alignment, around: Sequence[str]
) -> bool:
    """Decide whether the new text has the indentation of the file rather than that of the old text."""
    pairs: list[tuple[str, str]] = []
    others: set[str] = set()
    for old, there, match in zip(block.lines, found, alignment.matches, strict=True):
        if there is not None and match.is_exact:
            pairs.append((old.rstrip(), there.rstrip()))
        else:
            others.add(old.rstrip())
    # The indents of truncated lines and of elisions say nothing.
    known = [line for line in new if line.strip() and line.rstrip() not in others]
    given_indents, found_indents = (_indents(lines) for lines in ([old for old, _ in pairs], [it for _, it in pairs]))
    new_indents = [indent_of(line) for line in known]
    first = next(((old, there) for old, there in pairs if old), None)
    if first and known and block.lines[block.first_nonblank].rstrip() == first[0]:
        # All three usually start at the same depth, even if the rest is wrapped in a block or unwrapped.
        old_first, found_first, new_first = (indent_of(line) for line in (*first, known[0]))
        indents = (given_indents, found_indents, new_indents)
        least_given, least_found, least_new = (min(map(len, each)) for each in indents)
        is_at_given_depth = least_given == least_new != least_found
        if old_first == new_first != found_first and (is_at_given_depth or first[0].strip() in map(str.strip, known)):
            return False
        has_lines_as_found = bool(_count_shared([there for _, there in pairs], known))
        if found_first == new_first != old_first and (has_lines_as_found or not is_at_given_depth):
            return True
    only_given = given_indents - found_indents
    if _count_shared(block.lines, new) and _are_indent_steps(only_given, new_indents, _indents(around)):
        return False
    new_lines = {line.rstrip() for line in known}
    moved = [(old in new_lines, it in new_lines) for old, it in pairs if indent_of(old) != indent_of(it)]
    if moved and moved[0] == moved[-1] and moved[0][0] != moved[0][1]:
        return moved[0][1]
    as_given = _count_shared(block.lines, new)
    as_found = _count_shared([line for line in found if line is not None], new)
    if as_given != as_found:
        return as_found > as_given
    return sum((indent in found_indents) - (indent in given_indents) for indent in new_indents) > 0


def _are_indent_steps(only_given: "set[str]", indents: Sequence[str], around: "set[str]") -> bool:
    """Check that all indents are multiples of the smallest one, which only the old text has.

    Inconclusive if all of them are multiples of the file's unit too.
    """
    step = min(filter(None, indents), key=len, default="")
    if not step or step not in only_given:
        return False
    unit = gcd(*(len(indent) for indent in around if indent and set(indent) == set(step)))
    if unit and all(len(indent) % unit == 0 for indent in indents):
        return False
    return all(indent == step * (len(indent) // len(step)) for indent in indents)


def _count_shared(lines: Sequence[str], new: Sequence[str]) -> int:
    left, right = (Counter(line.rstrip() for line in each if line.strip()) for each in (lines, new))
    return (left & right).total()


def _indents(lines: Sequence[str]) -> set[str]:
    return {indent_of(line) for line in lines if line.strip()}


def _has_file_words(given: str, found: str, new: Sequence[str]) -> bool:
    """Check that the most similar new line has the words by which the file's line differs from the given one."""
    if find_operators(given) != find_operators(found) or find_numbers(given) != find_numbers(found):
        return False
    given_words, found_words = Counter(split_words(given)), Counter(split_words(found))
    only_found, only_given = found_words - given_words, given_words - found_words
    if any(word in split_words(line) for line in new for word in only_given):
        return False  # The word is wrong throughout.
    closest = max(
        (Counter(split_words(line)) for line in new),
        key=lambda words: (words & (found_words | given_words)).total() / (words.total() + found_words.total()),
        default=Counter[str](),
    )
    has_them = all(closest[word] >= found_words[word] for word in only_found)
    # Punctuation is in many lines: only words identify the line.
    names = Counter({word: count for word, count in found_words.items() if word[:1].isalnum()})
    is_this_line = 2 * (closest & names).total() >= names.total()
    return bool(only_found) and has_them and is_this_line and not (closest - found_words) & only_given
