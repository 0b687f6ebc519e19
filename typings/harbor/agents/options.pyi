class InstalledAgentOptions:
    base_url: str | None
    disable_web_search: bool
    version: str | None
