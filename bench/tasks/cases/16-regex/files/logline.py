r"""Parses lines of a log.

    line   = time " " level " " message *( " " pair )
    time   = 4DIGIT "-" 2DIGIT "-" 2DIGIT "T" 2DIGIT ":" 2DIGIT ":" 2DIGIT [ "." 1*6DIGIT ] "Z"
    level  = "DEBUG" / "INFO" / "WARNING" / "ERROR"
    message = quoted
    pair   = key "=" ( quoted / bare )
    key    = letter *( letter / digit / "_" / "." )          ; ASCII only
    bare   = 1*( any character except space, quote, backslash and "=" )
    quoted = quote *( escaped / any character except quote and backslash ) quote
    escaped = backslash ( quote / backslash / "n" / "t" )

Digits are ASCII digits. `parse_line` returns a dictionary with `time` and `level` as they are written, `message`, and
`fields`: a dictionary of the pairs. Quoted texts are returned without quotes, and with their escapes replaced. Of
several pairs with one key the last one counts. A line may end with one "\n", which does not belong to it. For anything
else that is not a line, the result is None.
"""

import re

_LINE = re.compile(r'(\S+) (DEBUG|INFO|WARN|ERROR) "(.*)"((?: *(?:\w+)=(?:(?:\w+)*|".*"))*)$')
_PAIR = re.compile(r'(\w+)=(\w+|".*")')


def parse_line(line):
    match = _LINE.match(line)
    if match is None:
        return None
    time, level, message, pairs = match.groups()
    fields = {}
    for key, value in _PAIR.findall(pairs):
        fields[key] = value.strip('"')
    return {"time": time, "level": level, "message": message, "fields": fields}
