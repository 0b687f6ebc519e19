"""Compiled glob patterns such as `src/**/*.{ts,tsx}`, `[!a-c]?`, `!(*.test).js`."""

import re
from collections.abc import Sequence
from itertools import compress, product
from math import prod

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.i18n import lazy
from tejat.workspace.paths.glob.brace_expansion import MAX_ALTERNATIVES, expand_braces
from tejat.workspace.paths.glob.extglob import ExtglobPattern
from tejat.workspace.paths.glob.syntax import (
    ANY_DIRECTORIES,
    Extglob,
    ExtglobKind,
    GlobNode,
    GlobSegment,
    GlobSegments,
    parse_glob,
    pattern_outside,
    pattern_too_large,
)
from tejat.workspace.paths.glob.wildcard_regex import Wildcard, WildcardToken, wildcard_regex

_MAX_LENGTH = 10_000
_MAX_REGEX = 60_000
_MAX_EXTGLOBS = 100
_ANY_NAME = (Wildcard.DIRECTORIES, Wildcard.WITHIN_NAME)
_MAGIC = re.compile(r"[*?\[\]{}()!@+|,\\^]")


def compile_glob(pattern: str, *, case_sensitive: bool) -> "GlobPattern":
    """Compile a pattern. Names that begin with a dot match like all others.

    `*` and `?` do not match a slash, `**` as a whole segment matches any number of directories, brackets may contain
    ranges, POSIX classes and a leading `!` or `^`, braces are alternatives or ranges, `@(a|b)`, `?(a|b)`, `*(a|b)`,
    `+(a|b)` and `!(a|b)` work within one segment, and a backslash escapes the next character.

    Raises ToolFailure: path_not_in_workspace for a pattern that leads out (absolute, or with a segment `..`),
    invalid_tool_params for one that is empty or too large.
    """
    if not pattern:
        raise ToolFailure(lazy("The glob pattern is empty."), ErrorType.INVALID_TOOL_PARAMS)
    if len(pattern) > _MAX_LENGTH:
        raise pattern_too_large()
    if not _is_encodable(pattern):
        raise ToolFailure(
            lazy("The glob pattern contains characters that are not valid in paths."), ErrorType.INVALID_TOOL_PARAMS
        )
    alternatives: list[GlobSegments] = []
    for text in expand_braces(pattern):
        alternatives += _expand_choices(parse_glob(text, pattern))
        if len(alternatives) > MAX_ALTERNATIVES:
            raise pattern_too_large()
    # Spelled in other ways (`@(..)`, `\.\.`) it still leads out.
    if any(_literal_text(part) == ".." for parts in alternatives for part in parts):
        raise pattern_outside(pattern)
    return GlobPattern(pattern, alternatives, case_sensitive=case_sensitive)


def escape_glob(path: str) -> str:
    """Return the pattern that matches exactly this path."""
    return _MAGIC.sub(r"\\\g<0>", path)


class GlobPattern:
    """A compiled pattern. Created by `compile_glob`."""

    def __init__(self, text: str, alternatives: list[GlobSegments], *, case_sensitive: bool) -> None:
        self.text = text
        self.case_sensitive = case_sensitive
        flags = re.DOTALL if case_sensitive else re.DOTALL | re.IGNORECASE
        simple = [tokens for parts in alternatives if (tokens := _to_tokens(parts)) is not None]
        expression = _union_regex(simple)
        if len(expression) > _MAX_REGEX or len(alternatives) - len(simple) > _MAX_EXTGLOBS:
            raise pattern_too_large()
        self._match = re.compile(expression, flags).match if simple else None
        self._with_groups = [ExtglobPattern(parts, flags) for parts in alternatives if _to_tokens(parts) is None]
        self._suffixes = _ascii_suffixes(simple, case_sensitive=case_sensitive) if not self._with_groups else None
        self._directories = _common_prefix([_literal_directories(parts) for parts in alternatives])

    @property
    def literal_prefix(self) -> str:
        """The directories, without a trailing slash, that contain every match; "" if there are none.

        They are case-sensitive only if the pattern is.
        """
        return "/".join(self._directories)

    def matches(self, relative: str | bytes) -> bool:
        """Whether a path, relative to the searched directory, matches as a whole."""
        text = relative if isinstance(relative, str) else relative.decode("utf-8", "surrogateescape")
        if self._match is not None and self._match(text) is not None:
            return True
        return any(pattern.matches(text) for pattern in self._with_groups)

    def select(self, relatives: Sequence[bytes]) -> list[bytes]:
        """Return the matching paths; faster than `matches` for each."""
        if not relatives:
            return []
        # One decoding or one change to lower case for all of them is several times faster than one for each.
        joined = b"\0".join(relatives)
        if self._suffixes is not None and joined.isascii():
            folded = relatives if self.case_sensitive else joined.lower().split(b"\0")
            return [path for path, text in zip(relatives, folded, strict=True) if text.endswith(self._suffixes)]
        texts = joined.decode("utf-8", "surrogateescape").split("\0")
        matches = self.matches if self._with_groups or self._match is None else self._match
        return list(compress(relatives, map(matches, texts)))


