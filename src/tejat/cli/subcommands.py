"""Names of the subcommands: where each is implemented, and words that are close to one."""

import re
from collections.abc import Mapping, Sequence

from tejat.core.text.edit_distance import edit_distance

MODULES: Mapping[str, str] = {
    "acp": "tejat.cli.commands.acp",
    "agents": "tejat.cli.commands.agents",
    "attach": "tejat.cli.commands.sessions.attach",
    "batch": "tejat.cli.commands.batch.main",
    "completion": "tejat.cli.completion.main",
    "demo": "tejat.cli.commands.demo.main",
    "docs": "tejat.cli.commands.docs",
    "doctor": "tejat.cli.commands.doctor",
    "export": "tejat.cli.commands.sessions.export",
    "extensions": "tejat.cli.extensions.main",
    "gemma": "tejat.cli.commands.reserved:run_gemma",
    "hooks": "tejat.cli.commands.hooks",
    "jobs": "tejat.cli.commands.jobs",
    "mcp": "tejat.cli.mcp.main",
    "models": "tejat.cli.commands.models",
    "policy": "tejat.cli.commands.policy",
    "sandbox": "tejat.cli.commands.sandbox",
    "sessions": "tejat.cli.commands.sessions.main",
    "skills": "tejat.cli.skills.main",
    "tools": "tejat.cli.tools.main",
    "trust": "tejat.cli.commands.trust",
    "undo": "tejat.cli.commands.undo",
    "update": "tejat.cli.commands.reserved:run_update",
    "web": "tejat.cli.commands.web.main",
}
"""The module of each subcommand, and its function if that is not `run`."""
NAMES = (*MODULES, "help", "version")
RESERVED = frozenset({"gemma", "update"})
"""Commands of Gemini CLI that do not exist here."""
ALIASES = {"agent": "agents", "extension": "extensions", "hook": "hooks", "skill": "skills"}
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "agents": ("list", "validate"),
    "batch": ("run", "report", "diff", "apply", "predictions"),
    "completion": ("bash", "zsh", "fish"),
    "extensions": (
        *("install", "link", "update", "uninstall", "enable", "disable", "list", "new", "validate", "config"),
        *("review", "preview", "back"),
    ),
    "help": NAMES,
    "hooks": ("list",),
    "jobs": ("list", "read", "stop"),
    "mcp": ("add", "remove", "list", "test", "enable", "disable", "auth", "serve"),
    "models": ("list", "update", "refresh"),
    "policy": ("explain", "list", "revoke", "test"),
    "sandbox": ("build", "test"),
    "sessions": ("list", "show", "resume", "delete", "import", "stop", "send", "answer", "search", "stats"),
    "skills": ("list", "show", "enable", "disable", "install", "link", "uninstall", "update", "back", "validate"),
    "tools": ("list", "call"),
    "undo": ("list", "show", "restore"),
}
"""The words that may follow a subcommand."""
_WORDS_OF_PROMPTS = frozenset({"completion", "help", "update", "version"})
"""Names that also begin a sentence: with other words after them they are a prompt."""
_COMMANDS_OF_TWO_WORDS = frozenset({"completion", "help", "version"})
"""Those of them that reject a single wrong word, such as the name of another shell, instead of sending it."""
_SHORT_NAME = 5


def find_command(words: Sequence[str]) -> str | None:
    """The subcommand that the first word names, None if the words are flags or a prompt."""
    name = ALIASES.get(words[0], words[0]) if words else ""
    if name not in NAMES:
        return None
    follows = words[1] if len(words) > 1 else ""
    if not follows or follows.startswith("-") or name not in _WORDS_OF_PROMPTS:
        return name
    is_mistaken = len(words) == 2 and name in _COMMANDS_OF_TWO_WORDS and not re.search(r"\s", follows)
    return name if follows in ACTIONS.get(name, ()) or is_mistaken else None


def near_misses(words: Sequence[str], *, is_first: bool) -> tuple[str, ...]:
    """Subcommands that a prompt of one or two words probably means, closest first.

    `is_first` says whether these words begin the command line; a name anywhere else is a near miss too.
    """
    if not 1 <= len(words) <= 2 or any(character.isspace() for word in words for character in word):
        return ()
    first = words[0]
    if not re.fullmatch("[a-z][a-z-]{3,}", first):
        return ()
    if first in NAMES or first in ALIASES:
        command = None if is_first else find_command(words)
        return () if command is None else (first,)
    distances = [(edit_distance(first[:64], name), name) for name in (*NAMES, *ALIASES)]
    return tuple(name for distance, name in sorted(distances) if distance <= (1 if len(name) <= _SHORT_NAME else 2))


def is_action(command: str, word: str) -> bool:
    """Whether the word may follow this subcommand."""
    return word in ACTIONS.get(ALIASES.get(command, command), ())


def prompt_command(words: Sequence[str]) -> str:
    """The command line that sends these words to the model."""
    prompt = " ".join(words)
    is_plain = re.fullmatch(r"[\w .,:;/?=+@%-]*", prompt)
    quoted = f'"{prompt}"' if is_plain else "'" + prompt.replace("'", "'\\''") + "'"
    return f"tejat -p {quoted}"
