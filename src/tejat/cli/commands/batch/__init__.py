"""`tejat batch`: many tasks, their results, and what to do with them."""
