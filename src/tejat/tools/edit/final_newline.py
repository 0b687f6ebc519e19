"""The final newline of an edited file."""

from tejat.workspace.text.text_edits import TextEdit, TextFile


def settle_final_newline(file: TextFile, edits: list[TextEdit], *, is_exact: bool) -> list[TextEdit]:
    """Decide how the file ends: an exact edit is obeyed, otherwise the file keeps its convention.

    An exact deletion of whole lines says nothing about the end of the file, so that the convention is kept there too.
    """
    return edits if is_exact and not _deletes_last_lines(file, edits) else keep_final_newline(file, edits)


def keep_final_newline(file: TextFile, edits: list[TextEdit]) -> list[TextEdit]:
    """Adjust the edits so that the file ends with a newline if and only if it did before.

    A file that becomes empty stays empty.
    """
    if not edits or edits[-1].end != len(file.raw):
        return edits
    deciding = _deciding_edit(edits)
    start, end, text = edits[deciding].start, edits[deciding].end, edits[deciding].text
    before = _line_ending_size(file, start)
    ended = _line_ending_size(file, len(file.raw)) > 0
    ends = text.endswith(("\n", "\r")) if text else before > 0
    if ended == ends or (not text and start <= len(file.encoding.bom)):
        return edits
    if ended:
        text += "\n"
    elif text:
        text = text[:-2] if text.endswith("\r\n") else text[:-1]
    else:
        start -= before
    return [*edits[:deciding], TextEdit(start, end, text), *edits[deciding + 1 :]]


def _deletes_last_lines(file: TextFile, edits: list[TextEdit]) -> bool:
    """Check whether whole lines are deleted up to the end of the file, and not only a line ending."""
    if not edits or edits[-1].end != len(file.raw):
        return False
    edit = edits[_deciding_edit(edits)]
    if edit.text:
        return False
    gone = file.encoding.decode(file.raw[edit.start :])
    is_at_line_start = edit.start <= len(file.encoding.bom) or _line_ending_size(file, edit.start) > 0
    starts_with_line = is_at_line_start or gone.startswith(("\n", "\r"))
    return starts_with_line and bool(gone.strip("\r\n"))


def _deciding_edit(edits: list[TextEdit]) -> int:
    """Index of the edit that decides how the file ends: everything after it is deleted."""
    index = len(edits) - 1
    while index and not edits[index].text and edits[index - 1].end == edits[index].start:
        index -= 1
    return index


def _line_ending_size(file: TextFile, offset: int) -> int:
    """Size in bytes of the line ending before the offset, 0 if there is none."""
    body = len(file.encoding.bom)
    for end in ("\r\n", "\n", "\r"):
        encoded = file.encoding.encode_new(end)
        if file.raw.endswith(encoded, body, offset):
            return len(encoded)
    return 0
