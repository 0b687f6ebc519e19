class AgentCapabilities:
    def __init__(
        self,
        *,
        base_url: bool = False,
        atif: bool = False,
        resume: bool = False,
        native_web_tools: bool = False,
        skills: bool = False,
        mcp_servers: bool = False,
    ) -> None: ...
