"""Citations in a model response and the list of their sources."""

from collections.abc import Sequence

from tejat.core.model import Citation, GroundingSource, ModelResponse


def append_sources(answer: ModelResponse, *, unknown: str) -> str:
    """Format the text of a response with `[1]` after each cited passage and the list of sources below.

    `unknown` replaces a missing URI. Without sources the text is returned unchanged.
    """
    text = answer.text
    if answer.grounding is None or not answer.grounding.sources:
        return text
    sources = answer.grounding.sources
    return _insert_citations(text, answer.grounding.citations, len(sources)) + format_sources(sources, unknown=unknown)


def format_sources(sources: Sequence[GroundingSource], *, unknown: str) -> str:
    """Format the sources one per line, after an empty line."""
    lines = [
        f"[{number}] {_collapse_whitespace(source.title) or 'Untitled'} ({_collapse_whitespace(source.uri) or unknown})"
        for number, source in enumerate(sources, 1)
    ]
    return "\n\nSources:\n" + "\n".join(lines)


def _insert_citations(text: str, citations: Sequence[Citation], count: int) -> str:
    """Insert from the end, so that no mark shifts the offset of another."""
    encoded = text.encode("utf-8", "surrogatepass")
    pieces: list[bytes] = []
    end = len(encoded)
    for citation in sorted(citations, key=lambda citation: citation.end, reverse=True):
        mark = "".join(f"[{index + 1}]" for index in citation.sources if 0 <= index < count)
        offset = _character_boundary(encoded, min(citation.end, end))
        pieces += [encoded[offset:end], mark.encode("ascii")]
        end = offset
    pieces.append(encoded[:end])
    return b"".join(reversed(pieces)).decode("utf-8", "surrogatepass")


def _character_boundary(encoded: bytes, offset: int) -> int:
    """Move the offset forward to the next character boundary."""
    offset = max(offset, 0)
    while offset < len(encoded) and encoded[offset] & 0b1100_0000 == 0b1000_0000:
        offset += 1
    return offset


def _collapse_whitespace(text: str | None) -> str:
    return " ".join((text or "").split())
