"""Plain text of terminal output: control sequences removed, overwritten text overwritten."""

import codecs
import re


def strip_sequences(text: str) -> str:
    """Return a text without control sequences such as colours, titles and links. All other characters stay.

    For text that was not made for a terminal: what is rendered as on a terminal may overwrite itself.
    """
    return text if re.search(_SEQUENCE_START, text) is None else re.sub(_SEQUENCE, _keep_other, text)


def _keep_other(found: re.Match[str]) -> str:
    return "" if re.match(_SEQUENCE_START, found[0]) else found[0]


def render_terminal_text(text: str) -> str:
    """Return the text as a terminal would show it; never raises, in linear time.

    Colours, titles, links and images are dropped. Carriage returns, backspaces and sequences that move along or erase a
    line are applied, so that only the last state of a progress bar is left. Moves to other lines, and sequences cut off
    at the end, are dropped; an unterminated string is shown, because hiding the rest of the output would be worse.
    Every character counts as one column.
    """
    if text.isprintable() or re.search(_CONTROL, text) is None:
        return text
    plain = re.sub(_SEQUENCE, _replace_sequence, text)
    if re.search(_IN_LINE, plain) is None:
        return plain
    return "\n".join([_render_line(line) if re.search(_IN_LINE, line) else line for line in plain.split("\n")])


class TerminalOutputFilter:
    """Filters the output of a program for a terminal, in chunks; chunk boundaries make no difference.

    Text, colours, and what moves along or erases a line stay. Everything else that a terminal would obey is dropped:
    titles, links, the clipboard, questions that it would answer, other screens. Bytes are read as UTF-8.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, chunk: bytes) -> bytes:
        """Return what can be printed now. Unfinished sequences are held back, at most about a kilobyte."""
        text = self._held + self._decoder.decode(chunk)
        unfinished = re.search(_UNFINISHED, text[-_MAX_HELD:])
        self._held = "" if unfinished is None else unfinished[0]
        return _filter_sequences(text[: len(text) - len(self._held)])

    def finish(self) -> bytes:
        """Return the rest."""
        rest, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return _filter_sequences(rest)


def _filter_sequences(text: str) -> bytes:
    return (text if re.search(_CONTROL, text) is None else re.sub(_SEQUENCE, _keep_printable, text)).encode()


def _keep_printable(found: re.Match[str]) -> str:
    if found["feed"]:
        return "\r\n" if found[0] == "\r\n" else "\n"
    is_kept = found["final"] and found["final"] in "CDGKm" and re.fullmatch("[0-9;:]*", found["parameters"])
    return f"\x1b[{found['parameters']}{found['final']}" if is_kept else ""


_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f]"

# Every part stops at the next beginning, so that a text full of beginnings is still read once only.
_SEQUENCE = (
    "(?:\x1b\\[|\x9b)(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~]?)"  # CSI, whole or cut short
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x80-\x9f\n]*(?:\x07|\x1b\\\\|\x9c)"  # OSC: titles, links
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x80-\x9f]*(?:\x1b\\\\|\x9c)"  # DCS, SOS, PM, APC: pictures and the like
    "|\x1b[ -/]*[0-~]?"  # the short ones: character sets, resets, and the introducer of a string without end
    "|(?P<feed>\r\n|[\x0b\x0c\x85])"
    "|[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]"
)

# A sequence at the end that the next chunk may complete.
_MAX_HELD = 1024
_UNFINISHED = (
    "(?:(?:\x1b\\[|\x9b)[0-?]*[ -/]*"
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x80-\x9f\n]*\x1b?"
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x80-\x9f]*\x1b?"
    "|\x1b[ -/]*)\\Z"
)

_SEQUENCE_START = "[\x1b\x90\x98\x9b\x9d-\x9f]"
_IN_LINE = "[\x08\r\x1b]"
_STEP = "[^\x08\r\x1b]+|\x08|\r|\x1b(?P<count>[0-9]*)(?P<final>[CDGK])"

# Columns that a move may skip: a short sequence must not produce a megabyte of blanks.
_MAX_COLUMN = 200
_DIGITS = 6


def _replace_sequence(found: re.Match[str]) -> str:
    """Return "", a line feed, or a horizontal move in a form that cannot be mistaken for text."""
    if found["feed"]:
        return "\n"
    if found["final"] and found["final"] in "CDGK":
        first = found["parameters"].partition(";")[0]
        return f"\x1b{first[:_DIGITS]}{found['final']}" if first.isdigit() or not first else ""
    return ""


def _render_line(line: str) -> str:
    cells: list[str] = []
    column = 0
    for step in re.finditer(_STEP, line):
        match step[0][0]:
            case "\r":
                column = 0
            case "\x08":
                column = max(column - 1, 0)
            case "\x1b":
                column = _apply_move(cells, column, step["count"], step["final"])
            case _:
                cells.extend(" " * (column - len(cells)))
                cells[column : column + len(step[0])] = step[0]
                column += len(step[0])
    return "".join(cells)


def _apply_move(cells: list[str], column: int, count: str, final: str) -> int:
    """Apply a move or an erasure to `cells` and return the new column."""
    farthest = max(len(cells), _MAX_COLUMN)
    match final:
        case "C":
            return min(column + int(count or 1), farthest)
        case "D":
            return max(column - int(count or 1), 0)
        case "G":
            return min(max(int(count or 1) - 1, 0), farthest)
        case _ if count in ("", "0"):
            del cells[column:]
        case _ if count == "2":
            cells.clear()
        case _:
            pass
    return min(column, max(len(cells), _MAX_COLUMN))
