class ToolContext:
    function_call_id: str | None
