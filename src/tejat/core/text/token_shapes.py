"""Keys and tokens that are recognised by their shape, whoever they belong to."""

import re
from collections.abc import Iterator

from tejat.core.frozen import Frozen


class _Shape(Frozen):
    """A kind of token. If the pattern has a group, only that part is secret.

    A text without any of the `markers` has no such token, which is found out faster than by the pattern.
    """

    markers: tuple[str, ...]
    pattern: str


def find_tokens(text: str) -> list[tuple[int, int]]:
    """The ranges of tokens in a text, in order and without overlap. Takes linear time.

    Where one token touches the next, the second is found once the first is masked, by `***` or `[secret]`.
    """
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(_find_spans(text)):
        if not ranges or start >= ranges[-1][1]:
            ranges.append((start, end))
        elif end > ranges[-1][1]:
            ranges[-1] = ranges[-1][0], end
    return ranges


def has_key_shape(value: str) -> bool:
    """Whether a value is or holds a token, a private key, a certificate or an address with a password."""
    return "-----BEGIN " in value or re.search(_PASSWORD_IN_ADDRESS, value) is not None or bool(find_tokens(value))


def may_hold_tokens(encoded: bytes) -> bool:
    """Whether a text, encoded or as JSON, may hold a token. False is certain."""
    return any(map(encoded.__contains__, _MARKERS))


def _find_spans(text: str) -> Iterator[tuple[int, int]]:
    for shape in _SHAPES:
        for marker in shape.markers:
            if marker in text:
                for found in re.finditer(shape.pattern, text):
                    yield found.span(found.lastindex or 0)
                break


# Neither a letter, a digit nor a hyphen before it.
_START = r"(?<![\w-])"
# What stands between the lines of a key in PEM format: in a file, a diff, a numbered listing or a JSON string.
_PEM_BREAK = r"(?:\\[nr]|\s|L?\d{1,6}[^\w\s\\]|[^\w/=\\])*+"
_PEM_LINE = rf"{_PEM_BREAK}(?:[A-Z][\w-]{{2,20}}: [^\n\\]{{1,200}}|[A-Za-z0-9+/=]{{16,200}})"
_PEM_LAST_LINE = rf"{_PEM_BREAK}[A-Za-z0-9+/=]{{1,15}}(?={_PEM_BREAK}END )"

_SHAPES = (
    _Shape(
        ("PRIVATE KEY",),
        rf"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:{_PEM_LINE})++(?:{_PEM_LAST_LINE})?",
    ),
    _Shape(("eyJ",), rf"{_START}eyJ[\w-]{{8,}}\.eyJ[\w-]{{8,}}\.[\w-]{{10,}}"),  # JSON Web Tokens
    _Shape(("AKIA", "ASIA"), rf"{_START}A[KS]IA[A-Z0-9]{{16}}(?![\w-])"),  # AWS
    _Shape(
        # Not just "ccess": every record of a call says "success".
        ("ccess_k", "ccess_K", "ccessk", "ccessK", "CCESS_k", "CCESS_K", "CCESSk", "CCESSK"),
        r"(?i:secret_?access_?key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])",
    ),
    _Shape(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_START}gh[pousr]_[A-Za-z0-9]{{30,255}}"),  # GitHub
    _Shape(("github_pat_",), rf"{_START}github_pat_\w{{22,255}}"),
    _Shape(("glpat-", "gldt-", "glrt-", "glptt-"), rf"{_START}gl(?:pat|dt|rt|ptt)-[\w-]{{20,}}"),  # GitLab
    _Shape(("xox",), rf"{_START}xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{{10,}}"),  # Slack
    _Shape(("xapp-",), rf"{_START}xapp-\d-[A-Za-z0-9-]{{10,}}"),
    _Shape(("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})"),
    _Shape(("AIza",), rf"{_START}AIza[\w-]{{35}}"),  # Google
    _Shape(("ya29.",), rf"{_START}ya29\.[\w.-]{{20,}}"),
    _Shape(("GOCSPX-",), rf"{_START}GOCSPX-[\w-]{{20,}}"),
    _Shape(  # OpenAI, Anthropic and others
        ("sk-",), rf"{_START}sk-(?:(?:proj|svcacct|admin|ant|or|lf)-[\w-]{{16,}}|[A-Za-z0-9]{{32,}})"
    ),
    _Shape(("k_live_", "k_test_"), rf"{_START}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}"),  # Stripe
    _Shape(("whsec_",), rf"{_START}whsec_[A-Za-z0-9+/=]{{24,}}"),
    _Shape(("npm_",), rf"{_START}npm_[A-Za-z0-9]{{36}}(?!\w)"),
    _Shape(("pypi-",), rf"{_START}pypi-[\w-]{{50,}}"),
    _Shape(("hf_",), rf"{_START}hf_[A-Za-z0-9]{{30,}}"),  # Hugging Face
    _Shape(("SG.",), rf"{_START}SG\.[\w-]{{22}}\.[\w-]{{43}}"),  # SendGrid
    _Shape(("dop_v1_",), rf"{_START}dop_v1_[0-9a-f]{{64}}"),  # DigitalOcean
    _Shape(("AccountKey=",), r"AccountKey=([A-Za-z0-9+/=]{40,})"),  # Azure
    _Shape(("earer ",), r"[Bb]earer ([\w.~+/=-]{20,})"),
    _Shape(("asic ",), r"[Aa]uthorization[\"']?: ?[\"']?[Bb]asic ([A-Za-z0-9+/=]{12,})"),
    # Passwords in addresses, unless they are references or masked already.
    _Shape(("://",), r"://[^\s/:@\"'<>]{0,100}:(?!\*{3}@|\[secret\]@)([^\s/@\"'<>$]{3,200})@"),
)
_PASSWORD_IN_ADDRESS = r"://[^\s/@]{0,200}:[^\s/@]{1,200}@"
_MARKERS = tuple(marker.encode() for shape in _SHAPES for marker in shape.markers)
