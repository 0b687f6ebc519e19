"""Worker program that converts HTML to Markdown, isolated because hostile pages exhaust memory or time.

It runs as a file, without the rest of the package, with the directory of `html_to_markdown` as its argument. Input: a
line of JSON with options, then the HTML. Output: a line of JSON, then the Markdown.
"""

import json
import re
import resource
import sys

MAX_MEMORY = 3 << 28
MAX_SECONDS = 10


def main() -> None:
    """Convert standard input. Exits with a status other than 0 on failure."""
    _limit(resource.RLIMIT_CPU, MAX_SECONDS)
    _limit(resource.RLIMIT_AS, MAX_MEMORY)
    _limit(resource.RLIMIT_CORE, 0)
    sys.path.append(sys.argv[1])
    import html_to_markdown

    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    wishes = json.loads(incoming.readline())
    html = _CONTROL.sub("", incoming.read().decode("utf-8", "replace"))
    options = html_to_markdown.ConversionOptions(
        skip_images=True,
        compact_tables=True,
        extract_metadata=False,
        inline_data_media="drop_element",
        base_url=wishes["base_url"],
    )
    result = html_to_markdown.convert(html if wishes["with_links"] else _ANCHOR.sub("", html), options)
    text = (result.content or "").strip()
    is_too_deep = any(str(warning.kind) == "depth_limit_exceeded" for warning in result.warnings)
    outcome = {"is_too_deep": is_too_deep, "was_cut": len(text) > wishes["limit"]}
    outgoing.write(json.dumps(outcome).encode("ascii") + b"\n")
    outgoing.write(text[: wishes["limit"]].encode("utf-8", "replace"))


_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
# Up to the next angle bracket of either kind: looking further would take forever where none of them is closed.
_ANCHOR = re.compile(r"</?a(?:\s[^<>]*)?>", re.IGNORECASE)


def _limit(what: int, maximum: int) -> None:
    _, hard = resource.getrlimit(what)
    allowed = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
    try:
        resource.setrlimit(what, (allowed, hard))
    except (ValueError, OSError):  # not every system limits everything
        return


if __name__ == "__main__":
    main()
