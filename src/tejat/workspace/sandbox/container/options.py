"""Options of containers, and what their client program needs from the user's environment."""

import re
import shlex
from collections.abc import Mapping, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy

DOCKER, PODMAN, RUNSC = "docker", "podman", "runsc"
ENGINES = (DOCKER, PODMAN, RUNSC)
"""What a setting may name. `runsc` is docker with the runtime of gVisor."""

DEFAULT_IMAGES = ("tejat-sandbox", "gemini-cli-sandbox")
"""The local images that are used if none is named, best first."""

CLIENT_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "REGISTRY_AUTH_FILE"),
    *("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS", "DOCKER_TLS_VERIFY"),
    *("DOCKER_API_VERSION", "DOCKER_DEFAULT_PLATFORM", "CONTAINER_HOST", "CONTAINER_CONNECTION", "CONTAINER_SSHKEY"),
    *("CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"),
    *("STORAGE_DRIVER", "STORAGE_OPTS"),
)
"""Variables of the client program. A command in a container never sees them."""

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_IMAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,254}", re.ASCII)

# Limits and names. Most other options undo what a container is for.
_ALLOWED_FLAGS = frozenset(
    {
        *("--memory", "--cpus", "--shm-size", "--ulimit", "--platform", "--dns", "--add-host", "--gpus", "--hostname"),
        *("--tmpfs", "--security-opt"),
    }
)
_SECURITY_LABEL = "label="


class ContainerOptions(Frozen):
    """Which containers to use and how.

    `engine` is what the user names: one of ENGINES if it can be used, empty for whatever works. `source` is who names
    it. `image` is empty for the first of DEFAULT_IMAGES that is there. `flags` are for `run`. `environment` is for
    commands, `client_environment` for the client program. No root may be `home` or contain it, nor be or lie in one of
    the `private_directories`.
    """

    engine: str = ""
    source: str = ""
    home: str = ""
    private_directories: tuple[str, ...] = ()
    image: str = ""
    flags: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    client_environment: tuple[tuple[str, str], ...] = ()

    @property
    def program(self) -> str:
        """The name of the client program, empty if no engine is named."""
        return DOCKER if self.engine == RUNSC else self.engine


def client_environment(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that the client program needs."""
    return tuple((name, environment[name]) for name in CLIENT_VARIABLES if name in environment)


def with_proxies(client: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a client that fetches images."""
    return {**client, **{name: environment[name] for name in _PROXIES if name in environment}}


def is_image_name(text: str) -> bool:
    return _IMAGE.fullmatch(text) is not None


def parse_flags(text: str) -> tuple[str, ...]:
    """Parse the options of SANDBOX_FLAGS, without any substitution. Raises ValueError with a sentence."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise ValueError(lazy("SANDBOX_FLAGS has an unclosed quote.")) from None
    flags: list[str] = []
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.partition("=")
        if name not in _ALLOWED_FLAGS:
            raise ValueError(_flag_message(name))
        if not equals:
            value = next(remaining, "")
        if not value or (name == "--security-opt" and not value.startswith(_SECURITY_LABEL)):
            raise ValueError(_flag_message(f"{name} {value}".strip()))
        flags.append(f"{name}={value}")
    return tuple(flags)


def _flag_message(word: str) -> str:
    return lazy(
        "SANDBOX_FLAGS has {word!r}, which is not allowed because it could undo the sandbox. Allowed: {allowed}.",
        word=word,
        allowed=", ".join(_listed_flags()),
    )


def _listed_flags() -> Sequence[str]:
    return [f"{flag} {_SECURITY_LABEL}..." if flag == "--security-opt" else flag for flag in sorted(_ALLOWED_FLAGS)]
