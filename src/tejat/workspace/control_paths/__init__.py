"""Control paths, which decide what other programs run: where they are in a tree, and whether they have changed."""
