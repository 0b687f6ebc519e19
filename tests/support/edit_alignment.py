"""Search blocks, indexed files and alignments for tests of the edit stages."""

from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.candidates import find_candidates
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.search_block import SearchBlock
from tejat.workspace.text.encoding import UTF_8
from tejat.workspace.text.text_edits import TextFile


def indexed(text: str) -> IndexedFile:
    return IndexedFile(TextFile(text.encode(), UTF_8))


def best_alignment(old: str, text: str) -> tuple[SearchBlock, IndexedFile, Alignment]:
    """The block, the file and the best alignment of the one with the other."""
    block, target = SearchBlock.from_text(old), indexed(text)
    return block, target, find_candidates(block, target).alignments[0]
