"""Instructions of a trusted folder for the model: context files and the system prompt, used only as they were seen."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress

from tejat.config.paths import AppPaths
from tejat.config.trust.store import TrustVerdict, read_trust_store, save_trust_entry
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace


class Instructions(Frozen):
    """A file with instructions: its path relative to the folder, and the text that the model would get."""

    path: str
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def find_unseen(paths: AppPaths, root: str, found: Sequence[Instructions]) -> tuple[Instructions, ...]:
    """The instructions that are new or changed since the user last accepted those of this folder.

    None are, if the folder is not trusted by a stored decision. With the first call after that decision all of them
    count as accepted. Raises UsageError for an unusable store.
    """
    entry = read_trust_store(paths).get(os.path.realpath(root))
    if entry is None or entry.verdict is TrustVerdict.NOT_TRUSTED:
        return ()
    accepted = entry.instructions
    if accepted is None:
        with suppress(UsageError):  # a store that cannot be written is no reason to leave them out
            accept_instructions(paths, root, found)
        return ()
    return tuple(each for each in found if accepted.get(each.path) != each.digest)


def accept_instructions(paths: AppPaths, root: str, found: Sequence[Instructions]) -> None:
    """Remember these instructions, and no others, as seen. Raises UsageError."""
    folder = os.path.realpath(root)
    entry = read_trust_store(paths).get(folder)
    if entry is not None:
        save_trust_entry(paths, folder, replace(entry, instructions={each.path: each.digest for each in found}))
