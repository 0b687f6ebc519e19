"""The ground a run stands on: where its files are, what is set, whether the folder is trusted, the environment."""

import os
from collections.abc import Mapping, Sequence

from tejat.config.env_file import read_environment_file
from tejat.config.keys import read_keys
from tejat.config.load import load_settings
from tejat.config.places import Places, places_of
from tejat.config.references import is_secret
from tejat.config.settings import Setting, Settings, SourceTier
from tejat.config.trust import Trust, TrustLevel, decide_trust
from tejat.core.errors import UsageError
from tejat.core.value import field, replace, value
from tejat.core.words import say

_SHORTEST_SECRET = 8
_MOST_NAMES = 3


@value
class Ground:
    """`environment` holds what the `.env` file sets too, which is `environment_file`, and the keys that are kept.

    `kept_keys` are the names of those that come from nowhere else. `brought` is what the folder brings along, whether
    it counts or not. `notes` are for the person.
    """

    roots: tuple[str, ...]
    places: Places
    settings: Settings
    trust: Trust
    environment: Mapping[str, str] = field(repr=False)
    environment_file: str | None = None
    kept_keys: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be written down or sent anywhere."""
        return tuple(self.named_secrets.values())

    @property
    def named_secrets(self) -> dict[str, str]:
        """The same by the names of their variables."""
        return {
            name: value
            for name, value in self.environment.items()
            if len(value) >= _SHORTEST_SECRET and is_secret(name, value)
        }


def survey(
    directories: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    trusts_folder: bool = False,
    excluded_tools: Sequence[str] = (),
    servers: Sequence[str] | None = None,
) -> Ground:
    """Look at everything that has a say in a run, in the order that keeps a folder from speaking for itself.

    `servers` takes the place of the lists of servers in the settings. Raises UsageError.
    """
    own = dict(os.environ if environment is None else environment)
    places = places_of(own)
    roots = _absolute(directories)
    settings = load_settings(places, roots, trusted=False, environment=own)
    trust = decide_trust(places, roots[0], trust_now=trusts_folder, environment=own, folder_trust=settings.folder_trust)
    file = read_environment_file(
        places,
        roots[0],
        is_trusted=trust.is_trusted,
        excluded=[entry.value for entry in settings.excluded_environment],
        environment=own,
    )
    set_already = own if file is None else {**own, **file.values}
    kept = {name: key for name, key in read_keys(places).items() if name not in set_already}
    around = {**set_already, **kept}
    if trust.is_trusted or file is not None:
        settings = load_settings(places, roots, trusted=trust.is_trusted, environment=around)
    if excluded_tools:
        added = (Setting(entry, "--exclude-tools", SourceTier.USER) for entry in excluded_tools)
        settings = replace(settings, exclude=(*settings.exclude, *added))
    if servers is not None:
        settings = _with_servers(settings, servers)
    included = [entry.value for entry in settings.include_directories]
    brought = tuple(_brought(trust, roots[0], settings))
    roots = tuple(dict.fromkeys((*roots, *(path for path in included if os.path.isdir(path)))))
    return Ground(
        roots,
        places,
        settings,
        trust,
        around,
        environment_file=None if file is None else file.path,
        kept_keys=tuple(kept),
        brought=brought,
        notes=tuple(_notes(trust, brought, included)),
    )


def _with_servers(settings: Settings, servers: Sequence[str]) -> Settings:
    """Only these servers, but none that whoever runs the machine does not want."""
    by_admin = settings.mcp_allowed if settings.mcp_allowed and settings.mcp_allowed.tier is SourceTier.ADMIN else None
    names = tuple(name for name in servers if by_admin is None or name in by_admin.value)
    return replace(
        settings,
        mcp_allowed=Setting(names, "--allowed-mcp-server-names", SourceTier.USER),
        mcp_excluded=tuple(entry for entry in settings.mcp_excluded if entry.tier is SourceTier.ADMIN),
    )


def _absolute(directories: Sequence[str]) -> tuple[str, ...]:
    """Raises UsageError."""
    try:
        return tuple(map(os.path.abspath, directories))
    except FileNotFoundError:
        raise UsageError(say("The directory that this was started in does not exist any more.")) from None


def _brought(trust: Trust, root: str, settings: Settings) -> list[str]:
    """What the folder brings along: what trust is about, and what it tells the model."""
    told = (name for name in settings.context_file_names.value if os.path.isfile(os.path.join(root, name)))
    return list(dict.fromkeys((*(item.path for item in trust.items), *told)))


def _notes(trust: Trust, brought: Sequence[str], included: Sequence[str]) -> list[str]:
    """`included` are the directories that the settings name."""
    notes = [] if trust.problem is None else [trust.problem]
    if not trust.is_trusted and brought:
        names = ", ".join(brought[:_MOST_NAMES])
        if len(brought) > _MOST_NAMES:
            names = say("{names} and {count} more", names=names, count=len(brought) - _MOST_NAMES)
        notes.append(_not_used(names, has_changed=trust.level is TrustLevel.CHANGED))
    missing = (path for path in included if not os.path.isdir(path))
    return notes + [say("The directory {path} of the settings does not exist.", path=path) for path in missing]


def _not_used(names: str, *, has_changed: bool) -> str:
    if has_changed:
        return say(
            "This folder has changed since it was trusted, so its own configuration is not used ({names}). "
            "See `tejat trust`.",
            names=names,
        )
    return say(
        "This folder is not trusted, so its own configuration is not used ({names}). See `tejat trust`.", names=names
    )
