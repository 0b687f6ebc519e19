"""References to environment variables in settings: `$NAME`, `${NAME}` and `${NAME:-otherwise}`."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tejat.config.places import SourceTier

Resolve: TypeAlias = Callable[[str], str]


def resolver(environment: Mapping[str, str], tier: SourceTier) -> Resolve:
    """What puts values in place of references. One without a value stays as it is written.

    What looks like a secret stays a reference too where a project asks for it: it could send it anywhere.
    """

    def value_of(found: re.Match[str]) -> str:
        name = found["braced"] or found["bare"]
        value = environment.get(name)
        if tier is SourceTier.WORKSPACE and is_secret(name, value or ""):
            return found.group()
        # As in a shell, `:-` also stands in for a variable that is set to nothing.
        if found["otherwise"] is not None:
            return value or found["otherwise"]
        return found.group() if value is None else value

    return lambda text: re.sub(_REFERENCE, value_of, text) if "$" in text else text


def is_secret(name: str, value: str) -> bool:
    """Whether a variable of this name, or with this value, is likely to be one that only its owner should see."""
    return re.search(_SECRET_NAME, name.upper()) is not None or re.search(_SECRET_VALUE, value) is not None


# Compiled when first needed: few settings hold a reference.
_REFERENCE = r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<otherwise>[^}]*))?\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))"
# Not what only tells where something is kept, and words that are part of others (author, keyboard) count alone.
_SECRET_NAME = (
    r"^(?!.*_(?:FILE|PATH|DIR|SOCK|SOCKET|URL|URI)$).*"
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|KEY(?:S|_ID)?$|(?:^|_)(?:KEY|PASS|AUTH|CREDS|PRIVATE|COOKIE)(?:_|$))"
)
# Credentials in an address, a key file, and how the keys of well-known services begin.
_SECRET_VALUE = r"://[^/@\s]*:[^/@\s]+@|-----BEGIN |\b(?:gh[a-z]_|github_pat_|AIzaSy|AKIA|sk-|xox[a-z]-|eyJ)[\w-]{8}"
