"""The approval dialog: its keys, its layout at any size, and the view of a whole call."""
