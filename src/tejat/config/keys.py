"""The keys of services that a person gave us to keep: one file, for them alone."""

import os

from tejat.config.env_file import parse
from tejat.config.own_file import Writers, is_there, read_own_file
from tejat.config.places import Places

KEY_NAMES = frozenset({"GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"})


def keys_path(places: Places) -> str:
    """Where they are kept, in plain text: whoever can read the file as this person has them."""
    return os.path.join(places.config, "keys.env")


def read_keys(places: Places) -> dict[str, str]:
    """The keys by the names of their variables. Raises ConfigurationError, also for a file that others could write."""
    path = keys_path(places)
    if not is_there(path):
        return {}
    text = read_own_file(path, writers=Writers.TRUSTED) or ""
    return {name: key for name, key in parse(text).items() if name in KEY_NAMES and key}
