"""Lines of the grammar, lines outside of it, and long ones."""

import signal
import unittest

from logline import parse_line

TIME = "2026-03-01T10:20:30Z"


class LineTest(unittest.TestCase):
    def parsed(self, rest: str, time: str = TIME) -> tuple[object, object, object]:
        found = parse_line(f"{time} {rest}")
        self.assertIsNotNone(found, rest)
        self.assertEqual(set(found), {"time", "level", "message", "fields"})
        self.assertEqual(found["time"], time)
        return found["level"], found["message"], found["fields"]

    def test_lines(self) -> None:
        self.assertEqual(self.parsed('INFO "started"'), ("INFO", "started", {}))
        self.assertEqual(self.parsed('WARNING ""'), ("WARNING", "", {}))
        self.assertEqual(self.parsed('ERROR "a" b=c'), ("ERROR", "a", {"b": "c"}))
        self.assertEqual(self.parsed('DEBUG "x" a.b_1=c-d/ä path="/a b" empty=""\n')[2], _FIELDS)
        self.assertEqual(self.parsed('INFO "x"', "2026-03-01T10:20:30.123456Z")[1], "x")

    def test_quotes(self) -> None:
        self.assertEqual(self.parsed('INFO "a" k="b" l="c d"')[1:], ("a", {"k": "b", "l": "c d"}))
        self.assertEqual(self.parsed(r'INFO "say \"hi\" k=v" x="\\n\n\t\\"')[1:], ('say "hi" k=v', {"x": "\\n\n\t\\"}))
        self.assertEqual(self.parsed('INFO "two\nlines" k="a\nb"')[1:], ("two\nlines", {"k": "a\nb"}))
        self.assertEqual(self.parsed('INFO "x" k="a" k=b k="\\"c\\""')[2], {"k": '"c"'})

    def test_other_lines(self) -> None:
        for rest in (
            'WARN "x"',
            'info "x"',
            "INFO x",
            'INFO  "x"',
            'INFO "x" ',
            'INFO "x"  a=b',
            'INFO "x"a=b',
            'INFO "x" a=',
            'INFO "x" =b',
            'INFO "x" a=b=c',
            'INFO "x" a="b',
            'INFO "x" a="b"c',
            'INFO "x" 1a=b',
            'INFO "x" ä=b',
            'INFO "x" a="\\q"',
            'INFO "x\\"',
            'INFO "x" a=b\\c',
            'INFO "x"\n\n',
        ):
            self.assertIsNone(parse_line(f"{TIME} {rest}"), rest)
        for time in ("2026-03-01", "2026-03-01T10:20:30", "2026-03-01T10:20:30.Z", "2026-03-01T10:20:30.1234567Z"):
            self.assertIsNone(parse_line(f'{time} INFO "x"'), time)
        self.assertIsNone(parse_line('٢٠٢٦-03-01T10:20:30Z INFO "x"'))
        self.assertIsNone(parse_line(""))
        self.assertIsNone(parse_line(f' {TIME} INFO "x"'))

    def test_a_carriage_return_is_a_character(self) -> None:
        self.assertEqual(self.parsed('INFO "x" a=b\r')[2], {"a": "b\r"})

    def test_long_lines(self) -> None:
        signal.signal(signal.SIGVTALRM, _fail)
        # The time of the processor, so that other programs do not count.
        signal.setitimer(signal.ITIMER_VIRTUAL, 2)
        self.addCleanup(signal.setitimer, signal.ITIMER_VIRTUAL, 0)
        self.assertIsNone(parse_line(f'{TIME} INFO "x" ' + "a=b" * 40 + "!"))
        self.assertIsNone(parse_line(f'{TIME} INFO "x" ' + "a=" + "b" * 50_000 + "="))
        self.assertIsNone(parse_line(f'{TIME} INFO "x"' + " a=b" * 20_000 + " ="))
        self.assertIsNone(parse_line(f'{TIME} INFO "' + '\\"' * 50_000))
        self.assertIsNone(parse_line(f'{TIME} INFO "' + 'x" y="' * 20_000))
        self.assertEqual(len(self.parsed('INFO "x"' + "".join(f" a{number}=b" for number in range(20_000)))[2]), 20_000)


def _fail(*_: object) -> None:
    raise TimeoutError("it takes too long for long lines")


_FIELDS = {"a.b_1": "c-d/ä", "path": "/a b", "empty": ""}
