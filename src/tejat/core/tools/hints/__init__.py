"""Type hints as JSON types: the schema of parameters, and the parsing of arguments."""
