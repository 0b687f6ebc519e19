"""When to draw next."""

import asyncio

from tejat.ui.terminal.screen.draw_timer import DrawTimer


def test_what_is_due_is_drawn_once_and_at_the_earliest_time_asked_for() -> None:
    async def main() -> None:
        loop, drawn = asyncio.get_running_loop(), list[float]()
        done = asyncio.Event()
        pace = DrawTimer(on_due=lambda: (drawn.append(loop.time()), done.set()), on_tick=lambda: None)  # type: ignore[arg-type]
        start = loop.time()
        pace.draw_by(start + 5)
        pace.draw_by(start + 0.05)
        pace.draw_by(start + 3)
        await asyncio.wait_for(done.wait(), 60)
        assert len(drawn) == 1
        assert 0.04 < drawn[0] - start < 1

    asyncio.run(main())


def test_nothing_is_drawn_after_the_end() -> None:
    async def main() -> None:
        drawn: list[str] = []
        pace = DrawTimer(on_due=lambda: drawn.append("due"), on_tick=lambda: drawn.append("tick"))
        pace.draw_by(0)
        pace.set_ticking(enabled=True)
        pace.stop()
        await asyncio.sleep(0.02)
        assert drawn == []

    asyncio.run(main())
