"""How properties are tried: without leaving anything behind, and the same way each time where nobody watches."""

import os

from hypothesis import settings

settings.register_profile("here", database=None, deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("here")
