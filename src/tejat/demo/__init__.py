"""What `tejat demo` plays: a conversation told by a script, and the small project that it is about."""
