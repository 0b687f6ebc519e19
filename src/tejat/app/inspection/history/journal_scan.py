"""The facts in a journal that figures are computed from, without the contents of messages."""

import re
from collections.abc import Iterator

from tejat.core.frozen import Frozen
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import usage_from_json
from tejat.core.messages.types import JsonObject
from tejat.core.model import Usage
from tejat.engine.sessions.agent_records import STARTED
from tejat.engine.sessions.figures.session_figures import side_requests
from tejat.engine.sessions.journal_format import FORMAT_VERSION, MAX_LINE_BYTES, RecordKind, decode_record
from tejat.workspace.files.regular_file import regular_file_opener

MAX_PROMPT_LENGTH = 2000


class ScannedRequest(Frozen):
    """A request to a model; `is_side` for those of tools and the engine, which are known only by their sum."""

    at: float
    run: int
    model: str
    usage: Usage
    seconds: float | None = None
    agent: str = ""
    count: int = 1
    is_side: bool = False


class ScannedWait(Frozen):
    """A question to the user. `subject` is the type of what it was about."""

    start: float
    seconds: float
    subject: str
    outcome: str
    run: int
    label: str = ""
    agent: str = ""


class ScannedCall:
    """A tool call. `seconds` is None, and `decision` too, if they were not recorded."""

    __slots__ = ("agent", "at", "decision", "file", "is_failed", "lines", "name", "run", "seconds", "state")

    def __init__(self, name: str, run: int, at: float, agent: str) -> None:
        self.name = name
        self.run = run
        self.at = at
        self.agent = agent
        self.is_failed = False
        self.seconds: float | None = None
        self.decision: str | None = None
        self.state = ""
        self.file = ""
        self.lines: tuple[int, int] | None = None


class ScannedRun:
    """The answer to a prompt; the end is None if it was not recorded."""

    def __init__(self, prompt: str, started: float) -> None:
        self.prompt = prompt
        self.started = started
        self.last = started
        self.ended: float | None = None
        self.seconds: float | None = None
        self.reason = ""
        self.retries = 0


class ScannedAgent:
    """A run of a sub-agent: the fields of its start and its end."""

    def __init__(self, run: int, started: float, fields: JsonFields) -> None:
        self.run = run
        self.started = started
        self.name, self.model = fields.string("name"), fields.string("model")
        self.prompt = fields.string("prompt")
        self.ended: float | None = None
        self.end: JsonFields | None = None


