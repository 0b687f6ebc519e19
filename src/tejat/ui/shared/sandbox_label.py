"""Labels of the sandbox of commands."""

from tejat.core.i18n import lazy, translate
from tejat.core.ui.status import SandboxState


def sandbox_label(state: SandboxState) -> str:
    """Return what the sandbox encloses, empty while that is not known."""
    return translate(_LABELS.get(state, ""))


_LABELS = {
    SandboxState.NONE: lazy("no sandbox"),
    SandboxState.FILES: lazy("sandbox: files only"),
    SandboxState.FILES_AND_NETWORK: lazy("sandbox: files and network"),
}
