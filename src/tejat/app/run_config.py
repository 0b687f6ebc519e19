"""The ground a run stands on: where its files are, what is set, whether the folder is trusted, the environment."""

import os
from collections.abc import Mapping, Sequence

from tejat.config.credentials import read_api_keys
from tejat.config.env_expansion import is_secret
from tejat.config.env_file import load_env_file
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Setting, Settings, SourceTier
from tejat.config.trust.decision import TrustDecision, TrustLevel, decide_trust
from tejat.core.errors import UsageError
from tejat.core.frozen import field, frozen, replace
from tejat.core.i18n import _

_MIN_SECRET_LENGTH = 8
_MAX_NAMES = 3


@frozen
class RunConfig:
    """`environment` holds what the `.env` file sets too, which is `environment_file`, and the keys that are kept.

    `stored_keys` are the names of those that come from nowhere else. `brought` is what the folder brings along, whether
    it counts or not. `notes` are for the person.
    """

    roots: tuple[str, ...]
    paths: AppPaths
    settings: Settings
    trust: TrustDecision
    environment: Mapping[str, str] = field(repr=False)
    environment_file: str | None = None
    stored_keys: tuple[str, ...] = ()
    trust_relevant_files: tuple[str, ...] = ()
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
            if len(value) >= _MIN_SECRET_LENGTH and is_secret(name, value)
        }


def load_run_config(
    directories: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    trusts_folder: bool = False,
    excluded_tools: Sequence[str] = (),
    servers: Sequence[str] | None = None,
) -> RunConfig:
    """Look at everything that has a say in a run, in the order that keeps a folder from speaking for itself.

    `servers` takes the place of the lists of servers in the settings. Raises UsageError.
    """
    own = dict(os.environ if environment is None else environment)
    paths = app_paths(own)
    roots = _absolute_paths(directories)
    settings = load_settings(paths, roots, trusted=False, environment=own)
    trust = decide_trust(
        paths, roots[0], trust_for_run=trusts_folder, environment=own, folder_trust=settings.folder_trust
    )
    file = load_env_file(
        paths,
        roots[0],
        is_trusted=trust.is_trusted,
        excluded=[entry.value for entry in settings.excluded_environment],
        environment=own,
    )
    process_environment = own if file is None else {**own, **file.values}
    kept = {name: key for name, key in read_api_keys(paths).items() if name not in process_environment}
    run_environment = {**process_environment, **kept}
    if trust.is_trusted or file is not None:
        settings = load_settings(paths, roots, trusted=trust.is_trusted, environment=run_environment)
    if excluded_tools:
        added = (Setting(entry, "--exclude-tools", SourceTier.USER) for entry in excluded_tools)
        settings = replace(settings, exclude=(*settings.exclude, *added))
    if servers is not None:
        settings = _select_servers(settings, servers)
    included = [entry.value for entry in settings.include_directories]
    brought = tuple(_trust_relevant_files(trust, roots[0], settings))
    roots = tuple(dict.fromkeys((*roots, *(path for path in included if os.path.isdir(path)))))
    return RunConfig(
        roots,
        paths,
        settings,
        trust,
        run_environment,
        environment_file=None if file is None else file.path,
        stored_keys=tuple(kept),
        trust_relevant_files=brought,
        notes=tuple(_startup_notes(trust, brought, included)),
    )


def _select_servers(settings: Settings, servers: Sequence[str]) -> Settings:
    """Only these servers, but none that whoever runs the machine does not want."""
    by_admin = settings.mcp_allowed if settings.mcp_allowed and settings.mcp_allowed.tier is SourceTier.ADMIN else None
    names = tuple(name for name in servers if by_admin is None or name in by_admin.value)
    return replace(
        settings,
        mcp_allowed=Setting(names, "--allowed-mcp-server-names", SourceTier.USER),
        mcp_excluded=tuple(entry for entry in settings.mcp_excluded if entry.tier is SourceTier.ADMIN),
    )


def _absolute_paths(directories: Sequence[str]) -> tuple[str, ...]:
    """Raises UsageError."""
    try:
        return tuple(map(os.path.abspath, directories))
    except FileNotFoundError:
        raise UsageError(_("The directory that this was started in does not exist any more.")) from None


def _trust_relevant_files(trust: TrustDecision, root: str, settings: Settings) -> list[str]:
    """What the folder brings along: what trust is about, and what it tells the model."""
    names = (name for name in settings.context_file_names.value if os.path.isfile(os.path.join(root, name)))
    return list(dict.fromkeys((*(item.path for item in trust.items), *names)))


def _startup_notes(trust: TrustDecision, brought: Sequence[str], included: Sequence[str]) -> list[str]:
    """`included` are the directories that the settings name."""
    notes = [] if trust.problem is None else [trust.problem]
    if not trust.is_trusted and brought:
        names = ", ".join(brought[:_MAX_NAMES])
        if len(brought) > _MAX_NAMES:
            names = _("{names} and {count} more", names=names, count=len(brought) - _MAX_NAMES)
        notes.append(_untrusted_note(names, has_changed=trust.level is TrustLevel.CHANGED))
    missing = (path for path in included if not os.path.isdir(path))
    return notes + [_("The directory {path} of the settings does not exist.", path=path) for path in missing]


def _untrusted_note(names: str, *, has_changed: bool) -> str:
    if has_changed:
        return _(
            "This folder has changed since it was trusted, so its own configuration is not used ({names}). "
            "See `tejat trust`.",
            names=names,
        )
    return _(
        "This folder is not trusted, so its own configuration is not used ({names}). See `tejat trust`.", names=names
    )
