from inspect_ai.agent import AgentState

class Score:
    value: object

async def score(conversation: AgentState) -> list[Score]: ...
