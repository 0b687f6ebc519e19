"""Packages of others (extensions, skills): fetched from git, GitHub releases, archives and directories."""
