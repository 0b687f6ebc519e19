"""Refusal of changes that write a line such as `# ...` in place of the lines that it stands for."""

from collections.abc import Iterable

from tejat.core.errors import ToolFailure
from tejat.core.i18n import lazy
from tejat.tools.edit.omission.elision_marks import may_contain_elision
from tejat.tools.edit.omission.lost_lines import find_elision
from tejat.tools.failures import invalid_params
from tejat.tools.files.change import FileChange

_MAX_SHOWN = 80
_MAX_LENGTH = 2**20
"""Longer texts are not searched: no model writes as much at once."""


def find_elision_failure(change: FileChange, written: Iterable[str], field: str) -> ToolFailure | None:
    """Build the failure of a change with an elision in the texts that it writes; None if there is none.

    `field` is the parameter that they are from.
    """
    text, texts = change.current.text, list(written)
    if text is None or change.is_new_file or sum(map(len, texts)) > _MAX_LENGTH:
        return None
    if not any(map(may_contain_elision, texts)):
        return None
    line = find_elision(text.text, text.encoding.decode(b"".join(change.pieces)), change.name)
    if line is None:
        return None
    return invalid_params(
        lazy(
            "`{field}` contains an omission placeholder: `{line}` would replace lines of the file. "
            "Provide those lines. If they must go and `{line}` is meant literally, delete them in "
            "one edit and add it in another.",
            field=field,
            line=line if len(line) <= _MAX_SHOWN else f"{line[:_MAX_SHOWN]}...",
        )
    )
