"""Antonyms, which are never typos of each other, however few letters differ."""

import re
from collections import Counter
from functools import lru_cache

_ANTONYMS = """
get set, get put, add remove, add delete, add drop, add sub, plus minus, mul div, inc dec, incr decr
increment decrement, increase decrease, min max, minimum maximum, low high, lowest highest, lower upper
lowercase uppercase, smallest largest, shortest longest, best worst, more less, greater less, lt gt, le ge, lte gte
eq ne, eq neq, equal unequal, same different, positive negative, signed unsigned, even odd, ceil floor, sin cos
on off, in out, to from, up down, left right, top bottom, above below, over under, before after, first last
head tail, front back, next prev, next previous, begin end, start end, start stop, start finish, earliest latest
newest oldest, old new, prefix suffix, prepend append, pre post, forward backward, forwards backwards
ascending descending, asc desc, horizontal vertical, width height, row column, row col, inner outer
internal external, parent child, ancestor descendant, source target, source destination, src dst, src dest
input output, import export, read write, reader writer, load save, load store, send receive, sender receiver
request response, request reply, client server, upload download, push pop, push pull, shift unshift
enqueue dequeue, insert delete, insert remove, create delete, create destroy, create remove, create drop
open close, opened closed, opening closing, show hide, shown hidden, visible hidden, expand collapse
enable disable, enabled disabled, enables disables, activate deactivate, active inactive, connect disconnect
connected disconnected, attach detach, lock unlock, acquire release, alloc free, allow deny, allow block
allow forbid, allowed denied, accept reject, accept refuse, accepted rejected, grant revoke, resolve reject
subscribe unsubscribe, register unregister, register deregister, login logout, enter exit, enter leave
install uninstall, freeze thaw, pause resume, play pause, include exclude, included excluded, includes excludes
including excluding, encode decode, encoded decoded, encoder decoder, encrypt decrypt, compress decompress
serialize deserialize, sync async, synchronous asynchronous, http https, ws wss, public private, global local
local remote, static dynamic, dev prod, development production, debug release, true false, yes no, and or, not and
all any, all none, any none, some none, every some, always never, pass fail, passed failed, success failure
success error, succeed fail, succeeded failed, assert refute, expand shrink, grow shrink, known unknown, key value
keys values, question answer, primary secondary, big little, strict loose, black white, allowlist denylist
"""
_NEGATING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis", "anti", "no", "not")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_MIN_LENGTH = 3


def are_antonyms(given: str, found: str) -> bool:
    """Check whether one text replaces a word of the other by its antonym."""
    left, right = Counter(split_identifier(given)), Counter(split_identifier(found))
    only_left, only_right = left - right, right - left
    return any(_is_antonym(one, other) for one in only_left for other in only_right)


def split_identifier(text: str) -> list[str]:
    """Split identifiers into lowercase words."""
    return [piece.lower() for piece in _PIECE.findall(text)]


def _is_antonym(one: str, other: str) -> bool:
    if (one, other) in _antonym_pairs():
        return True
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _MIN_LENGTH and any(longer == prefix + shorter for prefix in _NEGATING_PREFIXES)


@lru_cache(maxsize=1)
def _antonym_pairs() -> frozenset[tuple[str, str]]:
    pairs = [pair.split() for pair in _ANTONYMS.replace("\n", ",").split(",") if pair.strip()]
    return frozenset((one, other) for left, right in pairs for one, other in ((left, right), (right, left)))
