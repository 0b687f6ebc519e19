"""Rule files that were loaded before with nothing to report, so that a run need not load them at its start.

Rules are plain if they load without an error and without a note, hide no tool, and name built-in tools only: then the
start of a run has no use for them. They are always loaded from the texts before the first call is judged, so a wrong
record could delay a report, but never allow anything.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from tejat import __version__
from tejat.app.run_config import RunConfig
from tejat.config.files.parse_cache import ParseCache
from tejat.config.policy_files import PolicyFile

if TYPE_CHECKING:
    from tejat.app.tools.toolset import Toolset


def load_unless_plain(toolset: "Toolset", run_config: RunConfig, mode: str | None, files: Sequence[PolicyFile]) -> None:
    """Load the policy and report on it unless its files are known to be plain. Raises UsageError for a broken rule.

    The mode must need no note, and there must be no other rules.
    """
    cache = ParseCache(run_config.paths.plain_rules, version=__version__)
    names, digest = "\n".join(file.path for file in files), digest_of_files(files)
    if cache.get(names, digest) is True:
        return
    from tejat.app.tools.policy_report import are_plain, load_and_report

    if are_plain(load_and_report(toolset, run_config, mode)):
        cache.put(names, digest, value=True)
        cache.save()


def digest_of_files(files: Sequence[PolicyFile]) -> str:
    """Return the digest of everything about the files that decides what is read from them."""
    digest = sha256()
    for file in files:
        facts = (file.path, file.tier.value, file.is_saved, file.allows_nothing is None, len(file.text))
        digest.update(f"{facts!r}\n{file.text}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
