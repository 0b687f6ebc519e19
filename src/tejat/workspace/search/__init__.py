"""Content search with several engines that all find the same."""
