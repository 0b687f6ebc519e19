"""An answer with marks that lead to its sources, and the list of these."""

from collections.abc import Sequence

from tejat.core.model import Citation, GroundingSource, ModelResponse


def append_sources(answer: ModelResponse, *, unknown: str) -> str:
    """The text of an answer with `[1]` behind what source 1 tells, and the sources below.

    `unknown` stands for the address of a source that has none. Without sources it is just the text.
    """
    text = answer.text
    if answer.grounding is None or not answer.grounding.sources:
        return text
    sources = answer.grounding.sources
    return _insert_citations(text, answer.grounding.citations, len(sources)) + format_sources(sources, unknown=unknown)


def format_sources(sources: Sequence[GroundingSource], *, unknown: str) -> str:
    """The sources, one to a line, with an empty line before them."""
    lines = [
        f"[{number}] {_collapse_whitespace(source.title) or 'Untitled'} ({_collapse_whitespace(source.uri) or unknown})"
        for number, source in enumerate(sources, 1)
    ]
    return "\n\nSources:\n" + "\n".join(lines)


def _insert_citations(text: str, citations: Sequence[Citation], count: int) -> str:
    """From the end to the beginning, so that no mark moves the place of another."""
    encoded = text.encode("utf-8", "surrogatepass")
    pieces: list[bytes] = []
    end = len(encoded)
    for citation in sorted(citations, key=lambda citation: citation.end, reverse=True):
        mark = "".join(f"[{index + 1}]" for index in citation.sources if 0 <= index < count)
        place = _character_boundary(encoded, min(citation.end, end))
        pieces += [encoded[place:end], mark.encode("ascii")]
        end = place
    pieces.append(encoded[:end])
    return b"".join(reversed(pieces)).decode("utf-8", "surrogatepass")


def _character_boundary(encoded: bytes, place: int) -> int:
    """The place itself, or the end of the character that it lies in."""
    place = max(place, 0)
    while place < len(encoded) and encoded[place] & 0b1100_0000 == 0b1000_0000:
        place += 1
    return place


def _collapse_whitespace(text: str | None) -> str:
    return " ".join((text or "").split())
