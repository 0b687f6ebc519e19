"""Weights of the edit search, in one place: costs of line differences, margins and scores.

`python -m bench.edit` checks them: at least 98 % of inexact edits must land, and at most 0.1 % may write a wrong file.
Only the proportions matter: a difference that models produce often, and that hardly ever means another place, is cheap;
a difference that may mean another place is expensive.
"""

# --- costs of matching a line of the block with a line of the file, in ascending order ---

TRAILING_COST = 1
"""White space at the end of a line: nobody sees it, and tools strip it."""
SPACING_COST = 3
"""White space or look-alike characters within a line: cheap, but some lines of a file differ in nothing else."""
INDENT_COST = 4
"""Indentation: often wrong for a whole block, yet the best clue to tell equal lines at different depths apart."""
ESCAPED_COST = 8
"""One level of escaping: more than all white space together, because an escaped twin of a line may exist."""
ELISION_PREFIX_COST = 8
"""Elision that begins like the line of the file: less than ELISION_COST, so that it is the same line."""
CUT_COST = 14
"""First line without its start, or last line without its end: the rest of the line is unknown."""
TYPO_COST = 18
"""Base cost of a typo. With one character (22) it is more than a cut or an elided end, which are at least exact."""
CHARACTER_COST = 4
"""Each differing character of a typo: one character decides between two places that differ by it."""
ELIDED_END_COST = 20
"""Line that ends with dots: like a cut, but in the middle of a block."""
WORD_COST = 47
"""One different word: more than two typos together, since a different word often is a different line."""
REWORDED_COST = 55
"""Comment in other words: more than one word, since it says less about the place than code does."""
OTHER_COST = 70
"""Different line: it was changed since, or this is the wrong place. Less than a missing and an extra line."""
MISSING_COST = 80
"""Line of the block that the file lacks."""
EXTRA_COST = 40
"""Line of the file that the block lacks: half of MISSING_COST, because lines are forgotten more often than invented."""
BLANK_COST = 3
"""Blank line that only one side has."""
ELISION_COST = 9
"""Elision that stands for any number of lines: more than the same dots in the file."""
ELIDED_LINE_COST = 0.05
"""Each elided line, so that an elision is as short as possible. The longest elision costs less than a cut line."""

# --- limits of a typo ---

MAX_TYPO_CHARACTERS = 2
"""Typos with more characters cost as much as a different word."""
TYPO_DIVISOR = 5
"""One character in this many may differ in a typo."""
MAX_COMPARED_LENGTH = 2_000
"""Longer lines are only compared for equality."""

# --- acceptance: cost by which the next best place must be worse ---

WIDE_MARGIN = 60
"""Some line does not match, or another place is better in some line: almost a whole different line."""
CLEAR_MARGIN = 20
"""A different word or a cut line with typos."""
TYPO_MARGIN = 12
"""A typo of two characters: as much as three more characters."""
CHARACTER_MARGIN = 4
"""A typo of one character or an elided end: one more character. Also the margin for places that match exactly."""
SLIGHT_MARGIN = 3
"""Only white space, escapes or a cut: one kind of white space difference."""

# --- acceptance: evidence that a place is the intended one ---

MIN_LENGTH = 3
"""Characters of a block; shorter text occurs anywhere."""
MIN_LENGTH_WITH_TYPO = 8
CHARACTERS_PER_TYPO = 12
"""Characters that a single line with a typo needs for each differing character."""
MATCHES_PER_MISMATCH = 2
"""Matching lines needed for each line that does not match."""
MIN_MATCHED_CHARACTERS = 20
"""Characters of the matching lines, if any line does not match."""

# --- scores of the variants of a request; lower is better ---

NOT_ACCEPTED_PENALTY = 10_000
"""Accepted places beat all others."""
REPAIR_PENALTY = 2
"""Each repair is a guess and has to pay off. Less than a blank line, so that any line it mends pays for it."""
LISTING_BONUS = 10
"""Listing marks are no guess: ordinary text does not have them."""
FOREIGN_ESCAPE_BONUS = 3
"""Escapes were undone of which the file has none: they were certainly wrong."""
KNOWN_LINE_BONUS = 6
"""Matching distinctive line: variants may drop lines, and lines that are not searched for cost nothing."""

# --- merges ---

MIN_WORD_SIMILARITY = 0.4
"""Share of its words that a changed line keeps; else it counts as replaced."""
CHANGED_LINE_PENALTY = 2
"""Weight of a changed line against a repeated one, when context decides between equal places."""
