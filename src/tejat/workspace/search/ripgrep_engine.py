"""Search engine based on ripgrep, whose matches are filtered by our own rules.

Ripgrep searches the whole tree regardless of ignore files; only directories that our rules ignore, found by looking at
some thousand entries, are excluded. Matching files are then filtered by our rules, so that ripgrep's view of ignore
files and globs never counts. JSON output is not used, because it does not limit the length of lines.
"""

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from tejat.core.frozen import Frozen
from tejat.workspace.helper_program import HelperProcess, ReadAccess, run_helper
from tejat.workspace.paths.ignore_rules import IgnoreStatus
from tejat.workspace.search.dialects import to_pcre, to_ripgrep
from tejat.workspace.search.task import (
    MatchCollector,
    SearchTask,
    find_first_matches,
    first_matches,
    limit_memory,
    open_task_scanner,
    read_names,
)
from tejat.workspace.search.text_blocks import (
    MAX_LINE_BYTES,
    MAX_SHOWN_CHARACTERS,
    BinaryFile,
    TextBlocks,
    format_line,
    open_regular_file,
    read_head,
)
from tejat.workspace.search.types import SearchEngineFailure, SearchLine, SearchQuery, SearchTimeout

_MAX_PRUNE_ENTRIES = 4096
_MAX_RECORD_BYTES = 64 << 20
_MAX_ARGUMENT_BYTES = 100_000
_BINARY_WARNING = re.compile(
    rb': WARNING: stopped searching binary file after match \(found "\\0" byte around offset \d+\)\n'
)
_PLAIN_PATH = re.compile(rb"[A-Za-z0-9_./-]+")
_PLAIN_ENDING = re.compile(r"\*\.(?:[A-Za-z0-9_]+|\{[A-Za-z0-9_]+(?:,[A-Za-z0-9_]+)*\})")
_HERE = b"./"
_NUMBER = re.compile(rb"(\d+)([:-])")
_NO_MATCH, _TROUBLE = 1, 2
_LONGEST_CHARACTER = 4
_PCRE_ERROR = b"PCRE2: error matching"
_UNREADABLE = re.compile(rb"\(os error \d+\)$")
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def search_with_ripgrep(task: SearchTask, ripgrep: str) -> MatchCollector:
    """Search with ripgrep. Raises SearchEngineFailure if it does not work, ToolFailure for an invalid pattern."""
    # Ripgrep sorts with one thread only, but that one can stop early.
    return find_first_matches(partial(_run, task, ripgrep))


def _run(task: SearchTask, ripgrep: str, *, in_order: bool) -> MatchCollector:
    hits = MatchCollector(task.query)
    argv, pattern_file = _command(task, ripgrep, in_order=in_order)
    try:
        with run_helper(
            argv, directory_fd=task.directory_fd, stdin=pattern_file, read_access=ReadAccess.BENEATH
        ) as child:
            try:
                if task.exclude_pattern is not None:
                    _scan_files(task, child, hits)
                elif task.query.names_only:
                    _collect_names(task, child, hits)
                else:
                    _collect_lines(task, child, hits)
                if not hits.is_full:
                    _check_exit(task, child, hits)
            except SearchTimeout:
                hits.complete = False
    except OSError as error:
        raise SearchEngineFailure(f"ripgrep could not be run: {error}") from error
    return hits


def _command(task: SearchTask, ripgrep: str, *, in_order: bool) -> tuple[list[str | bytes], bytes | None]:
    query = task.query
    argv: list[str | bytes] = [ripgrep, "--no-config", "--no-ignore", "--hidden", "--no-follow", "--no-mmap"]
    argv += ["--color=never", "--null", "--with-filename"]
    if in_order:
        argv += ["--sort=path"]
    if task.pattern.needs_backtracking:
        argv += ["--pcre2", "--no-crlf"]
        expression = to_pcre(task.pattern)
    else:
        argv += ["--engine=default", "--crlf", "--no-messages"]
        expression = to_ripgrep(task.pattern)
    if query.names_only or task.exclude_pattern is not None:
        argv += ["--files-with-matches"]
    else:
        argv += ["--line-number", "--no-heading", "--no-context-separator", "--max-columns-preview"]
        argv += [f"--max-columns={MAX_LINE_BYTES}"]
        argv += [f"--before-context={query.before}", f"--after-context={query.after}"]
        argv += [f"--max-count={_max_matches_per_file(query)}"]
    argv += [b"--glob=!" + name + b"/" for name in sorted(query.exclude_directories) if _PLAIN_PATH.fullmatch(name)]
    argv += [b"--glob=!/" + path + b"/" for path in _ignored_directories(task)]
    ending = (query.include or "").rpartition("/")[2]
    if _PLAIN_ENDING.fullmatch(ending) and "{" not in (query.include or "").rpartition("/")[0]:
        argv += [f"--glob={ending}"]
    if len(expression) * 4 > _MAX_ARGUMENT_BYTES:
        return limit_memory(*argv, "--file=-", "--", _HERE), expression.encode()
    return limit_memory(*argv, f"--regexp={expression}", "--", _HERE), None


