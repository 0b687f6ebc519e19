"""Tejat in Jupyter: rich values, transcripts, live views of runs and approvals by buttons.

The public names are loaded on first access.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tejat.notebook.approver import NotebookApprover as NotebookApprover
    from tejat.notebook.live import LiveRun as LiveRun
    from tejat.notebook.live import LiveView as LiveView
    from tejat.notebook.live import watch as watch
    from tejat.notebook.transcript import NotebookTranscript as NotebookTranscript

_NAMES = {
    "LiveRun": "live",
    "LiveView": "live",
    "NotebookApprover": "approver",
    "NotebookTranscript": "transcript",
    "watch": "live",
}
__all__ = [*_NAMES]  # noqa: PLE0604 -- names  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module 'tejat.notebook' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"tejat.notebook.{_NAMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
