"""May this run? Rules, shell lines and the decision: values in, a value out, nothing touched."""
