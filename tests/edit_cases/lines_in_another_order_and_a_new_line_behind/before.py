import os
import re
from collections import Counter
from hashlib import sha256


def digest(path):
    with open(path, "rb") as file:
        return sha256(file.read()).hexdigest()
