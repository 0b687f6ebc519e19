"""Names in lines that open a block. A different name means a different block, not a typo."""

import re

_DEFINED = re.compile(
    r"(?:(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|sealed|partial|pub"
    r"|pub\([\w:]+\)|unsafe|extern|const|inline|virtual|override|open|data|local|typedef|@\w+) )*"
    r"(?:def|class|function\*?|func|fn|interface|struct|enum|trait|impl|type|module|namespace|package|protocol|record"
    r"|object|sub|proc) (?:\([^()]*\) ?)?([\w.:]+).*"
)
_TABLE = re.compile(
    r"(?:create|alter|drop)(?: \w+){0,3}? (?:table|view|index|function|procedure|trigger|type|schema|database) "
    r"(?:if (?:not )?exists )?[`\"\[]?([\w.]+).*",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?([A-Za-z][\w.:-]*).*")
_SECTION = re.compile(r"\[+([^\[\]'\",]+)\]+")
_CASE = re.compile(r"(?:case|when) (.+?) ?(?::|=>|->|then\b).*")
_TEST = re.compile(
    r"(?:\w+\.)?(?:it|test|describe|context|suite|scenario|Run|bench)\b[\w.]*[( ] ?[\"'`](.*?)[\"'`].*", re.IGNORECASE
)
_KEY = re.compile(
    r"(?:- )?(?:(?:export|const|let|var|final|static|public|private) )*"
    r"[\"'`]?([\w.$@/-]+)[\"'`]? ?(?::|=>|:=|=) ?[\[{(]*"
)
_NAMED = re.compile(
    r"[-*]? ?[\"']?\w*?(?:name|title|slug|bucket|image|route|service|label|tool|user|host)[\"']? ?(?::|=>|=) ?"
    r"[\"'`]?([\w./:@ -]+)[\"'`]?[,;]?",
    re.IGNORECASE,
)
_ROUTE = re.compile(
    r"@?\w+\.((?:get|post|put|patch|delete|head|all|use|route|on|once|handle\w*) ?\( ?[\"'`].*?[\"'`]).*", re.IGNORECASE
)
_C_FUNCTION = re.compile(
    r"(?:(?:static|inline|extern|const|unsigned|signed|struct|enum|void|int|char|bool|long|short|float|double|\w+_t"
    r"|PyObject)[ *]+)+(?:\w+[ *]+)*([\w:~]+) ?\([^;={}]*\)"
)
_METHOD = re.compile(r"(?:[\w<>\[\]*&:,.?]+ )*([\w$:~.]+) ?\([^;]*\)[^;()=]*\{")
_HEAD = re.compile(r"((?:[^(){};=]|=[\"'])+?) ?\{")
_GUARD = re.compile(
    r"[}\])]*(?: ?else)? ?(?:if|elif|else|elsif|elseif|while|for|foreach|switch|match|try|catch|except|finally|do|with"
    r"|unless|until|guard|loop|return|select|import|from)\b"
)
_WORD = re.compile(r"\w+")
_MAX_LENGTH = 400


def find_block_name(line: str) -> list[str]:
    """Find the words of the block name; empty if the line names no block."""
    bare = " ".join(line.split())
    if len(bare) > _MAX_LENGTH:
        return []
    for pattern in (_DEFINED, _TABLE, _TAG):
        if found := pattern.fullmatch(bare):
            return [found[1]]
    if _GUARD.match(bare):
        return []
    for pattern in (_SECTION, _CASE, _TEST, _KEY, _NAMED, _ROUTE, _C_FUNCTION, _METHOD, _HEAD):
        if found := pattern.fullmatch(bare):
            return _WORD.findall(found[1])
    return []
