"""Management of extensions: install, update and review with consent, settings, lists and checks."""
