"""Hooks of an extension."""

import json

import pytest

from tejat.app.extensions.session.extension_hooks import parse_extension_hooks
from tejat.config.extensions.variables import ExtensionVariables
from tejat.config.hooks import HookConfig, parse_hooks
from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting
from tejat.core.errors import ConfigurationError
from tejat.core.messages.types import JsonValue

VARIABLES = ExtensionVariables("/e/demo", "/project", {"PLAIN": "p"}, {"MY_KEY": "sk-1"})
ODD = ExtensionVariables("/e/it's $(x)", "/project")


def parse(
    *hooks: object, variables: ExtensionVariables = VARIABLES, missing: dict[str, str] | None = None
) -> tuple[HookConfig, ...]:
    text = json.dumps({"hooks": {"BeforeTool": [{"matcher": "x", "hooks": list(hooks)}]}})
    return parse_extension_hooks("demo", "/e/demo/hooks/hooks.json", text, variables, missing or {})


def command(line: str, variables: ExtensionVariables = VARIABLES) -> str:
    return parse({"type": "command", "command": line}, variables=variables)[0].command


def test_a_hook_with_everything() -> None:
    hook = parse({"type": "command", "command": "c", "name": "n", "timeout": 500, "env": {"A": "$MY_KEY $PLAIN"}})[0]
    assert (hook.extension, hook.qualified_name, hook.tier) == ("demo", "demo:n", SourceTier.EXTENSION)
    assert (hook.matcher, hook.timeout, hook.refusal) == ("x", 0.5, "")
    assert hook.environment == {"PYTHONDONTWRITEBYTECODE": "1", "MY_KEY": "sk-1", "A": "sk-1 p"}


def test_variables_are_one_word_each() -> None:
    assert command('bash "${extensionPath}${/}a.sh" ${workspacePath}') == 'bash "/e/demo/a.sh" /project'
    assert command("${extensionPath}/a.sh $MY_KEY", ODD) == "'/e/it'\"'\"'s $(x)'/a.sh $MY_KEY"
    assert command('x "${extensionPath}/a"', ODD) == 'x ""\'/e/it\'"\'"\'s $(x)\'"/a"'


@pytest.mark.parametrize("line", ["eval ${extensionPath}", "x `${extensionPath}`", "bash -c '${extensionPath}'"])
def test_where_quoting_cannot_protect_them_it_is_broken(line: str) -> None:
    with pytest.raises(ConfigurationError, match="extensionPath"):
        command(line, ODD)


def test_a_value_with_a_variable_in_it_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="another variable"):
        command("${extensionPath}", ExtensionVariables("/e/${workspacePath}", "/p"))


def test_missing_settings_and_paths_that_lead_out_keep_a_hook_from_running() -> None:
    missing = {"A_KEY": "A key", "B_KEY": "B key"}
    hook = parse({"command": "x $B_KEY", "env": {"K": "${A_KEY}"}}, missing=missing)[0]
    assert hook.refusal == "missing settings: A key, B key"
    assert parse({"command": "x"}, missing=missing)[0].refusal == ""
    assert "leads out" in parse({"command": "${extensionPath}/../x"})[0].refusal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1"),
        ("[]", "object with hooks"),
        ('{"hooks": []}', "object with hooks"),
        ('{"hooks": {\n"BeforeTool": {}}}', "line 2"),
        ('{"hooks": {"Unknown": [{"hooks": []}]}}', "not a known event"),
        ('{"hooks": {"BeforeTool": [{"hooks": [{"type": "plugin", "command": "x"}]}]}}', "plugin"),
        ('{"hooks": {"BeforeTool": [{"hooks": [{"type": "runtime", "command": "x"}]}]}}', "runtime"),
        ('{"hooks": {"BeforeTool": [{"matcher": 3, "hooks": []}]}}', "matcher"),
        ('{"hooks": {"BeforeTool": [{"hooks": [{"command": "x", "env": {"A": 3}}]}]}}', "A must be a string"),
    ],
)
def test_anything_invalid_is_an_error(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_extension_hooks("demo", "/e/demo/hooks/hooks.json", text, VARIABLES, {})


def test_comments_are_fine() -> None:
    text = '{"hooks": {\n// mine\n"BeforeTool": [{"hooks": [{"command": "x"}]}],}}'
    assert parse_extension_hooks("demo", "/h.json", text, VARIABLES, {})[0].source == "/h.json:3"


def test_order_and_switches() -> None:
    def entry(tier: SourceTier, line: str) -> Setting[JsonValue]:
        return Setting({"hooks": [{"command": line}]}, f"{tier}:1", tier)

    tiers = (SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE)
    settings = {"BeforeTool": [entry(tier, tier.value) for tier in tiers]}
    added = [hook for name in ("b", "a") for hook in _named(name)]
    found = parse_hooks(settings, {}, added).hooks
    assert [hook.extension or hook.command for hook in found] == ["workspace", "a", "b", "user", "admin"]

    def left(tier: SourceTier, name: str) -> list[str]:
        off = {"disabled": [Setting[JsonValue](name, "x:1", tier)]}
        return [hook.extension for hook in parse_hooks({}, off, added).hooks]

    assert left(SourceTier.USER, "a:check") == ["b"]
    assert left(SourceTier.USER, "check") == []
    assert left(SourceTier.WORKSPACE, "check") == ["a", "b"]


def _named(name: str) -> tuple[HookConfig, ...]:
    text = json.dumps({"hooks": {"BeforeTool": [{"hooks": [{"command": "same", "name": "check"}]}]}})
    return parse_extension_hooks(name, "/h.json", text, VARIABLES, {})
