"""The composition root: builds the services, the session and the slash commands of a run."""
