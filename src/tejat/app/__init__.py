"""The composition root: puts the rooms together for whoever runs them."""
