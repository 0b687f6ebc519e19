"""Shell command lines: parsing, plainness, wrappers and implicit evaluation."""
