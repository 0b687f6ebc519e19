"""Results of a search over stored sessions."""

from tejat.core.frozen import Frozen
from tejat.core.text.str_enum import StrEnum


class MatchPlace(StrEnum):
    PROMPT = "prompt"
    ANSWER = "answer"
    CALL = "call"
    RESULT = "result"
    FILE = "file"


class SessionMatch(Frozen):
    """A place where words occur. `turn` counts prompts from 1; 0 is before the first.

    `snippet` is one line around the match, and `marks` are the positions of the words in it. `tool` is that of a call
    or a result, `agent` the sub-agent it belongs to.
    """

    turn: int
    place: MatchPlace
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    tool: str = ""
    agent: str = ""


class SessionMatches(Frozen):
    """The matches in one session. `count` is the number of all, of which `matches` has the first.

    A session that cannot be read has a `problem` and no matches.
    """

    session_id: str
    title: str
    root: str
    started: float
    modified: float
    matches: tuple[SessionMatch, ...] = ()
    count: int = 0
    problem: str = ""
