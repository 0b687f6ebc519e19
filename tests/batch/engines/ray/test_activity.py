"""Activity of jobs on its way to the driver."""

import asyncio

from tejat.batch.engines.ray.activity import ActivityBoard, ActivitySender
from tejat.batch.events import TaskPhase


class LocalBoard:
    """A board in this process, with the calling convention of an actor."""

    def __init__(self) -> None:
        self.board = ActivityBoard()
        self.put = self

    def remote(self, number: int, phase: str, activity: str, tokens: int) -> None:
        self._sending = asyncio.ensure_future(self.board.put(number, phase, activity, tokens))


def test_only_the_latest_state_of_each_job_is_taken() -> None:
    async def exchange() -> None:
        board = LocalBoard()
        one, two = ActivitySender(1, board), ActivitySender(2, board)
        for turn in range(5):
            one(TaskPhase.RUNNING, f"turn {turn}", turn)
        assert await board.board.take() == {1: ("running", "turn 4", 4)}
        two(TaskPhase.CHECKING, "", 7)
        two.close()  # a job that has ended
        one(TaskPhase.RECORDING, "", 9)
        assert await board.board.take() == {1: ("recording", "", 9)}
        one.close()

    asyncio.run(exchange())
