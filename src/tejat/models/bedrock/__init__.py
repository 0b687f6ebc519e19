"""Anthropic's models on Amazon Bedrock."""
