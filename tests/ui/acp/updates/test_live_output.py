"""Live output: ten updates a second at most, the last one always, and data that a terminal appends."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.acp.updates.content_blocks import MAX_TEXT_CHARS
from tejat.ui.acp.updates.live_output import TerminalData, Throttle

CLEAR = "\x1b[H\x1b[2J\x1b[3J"


class TestThrottle:
    def test_the_first_text_is_sent_at_once_and_the_last_on_time(self) -> None:
        async def main() -> list[str]:
            sent: list[str] = []
            throttle = Throttle(sent.append)
            for number in range(1000):
                throttle.put(str(number))
            assert sent == ["0"]
            await asyncio.sleep(0.3)
            throttle.close()
            return sent

        assert asyncio.run(main()) == ["0", "999"]

    def test_a_second_brings_ten_texts(self) -> None:
        async def main() -> list[str]:
            sent: list[str] = []
            throttle = Throttle(sent.append)
            loop = asyncio.get_running_loop()
            end = loop.time() + 1.0
            while loop.time() < end:
                throttle.put(str(loop.time()))
                await asyncio.sleep(0.002)
            throttle.close()
            return sent

        assert 3 <= len(asyncio.run(main())) <= 11

    def test_a_flush_sends_what_waits_and_ends_the_timer(self) -> None:
        async def main() -> list[str]:
            sent: list[str] = []
            throttle = Throttle(sent.append)
            throttle.put("a")
            throttle.flush()
            throttle.put("b")
            throttle.put("c")
            throttle.flush()
            await asyncio.sleep(0.2)
            return sent

        assert asyncio.run(main()) == ["a", "b", "c"]

    def test_what_waits_can_be_dropped(self) -> None:
        async def main() -> list[str]:
            sent: list[str] = []
            throttle = Throttle(sent.append)
            throttle.put("a")
            throttle.put("b")
            throttle.close()
            await asyncio.sleep(0.2)
            return sent

        assert asyncio.run(main()) == ["a"]


class TestTerminalData:
    def test_more_output_is_appended(self) -> None:
        data = TerminalData()
        assert [data.advance(text) for text in ("a\n", "a\nb\n", "a\nb\n")] == ["a\n", "b\n", ""]

    def test_an_overwritten_line_is_drawn_again(self) -> None:
        data = TerminalData()
        assert [data.advance(text) for text in ("10%", "20%")] == ["10%", f"{CLEAR}20%"]

    def test_output_without_its_beginning_is_continued(self) -> None:
        lines = [f"line {number}\n" for number in range(2000)]
        data = TerminalData()
        data.advance("".join(lines[:1000]))
        assert data.advance("".join(lines[500:1100])) == "".join(lines[1000:1100])

    def test_a_flood_is_cut(self) -> None:
        data = TerminalData().advance("x" * 100_000)
        assert data == f"[{100_000 - MAX_TEXT_CHARS:,} characters are not shown]\n{'x' * MAX_TEXT_CHARS}"

    @given(st.lists(st.text("ab\n", max_size=30)))
    def test_a_terminal_shows_the_last_output(self, outputs: list[str]) -> None:
        data, shown = TerminalData(), ""
        for output in outputs:
            _, _, after = (added := data.advance(output)).rpartition(CLEAR)
            shown = after if CLEAR in added else shown + added
        assert shown == (outputs[-1] if outputs else "")
