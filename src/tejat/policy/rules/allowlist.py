"""Rules for everything that is not on a list, as some settings define."""

import shlex
from collections.abc import Sequence

from tejat.core.i18n import lazy
from tejat.policy.types import PolicyRule


class AllowlistRule(PolicyRule):
    """A rule that applies to everything except what it lists.

    With `commands` it applies to each command of a shell line that does not begin with the literal words of one of
    them. With `servers` it applies to the tools of all other servers.
    """

    commands: tuple[tuple[str, ...], ...] | None = None
    servers: frozenset[str] | None = None

    @property
    def is_restricted(self) -> bool:
        return self.commands is not None

    @property
    def allowlist_text(self) -> str:
        commands = [shlex.join(words) for words in self.commands or ()]
        return ", ".join([*commands, *sorted(self.servers or ())]) or lazy("nothing")

    def applies_to_command(self, words: Sequence[str]) -> bool:
        return self.commands is not None and not any(tuple(words[: len(listed)]) == listed for listed in self.commands)

    def applies_to_server(self, server: str | None) -> bool:
        return self.servers is None or (server is not None and server not in self.servers)