class JournalScan:
    """The facts of one journal. `runs` are in their order; the `run` of others is a position in it, -1 for none."""

    def __init__(self) -> None:
        self.session_id = self.title = self.root = self.model = ""
        self.started = self.last = 0.0
        self.damaged = 0
        self.runs: list[ScannedRun] = []
        self.requests: list[ScannedRequest] = []
        self.calls: list[ScannedCall] = []
        self.waits: list[ScannedWait] = []
        self.agents: dict[str, ScannedAgent] = {}
        self._is_open = False
        self._slots: dict[tuple[str, int], ScannedCall] = {}

    @property
    def _run(self) -> int:
        return len(self.runs) - 1

    def apply_line(self, line: bytes) -> None:
        """Apply a line; one that cannot be read is counted."""
        found = _HEAD.match(line)
        kind = "" if found is None else found[1].decode()
        try:
            if kind == RecordKind.RESPONSE:
                self._add_response(line)
            elif kind not in _SKIPPED:
                self._apply(decode_record(line))
        except ValueError:
            self.damaged += bool(line.strip())

    def _apply(self, record: JsonFields) -> None:
        """Raises ValueError."""
        if record.integer("v") != FORMAT_VERSION:
            return
        at = record.number_or_none("at") or self.last
        self.last = max(self.last, at)
        match record.string("kind"):
            case RecordKind.SESSION:
                self.session_id, self.model = record.string("session"), record.string("model")
                self.title, self.root = record.string_or_none("title") or "", record.string_or_none("root") or ""
                self.started = at
            case RecordKind.PROMPT:
                self._add_prompt(record, at)
            case RecordKind.ANSWER:
                self._add_answer(record, at, "")
            case RecordKind.ENDED:
                self._end_run(record.string("reason"), at)
            case RecordKind.RESUMED:
                self._is_open = False
            case RecordKind.RUN:
                self._add_run_figures(record, at)
            case RecordKind.CALL:
                self._add_call_figures(record, at)
            case RecordKind.AGENT:
                self._apply_agent(record.string("agent"), record.nested("record"), at)
            case _:
                pass

    def _add_prompt(self, record: JsonFields, at: float) -> None:
        """A part of the environment or a message during a run does not begin a run, nor does one of the engine."""
        shown = record.string_or_none("shown") or ""
        if record.has("stays") or (self._is_open and not shown):
            return
        prompt = shown or _message_text(record.object("message"))
        self.runs.append(ScannedRun(prompt[:MAX_PROMPT_LENGTH], at))
        self._is_open = True

    def _add_answer(self, record: JsonFields, at: float, agent: str) -> None:
        usage = usage_from_json(record.object("usage"))
        seconds = record.number_or_none("seconds")
        self.requests.append(ScannedRequest(at, self._run, record.string("model"), usage, seconds, agent))
        self._touch(at)
        for index, name in enumerate(_call_names(record.object("message"))):
            call = ScannedCall(name, self._run, at, agent)
            self._slots[agent, index] = call
            self.calls.append(call)

    def _add_response(self, line: bytes) -> None:
        """Find out whether a call failed. The content is not parsed: it can be very long."""
        found = _RESPONSE.match(line)
        if found is not None and (call := self._slots.get(("", int(found[2])))) is not None:
            call.is_failed = _ERROR in line[:_HEAD_LENGTH]
            call.at = float(found[1])
            self._touch(call.at)

    def _touch(self, at: float) -> None:
        if self.runs:
            self.runs[-1].last = max(self.runs[-1].last, at)
        self.last = max(self.last, at)

    def _end_run(self, reason: str, at: float) -> None:
        if self._is_open and self.runs:
            self.runs[-1].ended, self.runs[-1].reason = at, reason
        self._is_open = False

    def _add_run_figures(self, record: JsonFields, at: float) -> None:
        """The record follows the end of its run; that of a prompt that was refused has no run."""
        for model, count, usage in side_requests(record):
            self.requests.append(ScannedRequest(at, self._run, model, usage, count=count, is_side=True))
        self._add_waits(record, "", "", self._run)
        if self.runs and self.runs[-1].ended is not None and self.runs[-1].seconds is None:
            run = self.runs[-1]
            run.seconds, run.retries = record.number("seconds"), record.integer_or_none("retries") or 0

    def _add_call_figures(self, record: JsonFields, at: float) -> None:
        agent, name = record.string_or_none("agent") or "", record.string("name")
        call = self._slots.pop((agent, record.integer("index")), None)
        if call is None or call.name != name:
            call = ScannedCall(name, self._run, at, agent)
            self.calls.append(call)
        call.at, call.seconds = at, record.number("seconds")
        call.decision, call.state = record.string_or_none("decision") or "", record.string("state")
        call.is_failed = call.state != _SUCCESS
        call.file = record.string_or_none("file") or ""
        lines = record.integers("lines") if record.has("lines") else ()
        call.lines = (lines[0], lines[1]) if len(lines) == _PAIR else None
        self._add_waits(record, name, agent, call.run)
        self._touch(at)

    def _add_waits(self, record: JsonFields, label: str, agent: str, run: int) -> None:
        for item in record.items("waits") if record.has("waits") else ():
            match item:
                case [int() | float() as start, int() | float() as seconds, str() as subject, str() as outcome]:
                    self.waits.append(ScannedWait(start, seconds, subject, outcome, run, label, agent))
                case _:
                    raise ValueError("A wait has another form.")

    def _apply_agent(self, agent: str, record: JsonFields, at: float) -> None:
        self._touch(at)
        match record.string("kind"):
            case kind if kind == STARTED:
                self.agents[agent] = ScannedAgent(self._run, at, record)
            case RecordKind.ENDED if agent in self.agents:
                self.agents[agent].ended, self.agents[agent].end = at, record
            case RecordKind.ANSWER:
                self._add_answer(record, at, agent)
            case RecordKind.RESPONSE:
                call = self._slots.get((agent, record.integer("index")))
                if call is not None:
                    call.is_failed, call.at = _is_error(record), at
            case _:
                pass


def scan_journal(path: str) -> JournalScan:
    """Read the facts of a journal; damaged lines are counted. Raises OSError."""
    scan = JournalScan()
    for line in journal_lines(path):
        scan.apply_line(line)
    return scan


def journal_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a journal, overlong ones in parts. Raises OSError."""
    with open(path, "rb", opener=regular_file_opener) as file:
        yield from iter(lambda: file.readline(MAX_LINE_BYTES), b"")


def _call_names(message: JsonObject) -> Iterator[str]:
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else ():
        call = part.get("functionCall") if isinstance(part, dict) else None
        name = call.get("name") if isinstance(call, dict) else None
        if isinstance(name, str):
            yield name


def _message_text(message: JsonObject) -> str:
    parts = message.get("parts")
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return " ".join(text for text in texts if isinstance(text, str))


def _is_error(record: JsonFields) -> bool:
    first = next(iter(record.items("parts")), None)
    response = first.get("functionResponse") if isinstance(first, dict) else None
    content = response.get("response") if isinstance(response, dict) else None
    return isinstance(content, dict) and "error" in content


_HEAD = re.compile(rb'\{"v":\d+,"kind":"([a-z]+)",')
_RESPONSE = re.compile(rb'\{"v":1,"kind":"response","at":([0-9.]+),"index":(\d+),')
_ERROR = b'"response":{"error":'
_HEAD_LENGTH = 600
_SKIPPED = frozenset({RecordKind.OPENING, RecordKind.COMPRESSED, RecordKind.STATE})
_SUCCESS = "success"
_PAIR = 2
