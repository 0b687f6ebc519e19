"""What subcommands look at: rules, undo entries, jobs, models, sessions and the documentation."""
