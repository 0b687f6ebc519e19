"""Extensions of Gemini CLI: what is installed, whether it may be used, and what it brings."""
