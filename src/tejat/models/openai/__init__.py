"""OpenAI's models, and servers that are compatible with OpenAI."""
