"""An event loop that stands still, as under Ctrl-Z or on a machine that is too busy."""

import asyncio


class SlowLoop(asyncio.SelectorEventLoop):
    """An event loop that stands still for `step` seconds whenever it looks at the clock."""

    step = 0.0
    _stood_still = 0.0

    def time(self) -> float:
        self._stood_still += self.step
        return super().time() + self._stood_still
