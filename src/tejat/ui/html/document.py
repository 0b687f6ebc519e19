"""A whole session as one HTML document, without scripts and without anything to load."""

import base64
import hashlib
import os
from collections import defaultdict
from collections.abc import Sequence

from tejat.core.i18n import _
from tejat.ui.html.agent_block import children_slot
from tejat.ui.html.markup import escape_text
from tejat.ui.html.transcript import BlockUpdate

STYLE_FILE = os.path.join(os.path.dirname(__file__), "style.css")
"""The style sheet of transcripts."""


def render_document(
    title: str, facts: Sequence[tuple[str, str]], blocks: Sequence[BlockUpdate], *, note: str = ""
) -> str:
    """Render a document with a header of labels and values. A policy in it forbids everything but its own style."""
    heading = f'<h2 class="visually-hidden">{escape_text(_("Conversation"))}</h2>'
    content = f'<main class="transcript">\n{heading}\n{nest_blocks(blocks)}\n</main>'
    return render_page(title, facts, content, style=read_style(), note=note)


def render_page(title: str, facts: Sequence[tuple[str, str]], content: str, *, style: str, note: str = "") -> str:
    """Render markup below a header of labels and values. A policy forbids everything but this style."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    language = _("en")  # the code of the language that messages are translated to
    shown = escape_text(" ".join(title.split()))
    rows = "".join(f"<dt>{escape_text(label)}</dt><dd>{escape_text(value)}</dd>" for label, value in facts)
    hint = f'<p class="note">{escape_text(note)}</p>' if note else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{escape_text(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{shown}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<div class="document">\n<header class="document-header"><h1>{shown}</h1><dl>{rows}</dl>{hint}</header>\n'
        f"{content}\n</div>\n</body>\n</html>\n"
    )


def nest_blocks(blocks: Sequence[BlockUpdate]) -> str:
    """Return the markup of blocks, those of sub-agents inside the blocks of these."""
    children: defaultdict[str, list[BlockUpdate]] = defaultdict(list)
    for block in blocks:
        children[block.parent].append(block)

    def markup(parent: str) -> str:
        return "\n".join(map(with_children, children[parent]))

    def with_children(block: BlockUpdate) -> str:
        slot = children_slot(block.block_id)
        if block.block_id not in children:
            return block.html
        return block.html.replace(slot, slot.removesuffix("</div>") + markup(block.block_id) + "</div>", 1)

    return markup("")


def read_style() -> str:
    """Read the style sheet."""
    with open(STYLE_FILE, encoding="utf-8") as file:
        return file.read()
