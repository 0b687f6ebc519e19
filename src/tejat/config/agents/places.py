"""The directories that agent files are read from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tejat.config.paths import AGENT_DIRECTORIES, AppPaths, same_directory
from tejat.config.trust.decision import TrustDecision
from tejat.core.frozen import Frozen, field
from tejat.core.provenance import Party

if TYPE_CHECKING:
    from tejat.config.extensions.active import ActiveExtension


class AgentDirectory(Frozen):
    """A directory of agents and whose it is. No links out of `confined_to` are followed.

    Only files with the digests in `pins` are accepted, by path from `confined_to`. None means no restriction. `places`
    are the variables of an extension, which are filled in.
    """

    path: str
    party: Party
    extension: str = ""
    confined_to: str = ""
    pins: Mapping[str, str] | None = None
    places: Mapping[str, str] = field(default_factory=dict[str, str])


def find_agent_directories(
    paths: AppPaths,
    root: str,
    trust: TrustDecision,
    extensions: Sequence[ActiveExtension],
    *,
    reads_claude: bool,
) -> list[AgentDirectory]:
    """The existing directories, highest precedence first: of the project if it is trusted, the user and extensions."""
    return [each for each in _directories(paths, root, trust, extensions, reads_claude) if os.path.isdir(each.path)]


def _directories(
    paths: AppPaths, root: str, trust: TrustDecision, extensions: Sequence[ActiveExtension], reads_claude: bool
) -> Iterator[AgentDirectory]:
    own = [paths.user_agents, *([paths.claude_agents] if reads_claude else [])]
    if trust.is_trusted:
        # Without items the folder is the user's own, or trusted whatever it holds.
        pins = {item.path: item.digest for item in trust.items} or None
        for name in AGENT_DIRECTORIES if reads_claude else AGENT_DIRECTORIES[:1]:
            path = os.path.join(root, name)
            if not any(same_directory(path, each) for each in own):
                yield AgentDirectory(path, Party.PROJECT, confined_to=root, pins=pins)
    for path in own:
        yield AgentDirectory(path, Party.USER)
    for extension in extensions:
        path = os.path.join(extension.path, "agents")
        pins = None
        if extension.consent is not None:
            pins = {relative: pin.digest for relative, pin in extension.consent.declared.items()}
        places = extension.places(root)
        yield AgentDirectory(path, Party.EXTENSION, extension.name, extension.path, pins, places)
