"""Checks of the rules and excluded tools of an extension, before any part of it is used."""

from tejat.config.settings.types import Setting
from tejat.policy.rules.rule_file import parse_rules_once
from tejat.policy.rules.tool_lists import ToolLists, rules_from_settings
from tejat.policy.types import Tier


def check_rules(text: str, path: str) -> None:
    """Raises PolicyError for an invalid rule."""
    parse_rules_once(text, path, Tier.EXTENSION)


def check_excluded_tool(entry: Setting[str]) -> None:
    """Raises PolicyError for an invalid entry."""
    rules_from_settings(ToolLists(exclude=(entry.value,)), tier=Tier.EXTENSION, source=entry.source)
