"""Changes as patches for people, in bounded size."""

from collections.abc import Callable, Iterable, Iterator

from tejat.core.undo import Change, Node, NodeKind, Verb
from tejat.workspace.diff import create_patch
from tejat.workspace.history.snapshot import in_words

_MOST_CHARACTERS = 2 << 20


def patches_of(changes: Iterable[Change], read: Callable[[bytes], bytes | None]) -> list[str]:
    """A patch for each change, or a line about it where there is no text to compare. `read` gives kept contents."""
    pieces: list[str] = []
    size = 0
    for piece in _pieces(changes, read):
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_CHARACTERS:
            pieces.append("... and more, which is not shown.\n")
            break
    return pieces


def _pieces(changes: Iterable[Change], read: Callable[[bytes], bytes | None]) -> Iterator[str]:
    for change in changes:
        if change.verb is not Verb.PERMISSIONS:
            patch = _patch(change, read)
            if patch is not None:
                yield patch
                continue
        yield f"{change.full_path}: {_in_a_line(change)}\n"


def _patch(change: Change, read: Callable[[bytes], bytes | None]) -> str | None:
    old, new = _text(change.before, read), _text(change.after, read)
    if old is None or new is None or (change.before is None and change.after is None):
        return None
    if all(node is None or node.kind is NodeKind.DIRECTORY for node in (change.before, change.after)):
        return None
    return create_patch(change.full_path, old, new, old_header="Before", new_header="After").text


def _text(node: Node | None, read: Callable[[bytes], bytes | None]) -> str | None:
    """None for what has no text."""
    if node is None:
        return ""
    if node.kind is not NodeKind.FILE or node.digest is None:
        return None
    content = read(node.digest)
    if content is None or b"\0" in content:
        return None
    return content.decode("utf-8", "surrogateescape")


def _in_a_line(change: Change) -> str:
    before, after = change.before, change.after
    if change.verb is Verb.PERMISSIONS and before is not None and after is not None:
        return f"{change.verb} from {before.permissions:04o} to {after.permissions:04o}"
    parts = [_describe(node) for node in (before, after) if node is not None]
    return f"{change.verb} ({', now '.join(parts)})"


def _describe(node: Node) -> str:
    match node.kind:
        case NodeKind.FILE:
            return f"file of {in_words(node.size)}"
        case NodeKind.LINK:
            return f"link to {node.target}"
        case NodeKind.DIRECTORY:
            return "directory"
