"""Walker over the syntax tree of a line that collects commands, redirections and doubts."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from tejat.core.i18n import lazy
from tejat.policy.shell.bare_command import BARE_COMMAND_DEPTH, is_ordinary_name, read_bare_words
from tejat.policy.shell.command_line import Redirection, ShellCommand
from tejat.policy.shell.grammar import MAX_LINE_BYTES, Node, parse_tree
from tejat.policy.shell.implicit_eval import (
    find_implicit_eval,
    is_command_variable,
    is_evaluated_variable,
    is_harmless_subscript,
    may_hold_subscripts,
)
from tejat.policy.shell.plain import RESERVED, parse_plain_line
from tejat.policy.shell.words import MAX_ROOTED_PARTS, ShellWord, find_rooted_parts, parse_word
from tejat.policy.shell.wrappers import base_name, unwrap_command

_MAX_WRAPPER_DEPTH = 12
_MAX_NODE_DEPTH = 200
_MAX_BARE_DEPTH = _MAX_NODE_DEPTH - BARE_COMMAND_DEPTH
_MAX_COMMANDS = 2000

_NON_WORD_NODES = frozenset(
    ("variable_assignment", "variable_assignments", "file_redirect", "herestring_redirect", "heredoc_redirect")
)
_QUOTED_LEAVES = frozenset(("raw_string", "ansi_c_string", "comment"))
_OPERATORS_WITHIN_TEST = frozenset(
    ("binary_expression", "unary_expression", "parenthesized_expression", "negation_expression")
)
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_EXPANSION = re.compile(rb"`|\$[({\[]|[<>]\(")
# Only with one of these a word can hold an expansion, or a line end.
_SUSPECT = re.compile(rb"[`$<>\n]")
_ARITHMETIC_NAMES = re.compile(rb"[A-Za-z_$`\[]")
_SUBSTRING = re.compile(rb"\$\{\w+(?:\[[@*0-9]+\])?:\s*-?[0-9]+(?:\s*:\s*-?[0-9]+)?\s*\}\Z")
_INDIRECT = re.compile(rb"\$\{!|\$\{#?\w*(?:\[[^\]]*\])?@|\$\{[@*#?$!-]@")
_EVALUATING_TEST = re.compile(rb"(?<![\w-])-(?:eq|ne|lt|le|gt|ge|v|R)(?![\w-])")
_CONTINUED_OPERATOR = re.compile(rb"[$`<>&|(){}\[;!#=]\\\n")
_ELEMENT = re.compile(rb"\[(.*)\]\+?=", re.DOTALL)
_DELIMITER = re.compile(rb"(?P<quote>['\"]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P=quote)\Z")


class LineAnalysis:
    """Commands, redirections and doubts of a line and the lines nested in it, in order."""

    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.redirections: list[Redirection] = []
        self.doubts: dict[str, None] = {}
        self.is_opaque = False
        self._arrays: set[str] = set()
        self._declared: set[str] = set()

    def analyze(self, text: str, via: tuple[str, ...] = ()) -> None:
        """Analyze a line, or one that runs behind the wrappers `via`."""
        if len(via) > _MAX_WRAPPER_DEPTH or len(self.commands) > _MAX_COMMANDS:
            self.mark_opaque(lazy("it is nested too deeply or too long"))
            return
        if not text.replace("\n", "").replace("\t", "").isprintable():
            # A blank to the parser and part of a word to bash, or vice versa.
            self.mark_opaque(lazy("it contains unusual characters"))
        try:
            source = text.encode()
        except UnicodeEncodeError:
            self.mark_opaque(lazy("it is not text"))
            return
        root = parse_tree(source)
        if root is None:
            is_long = len(source) > MAX_LINE_BYTES
            self.mark_opaque(lazy("it is too long to parse") if is_long else lazy("it takes too long to parse"))
            return
        if root.has_error:
            self.mark_opaque(lazy("it cannot be parsed"))
        if _CONTINUED_OPERATOR.search(source):
            self.mark_opaque(lazy("an operator continues on the next line"))
        _TreeWalker(self, source, via).walk(root)

    def mark_opaque(self, doubt: str) -> None:
        self.is_opaque = True
        self.doubts[doubt] = None

    def add_command(self, words: Sequence[ShellWord], via: tuple[str, ...], *, has_assignments: bool = False) -> None:
        """Add a command and those it wraps."""
        if len(via) > _MAX_WRAPPER_DEPTH or len(self.commands) > _MAX_COMMANDS:
            self.mark_opaque(lazy("it is nested too deeply or too long"))
            return
        if not words:
            return
        name = words[0]
        is_plain = name.is_unquoted and not has_assignments and all(word.is_literal for word in words if word.text)
        self.commands.append(ShellCommand(tuple(word.value for word in words if word.text), is_plain, via))
        if name.is_unquoted and (name.value in _NEVER_COMMANDS or _is_block(words)):
            self.mark_opaque(lazy("a reserved word is used as a command"))
        long = [word.value for word in words if len(word.value) > MAX_ROOTED_PARTS]
        if any(len(find_rooted_parts(text)) > MAX_ROOTED_PARTS for text in long):
            self.mark_opaque(lazy("a word contains too many paths"))
        reason = find_implicit_eval(words)
        if reason:
            self.mark_opaque(reason)
        self._add_array_names(words)
        wrapped = unwrap_command(words)
        if wrapped is None:
            return
        inside = (*via, base_name(name.value))
        if wrapped.opaque_reason:
            self.mark_opaque(wrapped.opaque_reason)
        for command in wrapped.commands:
            self.add_command(command, inside)
        for line in wrapped.lines:
            doubt = parse_plain_line(line)
            if isinstance(doubt, str) or doubt.targets:
                self.doubts[lazy("the command that {word} runs is not plain", word=base_name(name.value))] = None
            self.analyze(line, inside)

    def add_bare_command(self, texts: Sequence[str], via: tuple[str, ...]) -> None:
        """Add a command whose words have neither quotes nor anything that the shell expands."""
        is_simple = is_ordinary_name(texts[0]) and max(map(len, texts)) <= MAX_ROOTED_PARTS
        if is_simple and len(self.commands) <= _MAX_COMMANDS and len(via) <= _MAX_WRAPPER_DEPTH:
            self.commands.append(ShellCommand(tuple(texts), is_plain=True, wrappers=via))
        else:
            self.add_command(list(map(parse_word, texts)), via)

    def add_array(self, name: str) -> None:
        """Note that a name may be an array."""
        self._arrays.add(name)
        self._check_names((name,), self._declared)

    def _add_array_names(self, words: Sequence[ShellWord]) -> None:
        name = words[0].value
        if name in _ARRAY_READERS or (name in _DECLARATIONS and any(_MAKES_ARRAY.match(word.value) for word in words)):
            arrays = [word.value.partition("=")[0] for word in words[1:]]
            self._arrays.update(arrays)
            self._check_names(arrays, self._declared)
        if name in _DECLARATIONS:
            declared = [word.text.partition("=")[0] for word in words[1:] if may_hold_subscripts(word)]
            self._declared.update(declared)
            self._check_names(declared, self._arrays)

    def _check_names(self, names: Iterable[str], others: set[str]) -> None:
        """Check declarations of names that are arrays elsewhere in the line: a string may then hold subscripts."""
        if not others.isdisjoint(names):
            self.mark_opaque(lazy("a declaration may evaluate a subscript"))


_NEVER_COMMANDS = RESERVED - {"time", "coproc"}
_DECLARATIONS = frozenset(("declare", "typeset", "local", "export", "readonly"))
_ARRAY_READERS = frozenset(("read", "mapfile", "readarray"))
_MAKES_ARRAY = re.compile(r"-\w*[aA]")


def _is_block(words: Sequence[ShellWord]) -> bool:
    return words[0].value in ("time", "coproc") and any(word.text in ("{", "(", "((", "[[") for word in words)


class _TreeWalker:
    def __init__(self, analysis: LineAnalysis, source: bytes, via: tuple[str, ...]) -> None:
        self._analysis = analysis
        self._source = source
        self._via = via
        self._has_suspect_leaves = _SUSPECT.search(source) is not None

    def walk(self, root: Node) -> None:
        waiting = [(root, 0)]
        commands = self._analysis.commands
        while waiting:
            node, depth = waiting.pop()
            if depth > _MAX_NODE_DEPTH or len(commands) > _MAX_COMMANDS:
                self._analysis.mark_opaque(lazy("it is nested too deeply or too long"))
                return
            children = node.children
            kind = node.type
            if kind == "command" and depth <= _MAX_BARE_DEPTH and (texts := read_bare_words(node, self._source)):
                self._analysis.add_bare_command(texts, self._via)
                continue
            visit = _VISITORS.get(kind)
            if visit is not None:
                visit(self, node)
            elif not children and self._has_suspect_leaves and node.is_named and node.type not in _QUOTED_LEAVES:
                self._visit_leaf(node)
            if children or depth == 0:
                self._check_gaps(node, children, is_root=depth == 0)
                below = self._children_to_visit(node, children)
                if depth < _MAX_NODE_DEPTH:
                    below = [child for child in below if child.is_named or child.child_count]
                waiting += [(child, depth + 1) for child in reversed(below)]
        if len(commands) > _MAX_COMMANDS:
            self._analysis.mark_opaque(lazy("it is nested too deeply or too long"))

    def _children_to_visit(self, node: Node, children: Sequence[Node]) -> Sequence[Node]:
        if node.type != "heredoc_redirect" or not self._has_quoted_delimiter(node):
            return children
        return [child for child in children if child.type != "heredoc_body"]

    def _check_gaps(self, node: Node, children: Sequence[Node], *, is_root: bool) -> None:
        """Check that only blanks lie between child nodes: the parser silently skips text."""
        at = 0 if is_root else node.start_byte
        for child in children:
            start = child.start_byte
            if at < start and self._source[at:start] != b" ":
                self._check_gap(node, at, start)
            at = max(at, child.end_byte)
        self._check_gap(node, at, len(self._source) if is_root else node.end_byte)

    def _check_gap(self, node: Node, start: int, end: int) -> None:
        gap = self._source[start:end].replace(b"\\\n", b"").strip(b" \t\n")
        # A lone dash before a here-document is skipped too, and is harmless.
        if gap and gap != b"-" and (node.type != "heredoc_body" or _EXPANSION.search(_ESCAPED.sub(b"", gap))):
            self._analysis.mark_opaque(lazy("part of it cannot be parsed"))

    def visit_command(self, node: Node) -> None:
        assigns = node.type == "command" and any(child.type == "variable_assignment" for child in node.children)
        self._analysis.add_command(self._words(node), self._via, has_assignments=assigns)

    def visit_herestring(self, _node: Node) -> None:
        self._analysis.redirections.append(Redirection("<<<", None, writes=False, is_harmless=False))

    def _text(self, node: Node) -> bytes:
        return self._source[node.start_byte : node.end_byte]

    def _words(self, node: Node) -> list[ShellWord]:
        skipped = _NON_WORD_NODES if node.type == "command" else _NON_WORD_NODES - {"variable_assignment"}
        return self._join_adjacent([child for child in node.children if child.type not in skipped])

    def _join_adjacent(self, nodes: Sequence[Node]) -> list[ShellWord]:
        """Return the words of the nodes; adjacent nodes form one word in bash."""
        spans: list[tuple[int, int]] = []
        for node in nodes:
            if spans and spans[-1][1] == node.start_byte:
                spans[-1] = (spans[-1][0], node.end_byte)
            else:
                spans.append((node.start_byte, node.end_byte))
        self._check_continued(spans)
        return [parse_word(self._source[start:end].decode("utf-8", "surrogateescape")) for start, end in spans]

    def _check_continued(self, spans: Sequence[tuple[int, int]]) -> None:
        """Check line continuations: they separate two words only together with a blank."""
        for (_, end), (start, _) in pairwise(spans):
            between = self._source[end:start]
            blanks = between.replace(b"\\\n", b"")
            if b"\\\n" in between and not blanks:
                self._analysis.mark_opaque(lazy("a word continues on the next line"))
            if b"\n" in blanks:
                self._analysis.mark_opaque(lazy("the end of a line is uncertain"))

    def visit_test(self, node: Node) -> None:
        text = self._text(node)
        if not text.startswith(b"[["):
            self._analysis.add_command(self._join_adjacent(_operands(node)), self._via)
        elif _EVALUATING_TEST.search(text):
            self._analysis.mark_opaque(lazy("a test evaluates its operands"))

    def visit_assignment(self, node: Node) -> None:
        left, _, value = self._text(node).decode("utf-8", "replace").partition("=")
        match = re.match(r"\w*", left)
        name = match[0] if match else ""
        if is_command_variable(name):
            self._analysis.mark_opaque(lazy("{name} may be run as a command", name=name))
        elif is_evaluated_variable(name, value):
            self._analysis.mark_opaque(lazy("the value assigned to {name} is evaluated", name=name))
        if any(child.type == "array" for child in node.children):
            self._analysis.add_array(name)

    def visit_array(self, node: Node) -> None:
        for child in node.children:
            subscript = _ELEMENT.match(self._text(child))
            if subscript and not is_harmless_subscript(subscript[1].decode("ascii", "replace")):
                self._analysis.mark_opaque(lazy("a subscript is evaluated"))

    def visit_loop(self, node: Node) -> None:
        name = next((self._text(child) for child in node.children if child.type == "variable_name"), b"")
        if is_evaluated_variable(name.decode("ascii", "replace")):
            self._analysis.mark_opaque(lazy("the value assigned to {name} is evaluated", name=name.decode("ascii")))

    def visit_redirection(self, node: Node) -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        nodes = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        words = self._join_adjacent(nodes)
        target = words[0].value if len(words) == 1 and words[0].is_literal else None
        is_duplicate = operator in (">&", "<&") and re.fullmatch(r"[0-9]+-?|-", target or "") is not None
        is_harmless = is_duplicate or target == "/dev/null"
        writes = ">" in operator and not is_duplicate
        text = words[0].text if words else ""
        self._analysis.redirections.append(Redirection(operator, target, writes, is_harmless, text))
        if len(words) != 1:
            # Words after the target belong to the command, but the tree attaches them to the redirection.
            self._analysis.mark_opaque(lazy("the target of a redirection is uncertain"))
        elif operator == ">&" and not is_duplicate and not re.fullmatch(r"[^$`<>()\\]+", target or ""):
            # What is quoted, or comes out of a variable, runs the second time.
            self._analysis.mark_opaque(lazy("bash expands the target of >& twice"))

    def _has_quoted_delimiter(self, node: Node) -> bool:
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        return start is not None and self._text(start)[:1] in (b"'", b'"')

    def visit_heredoc(self, node: Node) -> None:
        self._analysis.redirections.append(Redirection("<<", None, writes=False, is_harmless=False))
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        delimiter = _DELIMITER.match(self._text(start)) if start else None
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        if end is None or delimiter is None or not self._matches_bash_heredoc_end(node, delimiter, end):
            self._analysis.mark_opaque(lazy("the end of a here-document is uncertain"))

    def _matches_bash_heredoc_end(self, node: Node, delimiter: re.Match[bytes], end: Node) -> bool:
        first_line = self._line_at(node.start_byte)
        if first_line.count(b"<<") != 1 or first_line.endswith(b"\\"):
            return False
        strips_tabs = self._text(node).startswith(b"<<-")
        at = node.start_byte + len(first_line) + 1
        while at < len(self._source):
            line = self._line_at(at)
            if (line.lstrip(b"\t") if strips_tabs else line) == delimiter["name"]:
                return at <= end.start_byte <= at + len(line)
            if line.endswith(b"\\") and not delimiter["quote"]:
                return False
            at += len(line) + 1
        return False

    def _line_at(self, start: int) -> bytes:
        end = self._source.find(b"\n", start)
        return self._source[start:] if end < 0 else self._source[start:end]

    def visit_evaluation(self, node: Node) -> None:
        text = self._text(node)
        kind = node.type
        if kind == "c_style_for_statement":
            self._analysis.mark_opaque(lazy("a loop evaluates arithmetic"))
        elif kind == "arithmetic_expansion" or (kind == "compound_statement" and text.startswith(b"((")):
            if _ARITHMETIC_NAMES.search(text[2:]):
                self._analysis.mark_opaque(lazy("arithmetic evaluates the value of a variable"))
        elif kind == "subscript":
            if not is_harmless_subscript(text.partition(b"[")[2].removesuffix(b"]").decode("ascii", "replace")):
                self._analysis.mark_opaque(lazy("a subscript is evaluated"))
        elif kind == "expansion":
            is_substring = any(child.type == ":" for child in node.children)
            if _INDIRECT.match(text) or (is_substring and not _SUBSTRING.match(text)):
                self._analysis.mark_opaque(lazy("an expansion evaluates the value of a variable"))

    def visit_substitution(self, node: Node) -> None:
        text = self._text(node)
        # Only a backslash protects a backquote here, quotes do not.
        if text.startswith(b"`") and (b"\\" in text or b"`" in text[1:-1]):
            self._analysis.mark_opaque(lazy("backquotes contain backquotes or escapes"))

    def visit_comment(self, node: Node) -> None:
        before = self._source[max(0, node.start_byte - 2) : node.start_byte]
        if before and (before[-1:] not in b" \t\n;&|(" or before.endswith(b"\\\n")):
            self._analysis.mark_opaque(lazy("the start of a comment is uncertain"))

    def _visit_leaf(self, node: Node) -> None:
        text = _ESCAPED.sub(b"", self._text(node))
        if _EXPANSION.search(text):
            self._analysis.mark_opaque(lazy("an expansion cannot be parsed"))
        if node.type == "word" and b"\n" in text:
            self._analysis.mark_opaque(lazy("the end of a line is uncertain"))


def _operands(test: Node) -> list[Node]:
    """Return the words of a `[ ]` test, brackets included, from its expression tree."""
    operands: list[Node] = []
    waiting = [test]
    while waiting:
        node = waiting.pop()
        if node is test or node.type in _OPERATORS_WITHIN_TEST:
            waiting.extend(reversed(node.children))
        else:
            operands.append(node)
    return operands


_VISITORS: Mapping[str, Callable[[_TreeWalker, Node], None]] = {
    **dict.fromkeys(("command", "declaration_command", "unset_command"), _TreeWalker.visit_command),
    "test_command": _TreeWalker.visit_test,
    "variable_assignment": _TreeWalker.visit_assignment,
    "array": _TreeWalker.visit_array,
    "file_redirect": _TreeWalker.visit_redirection,
    "heredoc_redirect": _TreeWalker.visit_heredoc,
    "herestring_redirect": _TreeWalker.visit_herestring,
    **dict.fromkeys(
        ("expansion", "subscript", "arithmetic_expansion", "compound_statement", "c_style_for_statement"),
        _TreeWalker.visit_evaluation,
    ),
    **dict.fromkeys(("for_statement", "select_statement"), _TreeWalker.visit_loop),
    "command_substitution": _TreeWalker.visit_substitution,
    "comment": _TreeWalker.visit_comment,
}
