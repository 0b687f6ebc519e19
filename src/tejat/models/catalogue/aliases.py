"""Aliases of Gemini models: `auto`, `pro`, `flash` and their like."""

from collections.abc import Mapping

from tejat.models.catalogue.catalogue_file import builtin_catalogue

_GEMINI_PREFIXES = ("gemini", "vertex")


def resolve_alias(name: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return an alias and the full name it stands for, with the same provider prefix; None for other names.

    A bare name is a model of the server at `OPENAI_BASE_URL`, if that is set.
    """
    prefix, colon, alias = name.strip().rpartition(":")
    is_gemini = prefix in _GEMINI_PREFIXES if colon else not environment.get("OPENAI_BASE_URL")
    target = builtin_catalogue().aliases.get(alias) if is_gemini else None
    return None if target is None else (alias, f"{prefix}{colon}{target}")
