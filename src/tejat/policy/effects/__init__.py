"""Effects of commands: writing, deleting, running code, and the paths involved."""