def _is_encodable(pattern: str) -> bool:
    try:
        return b"\0" not in pattern.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def _expand_choices(parts: GlobSegments) -> list[GlobSegments]:
    """Expand choice groups into alternatives if there are no other groups and not too many alternatives."""
    if not all(map(_has_only_choices, parts)) or prod(map(_count_choices, parts)) > MAX_ALTERNATIVES:
        return [parts]
    return list(product(*map(_list_choices, parts)))


def _has_only_choices(part: GlobSegment) -> bool:
    return all(
        node.kind in (ExtglobKind.EXACTLY_ONE, ExtglobKind.OPTIONAL) and all(map(_has_only_choices, node.alternatives))
        for node in part
        if isinstance(node, Extglob)
    )


def _count_choices(part: GlobSegment) -> int:
    return prod(
        (node.kind is ExtglobKind.OPTIONAL) + sum(map(_count_choices, node.alternatives))
        for node in part
        if isinstance(node, Extglob)
    )


def _list_choices(part: GlobSegment) -> list[GlobSegment]:
    choices: list[GlobSegment] = [()]
    for node in part:
        endings: list[GlobSegment] = [(node,)]
        if isinstance(node, Extglob):
            endings = [choice for alternative in node.alternatives for choice in _list_choices(alternative)]
            endings += [()] if node.kind is ExtglobKind.OPTIONAL else []
        choices = [(*choice, *ending) for choice in choices for ending in endings]
    return choices


def _to_tokens(parts: GlobSegments) -> tuple[WildcardToken, ...] | None:
    """Return the tokens, None if there are groups."""
    tokens: list[WildcardToken] = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == ANY_DIRECTORIES:
            tokens += ["[^/]", Wildcard.ANY] if last else [Wildcard.DIRECTORIES]
            continue
        for node in part:
            if isinstance(node, Extglob):
                return None
            tokens.append(node)
        if not last:
            tokens.append("/")
    return tuple(tokens)


def _union_regex(patterns: Sequence[tuple[WildcardToken, ...]]) -> str:
    """Build one regular expression. Patterns that differ only after the last wildcard share their prefix."""
    endings: dict[tuple[WildcardToken, ...], list[str]] = {}
    for tokens in patterns:
        wild = max((index for index, token in enumerate(tokens) if isinstance(token, Wildcard)), default=-1) + 1
        endings.setdefault(tokens[:wild], []).append("".join(str(token) for token in tokens[wild:]))
    expressions: list[str] = []
    for beginning, texts in endings.items():
        ending = texts[0] if len(texts) == 1 else f"(?:{'|'.join(texts)})"
        if beginning == _ANY_NAME and not any("/" in text for text in texts):
            # The same in fewer steps, for `**/*.py`.
            expressions.append(rf".*{ending}\Z")
        else:
            expressions.append(wildcard_regex((*beginning, ending)))
    return "|".join(expressions)


def _ascii_suffixes(patterns: Sequence[tuple[WildcardToken, ...]], *, case_sensitive: bool) -> tuple[bytes, ...] | None:
    """Return the suffixes that decide for ASCII paths (lower case unless case-sensitive), None if they do not."""
    suffixes: list[bytes] = []
    for tokens in patterns:
        suffix = _literal_text(tokens[2:])
        if tokens[:2] != _ANY_NAME or suffix is None or "/" in suffix or not suffix.isascii():
            return None
        suffixes.append((suffix if case_sensitive else suffix.lower()).encode())
    return tuple(suffixes)


def _literal_text(part: Sequence[GlobNode]) -> str | None:
    characters: list[str] = []
    for node in part:
        # A plain character stands for itself, perhaps behind a backslash; all else that matches one is longer.
        if not isinstance(node, str) or len(node) > 2:
            return None
        characters.append(node[-1])
    return "".join(characters)


def _literal_directories(parts: GlobSegments) -> list[str]:
    directories: list[str] = []
    for part in parts[:-1]:
        name = _literal_text(part)
        if name in (None, "", "."):
            break
        directories.append(name)
    return directories


def _common_prefix(lists: list[list[str]]) -> list[str]:
    first, last = min(lists), max(lists)
    common = 0
    while common < min(len(first), len(last)) and first[common] == last[common]:
        common += 1
    return first[:common]
