"""Switches in environment variables."""


def is_truthy(value: str | None) -> bool:
    """Return whether an environment variable is set to true."""
    return value is not None and value.strip().lower() in {"1", "true", "yes", "on"}


def parse_switch(value: str | None) -> bool | None:
    """Return what an environment variable switches on or off, None if it is unset or says neither."""
    if is_truthy(value):
        return True
    return False if value is not None and value.strip().lower() in {"0", "false", "no", "off"} else None
