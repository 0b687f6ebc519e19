"""Skeletons of extensions for `tejat extensions new`."""

import json
import os
from collections.abc import Mapping

from tejat.app.extensions.errors import ExtensionFailure
from tejat.config.extensions.manifest import MANIFEST, parse_manifest
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import _
from tejat.workspace.downloads.tree import make_directory

_OLD_NAMES = {"custom-commands": "commands", "exclude-tools": "policies"}

_COMMAND = '''\
description = "Explain a file in three sentences"
prompt = """
Explain what the following file does in three sentences, for somebody who has never seen it: {{args}}
"""
'''
_CONTEXT = """\
# Conventions

Write what the model should know in every session in which this extension is enabled. Keep it short: every line
costs tokens in every request.
"""
_HOOKS = {
    "hooks": {
        "BeforeTool": [
            {
                "matcher": "write_file|replace",
                "hooks": [
                    {
                        "name": "check",
                        "type": "command",
                        "command": "python3 ${extensionPath}${/}hooks${/}check.py",
                        "timeout": 10000,
                    }
                ],
            }
        ]
    }
}
_HOOK_SCRIPT = '''\
#!/usr/bin/env python3
"""Refuses edits of files whose name contains "generated". Reads the call as JSON, answers with JSON."""

import json
import sys

call = json.load(sys.stdin)
path = str(call.get("tool_input", {}).get("file_path", ""))
if "generated" in path:
    print(json.dumps({"decision": "deny", "reason": f"{path} is generated. Change its source instead."}))
'''
_SERVER = '''\
#!/usr/bin/env python3
"""An MCP server with one tool, over standard input and output, without dependencies."""

import json
import sys

TOOL = {
    "name": "count_words",
    "description": "Count the words of a text.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method, params):
    if method == "initialize":
        info = {"name": "example", "version": "1.0.0"}
        version = params.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        words = len(str(params["arguments"]["text"]).split())
        return {"content": [{"type": "text", "text": str(words)}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request.get("method"), request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
'''
_RULES = """\
# An extension can make rules stricter: ask or deny. It can never allow anything.

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "ask_user"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "rm -rf"
decision = "deny"
deny_message = "Remove files one by one."
priority = 100
"""
_SKILL = """\
---
name: release-notes
description: Write release notes from the git history. Use when the user asks for a changelog or release notes.
---

# Release notes

1. Find the last tag: `git describe --tags --abbrev=0`.
2. List the commits since then: `git log --oneline TAG..HEAD`.
3. Group them under Added, Changed and Fixed. Leave out what users do not notice.
"""
_AGENT = """\
---
name: reviewer
description: Reviews the changes of the working tree and reports problems with file and line.
tools:
  - read_file
  - search_file_content
  - glob
max_turns: 15
---

You review changes. Read the files that changed and what they depend on. Report only problems that you are sure of,
each with file, line and one sentence. If there are none, say so.
"""

_FILES: Mapping[str, Mapping[str, str]] = {
    "commands": {"commands/explain.toml": _COMMAND},
    "context": {"GEMINI.md": _CONTEXT},
    "hooks": {"hooks/hooks.json": json.dumps(_HOOKS, indent=2) + "\n", "hooks/check.py*": _HOOK_SCRIPT},
    "mcp-server": {"server.py*": _SERVER},
    "policies": {"policies/rules.toml": _RULES},
    "skills": {"skills/release-notes/SKILL.md": _SKILL},
    "agents": {"agents/reviewer.md": _AGENT},
}
"""The files of each template; names that end in `*` are executable."""
_FIELDS: Mapping[str, Mapping[str, object]] = {
    "mcp-server": {"mcpServers": {"example": {"command": "python3", "args": ["${extensionPath}${/}server.py"]}}},
}


def template_names() -> tuple[str, ...]:
    return tuple(_FILES)


def create_extension(path: str, template: str = "") -> str:
    """Create an extension at a path that does not exist, and return the message about it.

    Raises ExtensionFailure and OSError.
    """
    known = _OLD_NAMES.get(template, template)
    if known and known not in _FILES:
        names = ", ".join(_FILES)
        raise ExtensionFailure(_("Unknown template {name!r}. Use one of: {names}.", name=template, names=names))
    path = os.path.abspath(path)
    if os.path.lexists(path):
        raise ExtensionFailure(_("{path} exists already.", path=path))
    name = os.path.basename(path)
    fields = {"name": name, "version": "1.0.0", **_FIELDS.get(known, {})}
    manifest = json.dumps(fields, indent=2) + "\n"
    try:
        parse_manifest(os.path.join(path, MANIFEST), manifest)
    except ConfigurationError:
        message = _("{name!r} cannot be the name of an extension: use letters, digits and dashes.", name=name)
        raise ExtensionFailure(message) from None
    os.makedirs(os.path.dirname(path), exist_ok=True)
    make_directory(path)
    for relative, content in {MANIFEST: manifest, **_FILES.get(known, {})}.items():
        _write(os.path.join(path, relative.removesuffix("*")), content, is_executable=relative.endswith("*"))
    created = _("Created {path}.", path=path)
    return created + "\n" + _("Use it with: tejat extensions link {path}", path=path)


def _write(path: str, content: str, *, is_executable: bool) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(content)
    if is_executable:
        os.chmod(path, 0o755)
