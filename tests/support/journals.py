"""Journals of past sessions, written record by record."""

import json
from pathlib import Path
from typing import Any

from tejat.config.paths import project_key

START = 1_770_000_000.0


class JournalFile:
    """A journal below a state directory. Each record is `after` seconds later than the start."""

    def __init__(self, state: Path, session_id: str, *, root: str = "/project", started: float = START) -> None:
        self.session_id = session_id
        self.started = started
        self.path = state / "sessions" / project_key(root) / f"2026-01-01T00-00-00-{session_id[:8]}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.records: list[dict[str, Any]] = []
        self.add("session", 0, session=session_id, root=root, model="gemini:fast", title="the title")

    def add(self, kind: str, after: float, **fields: Any) -> None:
        self.records.append({"v": 1, "kind": kind, "at": round(self.started + after, 3), **fields})

    def prompt(self, text: str, after: float, **fields: Any) -> None:
        self.add("prompt", after, shown=text, message={"role": "user", "parts": [{"text": text}]}, **fields)

    def answer(self, after: float, text: str = "", *calls: tuple[str, dict[str, Any]], **fields: Any) -> None:
        """An answer with text and calls. `seconds` and `tokens` may be given."""
        self.add("answer", after, **answer_fields(text, *calls, **fields))

    def response(self, after: float, name: str, index: int = 0, **response: Any) -> None:
        part = {"functionResponse": {"id": "c", "name": name, "response": response}}
        self.add("response", after, index=index, parts=[part])

    def agent(self, agent: str, after: float, kind: str, **fields: Any) -> None:
        self.add("agent", after, agent=agent, record={"kind": kind, **fields})

    def write(self, *more: str) -> Path:
        """Write the file, with further lines at its end."""
        lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in self.records]
        self.path.write_text("\n".join([*lines, *more]) + "\n", encoding="utf-8")
        self.path.chmod(0o600)
        return self.path


def answer_fields(
    text: str,
    *calls: tuple[str, dict[str, Any]],
    seconds: float | None = None,
    tokens: tuple[int, ...] = (1000, 200, 50, 10, 0),
    model: str = "fast-001",
) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [{"functionCall": {"id": "c", "name": name, "args": args}} for name, args in calls]
    usage = dict(zip(("prompt", "cached", "output", "thoughts", "tool"), tokens, strict=True))
    times = {} if seconds is None else {"seconds": seconds}
    return {**times, "model": model, "usage": usage, "message": {"role": "model", "parts": parts}}
