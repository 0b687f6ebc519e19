"""The one place that speaks HTTP: to models, to pages that are fetched, to whoever else is asked over the network."""
