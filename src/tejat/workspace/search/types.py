"""Search types: query, engines and results."""

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.paths.walk import EXCLUDED_DIRECTORIES

_NUMBER_CHARACTERS = 8
_FILE_CHARACTERS = 12


class SearchEngine(StrEnum):
    """Search engines, fastest first. All of them find the same."""

    RIPGREP = "ripgrep"
    GIT_GREP = "git grep"
    GREP = "grep"
    PYTHON = "python"


class SearchQuery(Frozen):
    """What to search for. Limits of matches count matching lines, or files with `names_only`."""

    pattern: str
    exclude_pattern: str | None = None
    """Lines that match it are left out."""
    case_sensitive: bool = False
    fixed_strings: bool = False
    include: str | None = None
    """A glob for the path relative to the searched directory or, without a slash, for the file name."""
    before: int = 0
    after: int = 0
    max_matches_per_file: int | None = None
    total_max_matches: int = 100
    max_characters: int | None = None
    """Limit for the text of all lines and paths; a first match is always given."""
    names_only: bool = False
    exclude_directories: frozenset[bytes] = EXCLUDED_DIRECTORIES
    """Base names of directories that are not entered."""


class SearchLine(Frozen):
    """A line for display: decoded, without trailing white space. Of a very long one, the part with the match."""

    number: int
    text: str
    is_match: bool

    @property
    def size(self) -> int:
        """Characters that it takes in a result, with its number."""
        return len(self.text) + _NUMBER_CHARACTERS


class FileHits(Frozen):
    """Matching lines of a file with their context, by number; none with `names_only`.

    The path is relative to the searched directory, with surrogateescape for bytes that are not UTF-8.
    """

    path: str
    lines: tuple[SearchLine, ...]

    @property
    def size(self) -> int:
        """Characters that it takes in a result, with the marks around its path and its lines."""
        return len(self.path) + (_FILE_CHARACTERS if self.lines else 1) + sum(line.size for line in self.lines)


class SearchResult(Frozen):
    """Matches by path, directory by directory."""

    files: tuple[FileHits, ...]
    matches: int
    is_complete: bool
    """False if not everything was searched, because of the deadline or too many files."""
    is_limited: bool
    """Whether there are more matches than requested."""
    engine: SearchEngine


class SearchEngineFailure(TejatError):
    """An engine cannot run a search or failed at it; another one may succeed."""


class SearchTimeout(TejatError):
    """The deadline of a search has passed; its result is what was found so far."""
