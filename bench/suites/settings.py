"""Start-up time of a run with settings of Gemini CLI."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.measurement import Measurement, difference
from bench.support.scripted_run import scripted_run

ORDINARY: Mapping[str, object] = {
    "model": {"maxSessionTurns": 50},
    "general": {"vimMode": True, "preferredEditor": "vim"},
    "tools": {"allowed": ["run_shell_command(git status)"], "exclude": ["web_fetch"]},
    "context": {"fileName": ["AGENTS.md", "GEMINI.md"]},
    "ui": {"theme": "GitHub"},
    "mcpServers": {},
}
WITHOUT_EFFECT: Mapping[str, object] = {
    **ORDINARY,
    "ui": {"theme": "GitHub", "hideBanner": True, "hideTips": True, "showCitations": True, "loadingPhrases": "off"},
    "ide": {"enabled": True, "hasSeenNudge": True},
    "experimental": {"voiceMode": False, "adk": {"agentSessionSubagentEnabled": False}},
    "contextManagement": {"historyWindow": {"maxTokens": 150000, "retainedTokens": 40000}},
    "nonsense": 1,
}


def measure(scratch: str) -> Iterator[Measurement]:
    yield difference(
        "a run with settings that need the table of known keys, over one with ordinary settings",
        5.0,
        _run_with(Path(scratch, "table"), WITHOUT_EFFECT),
        _run_with(Path(scratch, "ordinary"), ORDINARY),
        rounds=30,
    )


def _run_with(directory: Path, settings: Mapping[str, object]) -> Callable[[], object]:
    return scripted_run(directory, {"settings.json": json.dumps(settings)})
