"""Accounts by name. See README.md for how names are compared."""


class Accounts:
    def __init__(self):
        self._passwords = {}

    def register(self, name, password):
        """Add an account. Returns the name as it is shown. Raises ValueError if it is taken or refused."""
        if not name:
            raise ValueError("a name is needed")
        if name in self._passwords:
            raise ValueError(f"{name} is taken")
        self._passwords[name] = password
        return name

    def log_in(self, name, password):
        """Whether the account exists and has this password. Never raises."""
        return name in self._passwords and self._passwords[name] == password

    def names(self):
        """All names as they are shown, in the order of registration."""
        return list(self._passwords)
