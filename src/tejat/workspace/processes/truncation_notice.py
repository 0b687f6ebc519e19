"""Truncation of long text: beginning and end, with a notice on what is missing and where the full text is."""

_HEAD_SHARE = 5  # a fifth of the shown text comes from the beginning
_LINE_END_FRACTION = 8  # a line end within the last eighth of a part is near
_HIGH, _LOW, _LOWEST = "\ud800", "\udc00", "\udfff"


def truncate_text(text: str, *, limit: int, path: str | None, note: str = "") -> str:
    """Return the text if it has at most `limit` characters or the limit is 0, else its beginning and end.

    Both together have at most `limit` characters. `path` is the file with the whole text, None if it could not be
    saved.
    """
    if limit <= 0 or len(text) <= limit:
        return text
    head_end = _cut_after_line(text, limit // _HEAD_SHARE)
    tail_start = _cut_before_line(text, len(text) - (limit - limit // _HEAD_SHARE))
    head, tail = text[:head_end], text[tail_start:]
    return format_truncated(
        head, tail, head_size=len(head), tail_size=len(tail), total=len(text), unit="characters", path=path, note=note
    )


def format_truncated(
    head: str, tail: str, *, head_size: int, tail_size: int, total: int, unit: str, path: str | None, note: str = ""
) -> str:
    """Join the beginning and end of a longer text with a notice. Sizes are counted in `unit`."""
    where = "[Note: Could not save full output to file]" if path is None else f"For full output see: {path}"
    label = f"Output too large. Showing first {head_size} and last {tail_size} {unit} of {total}. {where}"
    if note:
        label = f"{label} {note}"
    gap = f"... [{total - head_size - tail_size} {unit} omitted] ..."
    return f"{label}\n{head.removesuffix(chr(10))}\n\n{gap}\n\n{tail}"


def _cut_after_line(text: str, position: int) -> int:
    """Return where to end a part of up to `position`: after a near line end, never inside a character."""
    end = text.rfind("\n", max(0, position - position // _LINE_END_FRACTION - 1), position)
    return end + 1 if end >= 0 else _adjust_to_boundary(text, position, step=-1)


def _cut_before_line(text: str, position: int) -> int:
    end = text.find("\n", position - 1, position + (len(text) - position) // _LINE_END_FRACTION)
    return end + 1 if end >= 0 else _adjust_to_boundary(text, position, step=1)


def _adjust_to_boundary(text: str, position: int, *, step: int) -> int:
    """Return the position, moved by `step` if it would split a CRLF or a surrogate pair."""
    if not 0 < position < len(text):
        return position
    before, after = text[position - 1], text[position]
    is_inside = (before == "\r" and after == "\n") or (_HIGH <= before < _LOW <= after <= _LOWEST)
    return position + step if is_inside else position