def _max_matches_per_file(query: SearchQuery) -> int:
    # One more than may be reported shows that there are more.
    return min(query.total_max_matches + 1, query.max_matches_per_file or query.total_max_matches + 1)


def _max_bytes_per_file(query: SearchQuery) -> int | None:
    # A character has at most four bytes, and of a longer line fewer characters are shown.
    return None if query.max_characters is None else 2 * _LONGEST_CHARACTER * query.max_characters


def _ignored_directories(task: SearchTask) -> list[bytes]:
    """Return the topmost ignored directories: not all, but those that hold the bulk of ordinary trees."""
    if task.rules is None:
        return []
    prefix = task.within + b"/" if task.within else b""
    ignored: list[bytes] = []
    pending = deque([b""])
    entries_left = _MAX_PRUNE_ENTRIES
    while pending and entries_left > 0:
        parent = pending.popleft()
        seen, names = _subdirectories(task.directory_fd, parent, entries_left)
        entries_left -= seen
        for name in names:
            if name in task.query.exclude_directories or not _PLAIN_PATH.fullmatch(name):
                continue
            if task.rules.check(prefix + parent + name, is_directory=True) is IgnoreStatus.NOT_IGNORED:
                pending.append(parent + name + b"/")
            else:
                ignored.append(parent + name)
    return ignored


def _subdirectories(directory_fd: int, parent: bytes, limit: int) -> tuple[int, list[bytes]]:
    """Return the number of entries read, and which of them are directories."""
    try:
        fd = os.open(parent or b".", _DIRECTORY_FLAGS, dir_fd=directory_fd)
    except OSError:
        return 1, []
    try:
        with os.scandir(fd) as entries:
            looked_at = list(islice(entries, limit))
        directories = [os.fsencode(entry.name) for entry in looked_at if entry.is_dir(follow_symlinks=False)]
        return len(looked_at) + 1, directories
    except OSError:
        return 1, []
    finally:
        os.close(fd)


def _scan_files(task: SearchTask, child: HelperProcess, hits: MatchCollector) -> None:
    with open_task_scanner(task, hits) as scanner:
        for path in read_names(child, task.stop):
            if task.includes(path) and not scanner.search(path):
                return


def _collect_names(task: SearchTask, child: HelperProcess, hits: MatchCollector) -> None:
    for path in read_names(child, task.stop):
        if task.includes(path) and _is_text(task, path):
            hits.add(path, (), 1)
            if hits.is_full:
                return


def _is_text(task: SearchTask, path: bytes) -> bool:
    """Return whether a file contains no NUL: ripgrep stops reading once it has found enough."""
    with open_regular_file(task.directory_fd, path) as fd:
        if fd is None:
            return False
        try:
            TextBlocks(fd, task.stop).drain()
        except (BinaryFile, OSError):
            return False
        except SearchTimeout:
            # No NUL in what was read, and the search gets no further.
            return True
    return True


def _collect_lines(task: SearchTask, child: HelperProcess, hits: MatchCollector) -> None:
    with open_task_scanner(task, hits) as scanner:
        for found in _parse_output(task, child):
            if found.is_binary or not task.includes(found.path):
                continue
            # Ripgrep shows the beginning of a long line, wherever the match is.
            is_shown = all(scanner.begins_with_match(text) for text in found.long_matches)
            scanned = None if is_shown else scanner.scan(found.path)
            if scanned is not None and scanned.complete:
                hits.add(found.path, scanned.lines, scanned.matches)
            else:
                _add_lines(task, found, hits)
            if hits.is_full:
                return


