"""Changes as patches for display, of bounded size."""

from collections.abc import Callable, Iterable, Iterator

from tejat.core.undo import ChangeKind, PathChange, PathKind, PathState
from tejat.workspace.text.diff import create_patch
from tejat.workspace.undo.snapshot import format_size

_MAX_CHARACTERS = 2 << 20


def render_patches(changes: Iterable[PathChange], read: Callable[[bytes], bytes | None]) -> list[str]:
    """Return a patch for each change, or a summary line without text to compare. `read` returns stored contents."""
    pieces: list[str] = []
    size = 0
    for piece in _pieces(changes, read):
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_CHARACTERS:
            pieces.append("... and more, which is not shown.\n")
            break
    return pieces


def _pieces(changes: Iterable[PathChange], read: Callable[[bytes], bytes | None]) -> Iterator[str]:
    for change in changes:
        patch = None if change.kind is ChangeKind.PERMISSIONS else _patch(change, read)
        yield f"{change.full_path}: {_summarize(change)}\n" if patch is None else patch


def _patch(change: PathChange, read: Callable[[bytes], bytes | None]) -> str | None:
    old, new = _node_text(change.before, read), _node_text(change.after, read)
    if old is None or new is None or (change.before is None and change.after is None):
        return None
    if all(node is None or node.kind is PathKind.DIRECTORY for node in (change.before, change.after)):
        return None
    return create_patch(change.full_path, old, new, old_header="Before", new_header="After").text


def _node_text(node: PathState | None, read: Callable[[bytes], bytes | None]) -> str | None:
    """Return the text, None if there is none."""
    if node is None:
        return ""
    if node.kind is not PathKind.FILE or node.digest is None:
        return None
    content = read(node.digest)
    return None if content is None or b"\0" in content else content.decode("utf-8", "surrogateescape")


def _summarize(change: PathChange) -> str:
    before, after = change.before, change.after
    if change.kind is ChangeKind.PERMISSIONS and before is not None and after is not None:
        return f"{change.kind} from {before.permissions:04o} to {after.permissions:04o}"
    parts = [_describe(node) for node in (before, after) if node is not None]
    return f"{change.kind} ({', now '.join(parts)})"


def _describe(node: PathState) -> str:
    match node.kind:
        case PathKind.FILE:
            return f"file of {format_size(node.size)}"
        case PathKind.LINK:
            return f"link to {node.target}"
        case PathKind.DIRECTORY:
            return "directory"
