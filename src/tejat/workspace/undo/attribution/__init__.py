"""Attribution of file changes to calls: what a call did, and what others did meanwhile."""