def _add_lines(task: SearchTask, found: "_FileOutput", hits: MatchCollector) -> None:
    matches = sum(record.is_match for record in found.records)
    max_bytes = _max_bytes_per_file(task.query)
    most = _max_matches_per_file(task.query)
    # With enough matches, ripgrep has not read the rest of the file.
    if matches < most or _is_text(task, found.path):
        hits.add(found.path, first_matches(_lines(task, found), most, task.query.after), min(matches, most))
        hits.is_full = hits.is_full or (max_bytes is not None and found.size > max_bytes)


class _Record(Frozen):
    number: int
    is_match: bool
    text: bytes


@dataclass(slots=True)
class _FileOutput:
    """Output of ripgrep for one file. `printed_path` starts with `./`."""

    printed_path: bytes
    records: list[_Record]
    is_binary: bool = False
    size: int = 0

    def add(self, record: _Record, max_bytes: int | None) -> None:
        """Add a record, unless the records so far are more than can be shown."""
        if max_bytes is None or self.size <= max_bytes:
            self.records.append(record)
        self.size += len(record.text)

    @property
    def path(self) -> bytes:
        return self.printed_path.removeprefix(_HERE)

    @property
    def long_matches(self) -> Iterator[bytes]:
        """The beginnings of matching lines that may be too long to be shown whole."""
        for record in self.records:
            if record.is_match and len(record.text) > MAX_SHOWN_CHARACTERS:
                yield record.text[:MAX_LINE_BYTES]


def _parse_output(task: SearchTask, child: HelperProcess) -> Iterator[_FileOutput]:
    """Yield the output per file. Each record is path, NUL, line number, `:` or `-`, line, line feed."""
    current: _FileOutput | None = None
    rest = b""
    max_bytes = _max_bytes_per_file(task.query)
    try:
        while block := child.read(task.stop):
            rest += block
            at = 0
            while (path_end := rest.find(b"\0", at)) >= 0 and (line_end := rest.find(b"\n", path_end)) >= 0:
                path_text = rest[at:path_end]
                if current is not None and path_text != current.printed_path:
                    path_text = _without_warning(task, path_text, current)
                    yield current
                    current = None
                if current is None:
                    current = _FileOutput(path_text, [])
                current.add(_parse_record(rest[path_end + 1 : line_end]), max_bytes)
                at = line_end + 1
            rest = rest[at:]
            if len(rest) > _MAX_RECORD_BYTES:
                raise SearchEngineFailure("ripgrep printed a line without end")
    except SearchTimeout:
        if current is not None:
            yield current
        raise
    if current is not None:
        if rest and _without_warning(task, rest, current):
            raise SearchEngineFailure("ripgrep's output ended within a line")
        yield current


def _without_warning(task: SearchTask, path_text: bytes, current: _FileOutput) -> bytes:
    """Strip a warning about the previous file from a path, and mark that file as binary."""
    if not path_text.startswith(current.printed_path):
        return path_text
    warning = _BINARY_WARNING.match(path_text, len(current.printed_path))
    if warning is None or _is_name_of_file(task, path_text):
        return path_text
    current.is_binary = True
    return path_text[warning.end() :]


def _is_name_of_file(task: SearchTask, path: bytes) -> bool:
    with open_regular_file(task.directory_fd, path) as fd:
        return fd is not None


def _parse_record(record: bytes) -> _Record:
    digits = _NUMBER.match(record)
    if digits is None:
        raise SearchEngineFailure("ripgrep's output was not understood")
    return _Record(int(digits[1]), digits[2] == b":", record[digits.end() :].removesuffix(b"\r"))


def _lines(task: SearchTask, found: _FileOutput) -> tuple[SearchLine, ...]:
    head = partial(_head, task, found.path)
    return tuple(SearchLine(record.number, format_line(record.text, head), record.is_match) for record in found.records)


def _head(task: SearchTask, path: bytes) -> bytes:
    with open_regular_file(task.directory_fd, path) as fd:
        return b"" if fd is None else read_head(fd)


def _check_exit(task: SearchTask, child: HelperProcess, hits: MatchCollector) -> None:
    code = child.exit_code(task.stop)
    if code in (0, _NO_MATCH):
        return
    if code != _TROUBLE:
        raise SearchEngineFailure(f"ripgrep ended with {code}")
    # Unreadable files are no failure; the default engine does not even report them.
    for complaint in child.stderr.splitlines():
        if _PCRE_ERROR in complaint:
            hits.complete = False
        elif not _UNREADABLE.search(complaint):
            raise SearchEngineFailure(f"ripgrep failed: {child.stderr[:1000].decode('utf-8', 'replace')}")
