"""Agent Skills: directories with instructions that a model loads when a task needs them."""
