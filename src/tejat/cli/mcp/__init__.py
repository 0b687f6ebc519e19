"""The subcommands of `tejat mcp`."""
