"""Markdown as HTML. Raw HTML is shown as text, only web and mail addresses are links, and no picture is loaded."""

from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from tejat.core.i18n import _
from tejat.ui.html.code import render_code
from tejat.ui.html.markup import cut_text, escape_text
from tejat.ui.shared.text.sanitizer import make_terminal_safe
from tejat.ui.shared.text.urls import find_urls

MAX_MARKDOWN_CHARS = 200_000
"""Longest text that is read as Markdown; the rest is shown as it is."""
_MAX_TEXT_CHARS = 1_000_000
_MAX_INLINE_CHARS = 20_000
"""Longest paragraph that is read as Markdown: some markup takes long to be recognized as none."""
_MAX_NESTING = 100
_MAX_URL_CHARS = 2_000
_MAX_CACHED_TEXTS = 256

_SCHEMES = ("http://", "https://", "mailto:")


def render_markdown(text: str) -> str:
    """Render a text of any origin and length."""
    text = cut_text(text, max_chars=_MAX_TEXT_CHARS)
    read, rest = text[:MAX_MARKDOWN_CHARS], text[MAX_MARKDOWN_CHARS:]
    return _render(read) + (f'<pre class="text">{escape_text(rest)}</pre>' if rest else "")


def top_level_starts(text: str) -> list[int]:
    """Return the numbers of the lines in which paragraphs, lists and other blocks begin that are in no other one."""
    tokens: list[Token] = []
    _parser().block.parse(_safe(text), _parser(), {}, tokens)
    return [token.map[0] for token in tokens if not token.level and token.map and token.nesting >= 0]


def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines that are in blocks of code."""
    tokens: list[Token] = []
    _parser().block.parse(_safe(text), _parser(), {}, tokens)
    maps = (token.map for token in tokens if token.type in ("fence", "code_block") and token.map)
    return {line for first, end in maps for line in range(first, end)}


@lru_cache(_MAX_CACHED_TEXTS)
def _render(text: str) -> str:
    return str(_parser().render(_safe(text)))


def _safe(text: str) -> str:
    return make_terminal_safe(text.replace("\r\n", "\n"))


@cache
def _parser() -> MarkdownIt:
    options = {"html": False, "xhtmlOut": False, "maxNesting": _MAX_NESTING}
    parser = MarkdownIt("commonmark", options, renderer_cls=_SafeRenderer).enable(["table", "strikethrough"])
    parser.validateLink = _is_short
    parser.core.ruler.at("inline", _parse_inline)
    parser.core.ruler.after("inline", "bare_links", _link_addresses)
    return parser


def _is_short(url: str) -> bool:
    """Whether a link is read as one. The renderer decides whether it can be followed."""
    return len(url) <= _MAX_URL_CHARS


def _parse_inline(state: StateCore) -> None:
    """Parse the content of paragraphs, except that of very long ones."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) > _MAX_INLINE_CHARS:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _link_addresses(state: StateCore) -> None:
    """Turn web addresses in text into links."""
    for token in state.tokens:
        if token.type == "inline" and token.children and "://" in token.content:
            token.children = list(_with_links(token.children))


def _with_links(tokens: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "text" or depth or "://" not in token.content:
            found.append(token)
            continue
        at = 0
        for place, url in find_urls(token.content):
            found.append(Token("text", "", 0, content=token.content[at:place]))
            found.append(Token("link_open", "a", 1, attrs={"href": url}))
            found.append(Token("text", "", 0, content=url))
            found.append(Token("link_close", "a", -1))
            at = place + len(url)
        found.append(Token("text", "", 0, content=token.content[at:]))
    return found


class _SafeRenderer(RendererHTML):
    """Renders links with their targets, pictures as links, and code with colours."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _link_start(str(tokens[idx].attrGet("href") or ""))

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        opened, depth = idx, 0
        while True:
            depth += tokens[opened].nesting if tokens[opened].type in ("link_open", "link_close") else 0
            if not depth:
                break
            opened -= 1
        shown = "".join(token.content for token in tokens[opened + 1 : idx])
        return _link_end(str(tokens[opened].attrGet("href") or ""), shown)

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # All on one level, below those of prompts: a page must not skip levels, and a text may.
        return f'<h3 class="md-{tokens[idx].tag}">'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</h3>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        source = str(token.attrGet("src") or "")
        label = self.renderInlineAsText(token.children, options, env) if token.children else ""
        shown = label or _("picture")
        return f"{_link_start(source)}{escape(shown)}{_link_end(source, shown)}"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        return render_code(token.content, (token.info.split() or [""])[0]) + "\n"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return render_code(tokens[idx].content) + "\n"

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        label = escape(_("Table"))
        return f'<div class="table-box" tabindex="0" role="group" aria-label="{label}"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<th scope="col"{_alignment(tokens[idx])}>'

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<td{_alignment(tokens[idx])}>"


def _link_start(url: str) -> str:
    if not url.lower().startswith(_SCHEMES):
        return '<span class="no-link">'
    return f'<a href="{escape(url)}" rel="noopener noreferrer">'


def _link_end(url: str, shown: str) -> str:
    """Close a link, and show its target unless that is its text."""
    end = "</a>" if url.lower().startswith(_SCHEMES) else "</span>"
    if url.removeprefix("mailto:") == shown or not url:
        return end
    return f'{end} <span class="target">({escape_text(url)})</span>'


def _alignment(token: Token) -> str:
    """Return a class for what the parser writes as an inline style."""
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f' class="align-{side}"' if side in ("left", "center", "right") else ""
