"""The subcommands of `tejat tools`."""
