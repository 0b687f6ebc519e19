"""Checks of HTML: well-formed, and without anything that runs, loads or styles inline."""

from html.parser import HTMLParser

VOID_TAGS = frozenset({"br", "hr", "img", "meta", "link", "input", "wbr", "col"})
FORBIDDEN_TAGS = frozenset(
    {"script", "img", "iframe", "object", "embed", "link", "base", "form", "video", "audio", "svg", "math", "frame"}
)
ADDRESS_ATTRIBUTES = frozenset({"src", "srcset", "action", "data", "poster", "background", "formaction", "xlink:href"})


class HtmlCheck(HTMLParser):
    """Collects the text, the tags with their attributes, and everything that is wrong."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        if self._open:
            self.problems.append(f"not closed: {self._open}")
        ids = [attributes["id"] for _tag, attributes in self.tags if "id" in attributes]
        if len(ids) != len(set(ids)):
            self.problems.append("an id is there twice")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        if len(attributes) != len(attrs):
            self.problems.append(f"an attribute of <{tag}> is there twice")
        if tag in FORBIDDEN_TAGS:
            self.problems.append(f"<{tag}>")
        for name, value in attributes.items():
            if name.startswith("on") or name == "style" or name in ADDRESS_ATTRIBUTES:
                self.problems.append(f"<{tag} {name}>")
            if name == "href" and not value.startswith(("http://", "https://", "mailto:")):
                self.problems.append(f"link to {value}")
        if tag == "a" and attributes.get("rel") != "noopener noreferrer":
            self.problems.append("a link without rel")
        if tag not in VOID_TAGS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-3:]}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"comment {data[:40]}")

    def all_with_class(self, name: str) -> list[dict[str, str]]:
        return [attributes for _tag, attributes in self.tags if name in attributes.get("class", "").split()]


def text_of(markup: str) -> str:
    """The text of markup that has no problems."""
    check = HtmlCheck(markup)
    assert check.problems == []
    return check.text


HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'\" onmouseover='alert(1)",
    "</pre></div></details></style><script>alert(1)</script>",
    "<!-- comment --> <![CDATA[x]]> &lt;b&gt; &#x3c;script&#x3e;",
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>alert(1)</script>)",
    "[d](vbscript:x) [e](file:///etc/passwd) [f](//evil.example/x) <javascript:alert(1)>",
    "![g](data:image/png;base64,AA)",
    '[h](https://a.example/"onmouseover="alert(1)) <https://b.example/"onclick=alert(1)>',
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07text\x1b]8;;\x07 \x00\x07\x08\x7f\x9b",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff \U000e0041",
    "a\rb\x0bc\x0cd\u2028e\u2029f",
    "| a | b |\n|---|:-:|\n| <b>x</b> | `|` |\n\n- [ ] x\n\n```html\n<script>\n```\n~~~' onclick='x\ny\n~~~",
    "\ud800 lone surrogate",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= x %>",
)
"""Texts that try to become markup, to hide, or to command a terminal."""
