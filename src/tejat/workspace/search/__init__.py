"""Searching the contents of files, with several engines that find the same."""
