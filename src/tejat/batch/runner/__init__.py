"""The runner of a batch: one job from the working copy to its records."""
