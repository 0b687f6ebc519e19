"""Engines run the tasks of a batch: in processes of this machine, or on a cluster. One module each."""
