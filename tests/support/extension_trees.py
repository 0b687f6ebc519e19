"""Extensions for tests, and the directories that commands change."""

import json
from pathlib import Path
from typing import Any

from support.packages import write_tree
from support.program import ProgramEnv

HOOKS = {
    "hooks": {
        "BeforeTool": [
            {
                "matcher": "write_file|replace",
                "hooks": [{"type": "command", "command": "sh ${extensionPath}/check.sh --strict"}],
            }
        ]
    }
}
RULES = """\
[[rule]]
toolName = "read_file"
decision = "allow"
priority = 1

[[rule]]
toolName = "run_shell_command"
commandPrefix = "rm -rf"
decision = "deny"
priority = 1
"""


def demo_manifest(version: str = "1.0.0", **more: Any) -> str:
    fields = {
        "name": "demo",
        "version": version,
        "mcpServers": {"tools": {"command": "node", "args": ["${extensionPath}/server.js", "--port", "7"]}},
        "settings": [{"name": "API Key", "description": "From the console", "envVar": "MY_API_KEY", "sensitive": True}],
        **more,
    }
    return json.dumps(fields)


def write_demo(directory: Path, version: str = "1.0.0", **more: Any) -> Path:
    """An extension with a server, a hook, rules, a secret setting and a context file."""
    return write_tree(
        directory,
        {
            "gemini-extension.json": demo_manifest(version, **more),
            "GEMINI.md": "CTX-7731 " * 40,
            "server.js": "console.log(1)\n",
            "check.sh*": "#!/bin/sh\nexit 0\n",
            "hooks/hooks.json": json.dumps(HOOKS),
            "policies/p.toml": RULES,
            "commands/deploy.toml": 'prompt = "Deploy"\n',
            "skills/audit/SKILL.md": "---\nname: audit\ndescription: Audits things.\n---\nBody\n",
            "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
        },
    )


def write_plain(directory: Path, name: str = "demo", version: str = "1.0.0", **files: str) -> Path:
    """An extension without settings and programs. Keywords are files; `_` in a name stands for a dot."""
    manifest = json.dumps({"name": name, "version": version})
    named = {key.replace("_", "."): text for key, text in files.items()}
    return write_tree(directory, {"gemini-extension.json": manifest, **named})


def installed_tree(machine: ProgramEnv) -> dict[str, bytes]:
    """All files below the directory of extensions by relative path."""
    top = machine.home / ".gemini" / "extensions"
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}
