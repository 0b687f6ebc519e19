"""What is searched for and what was found."""

from enum import StrEnum

from tejat.core.errors import TejatError
from tejat.core.frozen import frozen
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES


class SearchEngine(StrEnum):
    """The programs that can find the files and lines, fastest first. All of them find the same."""

    RIPGREP = "ripgrep"
    GIT_GREP = "git grep"
    GREP = "grep"
    PYTHON = "python"


@frozen
class SearchQuery:
    """What to search for. Counts of matches are of matching lines, or of files when only names are wanted."""

    pattern: str
    exclude_pattern: str | None = None
    """Lines that match it too are no matches."""
    case_sensitive: bool = False
    fixed_strings: bool = False
    include: str | None = None
    """A glob for the path from the searched directory, or, without a slash, for the file's name."""
    before: int = 0
    after: int = 0
    max_matches_per_file: int | None = None
    total_max_matches: int = 100
    names_only: bool = False
    exclude_directories: frozenset[bytes] = EXCLUDED_DIRECTORIES
    """Base names of directories that are not entered."""


@frozen
class SearchLine:
    """A line as it is shown: decoded, cut when very long, without white space at its end."""

    number: int
    text: str
    is_match: bool


@frozen
class FileHits:
    """The matching lines of a file with their context, by number; none when only names are wanted.

    The path is relative to the searched directory; bytes of it that are no UTF-8 are lone surrogates (surrogateescape).
    """

    path: str
    lines: tuple[SearchLine, ...]


@frozen
class SearchResult:
    """What was found, by path."""

    files: tuple[FileHits, ...]
    matches: int
    is_complete: bool
    """False when not everything was searched: for want of time, or because there were too many files."""
    is_limited: bool
    """Whether there are more matches than were asked for."""
    engine: SearchEngine


class SearchEngineFailure(TejatError):
    """An engine cannot run a search in the way it is meant, or failed at it; another one may."""


class SearchTimeout(TejatError):
    """The time for a search is over; what was found until then is its result."""
