"""A valid value for every setting of Gemini CLI."""

from typing import Any

from tejat.config.settings.known_keys import load_known_keys


def put(content: dict[str, Any], name: str, value: object) -> None:
    *groups, last = name.split(".")
    for group in groups:
        content = content.setdefault(group, {})
    content[last] = value


def default_settings() -> dict[str, Any]:
    """Every key of Gemini CLI with its default, or a valid value if it has none."""
    content: dict[str, Any] = {}
    for key in load_known_keys().gemini_keys:
        put(content, key.name, EXAMPLES[key.name] if key.default is None else key.default)
    return content


EXAMPLES: dict[str, object] = {
    "general.preferredEditor": "vim",
    "general.plan.directory": "plans",
    "general.sessionRetention.maxCount": 50,
    "ui.theme": "GitHub",
    "ui.footer.items": ["workspace", "model-name"],
    "telemetry": {"enabled": False},
    "billing.vertexAi.requestType": "shared",
    "billing.vertexAi.sharedRequestType": "flex",
    "model.name": "gemini-2.5-flash",
    "model.summarizeToolOutput": {"run_shell_command": {"tokenBudget": 2000}},
    "agents.browser.profilePath": "profile",
    "agents.browser.visualModel": "gemini-2.5-flash",
    "context.fileName": "GEMINI.md",
    "context.importFormat": "tree",
    "tools.sandbox": False,
    "tools.core": ["read_file", "run_shell_command"],
    "tools.allowed": ["read_file"],
    "tools.confirmationRequired": ["write_file"],
    "tools.exclude": ["web_fetch"],
    "tools.discoveryCommand": "true",
    "tools.callCommand": "true",
    "mcp.serverCommand": "true",
    "mcp.allowed": ["one"],
    "mcp.excluded": ["two"],
    "security.auth.selectedType": "gemini-api-key",
    "security.auth.enforcedType": "gemini-api-key",
    "security.auth.useExternal": False,
    "advanced.dnsResolutionOrder": "ipv4first",
    "advanced.bugCommand": {"urlTemplate": "https://example.com/?title={title}&info={info}"},
}

OWN_EXAMPLES: dict[str, object] = {
    "strictSettings": True,
    "model.fallback": "gemini-2.5-flash",
    "model.baseUrl": "https://example.com",
    "model.prices": {"m": {"input": 1, "output": 2}},
    "model.router": True,
    "model.api": "chat",
    "models.catalogueUrl": "https://example.com/models.json",
    "general.sessionRetention": 7,
    "ui.animations": False,
    "ui.screenReader": True,
    "tools.callCommandStrictStderr": True,
    "tools.indexAboveTokens": 1000,
    "tools.shell.environment": ["CI"],
    "tools.shell.autoAllowSandboxed": True,
    "skills.confirm": True,
    "skills.catalogTokens": 1000,
    "agents.maxParallel": 2,
    "agents.maxRuns": 10,
    "agents.catalogTokens": 1000,
    "agents.claude": True,
    "sandbox.image": "image",
    "web.searchUrl": "https://example.com/search",
    "acp.terminals": False,
    "sessions.server": False,
}
"""A valid value for every setting that only Tejat has."""
